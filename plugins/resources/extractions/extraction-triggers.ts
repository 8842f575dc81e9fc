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
import { type Job, takesOperation } from 'pounce/sdk/kit'
import type { ChoiceRecord } from './collections.ts'
import { EnabledExtractors } from './enabled-extractors.ts'
import { JobFactory, type JobOrder } from './job-factory.ts'
import {
  datasetFile,
  derivedId,
  type FileFacts,
  fileCreated,
  filesAdded,
  metadataAdded,
  metadataRemoved,
  routingKeys,
} from './job-message.ts'
import { StoredExtractions, type Target } from './stored-extractions.ts'
import { StoredExtractors } from './stored-extractors.ts'
import { TransportRouter } from './transport-router.ts'

type Process = ExtractorInfo['process']

/** Whether an extractor says that it processes this: `clowder.dataset.file.added` is `file.added` among those for datasets. */
const processes = (process: Process, routingKey: string): boolean => {
  const [, kind, ...operation] = routingKey.split('.')
  const patterns = kind === 'file' || kind === 'dataset' || kind === 'metadata' ? process[kind] : undefined
  return patterns?.some(pattern => takesOperation(pattern, operation.join('.'))) ?? false
}

/** Files that one message names at most. */
const mostNamed = 10_000

/** How long a choice that was made on another kernel may stay unseen. */
const freshMs = 1000

interface Snapshot {
  readonly at: number
  readonly changes: number
  readonly open: readonly { readonly name: string; readonly process: Process }[]
  readonly enabled: ReadonlySet<string>
}

/** The queues for a routing key: that of the message's body, which patterns of extractors, and bindings of old ones, are compared with. */
type QueuesFor = (routingKey: string) => Promise<readonly string[]>

/** Selects the queues that get a job when something happens (reference, extraction §1.4). Private extractors never do. */
class ExtractorSelection {
  #extractors: StoredExtractors
  #choices: EnabledExtractors
  #transports: TransportRouter
  #datasets: Datasets
  #reading: Promise<Snapshot> | undefined
  #known: Snapshot | undefined

  constructor(extractors: StoredExtractors, choices: EnabledExtractors, transports: TransportRouter, datasets: Datasets) {
    this.#extractors = extractors
    this.#choices = choices
    this.#transports = transports
    this.#datasets = datasets
  }

  /**
   * (Enabled for all, less those disabled in any space of the dataset), those enabled in any of them, and queues of legacy bindings; by name.
   * Without a dataset only the list for all counts. The dataset and the choices of its spaces are read at the first match, once for all keys.
   */
  within(dataset: string | DatasetRecord | undefined): QueuesFor {
    let choices: Promise<readonly ChoiceRecord[]> | undefined
    return async routingKey => {
      const { open, enabled } = await this.#snapshot()
      const matching = new Set(open.filter(({ process }) => processes(process, routingKey)).map(({ name }) => name))
      const queues = new Set<string>()
      if (matching.size > 0) {
        choices ??= this.#choicesFor(dataset)
        const made = await choices
        const disabled = new Set(made.flatMap(choice => choice.disabled))
        for (const name of enabled) if (!disabled.has(name)) queues.add(name)
        for (const name of made.flatMap(choice => choice.enabled)) queues.add(name)
        for (const name of queues) if (!matching.has(name)) queues.delete(name)
      }
      for (const bus of this.#transports.buses()) for (const queue of await bus.boundTo(routingKey)) queues.add(queue)
      return [...queues].sort()
    }
  }

  /** False when no extractor processes this, in whatever dataset it happens: saves further reads. */
  async mayMatch(routingKey: string): Promise<boolean> {
    return this.#transports.buses().length > 0 || (await this.#snapshot()).open.some(({ process }) => processes(process, routingKey))
  }

  async #choicesFor(dataset: string | DatasetRecord | undefined): Promise<readonly ChoiceRecord[]> {
    const record = typeof dataset === 'string' ? await this.#datasets.get(dataset) : dataset
    return this.#choices.ofSpaces(record?.spaces ?? [])
  }

