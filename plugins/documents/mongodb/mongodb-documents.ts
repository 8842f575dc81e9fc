import {
  type After,
  Clock,
  type Collection,
  type DocumentStore,
  type Find,
  Log,
  Metrics,
  type NewEvent,
  type Page,
  type Stored,
  Unavailable,
  wire,
} from 'pounce/sdk'
import { KeyedMutex, type RowFormat } from 'pounce/sdk/kit'
import { type Change, type Committed, formatDocuments, type Outbox } from 'pounce/sdk/store-kit'
import { batchesOf } from './batches.ts'
import { MongodbCatalog } from './mongodb-catalog.ts'
import { MongodbConnection } from './mongodb-connection.ts'
import { MongodbOutbox } from './mongodb-outbox.ts'
import { type Count, MongodbReader, type Seek } from './mongodb-reader.ts'
import { collectionOf, idOf, MongodbWriter } from './mongodb-writer.ts'
import { type KernelTimes, kernelTimes, OtherKernels } from './other-kernels.ts'
import { encodeText } from './record-format.ts'
import { Config, config, type Settings } from './settings.ts'

interface Item {
  readonly change: Change
  readonly events?: readonly NewEvent[]
}

export { config }

/** Documents in MongoDB: one conditional write per commit, with its events embedded in the document until they are delivered. */
export class MongodbDocuments implements DocumentStore {
  readonly outbox: Outbox
  readonly #server: MongodbConnection
  readonly #catalog: MongodbCatalog
  readonly #writer: MongodbWriter
  readonly #reader: MongodbReader
  readonly #outbox: MongodbOutbox
  readonly #metrics: Metrics
  readonly #mutex = new KeyedMutex()

  constructor(settings: Settings, clock: Clock, log: Log, metrics: Metrics, times: KernelTimes = kernelTimes) {
    this.#server = new MongodbConnection(settings, log)
    this.#catalog = new MongodbCatalog(this.#server, new OtherKernels(this.#server, clock, log, times))
    this.#writer = new MongodbWriter(this.#server, this.#catalog)
    this.#reader = new MongodbReader(this.#server, from => this.#catalog.recordFormatOf(from), settings.readTimeoutMs)
    this.#outbox = new MongodbOutbox({ server: this.#server, catalog: this.#catalog, clock, log })
    this.outbox = this.#outbox
    this.#metrics = metrics
  }

  async start(): Promise<void> {
    await this.#server.open()
    await this.#outbox.start()
  }

  async health(): Promise<void> {
    await this.#server.use(database => database.command({ ping: 1 }))
  }

  /** Waits for pending operations, then disconnects. Later calls reject with `Unavailable`. */
  async dispose(): Promise<void> {
    if (!this.#server.isOpen) return
    await this.#mutex.ended()
    try {
      await this.#outbox.dispose()
    } finally {
      await this.#server.close()
    }
  }

  /** Stops at once, like a killed kernel: nothing is delivered or released. For tests. */
  abandon(): Promise<void> {
    return this.#outbox.abandon()
  }

  async declare(collections: readonly Collection<object>[]): Promise<void> {
    await this.#catalog.declare(collections)
  }

  async get<T extends object>(from: Collection<T>, id: string): Promise<(T & Stored) | undefined> {
    return this.#reader.get(from, id)
  }

  async getMany<T extends object>(from: Collection<T>, ids: readonly string[]): Promise<ReadonlyMap<string, T & Stored>> {
    return this.#reader.getMany(from, ids)
  }

  async find<T extends object>(from: Collection<T>, query: Find): Promise<Page<T & Stored>> {
    return this.#reader.find(from, query)
  }

  async seek<T extends object>(from: Collection<T>, query: Seek): Promise<After | undefined> {
    return this.#reader.seek(from, query)
  }

  async count<T extends object>(from: Collection<T>, query: Count): Promise<number> {
    return this.#reader.count(from, query)
  }

  async *walk<T extends object>(from: Collection<T>, after?: string): AsyncIterable<T & Stored> {
    yield* this.#reader.walk(from, after)
  }

  async *scan<T extends object>(from: Collection<T>, query: Omit<Find, 'limit' | 'after'>): AsyncIterable<T & Stored> {
    yield* this.#reader.scan(from, query)
  }

  async *formattedRows<T extends object>(
    from: Collection<T>,
    format: RowFormat,
    query?: Pick<Find, 'using' | 'where'>,
  ): AsyncIterable<Uint8Array> {
    const documents = query ? this.#reader.scan(from, query) : this.#reader.walk(from)
    yield* formatDocuments(documents, format, (name, ids) => this.#reader.getMany<object>({ name, indexes: {} }, ids))
  }

  async commit<T extends object>(change: Change<T>, events: readonly NewEvent[] = []): Promise<T & Stored> {
    return (await this.#commit(change as Change, events)) as T & Stored
  }

  async commitEach<T extends object>(
    items: readonly { readonly change: Change<T>; readonly events?: readonly NewEvent[] }[],
  ): Promise<readonly Committed<T>[]> {
    if (items.length > 1000) throw new RangeError('At most 1,000 changes can be sent at once')
    const results: Committed<T>[] = []
    for (const batch of batchesOf(items as readonly Item[])) {
      const each = batch.map(async ({ change, events = [] }): Promise<Committed<T>> => {
        try {
          return { ok: true, document: (await this.#commit(change, events)) as T & Stored }
        } catch (error) {
          return { ok: false, error: error instanceof Error ? error : new Error(String(error)) }
        }
      })
      results.push(...(await Promise.all(each)))
    }
    return results
  }

  /** Changes of one document run one at a time in this kernel, so that they do not conflict with each other. */
  #commit(change: Change, events: readonly NewEvent[]): Promise<Stored> {
    const collection = collectionOf(change).name
    const id = idOf(change)
    const isTombstone = 'tombstone' in change
    const make = (after?: string) => {
      const outboxEvents = this.#outbox.make(events, after)
      return isTombstone ? [...outboxEvents, this.#outbox.tombstoneMark(after)] : outboxEvents
    }
    return this.#server.within(isOver =>
      this.#mutex.use(`${collection}/${id}`, async () => {
        if (isOver()) throw new Unavailable('The document store timed out')
        const start = performance.now()
        const { document, left, isGone, before } = await this.#writer.write(change, make)
        this.#metrics.observe('documents_commit_seconds', (performance.now() - start) / 1000)
        this.#outbox.committed(left, { collection, document: encodeText(id), isGone }, before)
        return document
      }),
    )
  }
}
wire(MongodbDocuments, Config, Clock, Log, Metrics)
