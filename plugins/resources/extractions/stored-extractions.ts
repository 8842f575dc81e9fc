import {
  type AnyEvent,
  and,
  type BatchHandler,
  Clock,
  CommitConflict,
  DocumentStore,
  eq,
  event,
  isIn,
  type JobRecords,
  type Kind,
  type NewEvent,
  type Page,
  type Ref,
  type ReportedRuns,
  range,
  type Stored,
  wire,
} from 'pounce/sdk'
import { type JobDetails, type JobStatus, type ReportedRun, referencedIds, removeFound } from 'pounce/sdk/kit'
import { type ExtractionRecord, extractions, type RunState, type StatusLine } from './collections.ts'
import { normalizeStatus, outcomeOf, submitted, withLine } from './run-state.ts'

export type ExtractionRun = ExtractionRecord & Stored
/** A resource that extractors run on. */
export type Target = Ref & { readonly kind: 'file' | 'dataset' }

const newestFirst = { by: 'start', order: 'descending' } as const

/** The requested runs and their results. */
export class StoredExtractions {
  #documents: DocumentStore
  #clock: Clock

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents
    this.#clock = clock
  }

  get(id: string): Promise<ExtractionRun | undefined> {
    return this.#documents.get(extractions, id)
  }

  /** The latest runs on a resource, newest first; a thousand by default. */
  of(target: { readonly id: string }, limit = 1000): Promise<Page<ExtractionRun>> {
    return this.#documents.find(extractions, { using: 'byTarget', where: eq('target.id', target.id), sort: newestFirst, limit })
  }

  /** Which of up to a thousand resources have an open run; reads at most a thousand open runs. */
  async openOn(targets: readonly string[]): Promise<ReadonlySet<string>> {
    const where = and(isIn('target.id', targets), eq('state', 'open'))
    const { items } = await this.#documents.find(extractions, { using: 'byTarget', where, limit: 1000 })
    return new Set(items.map(run => run.target.id))
  }

  /**
   * The state of up to a thousand resources: an open run, otherwise that the latest run of an extractor failed. Resources with neither are
   * absent.
   */
  async statesOn(targets: readonly string[]): Promise<ReadonlyMap<string, ExtractionRun>> {
    const byId = new Map<string, ExtractionRun>()
    const failed = new Set<string>()
    for await (const run of this.#runsOn(targets, ['open', 'failed'])) {
      if (run.state === 'open') byId.set(run.target.id, run)
      else failed.add(run.target.id)
    }
    const newest = new Map<string, ExtractionRun>()
    for await (const run of this.#runsOn([...failed].filter(id => !byId.has(id)))) {
      const key = `${run.target.id} ${run.extractor}`
      const known = newest.get(key)
      if (!known || known.start < run.start) newest.set(key, run)
    }
    for (const run of newest.values()) if (run.state === 'failed') byId.set(run.target.id, run)
    return byId
  }

  /** Reads at most ten thousand runs, which bounds the cost for resources with very many. */
  async *#runsOn(targets: readonly string[], states?: readonly RunState[]): AsyncIterable<ExtractionRun> {
    if (targets.length === 0) return
    const on = isIn('target.id', targets)
    const where = states ? and(on, isIn('state', states)) : on
    let after: Page<ExtractionRun>['next']
    for (let page = 0; page < 10; page++) {
      const { items, next } = await this.#documents.find(extractions, {
        using: 'byTarget',
        where,
        limit: 1000,
        ...(after ? { after } : {}),
      })
      yield* items
      if (!next) return
      after = next
    }
  }

  /** The latest runs of all users in these states, newest first. */
  async newest(states: readonly RunState[], limit: number): Promise<readonly ExtractionRun[]> {
    const query = { using: 'byState', where: isIn('state', states), sort: newestFirst, limit } as const
    return (await this.#documents.find(extractions, query)).items
  }

  /** The latest runs of a queue since a time, newest first; in one state, if given. */
  async ofQueue(queue: string, since: Date, limit: number, state?: RunState): Promise<readonly ExtractionRun[]> {
    const where = and(eq('queue', queue), range('start', { gte: since.toISOString() }), ...(state ? [eq('state', state)] : []))
    return (await this.#documents.find(extractions, { using: 'byQueue', where, sort: newestFirst, limit })).items
  }

  /** The open runs of a queue, oldest first. */
  openOfQueue(queue: string): AsyncIterable<ExtractionRun> {
    const where = and(eq('queue', queue), eq('state', 'open'))
    return this.#documents.scan(extractions, { using: 'byQueue', where, sort: { by: 'start', order: 'ascending' } })
  }

  /** Number of runs requested of a queue since a time, counted up to 100,000. */
  countOfQueue(queue: string, since: Date): Promise<number> {
    const where = and(eq('queue', queue), range('start', { gte: since.toISOString() }))
    return this.#documents.count(extractions, { using: 'byQueue', where, upTo: 100_000 })
  }

  /**
   * Adds a status to its run. Statuses may be repeated and arrive in any order. Resolves to the run as it was before; undefined for an
   * unknown run.
   */
  async addStatus({ jobId, targetId, extractor, status, at }: JobStatus): Promise<ExtractionRun | undefined> {
    const run = jobId === undefined ? await this.#newestOpen(targetId, extractor) : await this.get(jobId)
    if (run) await this.#addLine(run.id, { status: normalizeStatus(status), at: at.toISOString(), heard: this.#clock.now().toISOString() })
    return run
  }

  /** Adds a status of the server itself to a run, such as `Cancel Success`. */
  async addServerStatus(id: string, status: string): Promise<void> {
    await this.#addLine(id, { status, at: this.#clock.now().toISOString() })
  }

  /** Reopens a failed run. No effect if a status message arrived since `run` was read. */
  async reopen(run: ExtractionRun, user: string): Promise<void> {
    const line = { status: submitted, at: this.#clock.now().toISOString() }
    const { id, target, extractor } = run
    const resubmitted = event('extraction.submitted', { kind: 'job', id }, { target, extractor, trigger: 'manual' }, user)
    await this.#write(run, [...run.lines, line].slice(-100), [resubmitted])
  }

  /** Deletes the runs on a deleted resource. */
  async removeOf(target: { readonly kind: Kind; readonly id: string }): Promise<void> {
    await removeFound(this.#documents, extractions, { using: 'byTarget', where: eq('target.id', target.id), sort: newestFirst })
  }

  /** Old extractors do not specify the run. */
  async #newestOpen(target: string, extractor: string): Promise<ExtractionRun | undefined> {
    return (await this.of({ id: target })).items.find(run => run.extractor === extractor && run.state === 'open')
  }

  async #addLine(id: string, line: StatusLine): Promise<void> {
    for (;;) {
      const run = await this.get(id)
      // DONE is final: later messages are ignored.
      if (!run || run.state === 'done') return
      const lines = withLine(run.lines, line)
      if (!lines || (await this.#write(run, lines))) return
    }
  }

  #endReceived({ state, end, endHeard }: ExtractionRun, next: RunState): string | null {
    if (next === 'open') return null
    return state === 'open' ? this.#clock.now().toISOString() : (endHeard ?? end)
  }

  async #write(run: ExtractionRun, lines: readonly StatusLine[], events: readonly NewEvent[] = []): Promise<boolean> {
    const outcome = outcomeOf(lines)
    const isOver = outcome.state !== 'open' && outcome.state !== run.state
    const { target, extractor } = run
    const ended = { target, extractor, ...(outcome.state !== 'open' && { state: outcome.state }) }
    const statusEvent = event('extraction.status', { kind: 'job', id: run.id }, ended)
    const change = {
      update: run.id,
      in: extractions,
      where: eq('revision', run.revision),
      set: { ...outcome, lines, endHeard: this.#endReceived(run, outcome.state) },
    } as const
    try {
      await this.#documents.commit(change, isOver ? [...events, statusEvent] : events)
      return true
    } catch (error) {
      if (error instanceof CommitConflict) return false
      throw error
    }
  }
}
wire(StoredExtractions, DocumentStore, Clock)

/** Reads runs to check the keys of jobs: a run has the id of its job. */
export class JobRecordsOfRuns implements JobRecords {
  #extractions: StoredExtractions

  constructor(extractions: StoredExtractions) {
    this.#extractions = extractions
  }

  async details(jobId: string): Promise<JobDetails | undefined> {
    const run = await this.#extractions.get(jobId)
    if (!run) return undefined
    const { target, user, extractor, state, end, endHeard = end, keysUntil } = run
    return {
      target,
      user,
      extractor,
      state: state === 'open' || state === 'cancelled' ? state : 'ended',
      ...(endHeard == null ? {} : { endedAt: new Date(endHeard) }),
      ...(keysUntil === undefined ? {} : { keysUntil: new Date(keysUntil) }),
    }
  }
}
wire(JobRecordsOfRuns, StoredExtractions)

/** The stored runs, for reports. */
export class StoredRunReports implements ReportedRuns {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  between(since: string | undefined, until: string | undefined): AsyncIterable<ReportedRun> {
    const bounds = { ...(since === undefined ? {} : { gte: since }), ...(until === undefined ? {} : { lte: until }) }
    const where = Object.keys(bounds).length > 0 ? { where: range('start', bounds) } : {}
    return this.#documents.scan(extractions, { using: 'byStart', ...where })
  }
}
wire(StoredRunReports, DocumentStore)

/** Deletes runs with their target. */
export class DeleteRunsOnTargetRemoved implements BatchHandler {
  #documents: DocumentStore
  #extractions: StoredExtractions

  constructor(documents: DocumentStore, stored: StoredExtractions) {
    this.#documents = documents
    this.#extractions = stored
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    const removed = events.map(({ subject }) => subject.id)
    const withRuns = await referencedIds(
      this.#documents,
      extractions,
      { using: 'byTarget', field: 'target.id', of: one => one.target.id },
      removed,
    )
    for (const { subject } of events) if (withRuns.has(subject.id)) await this.#extractions.removeOf(subject)
  }
}
wire(DeleteRunsOnTargetRemoved, DocumentStore, StoredExtractions)
