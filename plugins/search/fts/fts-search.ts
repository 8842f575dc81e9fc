import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { Conflict, configPort, Installation, Invalid, type Kind, Log, type SearchIndex, s, Unavailable, wire } from 'pounce/sdk'
import type {
  FacetCounts,
  FacetRequest,
  FieldCount,
  IndexChange,
  NameRequest,
  SearchDocument,
  SearchHits,
  SearchRequest,
  SearchScope,
  ValueCount,
} from 'pounce/sdk/search'
import { DatabaseDoctor } from 'pounce/sdk/sqlite'
import { DamagedIndex } from './damage.ts'
import { FtsIndexes } from './fts-indexes.ts'
import { FtsWriteQueue } from './fts-write-queue.ts'
import type { IndexFile } from './index-file.ts'
import { IndexFolder } from './index-folder.ts'
import { isCheap } from './query-cost.ts'
import { QueryExecutor } from './query-executor.ts'
import type { ReadRequest, SearchTask } from './search-task.ts'
import { resultOf, SearchThreads } from './search-threads.ts'

export const config = s.Object({
  timeLimitMs: s.Integer({ default: 2000, minimum: 50, maximum: 60_000, description: 'Timeout of a search, in milliseconds' }),
  threadFrom: s.Integer({
    default: 5000,
    minimum: 0,
    description: 'Number of documents above which searches run in threads, which use about 25 MB each',
  }),
})
const Config = configPort(config)

const folderOf = ({ dataFolder }: Installation): string => join(dataFolder, 'search')

const sliceMs = 8
const batchSize = 100
const checkLimitMs = 600_000

/** A search index based on SQLite FTS5, in a folder of its own. */
export class FtsSearch implements SearchIndex {
  readonly engine = 'sqlite-fts5'
  readonly isShared = false
  readonly #timeLimitMs: number
  readonly #threadFrom: number
  readonly #log: Log
  readonly #indexes: FtsIndexes
  readonly #readers = new SearchThreads()
  readonly #mainThread = new QueryExecutor()
  readonly #queue: FtsWriteQueue
  #isRebuilding = false
  #isSuspect = false
  #isClosing = false
  #checked: Promise<void> = Promise.resolve()

  constructor({ timeLimitMs, threadFrom }: s.Static<typeof config>, installation: Installation, log: Log) {
    this.#timeLimitMs = timeLimitMs
    this.#threadFrom = threadFrom
    this.#log = log
    this.#indexes = new FtsIndexes(folderOf(installation), log)
    this.#queue = new FtsWriteQueue(this.#indexes)
  }

  /** Opens the index. After a crash the file is checked in the background. */
  start(): void {
    const { isSuspect } = this.#indexes.open()
    this.#isSuspect = isSuspect
    if (isSuspect) this.#checked = this.#checkIntegrity()
  }

  async health(): Promise<void> {
    await this.search({ query: { op: 'all' }, scope: { all: true }, from: 0, size: 1 })
  }

  async dispose(): Promise<void> {
    this.#isClosing = true
    await this.#queue.settled()
    await this.#readers.dispose()
    this.#mainThread.close()
    await this.#checked
    await this.#indexes.close({ isWhole: !this.#isSuspect })
  }

  async needsRebuild(): Promise<boolean> {
    await this.#checked
    return !this.#indexes.isComplete
  }

  async identity(): Promise<string> {
    return this.#indexes.identity
  }

  async apply(changes: readonly IndexChange[]): Promise<void> {
    if (changes.length > 0) await this.#queue.add(changes)
  }

