import {
  type AnyEvent,
  and,
  type BatchHandler,
  CommitConflict,
  DocumentStore,
  eq,
  isIn,
  type Kind,
  range,
  type Transport,
  type Where,
  wire,
} from 'pounce/sdk'
import { type Job, removeDeadLetters, requireDone } from 'pounce/sdk/kit'
import type { Change } from 'pounce/sdk/store-kit'
import { busJobs, type JobRecord, type JobState, jobOf, type StoredJob } from './bus-jobs.ts'

const maxCounted = 10_000
const maxQueues = 1000
const batchSize = 1000
const resourceKinds: readonly Kind[] = ['file', 'dataset']

/** All changes of job records. Each is one conditional commit, so that of two kernels only one succeeds. */
export class RabbitJobRepository {
  #documents: DocumentStore
  #now: () => Date
  #lastPublishedMs = 0

  constructor(documents: DocumentStore, now: () => Date) {
    this.#documents = documents
    this.#now = now
  }

  /** Stores jobs; existing ones are left unchanged. For `heldMs` no other kernel sends them. Returns the new records. */
  async add(all: readonly Job[], heldMs: number): Promise<readonly StoredJob[]> {
    // Calls within one millisecond keep their order.
    this.#lastPublishedMs = Math.max(this.#now().getTime(), this.#lastPublishedMs + 1)
    const fresh = {
      state: 'unsent',
      published: new Date(this.#lastPublishedMs).toISOString(),
      due: this.#in(heldMs),
      isHeld: heldMs > 0,
      attempts: 0,
      putBack: 0,
      hasOwnKey: true,
      status: null,
      heard: null,
    } as const
    const results = await this.#documents.commitEach<JobRecord>(
      all.map(job => ({ change: { insert: { ...job, ...fresh }, into: busJobs } })),
    )
    const added: StoredJob[] = []
    for (const result of results) {
      if (result.ok) added.push(result.document)
      else if (!(result.error instanceof CommitConflict)) throw result.error
    }
    return added
  }

  get(id: string): Promise<StoredJob | undefined> {
    return this.#documents.get(busJobs, id)
  }

