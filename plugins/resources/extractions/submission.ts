import { createHash } from 'node:crypto'
import {
  Conflict,
  type DatasetRecord,
  type FileRecord,
  Ids,
  Installation,
  Invalid,
  type Job,
  NotFound,
  port,
  type Ref,
  type Stored,
  Users,
  wire,
} from 'pounce/sdk'
import { AllTransports, type Carriers } from './carriers.ts'
import { type Asked, datasetSubmitted, fileCreated, fileSubmitted } from './job-message.ts'
import { Extractions, type StoredExtractions } from './stored-extractions.ts'
import { KnownExtractors, type StoredExtractors } from './stored-extractors.ts'

type File = FileRecord & Stored

/** The id of the run that an upload asks of an extractor: the same at every try, so that a repeat asks nothing new. */
const uploadJob = (file: string, extractor: string): string =>
  createHash('sha256').update(`${file}/${extractor}`).digest('hex').slice(0, 24)

/** Asks extractors to run: first the record of the run, then the message. */
export class Submission {
  #extractions: StoredExtractions
  #extractors: StoredExtractors
  #transport: Carriers
  #users: Users
  #ids: Ids
  #baseUrl: string

  constructor(
    extractions: StoredExtractions,
    extractors: StoredExtractors,
    transport: Carriers,
    users: Users,
    ids: Ids,
    { baseUrl }: Installation,
  ) {
    this.#extractions = extractions
    this.#extractors = extractors
    this.#transport = transport
    this.#users = users
    this.#ids = ids
    this.#baseUrl = baseUrl
  }

  /** Ids of the runs that a new file wakes, for those that have not finished; each with how to start it. */
  async ofUpload(file: File, dataset: string): Promise<readonly Job[]> {
    const jobs: Job[] = []
    const target: Ref = { kind: 'file', id: file.id }
    for (const extractor of await this.#extractors.woken(file.contentType)) {
      const id = uploadJob(file.id, extractor)
      const isOpen = await this.#extractions.submitted(id, { target, extractor, user: file.author, trigger: 'upload' })
      if (!isOpen) continue
      const asked = await this.#asked(id, extractor, dataset, file.author, {})
      jobs.push({ id, queue: extractor, target, user: file.author, message: fileCreated(file, asked), parameters: {} })
    }
    return jobs
  }

  async ofFile(
    file: File,
    extractor: string | undefined,
    parameters: Readonly<Record<string, unknown>>,
    user: string | undefined,
  ): Promise<string> {
    if (file.status !== 'PROCESSED') {
      const message = 'File is not ready. Please wait and try again.'
      throw new Conflict(message, { details: { msg: message } })
    }
    const target: Ref = { kind: 'file', id: file.id }
    return this.#submit(target, extractor, parameters, user, file.places[0]?.dataset ?? '', asked => fileSubmitted(file, asked))
  }

  async ofDataset(
    dataset: DatasetRecord & Stored,
    extractor: string | undefined,
    parameters: Readonly<Record<string, unknown>>,
    user: string | undefined,
  ): Promise<string> {
    const target: Ref = { kind: 'dataset', id: dataset.id }
    return this.#submit(target, extractor, parameters, user, dataset.id, asked => datasetSubmitted(dataset, asked))
  }

  /** Takes a waiting run back, or stops one that runs here. */
  async cancel(target: Ref, job: string): Promise<void> {
    const run = await this.#extractions.get(job)
    if (!run || run.target.id !== target.id) throw new NotFound('extraction')
    if (run.isFinished) return
    const outcome = await this.#transport.cancel(job)
    await this.#extractions.ended(job, outcome === 'running' ? 'Cancel Failed' : 'Cancel Success')
  }

  async #submit(
    target: Ref,
    extractor: string | undefined,
    parameters: Readonly<Record<string, unknown>>,
    user: string | undefined,
    dataset: string,
    message: (asked: Asked) => Readonly<Record<string, unknown>>,
  ): Promise<string> {
    if (extractor === undefined) throw new Invalid('extractor is missing: name the extractor to run, as listed at /api/extractors')
    if (!(await this.#extractors.named(extractor))) {
      throw new Invalid(`There is no extractor named ${extractor}: /api/extractors lists those that are known`, {
        details: { request: 'unknown extractor' },
      })
    }
    const id = this.#ids.next()
    await this.#extractions.submitted(id, { target, extractor, user: user ?? null, trigger: 'manual' })
    const asked = await this.#asked(id, extractor, dataset, user, parameters)
    await this.#transport.publish([{ id, queue: extractor, target, user: user ?? null, message: message(asked), parameters }])
    return id
  }

  async #asked(
    jobId: string,
    extractor: string,
    dataset: string,
    user: string | undefined,
    parameters: Readonly<Record<string, unknown>>,
  ): Promise<Asked> {
    const owner = user === undefined ? undefined : await this.#users.get(user)
    return { jobId, extractor, dataset, parameters, host: this.#baseUrl, notifies: owner ? [owner.email] : [] }
  }
}
wire(Submission, Extractions, KnownExtractors, AllTransports, Users, Ids, Installation)

export const Submissions = port<Submission>('extractions.submissions')
