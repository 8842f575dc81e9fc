import {
  type AnyEvent,
  and,
  type BatchHandler,
  CommitConflict,
  DocumentStore,
  eq,
  range,
  type Transport,
  type Where,
  wire,
} from 'pounce/sdk'
import { type Job, type QueueStatistics, removeDeadLetters } from 'pounce/sdk/kit'
import type { Change } from 'pounce/sdk/store-kit'
import { type JobRecord, type JobState, jobOf, jobs, type StoredJob } from './jobs.ts'

const maxCounted = 10_000
const maxQueues = 1000
const states: readonly JobState[] = ['waiting', 'running', 'dead']
const inState = (state: JobState): Where => eq('state', state)

/** All changes of job records. Each is one conditional commit, so that of two workers only one succeeds. */
export class JobRepository {
  #documents: DocumentStore
  #now: () => Date

  constructor(documents: DocumentStore, now: () => Date) {
    this.#documents = documents
    this.#now = now
  }

  /** Stores jobs; existing ones are left unchanged. Returns the new records. */
  async add(all: readonly Job[]): Promise<readonly StoredJob[]> {
    const now = this.#now().toISOString()
    const fresh = {
      state: 'waiting',
      published: now,
      due: now,
      attempts: 0,
      crashes: 0,
      owner: null,
      leaseUntil: null,
      error: null,
    } as const
    const results = await this.#documents.commitEach<JobRecord>(all.map(job => ({ change: { insert: { ...job, ...fresh }, into: jobs } })))
    const added: StoredJob[] = []
    for (const result of results) {
      if (result.ok) added.push(result.document)
      else if (!(result.error instanceof CommitConflict)) throw result.error
    }
    return added
  }

  /** Waiting jobs of a queue in order, including those not yet due. */
  async waiting(queue: string, limit: number): Promise<{ readonly jobs: readonly StoredJob[]; readonly isAll: boolean }> {
    const where = and(inState('waiting'), eq('queue', queue))
    const page = await this.#documents.find(jobs, { using: 'due', where, sort: { by: 'due', order: 'ascending' }, limit })
    return { jobs: page.items, isAll: page.items.length < limit }
  }

