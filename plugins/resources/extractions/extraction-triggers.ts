import {
  type AnyEvent,
  type BatchHandler,
  CommitConflict,
  type DatasetRecord,
  Datasets,
  type ExtractorInfo,
  eq,
  event,
  Files,
  MetadataDocuments,
  type MetadataRecord,
  NotFound,
  type Ref,
  type Stored,
  type StoredEvent,
  wire,
} from 'pounce/sdk'
import { type Job, RecentRead, takesOperation } from 'pounce/sdk/kit'
import type { ChoiceRecord } from './collections.ts'
import { EnabledExtractors } from './enabled-extractors.ts'
import { JobFactory, type JobOrder } from './job-factory.ts'
import {
  datasetFile,
  derivedId,
  fileCreated,
  filesAdded,
  type JobFile,
  metadataAdded,
  metadataRemoved,
  routingKeys,
} from './job-message.ts'
import { type ExtractionRun, StoredExtractions, type Target } from './stored-extractions.ts'
import { StoredExtractors } from './stored-extractors.ts'
import { TransportRouter } from './transport-router.ts'

type Process = ExtractorInfo['process']

/** Whether an extractor declares that it processes the event: `clowder.dataset.file.added` is `file.added` in its list for datasets. */
const isProcessedBy = (process: Process, routingKey: string): boolean => {
  const [, kind, ...operation] = routingKey.split('.')
  const patterns = kind === 'file' || kind === 'dataset' || kind === 'metadata' ? process[kind] : undefined
  return patterns?.some(pattern => takesOperation(pattern, operation.join('.'))) ?? false
}

/** Maximum number of files named in one message. */
const maxNamed = 10_000

/** How long an override set on another kernel may stay unnoticed. */
const maxAgeMs = 1000

interface Snapshot {
  readonly open: readonly { readonly name: string; readonly process: Process }[]
  readonly enabled: ReadonlySet<string>
}

/** The queues for the routing key in a message body, against which patterns of extractors and legacy bindings are matched. */
type QueuesFor = (routingKey: string) => Promise<readonly string[]>

/** Selects the queues that receive a job for an event (reference, extraction §1.4). Private extractors are never selected. */
class ExtractorSelection {
  #extractors: StoredExtractors
  #choices: EnabledExtractors
  #transports: TransportRouter
  #datasets: Datasets
  readonly #recent = new RecentRead(maxAgeMs, () => this.#read())

  constructor(extractors: StoredExtractors, choices: EnabledExtractors, transports: TransportRouter, datasets: Datasets) {
    this.#extractors = extractors
    this.#choices = choices
    this.#transports = transports
    this.#datasets = datasets
  }

  /**
   * (Enabled by default, minus those disabled in any space of the dataset) plus those enabled in any of its spaces plus queues of legacy
   * bindings; by name. Without a dataset only the default list applies. The dataset and the overrides of its spaces are read at the first
   * match, once for all keys.
   */
  within(dataset: string | DatasetRecord | undefined): QueuesFor {
    let choices: Promise<readonly ChoiceRecord[]> | undefined
    return async routingKey => {
      const { open, enabled } = await this.#snapshot()
      const matching = new Set(open.filter(({ process }) => isProcessedBy(process, routingKey)).map(({ name }) => name))
      const queues = new Set<string>()
      if (matching.size > 0) {
        choices ??= this.#choicesFor(dataset)
        const overrides = await choices
        const disabled = new Set(overrides.flatMap(choice => choice.disabled))
        for (const name of enabled) if (!disabled.has(name)) queues.add(name)
        for (const name of overrides.flatMap(choice => choice.enabled)) queues.add(name)
        for (const name of queues) if (!matching.has(name)) queues.delete(name)
      }
      for (const bus of this.#transports.buses()) for (const queue of await bus.boundTo(routingKey)) queues.add(queue)
      return [...queues].sort()
    }
  }

  /** False when no extractor processes the event in any dataset: saves further reads. */
  async mayMatch(routingKey: string): Promise<boolean> {
    return this.#transports.buses().length > 0 || (await this.#snapshot()).open.some(({ process }) => isProcessedBy(process, routingKey))
  }

  async #choicesFor(dataset: string | DatasetRecord | undefined): Promise<readonly ChoiceRecord[]> {
    const record = typeof dataset === 'string' ? await this.#datasets.get(dataset) : dataset
    return this.#choices.ofSpaces(record?.spaces ?? [])
  }

