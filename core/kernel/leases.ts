import { randomUUID } from 'node:crypto'
import { and, type Clock, type DocumentStore, eq, type Stored } from 'pounce/sdk'
import { unlessConflict } from 'pounce/sdk/kit'
import { idOfName, type LeaseRecord, leaseRecords } from './kernel-records.ts'

/** A lease that this kernel holds. */
export interface Lease {
  readonly name: string
  readonly fence: number
  /** Validity from the start of the call that took or renewed it, in milliseconds. */
  readonly forMs: number
  /** The start of that call, on this machine's monotonic clock. */
  readonly since: number
}

/** A lease that is renewed until `end`. */
export interface HeldLease {
  /** Aborted when another kernel may hold it: it was not renewed in time, or was lost. */
  readonly signal: AbortSignal
  end(): void
}

/** Other kernels wait longer than the holder by this factor, because monotonic clocks drift. */
const safetyMargin = 1.1

/**
 * Leases in the document store: at most one of all kernels on a store holds a name at a time. Kernels do not compare their clocks: another kernel
 * may take an unreleased lease when it has observed it unchanged for its period of validity.
 */
export class Leases {
  readonly #documents: DocumentStore
  readonly #clock: Clock
  readonly #monotonicMs: () => number
  readonly #owner = randomUUID()
  /** Leases of other kernels when their revision was first observed. */
  readonly #observed = new Map<string, { readonly revision: number; readonly at: number }>()

  constructor(documents: DocumentStore, clock: Clock, monotonicMs: () => number = () => performance.now()) {
    this.#documents = documents
    this.#clock = clock
    this.#monotonicMs = monotonicMs
  }

  /** Takes a lease for `forMs`; undefined if another kernel holds it or it is not due. */
  async take(name: string, forMs: number): Promise<Lease | undefined> {
    const since = this.#monotonicMs()
    const now = this.#clock.now()
    const id = idOfName(name)
    const known = await this.#documents.get(leaseRecords, id)
    if (!known) {
      const insert = { id, name, owner: this.#owner, forMs, notBefore: now.toISOString(), fence: 1 }
      const inserted = await unlessConflict(this.#documents.commit({ insert, into: leaseRecords }))
      return inserted && { name, fence: inserted.fence, forMs, since }
    }
    // A start further ahead than two periods is from before the clock was set back.
    const aheadMs = Date.parse(known.notBefore) - now.getTime()
    if ((aheadMs > 0 && aheadMs <= 2 * known.forMs) || (known.owner !== null && !this.#isAbandoned(known))) return undefined
    const set = { owner: this.#owner, forMs }
    const where = eq('revision', known.revision)
    const taken = await unlessConflict(this.#documents.commit({ update: id, in: leaseRecords, where, set, inc: { fence: 1 } }))
    return taken && { name, fence: taken.fence, forMs, since }
  }

  /** Renews it for the same period; undefined if it was lost in the meantime: stop immediately. */
  async renew(lease: Lease): Promise<Lease | undefined> {
    const since = this.#monotonicMs()
    // Any change increments the revision, which other kernels watch.
    return (await this.#change(lease, { forMs: lease.forMs })) && { ...lease, since }
  }

  /** Releases it; no kernel can take it for the next `restMs`. */
  async release(lease: Lease, restMs = 0): Promise<void> {
    await this.#change(lease, { owner: null, forMs: restMs, notBefore: new Date(this.#clock.now().getTime() + restMs).toISOString() })
  }

  /** Keeps renewing a lease. A failed renewal calls `onTrouble` and is harmless if the next one succeeds in time. */
  hold(lease: Lease, onError: (error: unknown) => void): HeldLease {
    const lost = new AbortController()
    const giveUp = (why: string): void => lost.abort(new Error(`The lease of ${lease.name} ${why}`))
    let current = lease
    let isRenewing = false
    const tick = async (): Promise<void> => {
      // A process that was suspended detects here, before any other call, that its lease has expired.
      if (this.#monotonicMs() - current.since >= current.forMs) return giveUp('was not renewed in time')
      if (isRenewing) return
      isRenewing = true
      try {
        const renewed = await this.renew(current)
        if (renewed) current = renewed
        else giveUp('was lost')
      } catch (error) {
        onError(error)
      } finally {
        isRenewing = false
      }
    }
    const timer = setInterval(() => void tick(), lease.forMs / 6).unref()
    return { signal: lost.signal, end: () => clearInterval(timer) }
  }

  /** True if its holder has not renewed it for its period of validity. */
  #isAbandoned({ name, revision, forMs }: LeaseRecord & Stored): boolean {
    const seen = this.#observed.get(name)
    const now = this.#monotonicMs()
    if (seen?.revision === revision) return now - seen.at >= forMs * safetyMargin
    this.#observed.set(name, { revision, at: now })
    return false
  }

  #change(lease: Lease, set: Readonly<Record<string, string | number | null>>) {
    const where = and(eq('fence', lease.fence), eq('owner', this.#owner))
    return unlessConflict(this.#documents.commit({ update: idOfName(lease.name), in: leaseRecords, where, set }))
  }
}
