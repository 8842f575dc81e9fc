import type { Keys } from 'pounce/sdk'

const keptMs = 5000
const mostKept = 1000

/** The keys that messages carry, remembered for some seconds so that a thousand jobs of one user ask once. */
export class JobKeys {
  #keys: Keys
  #kept = new Map<string, { readonly key: string; readonly until: number }>()

  constructor(keys: Keys) {
    this.#keys = keys
  }

  /** What is known without asking. */
  known(user: string | null): string | undefined {
    if (user === null) return this.#keys.serviceKey()
    const kept = this.#kept.get(user)
    return kept && kept.until > performance.now() ? kept.key : undefined
  }

  /** The user's extraction key, or for nobody the service key. `NotFound` for a user who is gone; undefined when nobody has a key. */
  async of(user: string | null): Promise<string | undefined> {
    if (user === null) return this.#keys.serviceKey()
    const key = await this.#keys.extractionKeyOf(user)
    if (this.#kept.size >= mostKept) this.#kept.clear()
    this.#kept.set(user, { key, until: performance.now() + keptMs })
    return key
  }
}
