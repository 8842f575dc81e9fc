import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type BlobStore, type Extractor, type Log, Unavailable } from 'pounce/sdk'
import type { TransportListener } from 'pounce/sdk/kit'
import type { QueueConfig } from './config.ts'
import { decideOnFailure, type FailureDecision, isFailure } from './failure-policy.ts'
import { inputFile } from './input-file.ts'
import type { JobRepository } from './job-repository.ts'
import { jobOf, type StoredJob } from './jobs.ts'
import { takeOutput } from './output.ts'
import type { ProcessPool } from './process-pool.ts'
import { removeFolder } from './remove-folder.ts'
import { withRetry } from './retry.ts'
import { RunFailure } from './run-failure.ts'
import { StatusUpdates } from './status-updates.ts'

/** What all runs of a worker share. */
export interface RunContext {
  readonly repository: JobRepository
  readonly blobs: BlobStore
  readonly pool: ProcessPool
  readonly listener: TransportListener
  readonly log: Log
  readonly now: () => Date
  readonly config: QueueConfig
  /** Name of this worker in leases. */
  readonly owner: string
  /** Folder for the files of runs. */
  readonly folder: string
  /** Aborted when the worker stops. */
  readonly stopping: AbortSignal
  /** Called for finished or cancelled jobs, so that they are not published again. */
  readonly onEnded: (jobId: string) => void
}

/** How a run ended. `unclaimed`: another worker had the job. `lost`: another worker took it over, or the store failed to record the end. */
export type RunEnd = FailureDecision['end'] | 'unclaimed' | 'lost'

/** Why a run is ended from outside. */
type Interruption = 'cancelled' | 'stopping' | 'lost'

const unavailableMs = 60_000
const cancelWaitMs = 4000
const stopGraceMs = 3000

/** One attempt at a job, from claiming it to recording its result. */
export class JobRun {
  readonly job: StoredJob
  /** Resolves when the end is recorded; never rejects. */
  readonly ended: Promise<RunEnd>
  /** Resolves when the extractor has ended, so that another may start. */
  readonly executed: Promise<void>
  #extractor: Extractor
  #context: RunContext
  #control = new AbortController()
  #interruption: Interruption | undefined
  #isDelivering = false
  #markExecuted: () => void
  #folder: string
  #inputPath = ''

  constructor(job: StoredJob, extractor: Extractor, context: RunContext) {
    this.job = job
    this.#extractor = extractor
    this.#context = context
    this.#folder = join(context.folder, randomUUID())
    const { promise, resolve } = Promise.withResolvers<void>()
    this.executed = promise
    this.#markExecuted = resolve
    this.ended = this.#run()
  }

