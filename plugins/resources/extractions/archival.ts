import {
  type Caller,
  Clock,
  Conflict,
  type Contributions,
  DocumentStore,
  event,
  type FileRecord,
  Files,
  Forbidden,
  Ids,
  Invalid,
  type Json,
  Policy,
  type Progress,
  ProgressListeners,
  type Stored,
  type StoredEvent,
  type s,
  Users,
  wire,
} from 'pounce/sdk'
import { type ProgressListener, reportProgress } from 'pounce/sdk/kit'
import { type ArchivalRecord, archivals } from './collections.ts'
import { Config, type config } from './config.ts'
import { JobFactory, type JobOrder } from './job-factory.ts'
import { derivedId } from './job-message.ts'
import { StoredExtractions } from './stored-extractions.ts'
import type { RegisteredExtractor } from './stored-extractors.ts'
import { SubmissionService } from './submission-service.ts'
import { TransportRouter } from './transport-router.ts'

type File = FileRecord & Stored
export type Operation = ArchivalRecord['operation']
type Parameters = Readonly<Record<string, unknown>>

const batchSize = 200

/** Archives and restores files: the archive extractor moves the bytes, and calls back when it is done. */
export class Archival {
  #archiveExtractor: string
  #documents: DocumentStore
  #files: Files
  #submissions: SubmissionService
  #jobs: JobFactory
  #transports: TransportRouter
  #extractions: StoredExtractions
  #ids: Ids
  #users: Users
  #policy: Policy
  #progress: Contributions<ProgressListener>
  #clock: Clock

  constructor(
    { archiveExtractorId }: s.Static<typeof config>,
    documents: DocumentStore,
    files: Files,
    submissions: SubmissionService,
    jobs: JobFactory,
    transports: TransportRouter,
    extractions: StoredExtractions,
    ids: Ids,
    users: Users,
    policy: Policy,
    clock: Clock,
    progress: Contributions<ProgressListener>,
  ) {
    this.#archiveExtractor = archiveExtractorId
    this.#documents = documents
    this.#files = files
    this.#submissions = submissions
    this.#jobs = jobs
    this.#transports = transports
    this.#extractions = extractions
    this.#ids = ids
    this.#users = users
    this.#policy = policy
    this.#clock = clock
    this.#progress = progress
  }

