import { and, Clock, CommitConflict, DocumentStore, eq, range, removeFound, type Stored, TooMany, wire } from 'pounce/sdk'
import { type TriesRecord, tries } from '../collections.ts'
import { sha256 } from '../keys/secrets.ts'

const windowMs = 15 * 60_000
/** Each lost race means that another try was counted, so only a storm comes near. */
const maxRaces = 1000

/** Tries in a window that is open. */
export interface Counted {
  readonly count: number
  readonly leftMs: number
}

/** The refusal at a door that opens again in so many milliseconds. */
export const tooMany = (leftMs: number): TooMany => new TooMany('Too many attempts; try again later', Math.max(1, Math.ceil(leftMs / 1000)))

/** Counts tries that kernels share. A window begins with its first try; while a door is shut, nothing is written any more. */
export class LoginAttempts {
  #documents: DocumentStore
  #clock: Clock

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents
    this.#clock = clock
  }

  /** Counts a try for a key, of which at most `limit` are free in 15 minutes; `TooMany`, saying how long to wait, beyond that. */
  async take(key: string, limit: number): Promise<void> {
    const id = idOf(key)
    for (let race = 0; race < maxRaces; race += 1) {
      const now = this.#clock.now()
      const isOpen = and(range('until', { gt: now.toISOString() }), range('count', { lt: limit }))
      try {
        await this.#documents.commit({ update: id, in: tries, where: isOpen, inc: { count: 1 } })
        return
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error
        if (await this.#begins(id, now, limit)) return
      }
    }
    throw tooMany(windowMs)
  }

  /** Counts a try of which one is free; false when it was another one before. */
  async isFirst(key: string): Promise<boolean> {
    try {
      await this.take(key, 1)
      return true
    } catch (error) {
      if (error instanceof TooMany) return false
      throw error
    }
  }

  /** What is counted for keys at the moment; those without an open window are left out. */
  async look(keys: readonly string[]): Promise<ReadonlyMap<string, Counted>> {
    const now = this.#clock.now().getTime()
    const held = await this.#documents.getMany(tries, keys.map(idOf))
    const open = new Map<string, Counted>()
    for (const key of keys) {
      const found = held.get(idOf(key))
      const leftMs = found ? Date.parse(found.until) - now : 0
      if (found && leftMs > 0) open.set(key, { count: found.count, leftMs })
    }
    return open
  }

  /** Takes all tries back. */
  async forget(key: string): Promise<void> {
    await unlessMoved(this.#documents.commit({ tombstone: idOf(key), in: tries }))
  }

  /** Remembers a key for a while from now on. */
  async mark(key: string, forMs: number): Promise<void> {
    const id = idOf(key)
    const now = this.#clock.now().getTime()
    const held = await this.#documents.get(tries, id)
    const mark: TriesRecord = { count: 0, until: new Date(now + forMs).toISOString() }
    await unlessMoved(
      this.#documents.commit(held ? { replace: { ...held, ...mark }, in: tries } : { insert: { id, ...mark }, into: tries }),
    )
  }

  /** Removes windows that are over. */
  async sweep(signal: AbortSignal): Promise<void> {
    const where = range('until', { lte: this.#clock.now().toISOString() })
    await removeFound(this.#documents, tries, { using: 'byEnd', where, guard: ({ revision }) => eq('revision', revision), signal })
  }

  /** True when a window has begun with this try; `TooMany` when one is open and full; false when somebody else was faster. */
  async #begins(id: string, now: Date, limit: number): Promise<boolean> {
    const open = await this.#documents.get(tries, id)
    const leftMs = open ? Date.parse(open.until) - now.getTime() : 0
    if (open && leftMs > 0) {
      if (open.count >= limit) throw tooMany(leftMs)
      return false
    }
    const first: TriesRecord = { count: 1, until: new Date(now.getTime() + windowMs).toISOString() }
    return unlessMoved(
      this.#documents.commit(open ? { replace: { ...open, ...first }, in: tries } : { insert: { id, ...first }, into: tries }),
    )
  }
}
wire(LoginAttempts, DocumentStore, Clock)
/** Keys are e-mail and network addresses, which need not be readable in the store. */
const idOf = (key: string): string => sha256(key)

/** False when somebody else has changed the document meanwhile. */
const unlessMoved = async (commit: Promise<TriesRecord & Stored>): Promise<boolean> => {
  try {
    await commit
    return true
  } catch (error) {
    if (!(error instanceof CommitConflict)) throw error
    return false
  }
}