  async search(request: SearchRequest): Promise<SearchHits> {
    mustBeWithin('from', request.from, 10_000)
    mustBeWithin('size', request.size, 1000)
    return (await this.#run({ type: 'search', request })) as SearchHits
  }

  async facets(request: FacetRequest): Promise<FacetCounts> {
    mustBeWithin('limit', request.limit, 1000)
    return (await this.#run({ type: 'facets', request })) as FacetCounts
  }

  async names(request: NameRequest): Promise<SearchHits['hits']> {
    mustBeWithin('limit', request.limit, 100)
    return (await this.#run({ type: 'names', request })) as SearchHits['hits']
  }

  async fields(prefix: string, scope: SearchScope, limit: number): Promise<readonly FieldCount[]> {
    return (await this.#run({ type: 'fields', prefix, scope, limit })) as readonly FieldCount[]
  }

  async values(field: string, prefix: string, scope: SearchScope, limit: number): Promise<readonly ValueCount[]> {
    return (await this.#run({ type: 'values', field, prefix, scope, limit })) as readonly ValueCount[]
  }

  async tags(
    prefix: string,
    scope: SearchScope,
    limit: number,
    kind?: Kind,
  ): Promise<readonly { readonly tag: string; readonly count: number }[]> {
    const request: ReadRequest = { type: 'tags', prefix, scope, limit: Math.min(limit, 10_000), ...(kind === undefined ? {} : { kind }) }
    return (await this.#run(request)) as readonly { tag: string; count: number }[]
  }

  async rebuild(
    documents: AsyncIterable<SearchDocument>,
    { signal, progress }: { readonly signal?: AbortSignal; progress?(count: number): void } = {},
  ): Promise<{ readonly count: number }> {
    this.#claimRebuild()
    try {
      const count = await this.#fill(this.#indexes.beginNext(), documents, signal, progress)
      this.#indexes.useNext()
      return { count }
    } finally {
      this.#indexes.dropNext()
      this.#isRebuilding = false
    }
  }

  async clear(): Promise<void> {
    if (this.#isRebuilding) throw new Conflict('The index cannot be emptied during a rebuild')
    this.#indexes.empty({ isComplete: true })
  }

  #claimRebuild(): void {
    if (this.#isRebuilding) throw new Conflict('A rebuild of the index is already running')
    this.#isRebuilding = true
  }

  /** Writes in short transactions, and yields to the event loop between them. */
  async #fill(
    index: IndexFile,
    documents: AsyncIterable<SearchDocument>,
    signal: AbortSignal | undefined,
    progress: ((count: number) => void) | undefined,
  ): Promise<number> {
    let count = 0
    let batch: SearchDocument[] = []
    const write = async (): Promise<void> => {
      while (batch.length > 0) {
        signal?.throwIfAborted()
        const end = performance.now() + sliceMs
        let done = 0
        index.transaction(() => {
          while (done < batch.length && performance.now() < end) {
            const document = batch[done]
            if (document) index.apply({ put: document }, { isEarlier: true })
            done += 1
          }
        })
        batch = batch.slice(done)
        count += done
        progress?.(count)
        await setImmediate()
      }
    }
    for await (const document of documents) {
      signal?.throwIfAborted()
      batch.push(document)
      if (batch.length >= batchSize) await write()
    }
    await write()
    signal?.throwIfAborted()
    return count
  }

  async #run(request: ReadRequest): Promise<unknown> {
    const path = this.#indexes.path
    try {
      return await this.#runIn({ ...request, path }, this.#timeLimitMs)
    } catch (error) {
      if (!(error instanceof DamagedIndex)) throw error
      this.#indexes.replaceDamaged(path, error)
      throw new Unavailable('The search index was damaged and is empty until rebuilt', { cause: error })
    }
  }

  /** Cheap queries of a small index run in this thread; all others in a worker thread, where they can be terminated. */
  async #runIn(task: SearchTask, limitMs: number): Promise<unknown> {
    const isQuick = isCheap(task) && !this.#indexes.isLargerThan(this.#threadFrom)
    return isQuick ? resultOf(this.#mainThread.execute(task)) : await this.#readers.run(task, limitMs)
  }

  async #checkIntegrity(): Promise<void> {
    const path = this.#indexes.path
    try {
      const isIntact = await this.#runIn({ type: 'isWhole', path }, checkLimitMs)
      this.#isSuspect = false
      if (isIntact !== true) this.#indexes.replaceDamaged(path, new DamagedIndex('The integrity check after a crash found damage'))
    } catch (error) {
      if (error instanceof DamagedIndex) this.#indexes.replaceDamaged(path, error)
      // An unchecked index is checked at the next start.
      else if (!this.#isClosing) this.#log.warn('Failed to check the search index after a crash', { error })
    }
  }
}
function mustBeWithin(name: string, value: number, max: number): void {
  if (!Number.isInteger(value) || value < 0 || value > max) throw new Invalid(`${name} must be 0 to ${max}, not ${value}`)
}
wire(FtsSearch, Config, Installation, Log)

/** The search index, for `pounce doctor`. */
export class SearchIndexDoctor extends DatabaseDoctor {
  constructor(installation: Installation) {
    const folder = new IndexFolder(folderOf(installation))
    super({
      name: 'search',
      file: () => folder.pathOf(folder.current() ?? 'current'),
      jsonColumns: ['fields', 'spaces'],
      remedy: 'rebuild it with `pounce reindex`, or stop the server and delete the folder',
    })
  }
}
wire(SearchIndexDoctor, Installation)
