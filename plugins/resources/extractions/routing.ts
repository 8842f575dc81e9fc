import { Datasets, type ExtractorInfo, takesOperation, wire } from 'pounce/sdk'
import { EnabledExtractors } from './enabled-extractors.ts'
import { StoredExtractors } from './stored-extractors.ts'
import { TransportRouter } from './transport-router.ts'

/** What happened, as far as it decides who is asked. */
export interface Happening {
  /** Of the message's body: what patterns of extractors, and bindings of old ones, are compared with. */
  readonly routingKey: string
  /** The dataset whose spaces have a say; undefined where only the list for all counts. */
  readonly dataset: string | undefined
}

type Process = ExtractorInfo['process']

/** Whether an extractor says that it processes this: `clowder.dataset.file.added` is `file.added` among those for datasets. */
const processes = (process: Process, routingKey: string): boolean => {
  const [, kind, ...operation] = routingKey.split('.')
  const patterns = kind === 'file' || kind === 'dataset' || kind === 'metadata' ? process[kind] : undefined
  return patterns?.some(pattern => takesOperation(pattern, operation.join('.'))) ?? false
}

/** How long a choice that was made on another kernel may stay unheard. */
const freshMs = 1000

interface Snapshot {
  readonly at: number
  readonly changes: number
  readonly open: readonly { readonly name: string; readonly process: Process }[]
  readonly enabled: ReadonlySet<string>
}

/** Decides which queues are asked when something happens (reference, extraction §1.4). Private extractors never are. */
export class Routing {
  #extractors: StoredExtractors
  #choices: EnabledExtractors
  #carriers: TransportRouter
  #datasets: Datasets
  #snapshot: Promise<Snapshot> | undefined
  #known: Snapshot | undefined

  constructor(extractors: StoredExtractors, choices: EnabledExtractors, carriers: TransportRouter, datasets: Datasets) {
    this.#extractors = extractors
    this.#choices = choices
    this.#carriers = carriers
    this.#datasets = datasets
  }

  /** (Enabled for all, less those disabled in any space of the dataset), those enabled in any of them, and queues bound as in the old days; by name. */
  async queuesFor({ routingKey, dataset }: Happening): Promise<readonly string[]> {
    const { open, enabled } = await this.#now()
    const matching = new Set(open.filter(({ process }) => processes(process, routingKey)).map(({ name }) => name))
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
  async mayAsk({ routingKey }: Pick<Happening, 'routingKey'>): Promise<boolean> {
    return this.#carriers.buses().length > 0 || (await this.#now()).open.some(({ process }) => processes(process, routingKey))
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
    const enabled = await this.#choices.enabled()
    const open: { readonly name: string; readonly process: Process }[] = []
    for await (const { key, name, info } of this.#extractors.all()) if (key === null) open.push({ name, process: info.process })
    const snapshot = { at, changes, open, enabled: new Set(enabled) }
    this.#known = snapshot
    return snapshot
  }
}
wire(Routing, StoredExtractors, EnabledExtractors, TransportRouter, Datasets)
