import {
  type After,
  and,
  anonymousUserId,
  BulkOperations,
  type Caller,
  Clock,
  CommitConflict,
  type Contributions,
  DocumentStore,
  eq,
  event,
  Ids,
  Invalid,
  isIn,
  type Kind,
  NotFound,
  type Page,
  type Ref,
  range,
  type Stored,
  signedIn,
  TooMany,
  wire,
} from 'pounce/sdk'
import { type BulkAct, type BulkOperation, type BulkParameters, personalRecords, removeFound } from 'pounce/sdk/kit'
import {
  type BulkChunkRecord,
  type BulkItem,
  type BulkJobRecord,
  type BulkSelection,
  bulkChunks,
  bulkJobs,
  chunkId,
  chunkSize,
} from './collections.ts'

type Job = BulkJobRecord & Stored

/** A request to create a bulk job. */
export interface NewBulkJob {
  readonly act: BulkAct
  readonly parameters: BulkParameters
  readonly of: readonly Ref[] | BulkSelection
}

const maxOpen = 20
const dayMs = 24 * 60 * 60 * 1000
/** Retention of finished jobs. */
const keptDays = 7
const insertBatchSize = 500
/** Maximum number of chunks read for one page of outcomes. */
const maxChunks = 50

/** Bulk jobs; each is visible to its creator only. */
export class BulkJobs {
  readonly #documents: DocumentStore
  readonly #operations: Contributions<BulkOperations>
  readonly #ids: Ids
  readonly #clock: Clock

  constructor(documents: DocumentStore, operations: Contributions<BulkOperations>, ids: Ids, clock: Clock) {
    this.#documents = documents
    this.#operations = operations
    this.#ids = ids
    this.#clock = clock
  }

