import {
  and,
  authorize,
  type Caller,
  Clock,
  CommitConflict,
  type Contributions,
  DocumentStore,
  eq,
  event,
  Files,
  Folders,
  Log,
  type NewEvent,
  NotSignedIn,
  Policy,
  Problem,
  type Progress,
  ProgressListeners,
  type Ref,
  type Stored,
  type StoredEvent,
  Users,
  wire,
} from 'pounce/sdk'
import { type ProgressListener, removeFound, reportProgress } from 'pounce/sdk/kit'
import { BulkJobs } from './bulk-jobs.ts'
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
type Chunk = BulkChunkRecord & Stored

/** Number of resources of a chunk that are processed concurrently. */
const maxConcurrent = 8

/**
 * Runs bulk jobs in steps: the first may collect the resources, each further one processes a chunk of them. The commit that completes a
 * step adds the event for the next one, so a crash costs at most the current step, which is repeated.
 */
export class BulkRunner {
  readonly #documents: DocumentStore
  readonly #jobs: BulkJobs
  readonly #users: Users
  readonly #policy: Policy
  readonly #files: Files
  readonly #folders: Folders
  readonly #progress: Contributions<ProgressListener>
  readonly #clock: Clock
  readonly #log: Log

  constructor(
    documents: DocumentStore,
    jobs: BulkJobs,
    users: Users,
    policy: Policy,
    files: Files,
    folders: Folders,
    progress: Contributions<ProgressListener>,
    clock: Clock,
    log: Log,
  ) {
    this.#documents = documents
    this.#jobs = jobs
    this.#users = users
    this.#policy = policy
    this.#files = files
    this.#folders = folders
    this.#progress = progress
    this.#clock = clock
    this.#log = log
  }

  async handle({ data: { job: id } }: StoredEvent<'bulk.requested' | 'bulk.advanced'>): Promise<void> {
    const job = await this.#documents.get(bulkJobs, id)
    if (job?.state === 'collecting') await this.#collect(job)
    else if (job?.state === 'running') await this.#step(job)
    else if (job?.state === 'cancelled') this.#report(job, { state: 'failed', done: job.done + job.failed, message: 'Cancelled' })
  }

  async #collect(job: Job): Promise<void> {
    const { id, select } = job
    if (!select) return
    // Left by an interrupted collection; none of it was processed.
    await removeFound(this.#documents, bulkChunks, { using: 'byJob', where: eq('job', id) })
    try {
      await authorize(this.#policy, await this.#callerOf(job), 'ViewDataset', { kind: 'dataset', id: select.dataset })
    } catch (error) {
      if (!isRefusal(error)) throw error
      await this.#advance(job, { ...this.#ending('failed'), message: error.message })
      return
    }
    const total = await this.#keepAll(job, select)
    await this.#advance(job, { total, ...(total === 0 ? this.#ending('finished') : { state: 'running' }) }, ['select'])
  }

  async #keepAll({ id: job, act }: Job, select: BulkSelection): Promise<number> {
    let some: Ref[] = []
    let chunks = 0
    let total = 0
    const keep = async () => {
      total += some.length
      chunks += await this.#jobs.keep(job, chunks, some)
      some = []
    }
    const add = async (ref: Ref) => {
      some.push(ref)
      if (some.length === 10 * chunkSize) await keep()
    }
    // A copied tree includes its empty folders.
    if (act === 'copy' && select.recursive && !select.filter)
      for await (const id of this.#foldersBelow(select)) await add({ kind: 'folder', id })
    for await (const id of this.#selected(select)) await add({ kind: 'file', id })
    await keep()
    return total
  }

  async *#selected({ dataset, folder, recursive, filter = '', except }: BulkSelection): AsyncIterable<string> {
    const left = new Set(except)
    const text = filter.toLowerCase()
    const places = recursive ? await this.#below(dataset, folder) : new Set([folder ?? dataset])
    for await (const { id, name, places: own } of this.#files.ofDataset(dataset)) {
      const isInside = own.some(place => place.dataset === dataset && (places === undefined || places.has(place.in)))
      if (isInside && !left.has(id) && name.toLowerCase().includes(text)) yield id
    }
  }

  async *#foldersBelow({ dataset, folder }: BulkSelection): AsyncIterable<string> {
    const below = await this.#below(dataset, folder)
    for await (const { id } of this.#folders.ofDataset(dataset)) if (id !== folder && (below?.has(id) ?? true)) yield id
  }

  /** A folder and its descendants; undefined for the whole dataset. Reads the folders once, however deep they are nested. */
  async #below(dataset: string, folder: string | undefined): Promise<ReadonlySet<string> | undefined> {
    if (folder === undefined) return undefined
    const children = new Map<string, string[]>()
    for await (const { id, parent } of this.#folders.ofDataset(dataset)) {
      const siblings = children.get(parent.id)
      if (siblings) siblings.push(id)
      else children.set(parent.id, [id])
    }
    const found = new Set([folder])
    // Iteration of a set includes elements that are added meanwhile.
    for (const parent of found) for (const id of children.get(parent) ?? []) found.add(id)
    return found
  }

