import { type Contributions, Files, type Kind, type Ref, type Searchable, Searchables, wire } from 'pounce/sdk'
import type { SearchDocument } from 'pounce/sdk/search'
import { Indexer } from './indexer.ts'

const batchSize = 100

/** The resources to index: all, or one resource and its contents. */
export class IndexSources {
  #indexing: Indexer
  #searchables: Contributions<Searchable>
  #files: Files

  constructor(indexing: Indexer, searchables: Contributions<Searchable>, files: Files) {
    this.#indexing = indexing
    this.#searchables = searchables
    this.#files = files
  }

  everything(): AsyncIterable<SearchDocument> {
    return this.#indexing.everything()
  }

  /** The number of resources. */
  async count(signal: AbortSignal): Promise<number> {
    let total = 0
    for (const searchable of this.#searchables.all()) {
      for await (const _ of searchable.all()) {
        total += 1
        signal.throwIfAborted()
      }
    }
    return total
  }

  /** Reindexes one resource and, if requested, its contents. Returns the number of resources. */
  async refreshAll(
    what: Ref,
    isRecursive: boolean,
    signal: AbortSignal,
    onTotal: (total: number) => void,
    onCount: (count: number) => void,
  ): Promise<number> {
    const parts = isRecursive ? await this.#within(what, signal) : [[what.kind, [what.id]] as const]
    const total = parts.reduce((sum, [, ids]) => sum + ids.length, 0)
    onTotal(total)
    let count = 0
    for (const [kind, ids] of parts) {
      for (let at = 0; at < ids.length; at += batchSize) {
        signal.throwIfAborted()
        const some = ids.slice(at, at + batchSize)
        await this.#indexing.refresh(kind, some)
        count += some.length
        onCount(count)
      }
    }
    return count
  }

  async #within(what: Ref, signal: AbortSignal): Promise<readonly (readonly [Kind, readonly string[]])[]> {
    const collections = what.kind === 'collection' ? await this.#collectionsBelow(what.id, signal) : []
    const datasets = what.kind === 'dataset' ? [what.id] : await this.#inAnyOf('dataset', new Set(collections), signal)
    const files = new Set<string>()
    for (const dataset of datasets) {
      for await (const { id } of this.#files.ofDataset(dataset)) {
        signal.throwIfAborted()
        files.add(id)
      }
    }
    return [
      ['collection', collections],
      ['dataset', datasets],
      ['file', [...files]],
    ]
  }

  async #collectionsBelow(id: string, signal: AbortSignal): Promise<readonly string[]> {
    const found = new Set([id])
    let newest: ReadonlySet<string> = found
    while (newest.size > 0) {
      const below = await this.#inAnyOf('collection', newest, signal)
      newest = new Set(below.filter(each => !found.has(each)))
      for (const each of newest) found.add(each)
    }
    return [...found]
  }

  /** Records refer to their containers, not to their contents, so all records of the kind are read. */
  async #inAnyOf(kind: Kind, places: ReadonlySet<string>, signal: AbortSignal): Promise<readonly string[]> {
    const searchable = this.#searchables.all().find(each => each.kind === kind)
    const found: string[] = []
    if (!searchable || places.size === 0) return found
    let batch: string[] = []
    const look = async (): Promise<void> => {
      signal.throwIfAborted()
      for (const [id, { childOf }] of await searchable.describe(batch)) if (childOf.some(each => places.has(each))) found.push(id)
      batch = []
    }
    for await (const id of searchable.all()) {
      batch.push(id)
      if (batch.length === batchSize) await look()
    }
    await look()
    return found
  }
}
wire(IndexSources, Indexer, Searchables, Files)