  /** The job is durable when this resolves; it runs in the background. */
  async create(caller: Caller, { act, parameters, of }: NewBulkJob): Promise<Job> {
    const { id: user } = signedIn(caller)
    const refs = 'dataset' in of ? undefined : [...new Map(of.map(ref => [`${ref.kind} ${ref.id}`, ref])).values()]
    for (const kind of new Set(refs?.map(({ kind }) => kind) ?? ['file' as const])) this.operation(act, kind)
    await this.#requireRoom(user)
    const id = this.#ids.next()
    const job: BulkJobRecord = {
      ...{ user, superAdmin: caller.superAdmin, act, parameters, ...('dataset' in of ? { select: of } : {}) },
      ...{ state: 'preparing', total: refs?.length ?? null, next: 0, done: 0, failed: 0 },
      ...{ created: this.#clock.now().toISOString(), ended: null, expires: this.inDays(1), message: null },
    }
    await this.#documents.commit({ insert: { id, ...job }, into: bulkJobs })
    if (refs) await this.keep(id, 0, refs)
    const set = { state: refs ? 'running' : 'collecting', expires: null }
    return this.#documents.commit({ update: id, in: bulkJobs, set }, [
      event('bulk.requested', { kind: 'user', id: user }, { job: id }, user),
    ])
  }

  /** Throws `Invalid` for an operation that the kind does not support. */
  operation(act: BulkAct, kind: Kind): BulkOperation {
    for (const one of this.#operations.all()) {
      const operation = one.of(act, kind)
      if (operation) return operation
    }
    throw new Invalid(`${act} is not possible for resources of the type ${kind}`)
  }

  /** Stores resources of a job in chunks, starting with chunk `number`. Returns the number of chunks. */
  async keep(job: string, number: number, refs: readonly Ref[]): Promise<number> {
    const chunks: (BulkChunkRecord & { id: string })[] = []
    for (let at = 0; at < refs.length; at += chunkSize) {
      const items = refs.slice(at, at + chunkSize).map(({ kind: type, id }): BulkItem => ({ type, id, state: 'waiting' }))
      const own = number + chunks.length
      chunks.push({ id: chunkId(job, own), job, number: own, items, begun: 0, isDone: false })
    }
    for (let at = 0; at < chunks.length; at += insertBatchSize) {
      const some = chunks.slice(at, at + insertBatchSize).map(insert => ({ change: { insert, into: bulkChunks } }))
      for (const result of await this.#documents.commitEach(some)) if (!result.ok) throw result.error
    }
    return chunks.length
  }

  /** A job of the caller; throws `NotFound` for any other. */
  async get(id: string, caller: Caller): Promise<Job> {
    const job = await this.#documents.get(bulkJobs, id)
    if (job?.user !== signedIn(caller).id) throw new NotFound('bulk job')
    return job
  }

  /** Cancels a job of the caller. Completed work stays, and work in progress may still complete. No effect on a finished job. */
  async cancel(id: string, caller: Caller): Promise<Job> {
    const job = await this.get(id, caller)
    if (job.ended !== null) return job
    const set = { state: 'cancelled', ended: this.#clock.now().toISOString(), expires: this.inDays() } as const
    try {
      return await this.#documents.commit({
        update: id,
        in: bulkJobs,
        where: isIn('state', ['collecting', 'running']),
        set,
        unset: ['select'],
      })
    } catch (error) {
      if (error instanceof CommitConflict) return this.get(id, caller)
      throw error
    }
  }

  async isCancelled(id: string): Promise<boolean> {
    return (await this.#documents.get(bulkJobs, id))?.state === 'cancelled'
  }

  /** The caller's jobs, newest first. */
  of(caller: Caller, page: { readonly after?: After; readonly limit: number }): Promise<Page<Job>> {
    const where = eq('user', signedIn(caller).id)
    return this.#documents.find(bulkJobs, { using: 'byUser', where, sort: { by: 'created', order: 'descending' }, ...page })
  }

  /** Resources of a job, starting at a position, in order. A page can be short and have a `next`. */
  async outcomes(
    { id }: Job,
    { state, from, limit }: { readonly state?: BulkItem['state'] | undefined; readonly from: number; readonly limit: number },
  ): Promise<{ readonly items: readonly BulkItem[]; readonly next?: After }> {
    const where = and(eq('job', id), range('number', { gte: Math.floor(from / chunkSize) }))
    const sort = { by: 'number', order: 'ascending' } as const
    const chunks = await this.#documents.find(bulkChunks, { using: 'byJob', where, sort, limit: maxChunks })
    const found: BulkItem[] = []
    let position = from
    for (const { number, items } of chunks.items) {
      for (const item of items.slice(Math.max(0, from - number * chunkSize))) {
        if (found.length === limit) return { items: found, next: [position, id] }
        position += 1
        if (state === undefined || item.state === state) found.push(item)
      }
    }
    return chunks.next ? { items: found, next: [position, id] } : { items: found }
  }

  /** Deletes jobs whose retention has ended, and jobs whose creation was interrupted. */
  async run(signal: AbortSignal): Promise<void> {
    const where = range('expires', { lte: this.#clock.now().toISOString() })
    for await (const { id } of this.#documents.scan(bulkJobs, { using: 'byExpiry', where })) {
      if (signal.aborted) return
      await removeFound(this.#documents, bulkChunks, { using: 'byJob', where: eq('job', id), signal })
      if (!signal.aborted) await removeFound(this.#documents, bulkJobs, { using: 'byExpiry', where: and(where, eq('id', id)), signal })
    }
  }

  inDays(days = keptDays): string {
    return new Date(this.#clock.now().getTime() + days * dayMs).toISOString()
  }

  async #requireRoom(user: string): Promise<void> {
    const where = and(eq('user', user), isIn('state', ['preparing', 'collecting', 'running']))
    if ((await this.#documents.count(bulkJobs, { using: 'byState', where, upTo: maxOpen })) < maxOpen) return
    throw new TooMany(`You have ${maxOpen} unfinished bulk jobs already: wait until one has ended`, 30)
  }
}
wire(BulkJobs, DocumentStore, BulkOperations, Ids, Clock)

export const PersonalBulkJobs = personalRecords({
  name: 'bulk-jobs',
  summary: 'Your bulk jobs of the last week and their outcomes.',
  in: bulkJobs,
  find: ({ id }) => ({ using: 'byUser', where: eq('user', id) }),
  isOf: ({ user }, { id }) => user === id,
  show: ({ id, act, parameters, state, total, done, failed, created, ended }) => ({
    ...{ id, act, parameters, state, total, done, failed, created, ended },
  }),
  erase: () => ({ set: { user: anonymousUserId, parameters: {} } }),
})