  /** A read that began before a change made here is not used after it. */
  #snapshot(): Promise<Snapshot> {
    return this.#recent.get(this.#extractors.changes + this.#choices.changes)
  }

  async #read(): Promise<Snapshot> {
    const enabled = await this.#choices.enabled()
    const open: { readonly name: string; readonly process: Process }[] = []
    for await (const { key, name, info } of this.#extractors.all()) if (key === null) open.push({ name, process: info.process })
    return { open, enabled: new Set(enabled) }
  }
}
wire(ExtractorSelection, StoredExtractors, EnabledExtractors, TransportRouter, Datasets)

type User = string | null | undefined

/**
 * Creates the jobs that result from events (reference, extraction §7.4). Ids of runs are derived from the event, so redelivery requests
 * nothing new.
 */
export class ExtractionTriggers {
  #selection: ExtractorSelection
  #jobs: JobFactory
  #files: Files
  #datasets: Datasets
  #metadata: MetadataDocuments
  #extractions: StoredExtractions

  constructor(
    selection: ExtractorSelection,
    jobs: JobFactory,
    files: Files,
    datasets: Datasets,
    metadata: MetadataDocuments,
    extractions: StoredExtractions,
  ) {
    this.#selection = selection
    this.#jobs = jobs
    this.#files = files
    this.#datasets = datasets
    this.#metadata = metadata
    this.#extractions = extractions
  }

  /** A file was uploaded to a dataset: first the extractors for its type, then those for datasets. */
  async uploaded(file: JobFile, dataset: string, user: User): Promise<readonly Job[]> {
    const queuesFor = this.#selection.within(dataset)
    const target: Target = { kind: 'file', id: file.id }
    const orders = (await queuesFor(routingKeys.fileCreated(file.contentType))).map(
      (queue): JobOrder => ({
        id: derivedId(file.id, queue),
        queue,
        target,
        user,
        trigger: 'upload',
        message: context => fileCreated(file, dataset, context),
      }),
    )
    return this.#jobs.jobsOf([...orders, ...(await this.#datasetFile('added', file, dataset, user, queuesFor))])
  }

  /** A file was removed from a dataset that still exists. */
  async removed(file: JobFile, dataset: string, user: User): Promise<readonly Job[]> {
    if (!(await this.#selection.mayMatch(routingKeys.datasetFile('removed')))) return []
    const record = await this.#datasets.get(dataset)
    if (record?.state !== 'live') return []
    return this.#jobs.jobsOf(await this.#datasetFile('removed', file, dataset, user, this.#selection.within(record)))
  }

  /** False when no extractor processes multi-file uploads. */
  mayTakeFiles(): Promise<boolean> {
    return this.#selection.mayMatch(routingKeys.filesAdded())
  }

  /** Several files were added to a dataset by one upload, which `occasion` identifies. */
  async filesAdded(files: readonly JobFile[], dataset: string, occasion: string, user: User): Promise<readonly Job[]> {
    const queues = await this.#selection.within(dataset)(routingKeys.filesAdded())
    const target: Target = { kind: 'dataset', id: dataset }
    return this.#jobs.jobsOf(
      queues.map(queue => ({
        id: derivedId(occasion, queue),
        queue,
        target,
        user,
        trigger: 'event',
        message: context => filesAdded(files, dataset, context),
      })),
    )
  }

  /** Metadata was added to a file or dataset. No extractor is triggered by results of its own metadata. */
  async metadataAdded(
    id: string,
    { target, job }: { readonly target: Target; readonly job?: string },
    user: User,
  ): Promise<readonly Job[]> {
    const queues = await this.#metadataQueues('added', target)
    if (queues.length === 0) return []
    const document = await this.#metadata.get(id)
    if (!document) return []
    const chain = await this.#chainOf(document, job)
    const orders = queues.filter(({ queue }) => !chain.includes(queue))
    return this.#jobs.jobsOf(
      orders.map(({ queue, dataset }) => ({
        id: derivedId(id, 'added', dataset, queue),
        queue,
        target,
        user,
        chain,
        trigger: 'event',
        message: context => metadataAdded(document, context),
      })),
    )
  }