  /** Claims a waiting job for a worker. Undefined when it has meanwhile been claimed, changed or cancelled. */
  claim(job: StoredJob, owner: string, leaseMs: number): Promise<StoredJob | undefined> {
    const now = this.#now().toISOString()
    return this.#commitIf({
      update: job.id,
      in: jobs,
      where: and(inState('waiting'), eq('due', job.due)),
      set: { state: 'running', owner, leaseUntil: this.#in(leaseMs), ...(job.published > now && { published: now }) },
      inc: { attempts: 1 },
    })
  }

  /** Renews the leases of a worker. Returns the IDs of the jobs that it has lost. */
  async renew(ids: readonly string[], owner: string, leaseMs: number): Promise<readonly string[]> {
    const leaseUntil = this.#in(leaseMs)
    const results = await this.#documents.commitEach<JobRecord>(
      ids.map(id => ({ change: { update: id, in: jobs, where: heldBy(owner), set: { leaseUntil } } })),
    )
    return ids.filter((_, at) => {
      const result = results[at]
      return result?.ok === false && result.error instanceof CommitConflict
    })
  }

  /** Ends a running job for good. */
  async finish(id: string, owner: string): Promise<void> {
    await this.#commitIf({ tombstone: id, in: jobs, where: heldBy(owner) })
  }

  /** Requeues a running job with a delay. `counts: false` does not count the attempt. */
  requeue(id: string, owner: string, options: { readonly inMs: number; readonly counts: boolean; readonly error: string | null }) {
    return this.#commitIf({
      update: id,
      in: jobs,
      where: heldBy(owner),
      set: { ...waiting(this.#in(options.inMs)), error: options.error },
      inc: { attempts: options.counts ? 0 : -1 },
    })
  }

  /** Makes a running job a dead letter. */
  async deadLetter(id: string, owner: string, error: string): Promise<void> {
    await this.#commitIf({ update: id, in: jobs, where: heldBy(owner), set: { state: 'dead', owner: null, leaseUntil: null, error } })
  }

  /**
   * Requeues jobs whose worker died: the lease has expired, or it is this worker's, which no longer holds the job: it is from
   * an earlier run of the server. Jobs with too many lost workers are dead-lettered once `report` has reported them: a crash may cause a second report.
   */
  async recover(options: {
    readonly owner: string
    readonly isHeld: (id: string) => boolean
    readonly maxCrashes: number
    readonly delayMs: number
    /** False when no listener accepted it: the job is then left for the next attempt. */
    readonly report: (job: StoredJob, error: string) => Promise<boolean>
  }): Promise<void> {
    const now = this.#now().toISOString()
    for await (const job of this.#documents.scan(jobs, { using: 'lease', where: inState('running') })) {
      const isFree = job.owner === options.owner || (job.leaseUntil ?? '') < now
      if (!isFree || job.owner === null || options.isHeld(job.id)) continue
      const crashes = job.crashes + 1
      const isOver = crashes >= options.maxCrashes
      const error = `The server ended during ${crashes} runs of this`
      if (isOver && !(await options.report(job, error))) continue
      const due = this.#in(crashes === 1 ? 0 : options.delayMs * 2 ** (crashes - 2))
      await this.#commitIf({
        update: job.id,
        in: jobs,
        where: and(heldBy(job.owner), eq('leaseUntil', job.leaseUntil)),
        set: { ...waiting(due), crashes, error, ...(isOver && { state: 'dead' }) },
      })
    }
  }

  /** Deletes a job that is not running. */
  async remove(id: string): ReturnType<Transport['cancel']> {
    for (;;) {
      const job = await this.#documents.get(jobs, id)
      if (!job) return 'unknown'
      if (job.state === 'running') return 'running'
      if (await this.#commitIf({ tombstone: id, in: jobs, where: inState(job.state) })) return 'cancelled'
    }
  }

  /** Requeues a dead-lettered job, as if it were new. */
  revive(id: string): Promise<StoredJob | undefined> {
    const now = this.#now().toISOString()
    return this.#commitIf({ update: id, in: jobs, where: inState('dead'), set: { ...waiting(now), attempts: 0, crashes: 0, error: null } })
  }

  async pending(target: Job['target']): ReturnType<Transport['pending']> {
    const where = and(eq('target.kind', target.kind), eq('target.id', target.id))
    const page = await this.#documents.find(jobs, { using: 'byTarget', where, sort: { by: 'published', order: 'ascending' }, limit: 1000 })
    return page.items.map(job => ({ job: jobOf(job), state: job.state, attempts: job.attempts }))
  }

  /** Number of jobs in each queue that has any, and in the given ones. */
  async queues(alsoNamed: readonly string[]): Promise<readonly Omit<QueueStatistics, 'consumers'>[]> {
    const names = new Set(alsoNamed)
    for (const state of states) for await (const name of this.#queueNames(state)) names.add(name)
    const sorted = [...names].sort().slice(0, maxQueues)
    return Promise.all(
      sorted.map(async queue => {
        const [waiting = 0, running = 0, dead = 0] = await Promise.all(states.map(state => this.#count(state, queue)))
        return { queue, waiting, running, dead }
      }),
    )
  }

  /** The port has no "distinct", so this jumps from one name to the next: one index read each. */
  async *#queueNames(state: JobState): AsyncIterable<string> {
    let last: string | undefined
    for (let found = 0; found < maxQueues; found++) {
      const where = last === undefined ? inState(state) : and(inState(state), range('queue', { gt: last }))
      const page = await this.#documents.find(jobs, { using: 'due', where, sort: { by: 'queue', order: 'ascending' }, limit: 1 })
      last = page.items[0]?.queue
      if (last === undefined) return
      yield last
    }
  }

  #count(state: JobState, queue: string): Promise<number> {
    return this.#documents.count(jobs, { using: 'due', where: and(inState(state), eq('queue', queue)), upTo: maxCounted })
  }

  async #commitIf(change: Change<JobRecord>): Promise<StoredJob | undefined> {
    try {
      return await this.#documents.commit(change)
    } catch (error) {
      if (error instanceof CommitConflict) return undefined
      throw error
    }
  }

  #in(ms: number): string {
    return new Date(this.#now().getTime() + ms).toISOString()
  }
}

const heldBy = (owner: string): Where => and(inState('running'), eq('owner', owner))

const waiting = (due: string) => ({ state: 'waiting', owner: null, leaseUntil: null, due })

/** Deletes the dead letters of deleted files and datasets: nobody can rerun or cancel them. */
export class DeleteDeadLettersOnTargetRemoved implements BatchHandler {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  handleAll(events: readonly AnyEvent[]): Promise<void> {
    return removeDeadLetters(this.#documents, jobs, events)
  }
}
wire(DeleteDeadLettersOnTargetRemoved, DocumentStore)
