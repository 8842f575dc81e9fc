import { Datasets, type ExtractorInfo, port, wire } from 'pounce/sdk'
import { AllTransports, type Carriers } from './carriers.ts'
import { takes, takesOperation } from './matching.ts'
import { Choices, type StoredChoices } from './stored-choices.ts'
import { KnownExtractors, type StoredExtractors } from './stored-extractors.ts'

/** What happened, as far as it decides who is asked. */
export interface Happening {
  /** True of an extractor that says it processes this. */
  readonly isFor: (process: ExtractorInfo['process']) => boolean
  /** What bindings of old extractors are compared with. */
  readonly routingKey: string
  /** The dataset whose spaces have a say; undefined where only the list for all counts. */
  readonly dataset: string | undefined
}

/** A new file of this media type. */
export const forFile =
  (mediaType: string) =>
  ({ file = [] }: ExtractorInfo['process']): boolean =>
    file.some(pattern => takes(pattern, mediaType))

/** Something that happened to a dataset: `file.added`, `files.added`, `file.removed`. */
export const forDataset =
  (operation: string) =>
  ({ dataset = [] }: ExtractorInfo['process']): boolean =>
    dataset.some(pattern => takesOperation(pattern, operation))

/** Something that happened to metadata: `added.file`, `removed.dataset` … */
export const forMetadata =
  (operation: string) =>
  ({ metadata = [] }: ExtractorInfo['process']): boolean =>
    metadata.some(pattern => takesOperation(pattern, operation))

/** How long a choice that was made on another kernel may stay unheard. */
const freshMs = 1000

interface Snapshot {
  readonly at: number
  readonly changes: number
  readonly open: readonly { readonly name: string; readonly process: ExtractorInfo['process'] }[]
  readonly enabled: ReadonlySet<string>
}

/** Decides which queues are asked when something happens (reference, extraction §1.4). Private extractors never are. */
export class Routing {
  #extractors: StoredExtractors
  #choices: StoredChoices
  #carriers: Carriers
  #datasets: Datasets
  #snapshot: Promise<Snapshot> | undefined
  #known: Snapshot | undefined

  constructor(extractors: StoredExtractors, choices: StoredChoices, carriers: Carriers, datasets: Datasets) {
    this.#extractors = extractors
    this.#choices = choices
    this.#carriers = carriers
    this.#datasets = datasets
  }

  /** (Enabled for all, less those disabled in any space of the dataset), those enabled in any of them, and queues bound as in the old days; by name. */
  async queuesFor({ isFor, routingKey, dataset }: Happening): Promise<readonly string[]> {
    const { open, enabled } = await this.#now()
    const matching = new Set(open.filter(({ process }) => isFor(process)).map(({ name }) => name))
    const queues = new Set<string>()
    if (matching.size > 0) {
      const spaces = dataset === undefined ? [] : ((await this.#datasets.get(dataset))?.spaces ?? [])
      const said = await this.#choices.ofSpaces(spaces)
      const disabled = new Set(said.flatMap(choice => choice.disabled))
      for (const name of enabled) if (!disabled.has(name)) queues.add(name)
      for (const name of said.flatMap(choice => choice.enabled)) queues.add(name)
      for (const name of queues) if (!matching.has(name)) queues.delete(name)
    }
    for (const bus of this.#carriers.buses()) for (const queue of await bus.boundTo(routingKey)) queues.add(queue)
    return [...queues].sort()
  }

  /** False when nobody can be asked, in whatever dataset it happens: spares looking further. */
  async mayAsk({ isFor }: Pick<Happening, 'isFor'>): Promise<boolean> {
    return this.#carriers.buses().length > 0 || (await this.#now()).open.some(({ process }) => isFor(process))
  }

  get #changes(): number {
    return this.#extractors.changes + this.#choices.changes
  }

  async #now(): Promise<Snapshot> {
    const known = this.#known
    if (known && known.changes === this.#changes && performance.now() - known.at < freshMs) return known
    this.#snapshot ??= this.#read().finally(() => {
      this.#snapshot = undefined
    })
    return this.#snapshot
  }

  async #read(): Promise<Snapshot> {
    // Taken first: a change while this reads makes it stale at once.
    const [at, changes] = [performance.now(), this.#changes]
    const [all, enabled] = await Promise.all([this.#extractors.all(), this.#choices.enabled()])
    const open = all.filter(({ key }) => key === null).map(({ name, info }) => ({ name, process: info.process }))
    const snapshot = { at, changes, open, enabled: new Set(enabled) }
    this.#known = snapshot
    return snapshot
  }
}
wire(Routing, KnownExtractors, Choices, AllTransports, Datasets)

export const Routes = port<Routing>('extractions.routing')
