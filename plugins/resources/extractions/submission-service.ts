import { setTimeout as pause } from 'node:timers/promises'
import { Conflict, type DatasetRecord, type FileRecord, Files, Ids, Invalid, Log, NotFound, type Stored, wire } from 'pounce/sdk'
import { isUsable, type Job, requireUsable } from 'pounce/sdk/kit'
import type { Trigger } from './collections.ts'
import { JobFactory, type JobOrder } from './job-factory.ts'
import { datasetSubmitted, fileSubmitted } from './job-message.ts'
import { cancelStatuses } from './run-state.ts'
import { type ExtractionRun, StoredExtractions, type Target } from './stored-extractions.ts'
import { mayUse, type RegisteredExtractor, StoredExtractors } from './stored-extractors.ts'
import { TransportRouter } from './transport-router.ts'

/** As long as v1 searches for a message. */
const cancelTimeoutMs = 500

type File = FileRecord & Stored

/** The parameters of a submission. */
export interface SubmissionRequest {
  /** The queue as in v1: the name of a public extractor, `private.<key>.<name>` for a private one. */
  readonly extractor: string | undefined
  readonly parameters: Readonly<Record<string, unknown>>
  readonly user: string | undefined
  /** As in `JobOrder`. */
  readonly keysUntil?: Date | undefined
}

/** A file has its bytes before it has a record: CREATED only means that the jobs of its upload are not submitted yet. */
const isReady = ({ status }: File): boolean => status === 'PROCESSED' || status === 'CREATED'

const requireReady = (file: File): void => {
  if (isReady(file)) return
  const message = 'File is not ready. Please wait and try again.'
  throw new Conflict(message, { details: { msg: message } })
}

/** Submits and cancels runs on request. */
export class SubmissionService {
  #jobs: JobFactory
  #extractions: StoredExtractions
  #extractors: StoredExtractors
  #files: Files
  #transports: TransportRouter
  #ids: Ids
  #log: Log

  constructor(
    jobs: JobFactory,
    extractions: StoredExtractions,
    extractors: StoredExtractors,
    files: Files,
    transports: TransportRouter,
    ids: Ids,
    log: Log,
  ) {
    this.#jobs = jobs
    this.#extractions = extractions
    this.#extractors = extractors
    this.#files = files
    this.#transports = transports
    this.#ids = ids
    this.#log = log
  }

  /** Resolves to the job's id, which may be given. Throws `Conflict` for an archived file and for one awaiting its malware scan. */
  async ofFile(file: File, submission: SubmissionRequest, id = this.#ids.next()): Promise<string> {
    requireUsable(file)
    requireReady(file)
    return this.#submit({ ...this.fileOrder(file, await this.usable(submission), submission, 'manual'), id })
  }

