import { randomUUID } from 'node:crypto'
import { and, type Clock, CommitConflict, type DocumentStore, eq, range } from 'pounce/sdk'
import { idOfName, leaseRecords } from './kernel-records.ts'

/** A lease that this kernel holds. */
export interface Lease {
  readonly name: string
  readonly fence: number
}

const unlessConflict = async <T>(work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work
  } catch (error) {
    if (error instanceof CommitConflict) return undefined
    throw error
  }
}

/** Leases in the document store: of all kernels on one store, one holds a name at a time. */
export class Leases {
  readonly #documents: DocumentStore
  readonly #clock: Clock
  readonly #owner = randomUUID()

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents
    this.#clock = clock
  }

  /** Takes a lease for `forMs`, unless somebody holds it or its time has not come; then undefined. */
  async take(name: string, forMs: number): Promise<Lease | undefined> {
    const now = this.#clock.now()
    const held = { owner: this.#owner, until: new Date(now.getTime() + forMs).toISOString() }
    const id = idOfName(name)
    if (!(await this.#documents.get(leaseRecords, id))) {
      const insert = { id, name, ...held, notBefore: now.toISOString(), fence: 1 }
      const made = await unlessConflict(this.#documents.commit({ insert, into: leaseRecords }))
      return made ? { name, fence: 1 } : undefined
    }
    const isFree = and(range('until', { lte: now.toISOString() }), range('notBefore', { lte: now.toISOString() }))
    const taken = await unlessConflict(
      this.#documents.commit({ update: id, in: leaseRecords, where: isFree, set: held, inc: { fence: 1 } }),
    )
    return taken ? { name, fence: taken.fence } : undefined
  }

  /** Holds it for longer. False when it was lost meanwhile: stop at once. */
  async renew(lease: Lease, forMs: number): Promise<boolean> {
    const until = new Date(this.#clock.now().getTime() + forMs).toISOString()
    return (await this.#change(lease, { until })) !== undefined
  }

  /** Gives it back; nobody takes it for the next `restMs`. */
  async giveBack(lease: Lease, restMs = 0): Promise<void> {
    const now = this.#clock.now().getTime()
    await this.#change(lease, { until: new Date(now).toISOString(), notBefore: new Date(now + restMs).toISOString() })
  }

  #change(lease: Lease, set: Readonly<Record<string, string>>) {
    const where = and(eq('fence', lease.fence), eq('owner', this.#owner))
    return unlessConflict(this.#documents.commit({ update: idOfName(lease.name), in: leaseRecords, where, set }))
  }
}