  /** Metadata was removed from a file or dataset, which may be deleted. */
  async metadataRemoved(id: string, target: Target, user: User): Promise<readonly Job[]> {
    const queues = await this.#metadataQueues('removed', target)
    return this.#jobs.jobsOf(
      queues.map(({ queue, dataset }) => ({
        id: derivedId(id, 'removed', dataset, queue),
        queue,
        target,
        user,
        trigger: 'event',
        message: context => metadataRemoved(id, target, context),
      })),
    )
  }

  /** Runs for dataset events are recorded on the dataset, as extractors report them, although the message names the file. */
  async #datasetFile(
    what: 'added' | 'removed',
    file: JobFile,
    dataset: string,
    user: User,
    queuesFor: QueuesFor,
  ): Promise<readonly JobOrder[]> {
    return (await queuesFor(routingKeys.datasetFile(what))).map(queue => ({
      id: derivedId(file.id, what, dataset, queue),
      queue,
      target: { kind: 'dataset', id: dataset },
      user,
      trigger: 'event',
      message: context => datasetFile(what, file, dataset, context),
    }))
  }

  /** For metadata of a file, once per dataset that contains it; for a deleted resource the default list applies. */
  async #metadataQueues(
    what: 'added' | 'removed',
    target: Target,
  ): Promise<readonly { readonly queue: string; readonly dataset: string }[]> {
    const routingKey = routingKeys.metadata(what, target)
    const all: { queue: string; dataset: string }[] = []
    if (!(await this.#selection.mayMatch(routingKey))) return all
    for (const dataset of await this.#datasetsOf(target)) {
      const queues = await this.#selection.within(dataset)(routingKey)
      all.push(...queues.map(queue => ({ queue, dataset: dataset ?? '' })))
    }
    return all
  }

  async #datasetsOf({ kind, id }: Target): Promise<readonly (string | undefined)[]> {
    if (kind === 'dataset') return [id]
    const file = await this.#files.get(id)
    return file ? [...new Set(file.places.map(place => place.dataset))] : [undefined]
  }

  /** The extractors whose metadata led to this document, ending with its author: that of the job, whatever the document says, and the one that it names. */
  async #chainOf({ agent, target }: MetadataRecord & Stored, job: string | undefined): Promise<readonly string[]> {
    const named = agent.kind === 'extractor' ? (/\/extractors\/([^/]+)/.exec(agent.extractorId ?? '')?.[1] ?? agent.name) : undefined
    const run = job === undefined ? await this.#newestRun(target, named) : await this.#extractions.get(job)
    const authors = [run?.extractor, named].filter(name => name !== undefined)
    return [...new Set([...(run?.chain ?? []), ...authors])]
  }

  async #newestRun(target: Ref, extractor: string | undefined): Promise<ExtractionRun | undefined> {
    if (extractor === undefined) return undefined
    return (await this.#extractions.of(target, 100)).items.find(run => run.extractor === extractor)
  }
}
wire(ExtractionTriggers, ExtractorSelection, JobFactory, Files, Datasets, MetadataDocuments, StoredExtractions)

/** A new file in a dataset triggers the extractors for its media type, after its malware scan if there is one. */
export class EnqueueJobsOnFileCreated {
  #files: Files
  #triggers: ExtractionTriggers
  #transports: TransportRouter

  constructor(files: Files, triggers: ExtractionTriggers, transports: TransportRouter) {
    this.#files = files
    this.#triggers = triggers
    this.#transports = transports
  }

