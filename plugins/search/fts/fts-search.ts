import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import {
  Conflict,
  configPort,
  type FieldCount,
  type IndexChange,
  Installation,
  Invalid,
  type Kind,
  Log,
  type SearchDocument,
  type SearchHits,
  type SearchIndex,
  type SearchRequest,
  type SearchScope,
  s,
  Unavailable,
  type ValueCount,
  wire,
} from 'pounce/sdk'
import { Answerer } from './answerer.ts'
import { ApplyQueue } from './apply-queue.ts'
import { DamagedIndex } from './damage.ts'
import type { IndexFile } from './index-file.ts'
import { Indexes } from './indexes.ts'
import type { Ask, Question } from './questions.ts'
import { Readers, resultOf } from './readers.ts'

export const config = s.Object({
  timeLimitMs: s.Integer({ default: 2000, minimum: 50, maximum: 60_000, description: 'How long a search may take, in ms' }),
  threadFrom: s.Integer({
    default: 5000,
    minimum: 0,
    description: 'In a larger index than this many documents searches run in threads of their own, which take about 25 MB each',
  }),
})
const Config = configPort(config)

const sliceMs = 8
const batchSize = 100
const checkLimitMs = 600_000

/** The index in SQLite's full-text engine, in a folder of its own. */
export class FtsSearch implements SearchIndex {
  readonly engine = 'sqlite-fts5'
  readonly #timeLimitMs: number
  readonly #threadFrom: number
  readonly #log: Log
  readonly #indexes: Indexes
  readonly #readers = new Readers()
  readonly #here = new Answerer()
  readonly #queue = new ApplyQueue(changes => this.#indexes.write(changes))
  #isRebuilding = false
  #isSuspect = false
  #checked: Promise<void> = Promise.resolve()

  constructor({ timeLimitMs, threadFrom }: s.Static<typeof config>, installation: Installation, log: Log) {
    this.#timeLimitMs = timeLimitMs
    this.#threadFrom = threadFrom
    this.#log = log
    this.#indexes = new Indexes(join(installation.dataFolder, 'search'), log)
  }

  /** Opens the index. After a crash the file is checked in the background. */
  start(): void {
    const { isSuspect } = this.#indexes.open()
    this.#isSuspect = isSuspect
    if (isSuspect) this.#checked = this.#checkWhole()
  }

  async health(): Promise<void> {
    await this.search({ query: { op: 'all' }, scope: { all: true }, from: 0, size: 1 })
  }

  async dispose(): Promise<void> {
    await this.#queue.settled()
    await this.#readers.dispose()
    this.#here.close()
    await this.#checked
    this.#indexes.close({ isWhole: !this.#isSuspect })
  }

  async needsRebuild(): Promise<boolean> {
    await this.#checked
    return !this.#indexes.isComplete
  }

  async apply(changes: readonly IndexChange[]): Promise<void> {
    if (changes.length > 0) await this.#queue.add(changes)
  }

  async search(request: SearchRequest): Promise<SearchHits> {
    mustBeWithin('from', request.from, 10_000)
    mustBeWithin('size', request.size, 1000)
    return (await this.#ask({ ask: 'search', request })) as SearchHits
  }

  async fields(prefix: string, scope: SearchScope, limit: number): Promise<readonly FieldCount[]> {
    return (await this.#ask({ ask: 'fields', prefix, scope, limit })) as readonly FieldCount[]
  }

  async values(field: string, prefix: string, scope: SearchScope, limit: number): Promise<readonly ValueCount[]> {
    return (await this.#ask({ ask: 'values', field, prefix, scope, limit })) as readonly ValueCount[]
  }

  async tags(
    prefix: string,
    scope: SearchScope,
    limit: number,
    kind?: Kind,
  ): Promise<readonly { readonly tag: string; readonly count: number }[]> {
    const question: Ask = { ask: 'tags', prefix, scope, limit: Math.min(limit, 10_000), ...(kind === undefined ? {} : { kind }) }
    return (await this.#ask(question)) as readonly { tag: string; count: number }[]
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

  clear(): Promise<void> {
    if (this.#isRebuilding) throw new Conflict('The index is being rebuilt; it can be emptied when that is done')
    this.#indexes.empty({ isComplete: true })
    return Promise.resolve()
  }

  #claimRebuild(): void {
    if (this.#isRebuilding) throw new Conflict('The index is being rebuilt already')
    this.#isRebuilding = true
  }

  /** Short transactions with a turn of the event loop between them. */
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
            if (document) index.apply({ put: document })
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

  async #ask(ask: Ask): Promise<unknown> {
    const path = this.#indexes.path
    try {
      return await this.#askOf({ ...ask, path }, this.#timeLimitMs)
    } catch (error) {
      if (!(error instanceof DamagedIndex)) throw error
      this.#indexes.replaceDamaged(path, error)
      throw new Unavailable('The search index was damaged and is empty until it is rebuilt', { cause: error })
    }
  }

  /** A small index is asked here and now; a large one in another thread. */
  async #askOf(question: Question, limitMs: number): Promise<unknown> {
    const isLarge = this.#indexes.isLargerThan(this.#threadFrom)
    return isLarge ? await this.#readers.ask(question, limitMs) : resultOf(this.#here.answer(question))
  }

  async #checkWhole(): Promise<void> {
    const path = this.#indexes.path
    try {
      const isWhole = await this.#askOf({ ask: 'isWhole', path }, checkLimitMs)
      this.#isSuspect = false
      if (isWhole !== true) this.#indexes.replaceDamaged(path, new DamagedIndex('The check after a crash found damage'))
    } catch (error) {
      if (error instanceof DamagedIndex) this.#indexes.replaceDamaged(path, error)
      else this.#log.warn('the search index could not be checked after a crash', { error })
    }
  }
}
function mustBeWithin(name: string, value: number, most: number): void {
  if (!Number.isInteger(value) || value < 0 || value > most) throw new Invalid(`${name} is ${value}; it can be 0 to ${most}`)
}
wire(FtsSearch, Config, Installation, Log)