  async ofDataset(dataset: DatasetRecord & Stored, submission: SubmissionRequest, id = this.#ids.next()): Promise<string> {
    const { identity: queue, name: extractor } = await this.usable(submission)
    const { parameters, user, keysUntil } = submission
    return this.#submit({
      keysUntil,
      id,
      queue,
      extractor,
      target: { kind: 'dataset', id: dataset.id },
      user,
      trigger: 'manual',
      parameters,
      message: context => datasetSubmitted(dataset, queue, parameters, context),
    })
  }

  /** Submits those of the files that are ready and in the dataset. Returns the job ids by file. */
  async ofSelected(dataset: string, files: readonly string[], submission: SubmissionRequest): Promise<Readonly<Record<string, string>>> {
    const extractor = await this.usable(submission)
    const known = [...(await this.#files.getMany(files)).values()]
    const ready = known.filter(file => isUsable(file) && isReady(file) && file.places.some(place => place.dataset === dataset))
    const orders = ready.map(file => this.fileOrder(file, extractor, submission, 'manual', dataset))
    await this.submit(orders)
    return Object.fromEntries(orders.map(({ id, target }) => [target.id, id]))
  }

  /** The given extractor, if it is registered and the user may use it. */
  async usable({ extractor, user }: SubmissionRequest): Promise<RegisteredExtractor> {
    if (extractor === undefined) throw new Invalid('extractor is missing: an extractor listed at /api/extractors')
    const known = await this.#extractors.byQueue(extractor)
    if (known && mayUse(known, user)) return known
    throw new Invalid(`Unknown extractor ${extractor}: see /api/extractors`, {
      details: { request: 'unknown extractor' },
    })
  }

  fileOrder(
    file: File,
    { identity: queue, name }: RegisteredExtractor,
    submission: SubmissionRequest,
    trigger: Trigger,
    dataset = file.places[0]?.dataset,
  ): JobOrder {
    const { parameters, user, keysUntil } = submission
    return {
      keysUntil,
      id: this.#ids.next(),
      queue,
      extractor: name,
      target: { kind: 'file', id: file.id },
      user,
      trigger,
      parameters,
      message: context => fileSubmitted(file, dataset ?? '', queue, parameters, context),
    }
  }

  /** Records runs and publishes their jobs. */
  async submit(orders: readonly JobOrder[]): Promise<void> {
    await this.publishOrFail(await this.#jobs.jobsOf(orders))
  }

  /** When this fails, the runs end with an error: the submitter sees it, and no run stays open forever. */
  async publishOrFail(jobs: readonly Job[]): Promise<void> {
    if (jobs.length === 0) return
    try {
      await this.#transports.publish(jobs)
    } catch (error) {
      for (const { id } of jobs) await this.#recordStatus(id, 'StatusMessage.error: The job could not be published.')
      throw error
    }
  }

  /**
   * Cancels a waiting run, or stops one that runs here; others are not affected. Finding it can take a transport long: this returns
   * earlier, as in v1, and the run's status shows the result. A failed run remains failed, and its dead letter is deleted.
   */
  async cancel(target: Target, id: string, extractor: string): Promise<void> {
    if (target.kind === 'file') {
      const file = await this.#files.get(target.id)
      if (!file) throw new Invalid('There is no such file', { details: { request: 'File not found' } })
      requireReady(file)
    }
    const run = await this.#runOn(target, id)
    if (run.queue !== extractor && run.extractor !== extractor) {
      throw new Invalid(`This extraction is of ${run.extractor}, not of ${extractor}`)
    }
    if (run.state === 'failed') await this.#transports.cancel(run.id)
    if (run.state !== 'open') return
    await this.#extractions.addServerStatus(run.id, cancelStatuses.requested)
    await Promise.race([this.#cancelJob(run), pause(cancelTimeoutMs, undefined, { ref: false })])
  }

  /** Reruns a failed job that is a dead letter, for a user. */
  async rerun(id: string, user: string): Promise<void> {
    const run = await this.#extractions.get(id)
    if (!run) throw new NotFound('extraction')
    if (run.state !== 'failed' || !(await this.#transports.revive(id))) {
      throw new Conflict('No dead letter with this job id: only a failed job that is still stored can be rerun')
    }
    await this.#extractions.reopen(run, user)
  }

  async #submit(order: JobOrder): Promise<string> {
    await this.submit([order])
    return order.id
  }

  async #runOn(target: Target, id: string): Promise<ExtractionRun> {
    const run = await this.#extractions.get(id)
    if (run?.target.id !== target.id) throw new NotFound('extraction')
    return run
  }

  async #cancelJob({ id, queue }: ExtractionRun): Promise<void> {
    try {
      const outcome = await this.#transports.cancel(id)
      // A job unknown to a bus may be running; one unknown to all transports was never published.
      const isCancelled = outcome === 'cancelled' || (outcome === 'unknown' && !(await this.#transports.isOnBus(queue)))
      await this.#extractions.addServerStatus(id, isCancelled ? cancelStatuses.success : cancelStatuses.failed)
    } catch (error) {
      this.#log.warn('Failed to cancel an extraction', { job: id, error })
      await this.#recordStatus(id, cancelStatuses.failed)
    }
  }

  async #recordStatus(id: string, status: string): Promise<void> {
    try {
      await this.#extractions.addServerStatus(id, status)
    } catch (error) {
      this.#log.warn('Failed to record the result of an extraction', { job: id, status, error })
    }
  }
}
wire(SubmissionService, JobFactory, StoredExtractions, StoredExtractors, Files, TransportRouter, Ids, Log)
