import type { DocumentStore, GroupRecord } from 'pounce/sdk'
import { groups } from './collection.ts'

type Memberships = GroupRecord['memberships']

/** Well below the second in which a change has to count. */
const freshMs = 500
const mostRemembered = 20_000
const mostAtOnce = 1000

/** What groups give, remembered for half a second: each group is read apart, so that it costs the same however many there are. */
export class CachedGroups {
  #documents: DocumentStore
  #known = new Map<string, { readonly since: number; readonly memberships: Promise<Memberships | undefined> }>()

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async of(ids: readonly string[]): Promise<ReadonlyMap<string, Memberships>> {
    const now = performance.now()
    const stale = ids.filter(id => now - (this.#known.get(id)?.since ?? Number.NEGATIVE_INFINITY) >= freshMs)
    for (let at = 0; at < stale.length; at += mostAtOnce) this.#read(stale.slice(at, at + mostAtOnce), now)
    const found = await Promise.all(ids.map(async id => [id, await this.#known.get(id)?.memberships] as const))
    return new Map(found.flatMap(([id, memberships]) => (memberships ? [[id, memberships] as const] : [])))
  }

  /** For a change made here, which counts here at once. */
  forget(id: string): void {
    this.#known.delete(id)
  }

  #read(ids: readonly string[], since: number): void {
    if (this.#known.size + ids.length > mostRemembered) this.#known.clear()
    const reading = this.#documents.getMany(groups, ids)
    for (const id of ids) {
      const memberships = reading.then(found => found.get(id)?.memberships)
      const read = { since, memberships }
      this.#known.set(id, read)
      memberships.catch(() => {
        if (this.#known.get(id) === read) this.#known.delete(id)
      })
    }
  }
}