  /** Stops it, unless its result is being stored. `undefined` when it ended otherwise: the job's record then has the result. */
  async cancel(): Promise<'cancelled' | 'running' | undefined> {
    if (this.#isDelivering) return 'running'
    this.#interrupt('cancelled')
    const end = await Promise.race([this.ended, pause(cancelWaitMs, 'late' as const, { ref: false })])
    if (end === 'late') throw new Unavailable('The job was stopped, but its status is not recorded yet')
    return end === 'cancelled' ? 'cancelled' : undefined
  }

  /** Ends it and requeues the job. A result that is being stored gets a moment to finish, rather than being computed again. */
  async stop(): Promise<void> {
    if (this.#isDelivering) await Promise.race([this.ended, pause(stopGraceMs, undefined, { ref: false })])
    this.#interrupt('stopping')
    await this.ended
  }

  /** Ends it without reporting, since another worker has the job. */
  abandon(): void {
    this.#interrupt('lost')
  }

  #interrupt(why: Interruption): void {
    this.#interruption ??= why
    this.#control.abort(new Error(`The run was interrupted: ${why}`))
  }

  async #run(): Promise<RunEnd> {
    const { repository, owner, config, log } = this.#context
    try {
      const job = await repository.claim(this.job, owner, config.leaseMs)
      if (!job) return 'unclaimed'
      return await this.#attempt(job)
    } catch (error) {
      // The lease is not renewed any more, so the job will be found and requeued.
      log.error('Failed to claim a job or to record its end', { job: this.job.id, queue: this.job.queue, error })
      return 'lost'
    } finally {
      this.#markExecuted()
      await removeFolder(this.#folder, log)
    }
  }

  async #attempt(job: StoredJob): Promise<RunEnd> {
    const { listener, log, now } = this.#context
    const about = { jobId: job.id, targetId: job.target.id, extractor: this.#extractor.info.name }
    const unreported = (error: unknown): void => {
      if (this.#interruption === undefined) log.warn('Failed to report a status', { job: job.id, error })
    }
    const status = new StatusUpdates(listener, about, { now, signal: this.#control.signal, unreported })
    let runResult: FailureDecision
    try {
      await this.#work(job, status)
      runResult = { end: 'done' }
    } catch (error) {
      const { retryDelayMs } = this.#context.config
      runResult = decideOnFailure(error, this.#interruption, { job, now: now(), retryDelayMs, paths: this.#internalPaths() })
      // For a file that an extractor rejects, and for an interruption, the message is sufficient: the stacks are ours.
      const isRefused = error instanceof RunFailure && (error.kind === 'refused' || error.kind === 'full')
      const shown = error instanceof Error && (isRefused || !isFailure(runResult)) ? error.message : error
      const { id, queue, attempts: attempt, target } = job
      const details = { job: id, queue, [target.kind]: target.id, attempt, end: runResult.end, error: shown }
      if (isFailure(runResult)) log.warn('Extractor failed', details)
      else log.info('Extraction interrupted', details)
    } finally {
      this.#markExecuted()
    }
    return this.#settle(job, runResult, status)
  }

  async #work(job: StoredJob, status: StatusUpdates): Promise<void> {
    const { blobs, config, listener, pool } = this.#context
    const { signal } = this.#control
    const retryPolicy = { signal, tries: 1, delayMs: 200, unavailableMs }
    status.enqueue('StatusMessage.start: Started processing.')
    const source = await withRetry(() => listener.input(job.target), retryPolicy)
    if (!source)
      return this.#skip(status, job.target.kind === 'file' ? 'The file no longer exists.' : 'This extractor processes files only.')
    const outputFolder = join(this.#folder, 'output')
    await mkdir(outputFolder, { recursive: true })
    const limits = { maxBytes: config.maxSpoolBytes, signal }
    const path = await withRetry(() => inputFile(blobs, source, join(this.#folder, 'input'), limits), retryPolicy)
    this.#inputPath = path
    const { filename, contentType, sizeBytes } = source
    const { module, timeoutMs, info } = this.#extractor
    const input = { path, filename, contentType, sizeBytes, outputFolder, parameters: job.parameters }
    const progress = (message: string): void => status.progress(message)
    const runLimits = { timeoutMs, signal, progress }
    const output = await pool.run(this.#extractor, { module: module.href, input }, runLimits, (text, from) =>
      takeOutput(text, { from, to: outputFolder, maxOutputBytes: config.maxOutputBytes }),
    )
    this.#markExecuted()
    signal.throwIfAborted()
    this.#isDelivering = true
    await withRetry(() => listener.result({ job: jobOf(job), info, output, outputFolder }), retryPolicy)
    if (output.skipped !== undefined) return this.#skip(status, output.skipped)
    await status.send('DONE')
  }

  /** Skipped is reported before done, which ends the job for everyone who waits. */
  async #skip(status: StatusUpdates, why: string): Promise<void> {
    status.enqueue(`StatusMessage.skip: ${why}`)
    await status.send('DONE')
  }

  async #settle(job: StoredJob, runResult: FailureDecision, status: StatusUpdates): Promise<RunEnd> {
    const { repository, owner, stopping, log } = this.#context
    if (runResult.end === 'lost') return 'lost'
    if (runResult.end !== 'done') this.#isDelivering = false
    if (runResult.end === 'waiting' && runResult.status !== undefined) status.enqueue(runResult.status)
    if (runResult.end === 'dead')
      await status.send(runResult.status).catch(error => log.warn('Failed to report an error', { job: job.id, error }))
    if (runResult.end === 'done' || runResult.end === 'cancelled') this.#context.onEnded(job.id)
    const record = (): Promise<unknown> => {
      if (runResult.end === 'dead') return repository.deadLetter(job.id, owner, runResult.error)
      if (runResult.end === 'waiting') return repository.requeue(job.id, owner, runResult)
      return repository.finish(job.id, owner)
    }
    // One attempt even when the worker stops: it is what requeues the job.
    await record().catch(() => withRetry(record, { signal: stopping, tries: 5, delayMs: 500, unavailableMs: Number.POSITIVE_INFINITY }))
    this.#isDelivering = false
    return runResult.end
  }

  /** Internal paths, which mean nothing to users and must not be disclosed. */
  #internalPaths(): ReadonlyMap<string, string> {
    return new Map([
      [join(this.#folder, 'output'), 'output'],
      ...(this.#inputPath === '' ? [] : [[this.#inputPath, 'input'] as const]),
      [this.#folder, 'run'],
    ])
  }
}
