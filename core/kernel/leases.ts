import { randomUUID } from 'node:crypto'
import { and, type Clock, CommitConflict, type DocumentStore, eq, type Stored } from 'pounce/sdk'
import { idOfName, type LeaseRecord, leaseRecords } from './kernel-records.ts'

/** A lease that this kernel holds. */
export interface Lease {
  readonly name: string
  readonly fence: number
  /** How long it is good for after the start of the call that took or renewed it. */
  readonly forMs: number
  /** When that call began, on this machine's steady clock. */
  readonly since: number
}

/** A lease that is renewed until `end`. */
export interface HeldLease {
  /** Aborted when another kernel may have it: it was not renewed in time, or is lost. */
  readonly signal: AbortSignal
  end(): void
}

/** The result of a commit; undefined where its guard failed, or what it inserts is there. */
export const unlessConflict = async <T>(work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work
  } catch (error) {
    if (error instanceof CommitConflict) return undefined
    throw error
  }
}

/** Others wait this much longer than a holder continues, for steady clocks that do not run alike. */
const safetyMargin = 1.1

/**
 * Leases in the document store: of all kernels on one store, one holds a name at a time. Kernels do not compare their clocks: a lease that is not
 * released is free for another kernel when that has seen it unchanged for as long as it is good for.
 */
export class Leases {
  readonly #documents: DocumentStore
  readonly #clock: Clock
  readonly #steadyMs: () => number
  readonly #owner = randomUUID()
  /** Leases of others as they were seen first. */
  readonly #seen = new Map<string, { readonly revision: number; readonly at: number }>()

  constructor(documents: DocumentStore, clock: Clock, steadyMs: () => number = () => performance.now()) {
    this.#documents = documents
    this.#clock = clock
    this.#steadyMs = steadyMs
  }

  /** Takes a lease that is good for `forMs`, unless someone holds it or its time has not come; then undefined. */
  async take(name: string, forMs: number): Promise<Lease | undefined> {
    const since = this.#steadyMs()
    const now = this.#clock.now().toISOString()
    const id = idOfName(name)
    const known = await this.#documents.get(leaseRecords, id)
    if (!known) {
      const insert = { id, name, owner: this.#owner, forMs, notBefore: now, fence: 1 }
      const made = await unlessConflict(this.#documents.commit({ insert, into: leaseRecords }))
      return made && { name, fence: made.fence, forMs, since }
    }
    if (known.notBefore > now || (known.owner !== null && !this.#isLeft(known))) return undefined
    const set = { owner: this.#owner, forMs }
    const where = eq('revision', known.revision)
    const taken = await unlessConflict(this.#documents.commit({ update: id, in: leaseRecords, where, set, inc: { fence: 1 } }))
    return taken && { name, fence: taken.fence, forMs, since }
  }

  /** Holds it for as long again; undefined when it was lost meanwhile: stop at once. */
  async renew(lease: Lease): Promise<Lease | undefined> {
    const since = this.#steadyMs()
    // Any change raises the revision, which is what the others watch.
    return (await this.#change(lease, { forMs: lease.forMs })) && { ...lease, since }
  }

  /** Gives it back; no one takes it for the next `restMs`. */
  async giveBack(lease: Lease, restMs = 0): Promise<void> {
    await this.#change(lease, { owner: null, notBefore: new Date(this.#clock.now().getTime() + restMs).toISOString() })
  }

  /** Renews a lease again and again. A renewal that fails is `onTrouble`, and no harm while the next one comes in time. */
  hold(lease: Lease, onTrouble: (error: unknown) => void): HeldLease {
    const lost = new AbortController()
    const giveUp = (why: string): void => lost.abort(new Error(`The lease of ${lease.name} ${why}`))
    let held = lease
    let isAsking = false
    const tick = async (): Promise<void> => {
      // A paused process detects here, before any other call, that its lease has expired.
      if (this.#steadyMs() - held.since >= held.forMs) return giveUp('was not renewed in time')
      if (isAsking) return
      isAsking = true
      try {
        const renewed = await this.renew(held)
        if (renewed) held = renewed
        else giveUp('was lost')
      } catch (error) {
        onTrouble(error)
      } finally {
        isAsking = false
      }
    }
    const ticking = setInterval(() => void tick(), lease.forMs / 6).unref()
    return { signal: lost.signal, end: () => clearInterval(ticking) }
  }

  /** True of one that its holder has not touched for as long as it is good for. */
  #isLeft({ name, revision, forMs }: LeaseRecord & Stored): boolean {
    const seen = this.#seen.get(name)
    const now = this.#steadyMs()
    if (seen?.revision === revision) return now - seen.at >= forMs * safetyMargin
    this.#seen.set(name, { revision, at: now })
    return false
  }

  #change(lease: Lease, set: Readonly<Record<string, string | number | null>>) {
    const where = and(eq('fence', lease.fence), eq('owner', this.#owner))
    return unlessConflict(this.#documents.commit({ update: idOfName(lease.name), in: leaseRecords, where, set }))
  }
}
