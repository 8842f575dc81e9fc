import { Datasets, Files, type Job, MetadataDocuments, type MetadataRecord, type Ref, type Stored, wire } from 'pounce/sdk'
import { JobFactory, type Order } from './job-factory.ts'
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
import { type Happening, Routing } from './routing.ts'
import { StoredExtractions, type Target } from './stored-extractions.ts'

type User = string | null | undefined

/** Works out which runs follow from what happened (reference, extraction §7.4). Ids of runs follow from what happened, so a repeat asks nothing new. */
export class ExtractionTriggers {
  #routing: Routing
  #asking: JobFactory
  #files: Files
  #datasets: Datasets
  #metadata: MetadataDocuments
  #extractions: StoredExtractions

  constructor(
    routing: Routing,
    asking: JobFactory,
    files: Files,
    datasets: Datasets,
    metadata: MetadataDocuments,
    extractions: StoredExtractions,
  ) {
    this.#routing = routing
    this.#asking = asking
    this.#files = files
    this.#datasets = datasets
    this.#metadata = metadata
    this.#extractions = extractions
  }

  /** A file came with an upload into a dataset: first those for its type, then those for datasets. */
  async uploaded(file: FileFacts, dataset: string, user: User): Promise<readonly Job[]> {
    const ofFile = { routingKey: routingKeys.fileCreated(file.contentType), dataset }
    const target: Target = { kind: 'file', id: file.id }
    const orders = (await this.#routing.queuesFor(ofFile)).map(
      (queue): Order => ({
        id: derivedId(file.id, queue),
        queue,
        target,
        user,
        trigger: 'upload',
        message: asked => fileCreated(file, dataset, asked),
      }),
    )
    return this.#asking.jobsOf([...orders, ...(await this.#datasetFile('added', file, dataset, user))])
  }

  /** A file left a dataset that stays. */
  async removed(file: FileFacts, dataset: string, user: User): Promise<readonly Job[]> {
    if ((await this.#datasets.get(dataset))?.state !== 'live') return []
    return this.#asking.jobsOf(await this.#datasetFile('removed', file, dataset, user))
  }

  /** Several files came into a dataset, as a page says that uploaded them. `occasion` tells this time from others. */
  async filesAdded(files: readonly FileFacts[], dataset: string, occasion: string, user: User): Promise<readonly Job[]> {
    const queues = await this.#routing.queuesFor({ routingKey: routingKeys.filesAdded(), dataset })
    const target: Target = { kind: 'dataset', id: dataset }
    return this.#asking.jobsOf(
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

  /** Metadata came to a file or dataset. No extractor is woken by what follows from its own metadata. */
  async metadataAdded(id: string, target: Target, user: User): Promise<readonly Job[]> {
    const asks = await this.#metadataQueues('added', target)
    if (asks.length === 0) return []
    const document = await this.#metadata.get(id)
    if (!document) return []
    const chain = await this.#chainOf(document, target)
    const orders = asks.filter(({ queue }) => !chain.includes(queue))
    return this.#asking.jobsOf(
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
    return this.#asking.jobsOf(
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
  async #datasetFile(what: 'added' | 'removed', file: FileFacts, dataset: string, user: User): Promise<readonly Order[]> {
    const happening = { routingKey: routingKeys.datasetFile(what), dataset }
    return (await this.#routing.queuesFor(happening)).map(queue => ({
      id: derivedId(file.id, what, dataset, queue),
      queue,
      target: { kind: 'dataset', id: dataset },
      user,
      trigger: 'event',
      message: asked => datasetFile(what, file, dataset, asked),
    }))
  }

  /** For metadata of a file once per dataset that holds it; for a thing that is gone the list for all decides. */
  async #metadataQueues(
    what: 'added' | 'removed',
    target: Target,
  ): Promise<readonly { readonly queue: string; readonly dataset: string }[]> {
    const happening = { routingKey: routingKeys.metadata(what, target) }
    const all: { queue: string; dataset: string }[] = []
    if (!(await this.#routing.mayAsk(happening))) return all
    for (const dataset of await this.#datasetsOf(target)) {
      const queues = await this.#routing.queuesFor({ ...happening, dataset })
      all.push(...queues.map(queue => ({ queue, dataset: dataset ?? '' })))
    }
    return all
  }

  async #datasetsOf({ kind, id }: Target): Promise<readonly Happening['dataset'][]> {
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
wire(ExtractionTriggers, Routing, JobFactory, Files, Datasets, MetadataDocuments, StoredExtractions)