  /**
   * The oldest running job of an extractor on a resource, for replies without a job ID; otherwise a waiting one; otherwise a failed one, which an
   * old extractor may have requeued itself.
   */
  async underWay(targetId: string, extractor: string): Promise<StoredJob | undefined> {
    for (const kind of resourceKinds) {
      const where = and(eq('target.kind', kind), eq('target.id', targetId), isIn('state', ['unsent', 'sent', 'running', 'dead']))
      const page = await this.#documents.find(busJobs, {
        using: 'byTarget',
        where,
        sort: { by: 'published', order: 'ascending' },
        limit: 100,
      })
      const own = page.items.filter(
        ({ queue, reporter }) =>
          queue === extractor || reporter === extractor || (queue.startsWith('private.') && queue.endsWith(`.${extractor}`)),
      )
      const job = own.find(({ state }) => state === 'running') ?? own.find(({ state }) => state !== 'dead') ?? own.at(-1)
      if (job) return job
    }
    return undefined
  }

  /**
   * Claims jobs in a state that no kernel is processing, longest waiting first. `isHeld` is the previous value: true when the last holder ended
   * without recording a result.
   */
  async claim(state: 'unsent' | 'parked', limit: number, heldMs: number): Promise<readonly StoredJob[]> {
    const where = and(eq('state', state), range('due', { lte: this.#in(0) }))
    const page = await this.#documents.find(busJobs, {
      using: 'due',
      where,
      sort: { by: 'due', order: 'ascending' },
      limit: Math.min(limit, batchSize),
    })
    if (page.items.length === 0) return []
    const due = this.#in(heldMs)
    const results = await this.#documents.commitEach<JobRecord>(
      page.items.map(job => ({
        change: { update: job.id, in: busJobs, where: and(eq('state', state), eq('due', job.due)), set: { due, isHeld: true } },
      })),
    )
    return results.flatMap((result, at) => (result.ok ? [{ ...result.document, isHeld: page.items[at]?.isHeld ?? false }] : []))
  }

  /** Records that the broker has them. Those with a status from an extractor meanwhile are left unchanged. */
  async sent(ids: readonly string[]): Promise<void> {
    await this.#unsent(ids, { state: 'sent', isHeld: false })
  }

  /** Keeps unsent jobs for this kernel. */
  async hold(ids: readonly string[], heldMs: number): Promise<void> {
    await this.#unsent(ids, { due: this.#in(heldMs), isHeld: true })
  }

  /** Releases them to any kernel, from `inMs` on. */
  async postpone(ids: readonly string[], inMs: number): Promise<void> {
    await this.#unsent(ids, { due: this.#in(inMs), isHeld: false })
  }

  /** Moves a job to another state, due `inMs` from now, if its state has not changed. */
  become(
    job: StoredJob,
    state: JobState,
    changes: Partial<Pick<JobRecord, 'status' | 'reporter' | 'heard' | 'putBack' | 'attempts'>> = {},
    inMs = 0,
  ) {
    const set = { state, due: this.#in(inMs), isHeld: false, ...changes }
    return this.#commit({ update: job.id, in: busJobs, where: eq('state', job.state), set })
  }

  /** Deletes a job, whatever its state. False when it was absent. */
  async remove(id: string): Promise<boolean> {
    return (await this.#commit({ tombstone: id, in: busJobs })) !== undefined
  }

  /** Deletes a job that is neither sent nor being sent. False otherwise, also if its sender ended without a result: the broker may have it. */
  async removeUnsent(job: StoredJob): Promise<boolean> {
    if (job.isHeld) return false
    const where = and(eq('state', 'unsent'), eq('due', job.due))
    return (await this.#commit({ tombstone: job.id, in: busJobs, where })) !== undefined
  }

  async pending(target: Job['target']): ReturnType<Transport['pending']> {
    const where = and(eq('target.kind', target.kind), eq('target.id', target.id))
    const page = await this.#documents.find(busJobs, {
      using: 'byTarget',
      where,
      sort: { by: 'published', order: 'ascending' },
      limit: 1000,
    })
    return page.items.map(job => ({ job: jobOf(job), state: shown[job.state], attempts: job.attempts }))
  }

  /** Number of jobs in each queue that has any. */
  async counts(): Promise<ReadonlyMap<string, { readonly waiting: number; readonly running: number; readonly dead: number }>> {
    const counts = new Map<string, { waiting: number; running: number; dead: number }>()
    for (const state of Object.keys(shown) as JobState[]) {
      for await (const queue of this.queueNames(state)) {
        const count = counts.get(queue) ?? { waiting: 0, running: 0, dead: 0 }
        const where = and(eq('state', state), eq('queue', queue))
        count[shown[state]] += await this.#documents.count(busJobs, { using: 'byQueue', where, upTo: maxCounted })
        counts.set(queue, count)
      }
    }
    return counts
  }

  /** Jobs of a queue in a state, at most 1,000. */
  async inQueue(state: JobState, queue: string): Promise<readonly StoredJob[]> {
    const where = and(eq('state', state), eq('queue', queue))
    return (await this.#documents.find(busJobs, { using: 'byQueue', where, limit: 1000 })).items
  }

  /**
   * Names of queues with jobs in a state, at most 1,000. The port has no "distinct", so this jumps from one name to the next: one index
   * read each.
   */
  async *queueNames(state: JobState): AsyncIterable<string> {
    let last: string | undefined
    for (let found = 0; found < maxQueues; found++) {
      const where: Where = last === undefined ? eq('state', state) : and(eq('state', state), range('queue', { gt: last }))
      const page = await this.#documents.find(busJobs, { using: 'byQueue', where, sort: { by: 'queue', order: 'ascending' }, limit: 1 })
      last = page.items[0]?.queue
      if (last === undefined) return
      yield last
    }
  }

  /** Makes all jobs in state `sent` due `inMs` from now; their queues are searched before any of them is sent again. Returns their number. */
  async recheckSent(inMs: number): Promise<number> {
    let count = 0
    for await (const queue of this.queueNames('sent')) {
      for (let jobs = await this.inQueue('sent', queue); jobs.length > 0; jobs = await this.inQueue('sent', queue)) {
        const set = { state: 'unsent', due: this.#in(inMs), isHeld: true } as const
        const changes = jobs.map(({ id }) => ({ change: { update: id, in: busJobs, where: eq('state', 'sent'), set } }))
        requireDone(await this.#documents.commitEach<JobRecord>(changes))
        count += jobs.length
      }
    }
    return count
  }

  async #unsent(ids: readonly string[], set: Partial<Pick<JobRecord, 'state' | 'due' | 'isHeld'>>): Promise<void> {
    for (let at = 0; at < ids.length; at += batchSize) {
      const some = ids.slice(at, at + batchSize)
      const where = eq('state', 'unsent')
      const results = await this.#documents.commitEach<JobRecord>(some.map(id => ({ change: { update: id, in: busJobs, where, set } })))
      requireDone(results)
    }
  }

  async #commit(change: Change<JobRecord>): Promise<StoredJob | undefined> {
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

/** The states as named by the port. A parked job is on its way back into its queue. */
const shown = { unsent: 'waiting', sent: 'waiting', parked: 'waiting', running: 'running', dead: 'dead' } as const

/** Deletes the dead letters of deleted files and datasets: nobody can rerun or cancel them. */
export class DeleteDeadLettersOnTargetRemoved implements BatchHandler {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  handleAll(events: readonly AnyEvent[]): Promise<void> {
    return removeDeadLetters(this.#documents, busJobs, events)
  }
}
wire(DeleteDeadLettersOnTargetRemoved, DocumentStore)