  async #step(job: Job): Promise<void> {
    const chunk = await this.#documents.get(bulkChunks, chunkId(job.id, job.next))
    if (!chunk) {
      await this.#advance(job, this.#ending('finished'))
      return
    }
    const { items } = chunk.isDone ? chunk : await this.#carryOut(job, chunk)
    const done = job.done + items.filter(({ state }) => state === 'done').length
    const failed = job.failed + items.filter(({ state }) => state === 'failed').length
    const isLast = done + failed === job.total
    await this.#advance(job, { done, failed, next: job.next + 1, ...(isLast ? this.#ending('finished') : {}) })
  }

  async #carryOut(job: Job, { id }: Chunk): Promise<Chunk> {
    const { items, begun } = await this.#documents.commit({ update: id, in: bulkChunks, inc: { begun: 1 } })
    const caller = await this.#callerNow(job)
    const outcomes: BulkItem[] = []
    for (let at = 0; at < items.length; at += maxConcurrent) {
      if (await this.#jobs.isCancelled(job.id)) {
        outcomes.push(...items.slice(at))
        break
      }
      const some = items.slice(at, at + maxConcurrent)
      outcomes.push(...(await Promise.all(some.map(item => this.#outcomeOf(job, item, caller, begun > 1)))))
      this.#report(job, { state: 'running', done: job.done + job.failed + outcomes.length })
    }
    return this.#documents.commit({ update: id, in: bulkChunks, set: { items: outcomes, isDone: true } })
  }

  /** A refusal is an outcome; while a store is unavailable the step waits. */
  async #outcomeOf(job: Job, { type, id }: BulkItem, caller: Caller | Problem, isRepeat: boolean): Promise<BulkItem> {
    try {
      if (caller instanceof Problem) throw caller
      await this.#jobs.operation(job.act, type)({ caller, parameters: job.parameters, job: job.id }, id)
      return { type, id, state: 'done' }
    } catch (error) {
      if (isRefusal(error)) {
        const isDeleted = isRepeat && job.act === 'delete' && (error.status === 404 || error.status === 409)
        return isDeleted ? { type, id, state: 'done' } : { type, id, state: 'failed', code: error.code, message: error.message }
      }
      if (error instanceof Problem) throw error
      this.#log.error('An operation of a bulk job failed', { job: job.id, act: job.act, type, id, error })
      return { type, id, state: 'failed', code: 'internal-error', message: 'Unexpected error; see the log of the server' }
    }
  }

  /** Completes a step, exactly once, and adds the event for the next one. */
  async #advance(job: Job, set: Partial<BulkJobRecord>, unset: readonly string[] = []): Promise<void> {
    const { id, user, revision } = job
    const next: NewEvent[] = set.ended ? [] : [event('bulk.advanced', { kind: 'user', id: user }, { job: id }, user)]
    try {
      const now = await this.#documents.commit({ update: id, in: bulkJobs, where: eq('revision', revision), set, unset }, next)
      const state = now.state === 'finished' || now.state === 'failed' ? now.state : 'running'
      this.#report(now, { state, done: now.done + now.failed, ...(now.message === null ? {} : { message: now.message }) })
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
      await this.#countCancelled(job, set)
    }
  }

  /** The last step of a cancelled job is still counted. Otherwise another kernel has counted the step. */
  async #countCancelled({ id, next }: Job, { done, failed }: Partial<BulkJobRecord>): Promise<void> {
    if (done === undefined || failed === undefined) return
    const where = and(eq('state', 'cancelled'), eq('next', next))
    try {
      await this.#documents.commit({ update: id, in: bulkJobs, where, set: { done, failed, next: next + 1 } })
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }

  #ending(state: 'finished' | 'failed'): Pick<BulkJobRecord, 'state' | 'ended' | 'expires'> {
    return { state, ended: this.#clock.now().toISOString(), expires: this.#jobs.inDays() }
  }

  async #callerNow(job: Job): Promise<Caller | Problem> {
    try {
      return await this.#callerOf(job)
    } catch (error) {
      if (isRefusal(error)) return error
      throw error
    }
  }

  /** Uses the current rights: a job can take long. */
  async #callerOf({ user: id, superAdmin }: Job): Promise<Caller> {
    const user = await this.#users.get(id)
    if (!user || user.status === 'Inactive') throw new NotSignedIn('Account is not activated')
    return { ...(await this.#users.callerOf(user)), superAdmin: superAdmin && user.status === 'Admin' }
  }

  #report({ id, user, act, total }: BulkJobRecord & { readonly id: string }, how: Pick<Progress, 'state' | 'done' | 'message'>): void {
    reportProgress(this.#progress, {
      activity: 'bulk',
      id,
      actor: user,
      unit: 'resources',
      message: act,
      ...(total === null ? {} : { total }),
      ...how,
    })
  }
}
wire(BulkRunner, DocumentStore, BulkJobs, Users, Policy, Files, Folders, ProgressListeners, Clock, Log)

const isRefusal = (error: unknown): error is Problem => error instanceof Problem && error.status < 500