  /** Called by the archive extractor once the bytes are in the archive or restored. */
  async recordMove(file: File, operation: Operation, actor: string | undefined): Promise<void> {
    const set =
      operation === 'archive'
        ? { status: 'ARCHIVED' }
        : { status: 'PROCESSED', 'statistics.lastDownloaded': this.#clock.now().toISOString() }
    const subject = { kind: 'file', id: file.id } as const
    await this.#files.change(file.id, { set }, [
      event('file.updated', subject, { fields: ['status'] }, actor),
      event(operation === 'archive' ? 'file.archived' : 'file.unarchived', subject, { sizeBytes: file.sizeBytes }, actor),
    ])
  }

  /** Throws `Forbidden` for any other job: otherwise any extractor could report a file as archived. */
  async requireArchiving(job: string): Promise<void> {
    if ((await this.#extractions.get(job))?.trigger !== 'archive')
      throw new Forbidden('Only a job of the archive extractor can mark a file as archived or unarchived')
  }

  /** Submits one file to the archive extractor, regardless of the file's status. */
  async submitFile(file: File, operation: Operation, parameters: Parameters, user: string | undefined): Promise<void> {
    const extractor = await this.#extractor(user)
    await this.#submissions.submit([this.#order(file, extractor, operation, parameters, user)])
  }

  /** Requests archival of all files of a dataset, in the background. */
  async requestDataset(dataset: string, operation: Operation, parameters: Parameters, { user, superAdmin }: Caller): Promise<void> {
    await this.#extractor(user?.id)
    const id = this.#ids.next()
    const values = parameters as Readonly<Record<string, Json>>
    const record: ArchivalRecord = { dataset, operation, parameters: values, user: user?.id ?? null, isSuperAdmin: superAdmin }
    const requested = event('dataset.archival-asked', { kind: 'dataset', id: dataset }, { request: id }, user?.id)
    await this.#documents.commit({ insert: { id, ...record }, into: archivals }, [requested])
  }

  /** Submits the files of one request that its user may archive; an interrupted request resumes with the same job ids. */
  async submitDataset(request: string): Promise<void> {
    const submission = await this.#documents.get(archivals, request)
    if (!submission) return
    const { dataset, operation, parameters, user } = submission
    const extractor = await this.#extractor(user ?? undefined)
    const caller = await this.#callerOf(submission)
    const submit = async (chunk: readonly File[]): Promise<number> => {
      const ids = chunk.map(({ id }) => id)
      const allowed = caller ? await this.#policy.allowed(caller, 'ArchiveFile', 'file', ids) : new Set()
      const orders = chunk
        .filter(({ id }) => allowed.has(id))
        .map(file => ({ ...this.#order(file, extractor, operation, parameters, user ?? undefined), id: derivedId(request, file.id) }))
      await this.#publish(orders)
      return orders.length
    }
    let files = 0
    let chunk: File[] = []
    for await (const file of this.#files.ofDataset(dataset)) {
      chunk.push(file)
      if (chunk.length < batchSize) continue
      files += await submit(chunk)
      this.#report(request, submission, { state: 'running', done: files })
      chunk = []
    }
    files += await submit(chunk)
    const queued = event('dataset.archival-queued', { kind: 'dataset', id: dataset }, { operation, files }, user ?? undefined)
    await this.#documents.commit({ tombstone: request, in: archivals }, [queued])
    this.#report(request, submission, { state: 'finished', done: files, total: files })
  }

  async #callerOf({ user: id, isSuperAdmin = false }: ArchivalRecord): Promise<Caller | undefined> {
    const user = id === null ? undefined : await this.#users.get(id)
    return user && { ...(await this.#users.callerOf(user)), superAdmin: isSuperAdmin && user.status === 'Admin' }
  }

  #report(id: string, { dataset, operation, user }: ArchivalRecord, progress: Pick<Progress, 'state' | 'done' | 'total'>): void {
    const subject = { kind: 'dataset', id: dataset } as const
    reportProgress(this.#progress, { activity: 'archive', id, subject, actor: user, unit: 'files', message: operation, ...progress })
  }

  /** Unlike jobs that a user waits for, these are retried until they are published: their runs stay open. */
  async #publish(orders: readonly JobOrder[]): Promise<void> {
    const jobs = await this.#jobs.jobsOf(orders)
    if (jobs.length > 0) await this.#transports.publish(jobs)
  }

  #order(file: File, extractor: RegisteredExtractor, operation: Operation, parameters: Parameters, user: string | undefined): JobOrder {
    const submission = { extractor: extractor.identity, parameters: { ...parameters, operation }, user }
    return this.#submissions.fileOrder(file, extractor, submission, 'archive')
  }

  /** Used by everyone who may archive, so it must be public or shared with the requesting user. */
  async #extractor(user: string | undefined): Promise<RegisteredExtractor> {
    try {
      return await this.#submissions.usable({ extractor: this.#archiveExtractor, parameters: {}, user })
    } catch (error) {
      if (!(error instanceof Invalid)) throw error
      throw new Conflict(`The archive extractor ${this.#archiveExtractor} is not registered: start it, or configure another one`, {
        cause: error,
      })
    }
  }
}
wire(
  Archival,
  Config,
  DocumentStore,
  Files,
  SubmissionService,
  JobFactory,
  TransportRouter,
  StoredExtractions,
  Ids,
  Users,
  Policy,
  Clock,
  ProgressListeners,
)

/** Carries out requests to archive whole datasets. */
export class ArchiveDataset {
  #archive: Archival

  constructor(archive: Archival) {
    this.#archive = archive
  }

  async handle({ data: { request } }: StoredEvent<'dataset.archival-asked'>): Promise<void> {
    await this.#archive.submitDataset(request)
  }
}
wire(ArchiveDataset, Archival)