  async handle({ subject, actor, data }: StoredEvent<'file.created' | 'file.scanned'>): Promise<void> {
    // Followed by `file.scanned` if the bytes may be used, and by `file.quarantined` otherwise.
    if ('awaitsScan' in data && data.awaitsScan) return
    const file = data.extract ? await this.#files.get(subject.id) : undefined
    if (!file) return
    const jobs = data.dataset === null ? [] : await this.#triggers.uploaded(file, data.dataset, actor)
    // The runs are recorded, and a retry of this event publishes them: the file does not wait for an unavailable bus.
    if (file.status === 'CREATED') await this.#markProcessed(file.id)
    await this.#transports.publish(jobs)
  }

  async #markProcessed(id: string): Promise<void> {
    const change = { set: { status: 'PROCESSED' }, where: eq('status', 'CREATED') }
    try {
      await this.#files.change(id, change, [event('file.updated', { kind: 'file', id }, { fields: ['status'] })])
    } catch (error) {
      // Archived, quarantined or deleted meanwhile.
      if (!(error instanceof CommitConflict || error instanceof NotFound)) throw error
    }
  }
}
wire(EnqueueJobsOnFileCreated, Files, ExtractionTriggers, TransportRouter)

/** A multi-file upload triggers the extractors that process it, once, even if more files follow. */
export class EnqueueJobsOnFilesAdded {
  #files: Files
  #triggers: ExtractionTriggers
  #transports: TransportRouter

  constructor(files: Files, triggers: ExtractionTriggers, transports: TransportRouter) {
    this.#files = files
    this.#triggers = triggers
    this.#transports = transports
  }

  async handle({ subject, actor, data: { batch, extract } }: StoredEvent<'dataset.files-added'>): Promise<void> {
    const files = extract && (await this.#triggers.mayTakeFiles()) ? await this.#files.ofBatch(batch, maxNamed) : []
    const inDataset = files.filter(({ places }) => places.some(place => place.dataset === subject.id))
    if (inDataset.length > 0) await this.#transports.publish(await this.#triggers.filesAdded(inDataset, subject.id, batch, actor))
  }
}
wire(EnqueueJobsOnFilesAdded, Files, ExtractionTriggers, TransportRouter)

/** Removing a file from datasets triggers the extractors that process this. */
export class EnqueueJobsOnFileRemoved implements BatchHandler {
  #triggers: ExtractionTriggers
  #transports: TransportRouter

  constructor(triggers: ExtractionTriggers, transports: TransportRouter) {
    this.#triggers = triggers
    this.#transports = transports
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    for (const event of events) {
      if (event.type !== 'file.removed') continue
      const { subject, actor, data } = event
      const file = { id: subject.id, name: data.name, contentType: data.contentType, sizeBytes: data.sizeBytes }
      for (const dataset of data.datasets) await this.#transports.publish(await this.#triggers.removed(file, dataset, actor))
    }
  }
}
wire(EnqueueJobsOnFileRemoved, ExtractionTriggers, TransportRouter)

const isTarget = (ref: Ref): ref is Target => ref.kind === 'file' || ref.kind === 'dataset'

/** Adding or removing metadata triggers the extractors that process this: there are few, so most events cause no work. */
export class EnqueueJobsOnMetadataChanged implements BatchHandler {
  #triggers: ExtractionTriggers
  #transports: TransportRouter

  constructor(triggers: ExtractionTriggers, transports: TransportRouter) {
    this.#triggers = triggers
    this.#transports = transports
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    for (const event of events) {
      if (event.type !== 'metadata.added' && event.type !== 'metadata.removed') continue
      const { subject, actor, data } = event
      const { target } = data
      if (!isTarget(target)) continue
      const jobs =
        event.type === 'metadata.added'
          ? this.#triggers.metadataAdded(subject.id, { ...event.data, target }, actor)
          : this.#triggers.metadataRemoved(subject.id, target, actor)
      await this.#transports.publish(await jobs)
    }
  }
}
wire(EnqueueJobsOnMetadataChanged, ExtractionTriggers, TransportRouter)