  get #changes(): number {
    return this.#extractors.changes + this.#choices.changes
  }

  async #snapshot(): Promise<Snapshot> {
    const known = this.#known
    if (known && known.changes === this.#changes && performance.now() - known.at < freshMs) return known
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #read(): Promise<Snapshot> {
    // Taken first: a change while this reads makes it stale at once.
    const [at, changes] = [performance.now(), this.#changes]
    const enabled = await this.#choices.enabled()
    const open: { readonly name: string; readonly process: Process }[] = []
    for await (const { key, name, info } of this.#extractors.all()) if (key === null) open.push({ name, process: info.process })
    const snapshot = { at, changes, open, enabled: new Set(enabled) }
    this.#known = snapshot
    return snapshot
  }
}
wire(ExtractorSelection, StoredExtractors, EnabledExtractors, TransportRouter, Datasets)

type User = string | null | undefined

/** Makes the jobs that follow from what happened (reference, extraction §7.4). Ids of runs derive from what happened, so a repeat requests nothing new. */
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

  /** A file came with an upload into a dataset: first those for its type, then those for datasets. */
  async uploaded(file: FileFacts, dataset: string, user: User): Promise<readonly Job[]> {
    const queuesFor = this.#selection.within(dataset)
    const target: Target = { kind: 'file', id: file.id }
    const orders = (await queuesFor(routingKeys.fileCreated(file.contentType))).map(
      (queue): JobOrder => ({
        id: derivedId(file.id, queue),
        queue,
        target,
        user,
        trigger: 'upload',
        message: asked => fileCreated(file, dataset, asked),
      }),
    )
    return this.#jobs.jobsOf([...orders, ...(await this.#datasetFile('added', file, dataset, user, queuesFor))])
  }

  /** A file left a dataset that stays. */
  async removed(file: FileFacts, dataset: string, user: User): Promise<readonly Job[]> {
    if (!(await this.#selection.mayMatch(routingKeys.datasetFile('removed')))) return []
    const record = await this.#datasets.get(dataset)
    if (record?.state !== 'live') return []
    return this.#jobs.jobsOf(await this.#datasetFile('removed', file, dataset, user, this.#selection.within(record)))
  }

  /** False when no extractor processes files that came together. */
  mayTakeFiles(): Promise<boolean> {
    return this.#selection.mayMatch(routingKeys.filesAdded())
  }

  /** Several files came into a dataset, as a page says that uploaded them. `occasion` identifies this upload. */
  async filesAdded(files: readonly FileFacts[], dataset: string, occasion: string, user: User): Promise<readonly Job[]> {
    const queues = await this.#selection.within(dataset)(routingKeys.filesAdded())
    const target: Target = { kind: 'dataset', id: dataset }
    return this.#jobs.jobsOf(
      queues.map(queue => ({
        id: derivedId(occasion, queue),
        queue,
        target,
        user,
        trigger: 'event',
        message: asked => filesAdded(files, dataset, asked),
      })),
    )
  }

  /** Metadata came to a file or dataset. No extractor is triggered by what follows from its own metadata. */
  async metadataAdded(id: string, target: Target, user: User): Promise<readonly Job[]> {
    const asks = await this.#metadataQueues('added', target)
    if (asks.length === 0) return []
    const document = await this.#metadata.get(id)
    if (!document) return []
    const chain = await this.#chainOf(document, target)
    const orders = asks.filter(({ queue }) => !chain.includes(queue))
    return this.#jobs.jobsOf(
      orders.map(({ queue, dataset }) => ({
        id: derivedId(id, 'added', dataset, queue),
        queue,
        target,
        user,
        chain,
        trigger: 'event',
        message: asked => metadataAdded(document, asked),
      })),
    )
  }

  /** Metadata left a file or dataset, maybe because that is gone. */
  async metadataRemoved(id: string, target: Target, user: User): Promise<readonly Job[]> {
    const asks = await this.#metadataQueues('removed', target)
    return this.#jobs.jobsOf(
      asks.map(({ queue, dataset }) => ({
        id: derivedId(id, 'removed', dataset, queue),
        queue,
        target,
        user,
        trigger: 'event',
        message: asked => metadataRemoved(id, target, asked),
      })),
    )
  }

  /** Runs for datasets are runs on the dataset, as extractors report them, though the message names the file. */
  async #datasetFile(
    what: 'added' | 'removed',
    file: FileFacts,
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
      message: asked => datasetFile(what, file, dataset, asked),
    }))
  }

  /** For metadata of a file once per dataset that holds it; for a resource that is gone the list for all decides. */
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

  /** Extractors whose metadata led to this document, its own maker last. */
  async #chainOf({ agent }: MetadataRecord & Stored, target: Ref): Promise<readonly string[]> {
    if (agent.kind !== 'extractor') return []
    const name = /\/extractors\/([^/]+)/.exec(agent.extractorId ?? '')?.[1] ?? agent.name
    const { items } = await this.#extractions.of(target, 100)
    return [...(items.find(run => run.extractor === name)?.chain ?? []), name]
  }
}
wire(ExtractionTriggers, ExtractorSelection, JobFactory, Files, Datasets, MetadataDocuments, StoredExtractions)

/** A new file in a dataset triggers the extractors of its media type, after its scan for malware where one is due. */
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
    // `file.scanned` follows once the bytes may be used, and `file.quarantined` otherwise.
    if ('awaitsScan' in data && data.awaitsScan) return
    const file = data.extract ? await this.#files.get(subject.id) : undefined
    if (!file) return
    const jobs = data.dataset === null ? [] : await this.#triggers.uploaded(file, data.dataset, actor)
    // The runs are recorded, and a retry of this event publishes them: the file does not wait for a bus that is unavailable.
    if (file.status === 'CREATED') await this.#submitted(file.id)
    await this.#transports.publish(jobs)
  }

  async #submitted(id: string): Promise<void> {
    const change = { set: { status: 'PROCESSED' }, where: eq('status', 'CREATED') }
    try {
      await this.#files.change(id, change, [event('file.updated', { kind: 'file', id }, { fields: ['status'] })])
    } catch (error) {
      // Archived, in quarantine, or gone meanwhile.
      if (!(error instanceof CommitConflict || error instanceof NotFound)) throw error
    }
  }
}
wire(EnqueueJobsOnFileCreated, Files, ExtractionTriggers, TransportRouter)

/** Files that came together trigger the extractors that process that, once, however often more follow. */
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
    const files = extract && (await this.#triggers.mayTakeFiles()) ? await this.#files.ofBatch(batch, mostNamed) : []
    const inside = files.filter(({ places }) => places.some(place => place.dataset === subject.id))
    if (inside.length > 0) await this.#transports.publish(await this.#triggers.filesAdded(inside, subject.id, batch, actor))
  }
}
wire(EnqueueJobsOnFilesAdded, Files, ExtractionTriggers, TransportRouter)

/** A file that leaves datasets triggers the extractors that process that. */
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

/** Metadata that is added or removed triggers the extractors that process that: few, so that hardly any event gives work. */
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
      const { type, subject, actor, data } = event
      if (!isTarget(data.target)) continue
      const jobsOf = type === 'metadata.added' ? this.#triggers.metadataAdded : this.#triggers.metadataRemoved
      await this.#transports.publish(await jobsOf.call(this.#triggers, subject.id, data.target, actor))
    }
  }
}
wire(EnqueueJobsOnMetadataChanged, ExtractionTriggers, TransportRouter)
