import {
  Comments,
  type Contributions,
  type Kind,
  MetadataDocuments,
  port,
  type Searchable,
  Searchables,
  type SearchDocument,
  SearchIndex,
  wire,
} from 'pounce/sdk'
import { metadataValues } from './metadata-values.ts'

const batchSize = 100

/** Brings resources into the index as they are now. */
export class Indexing {
  #index: SearchIndex
  #searchables: Contributions<Searchable>
  #metadata: MetadataDocuments
  #comments: Comments

  constructor(index: SearchIndex, searchables: Contributions<Searchable>, metadata: MetadataDocuments, comments: Comments) {
    this.#index = index
    this.#searchables = searchables
    this.#metadata = metadata
    this.#comments = comments
  }

  canFind(kind: Kind): boolean {
    return this.#searchables.all().some(searchable => searchable.kind === kind)
  }

  /** Reads the resources anew and puts them in; those that are gone are taken out. */
  async refresh(kind: Kind, ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += batchSize) {
      const some = ids.slice(at, at + batchSize)
      const documents = await this.#describe(kind, some)
      await this.#index.apply(some.map(id => toChange(id, documents.get(id))))
    }
  }

  /** Everything there is, for a rebuild. */
  async *everything(): AsyncIterable<SearchDocument> {
    for (const searchable of this.#searchables.all()) {
      let batch: string[] = []
      for await (const id of searchable.all()) {
        batch.push(id)
        if (batch.length < batchSize) continue
        yield* (await this.#describe(searchable.kind, batch)).values()
        batch = []
      }
      yield* (await this.#describe(searchable.kind, batch)).values()
    }
  }

  async #describe(kind: Kind, ids: readonly string[]): Promise<ReadonlyMap<string, SearchDocument>> {
    const searchable = this.#searchables.all().find(each => each.kind === kind)
    if (!searchable || ids.length === 0) return new Map()
    const described = [...(await searchable.describe(ids)).values()]
    const full = await Promise.all(described.map(document => this.#complete(document)))
    return new Map(full.map(document => [document.id, document]))
  }

  async #complete(document: SearchDocument): Promise<SearchDocument> {
    const target = { kind: document.kind, id: document.id }
    const [metadata, comments] = await Promise.all([this.#metadata.of(target, { limit: 200 }), this.#comments.of(target, { limit: 200 })])
    const { values, text } = metadataValues(metadata.items)
    return {
      ...document,
      metadata: [...document.metadata, ...values],
      comments: comments.items.map(comment => comment.text),
      ...(text === '' ? {} : { text }),
    }
  }
}
wire(Indexing, SearchIndex, Searchables, MetadataDocuments, Comments)

const toChange = (id: string, document: SearchDocument | undefined) => (document ? { put: document } : { remove: id })

export const SearchIndexing = port<Indexing>('search.indexing')
