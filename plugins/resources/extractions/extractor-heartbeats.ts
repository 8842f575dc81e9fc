import { createHash } from 'node:crypto'
import { Log, Problem, Users, wire } from 'pounce/sdk'
import type { Heartbeat } from 'pounce/sdk/kit'
import { StoredExtractors } from './stored-extractors.ts'

/** How long a heartbeat that changed nothing or was refused is ignored. */
const ignoredMs = 60_000
const maxRecent = 2000

const nameIn = (info: unknown): string => {
  const name = typeof info === 'object' && info !== null && 'name' in info ? info.name : undefined
  return typeof name === 'string' ? name : JSON.stringify(name ?? null).slice(0, 100)
}

/**
 * Registers extractors from their heartbeats. Most of these change nothing, and with many extractors there are thousands per second: those
 * repeated within a minute cost no read. An extractor that an admin has deleted reappears with its next heartbeat after that.
 */
export class ExtractorHeartbeats {
  #extractors: StoredExtractors
  #users: Users
  #log: Log
  /** Digests of recent heartbeats, and until when they are ignored; oldest first. */
  #recent = new Map<string, number>()
  #changes = -1

  constructor(extractors: StoredExtractors, users: Users, log: Log) {
    this.#extractors = extractors
    this.#users = users
    this.#log = log
  }

  /** An invalid or refused heartbeat is only logged. */
  async received(heartbeat: Heartbeat): Promise<void> {
    const { info } = heartbeat
    // A digest of everything: a refused one may be corrected, and a private one changed, under the same version.
    const digest = createHash('sha256').update(JSON.stringify(heartbeat)).digest('base64')
    if (this.#isRecent(digest)) return
    try {
      await this.#register(heartbeat)
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error
      // Not its queue: the queue name of a private extractor contains its key.
      this.#log.warn('Invalid extractor registration ignored', {
        extractor: nameIn(info),
        reason: error.message,
      })
    }
    this.#addRecent(digest)
  }

  async #register({ info, owner, isBuiltIn }: Heartbeat): Promise<void> {
    const sent = this.#extractors.read(info)
    if (isBuiltIn) {
      await this.#extractors.register(sent, { via: 'builtIn', user: undefined, isAdmin: false })
      return
    }
    const account = sent.key === null || !owner ? undefined : await this.#users.byEmail(owner)
    // An unverified address proves nothing: anyone can enter it.
    const user = account?.isEmailUnverified ? undefined : account?.id
    if (sent.key !== null && user === undefined) {
      this.#log.warn('Private extractor without a known owner not registered', { extractor: sent.info.name })
      return
    }
    await this.#extractors.register(sent, { via: 'bus', user, isAdmin: false })
  }

  #isRecent(digest: string): boolean {
    const { changes } = this.#extractors
    if (changes !== this.#changes) {
      this.#recent.clear()
      this.#changes = changes
    }
    return (this.#recent.get(digest) ?? 0) > performance.now()
  }

  #addRecent(digest: string): void {
    this.#recent.delete(digest)
    this.#recent.set(digest, performance.now() + ignoredMs)
    for (const oldest of this.#recent.keys()) {
      if (this.#recent.size <= maxRecent) return
      this.#recent.delete(oldest)
    }
  }
}
wire(ExtractorHeartbeats, StoredExtractors, Users, Log)
