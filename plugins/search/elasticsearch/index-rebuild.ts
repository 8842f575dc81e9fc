import { setTimeout as pause } from 'node:timers/promises'
import { Conflict, Unavailable } from 'pounce/sdk'
import type { IndexChange, SearchDocument } from 'pounce/sdk/search'
import { bodiesOf } from './bodies.ts'
import type { BulkWriter, Write } from './bulk-writer.ts'
import type { ElasticsearchIndexes } from './elasticsearch-indexes.ts'
import type { IndexNames } from './index-names.ts'
import { asProblem } from './problems.ts'
import type { HeldLock, RebuildLock } from './rebuild-lock.ts'

export interface RebuildOptions {
  readonly signal?: AbortSignal | undefined
  progress?(count: number): void
}

/** Batches being written while the next one is read. */
const maxOnTheWay = 2
const triesMs = [500, 1000, 2000, 4000, 8000]

/** Fills a second index while the first one is in use, and swaps them. */
export class IndexRebuild {
  readonly #indexes: ElasticsearchIndexes
  readonly #names: IndexNames
  readonly #writer: BulkWriter
  readonly #lock: RebuildLock

  constructor(indexes: ElasticsearchIndexes, names: IndexNames, writer: BulkWriter, lock: RebuildLock) {
    this.#indexes = indexes
    this.#names = names
    this.#writer = writer
    this.#lock = lock
  }

  /** Throws `Conflict` when another kernel is rebuilding. */
  async run(documents: AsyncIterable<SearchDocument>, { signal, progress }: RebuildOptions): Promise<number> {
    await this.#indexes.ready()
    const lock = await this.#lock.acquire(signal)
    try {
      return await this.#build(documents, lock, { signal, ...(progress ? { progress } : {}) })
    } catch (error) {
      await lock.release().catch(() => undefined)
      throw error
    } finally {
      await lock.stop()
    }
  }

  /** Replaces the index with an empty one. */
  async clear(): Promise<void> {
    await this.#indexes.ready()
    const lock = await this.#lock.acquire(undefined)
    try {
      await this.#indexes.use(await this.#indexes.makeEmpty())
    } catch (error) {
      await lock.release().catch(() => undefined)
      throw error
    } finally {
      await lock.stop()
    }
  }

  async #build(documents: AsyncIterable<SearchDocument>, lock: HeldLock, options: RebuildOptions): Promise<number> {
    await this.#indexes.dropLeftovers()
    const older = await this.#indexes.older()
    const index = await this.#indexes.makeNext()
    try {
      const signal = options.signal ? AbortSignal.any([options.signal, lock.lost]) : lock.lost
      const count = await this.#fill(this.#names.fillOf(index), documents, { ...options, signal })
      signal.throwIfAborted()
      await this.#indexes.use(index, older)
      return count
    } catch (error) {
      // If it remains, the next rebuild removes it.
      await this.#indexes.drop(index).catch(() => undefined)
      throw error
    }
  }

  async #fill(alias: string, documents: AsyncIterable<SearchDocument>, { signal, progress }: RebuildOptions): Promise<number> {
    const onTheWay = new Set<Promise<void>>()
    let failure: { readonly error: unknown } | undefined
    let count = 0
    const send = async (writes: readonly Write[]): Promise<void> => {
      while (onTheWay.size >= maxOnTheWay) await Promise.race(onTheWay)
      if (failure) throw failure.error
      const sending = this.#send(alias, writes, signal)
        .then(() => {
          count += writes.length
          progress?.(count)
        })
        .catch((error: unknown) => {
          failure ??= { error }
        })
        .finally(() => onTheWay.delete(sending))
      onTheWay.add(sending)
    }
    try {
      for await (const writes of bodiesOf(putsOf(documents, signal))) await send(writes)
    } finally {
      await Promise.all(onTheWay)
    }
    if (failure) throw failure.error
    return count
  }

  /** A server that is temporarily busy or unavailable does not discard the work so far. */
  async #send(alias: string, writes: readonly Write[], signal: AbortSignal | undefined): Promise<void> {
    for (const waitMs of [...triesMs, undefined]) {
      signal?.throwIfAborted()
      try {
        if (await this.#writer.fill(alias, writes)) return
        throw new Conflict('The new index was deleted; another kernel is rebuilding it')
      } catch (error) {
        const problem = asProblem(error)
        if (!(problem instanceof Unavailable) || waitMs === undefined) throw problem
        await pause(waitMs, undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted())
      }
    }
  }
}

async function* putsOf(documents: AsyncIterable<SearchDocument>, signal: AbortSignal | undefined): AsyncGenerator<IndexChange> {
  for await (const document of documents) {
    signal?.throwIfAborted()
    yield { put: document }
  }
}
