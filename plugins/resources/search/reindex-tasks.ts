import { randomUUID } from 'node:crypto'
import { and, Clock, collection, DocumentStore, eq, or, type Ref, range, type Stored, type Update, type Where, wire } from 'pounce/sdk'
import { unlessConflict } from 'pounce/sdk/kit'

/** One rebuild of the index, for everything or for one resource, shared by all kernels. */
export interface ReindexRecord {
  /** Null: everything. */
  readonly what: Ref | null
  /** Whether its contents are included. */
  readonly isRecursive: boolean
  readonly state: 'queued' | 'running' | 'done' | 'failed'
  /** The reason, as text. */
  readonly reason: string
  /** Times are ISO 8601. */
  readonly requested: string
  readonly started: string | null
  readonly ended: string | null
  /** Number of resources indexed so far. */
  readonly count: number
  /** Total number of resources; null while they are being counted. */
  readonly total: number | null
  /** The reason of a failure. */
  readonly problem: string | null
  /** For everything: `identity` of the index that it resulted in; absent until known. */
  readonly index?: string
  /** The kernel that runs it, and the end of its lease. */
  readonly owner: string | null
  readonly until: string | null
}

export const reindexRecords = collection<ReindexRecord>()('search.reindexing', { byState: { on: ['state'] } })

export type Reindexing = ReindexRecord & Stored

/** Duration of a kernel's lease. */
const leaseMs = 20_000
/** A lease that ends later is from before the clock was set back; clocks of kernels differ less. */
const maxLeaseMs = 2 * leaseMs
const everythingId = '000000000000000000000001'

/** Rebuild requests and the kernels that run them, in the document store, so that one of all kernels runs each. */
export class ReindexTasks {
  readonly #documents: DocumentStore
  readonly #clock: Clock
  readonly #owner = randomUUID()

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents
    this.#clock = clock
  }

  /** The latest request for everything, or for one resource. */
  get(what?: Ref): Promise<Reindexing | undefined> {
    return this.#documents.get(reindexRecords, what?.id ?? everythingId)
  }

  /** Whether a rebuild of everything is requested or running. */
  async isPending(): Promise<boolean> {
    const known = await this.get()
    return known !== undefined && this.#isPending(known)
  }

  /** Adds a request, unless it is already requested or running. */
  async request(what: Ref | null, isRecursive: boolean, reason: string): Promise<Reindexing> {
    const id = what?.id ?? everythingId
    const requested = this.#now()
    const fresh = {
      state: 'queued',
      isRecursive,
      reason,
      requested,
      started: null,
      ended: null,
      count: 0,
      total: null,
      problem: null,
    } as const
    const known = await this.#documents.get(reindexRecords, id)
    if (known && this.#isPending(known)) return known
    const task = known
      ? this.#documents.commit({
          update: id,
          in: reindexRecords,
          where: eq('revision', known.revision),
          set: { ...fresh, owner: null, until: null },
        })
      : this.#documents.commit({ insert: { id, what, ...fresh, owner: null, until: null }, into: reindexRecords })
    return (await unlessConflict(task)) ?? (await this.request(what, isRecursive, reason))
  }

  /** Acquires the lease; undefined when another kernel has it, or there is no request. */
  take(id: string): Promise<Reindexing | undefined> {
    const isOver = or(range('until', { lte: this.#now() }), range('until', { gt: this.#in(maxLeaseMs) }))
    const isLeft = and(eq('state', 'running'), isOver)
    const set = { state: 'running', owner: this.#owner, until: this.#in(leaseMs), started: this.#now(), count: 0, total: null }
    return this.#change(id, or(eq('state', 'queued'), isLeft), { set })
  }

  /** Stores the progress and renews the lease. False when another kernel has acquired it: stop. */
  async renew(id: string, count: number, total: number | null): Promise<boolean> {
    return (await this.#change(id, this.#isOurs(), { set: { until: this.#in(leaseMs), count, total } })) !== undefined
  }

  /** Ends it. */
  async end(id: string, how: Pick<ReindexRecord, 'state' | 'count' | 'total' | 'problem' | 'index'>): Promise<void> {
    await this.#change(id, this.#isOurs(), { set: { ...how, ended: this.#now(), owner: null, until: null } })
  }

  /** Notes the index in use, unless the latest request for everything has changed. False if it has. */
  async noteIndex({ id, revision }: Reindexing, index: string): Promise<boolean> {
    return (await this.#change(id, eq('revision', revision), { set: { index } })) !== undefined
  }

  /** Releases the lease. */
  async release(id: string): Promise<void> {
    await this.#change(id, this.#isOurs(), { set: { state: 'queued', owner: null, until: null } })
  }

  /** Requests without a lease. */
  async waiting(): Promise<readonly Reindexing[]> {
    const found: Reindexing[] = []
    for (const state of ['queued', 'running'] as const) {
      const { items } = await this.#documents.find(reindexRecords, { using: 'byState', where: eq('state', state), limit: 100 })
      found.push(...items.filter(item => state === 'queued' || !this.#isAlive(item)))
    }
    return found
  }

  #change(id: string, where: Where, update: Update): Promise<Reindexing | undefined> {
    return unlessConflict(this.#documents.commit({ update: id, in: reindexRecords, where, ...update }))
  }

  #isOurs(): Where {
    return and(eq('state', 'running'), eq('owner', this.#owner))
  }

  #isPending(known: Reindexing): boolean {
    return known.state === 'queued' || this.#isAlive(known)
  }

  #isAlive({ state, until }: Reindexing): boolean {
    return state === 'running' && until !== null && until > this.#now() && until <= this.#in(maxLeaseMs)
  }

  #now(): string {
    return this.#clock.now().toISOString()
  }

  #in(ms: number): string {
    return new Date(this.#clock.now().getTime() + ms).toISOString()
  }
}
wire(ReindexTasks, DocumentStore, Clock)
