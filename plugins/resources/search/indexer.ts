import { isDeepStrictEqual } from 'node:util'
import {
  type After,
  Comments,
  type Contributions,
  type Kind,
  MetadataDocuments,
  type Page,
  type Ref,
  type Searchable,
  Searchables,
  SearchIndex,
  Sections,
  wire,
} from 'pounce/sdk'
import { KeyedMutex } from 'pounce/sdk/kit'
import type { SearchDocument } from 'pounce/sdk/search'
import { type IndexedMetadata, MetadataCollector } from './metadata-values.ts'

const batchSize = 100
/** Number of resources whose metadata is read at once: one may have 14 MiB of it in a page. */
const readAtOnce = 8
/** Of a file and its sections in total. */
const mostTags = 2000
/** Number of characters of comments after which no further one is indexed. */
const longComments = 2_000_000
/** Maximum number of metadata documents, comments and sections of a resource that are read. */
const mostItems = 2000
const pageSize = 200
/** A resource that changes between the passes has an event for each change. */
const maxSharedPasses = 5

/** Writes the current state of resources to the index. */
export class Indexer {
  #index: SearchIndex
  #searchables: Contributions<Searchable>
  #metadata: MetadataDocuments
  #comments: Comments
  #sections: Sections
  #mutex = new KeyedMutex()

  constructor(
    index: SearchIndex,
    searchables: Contributions<Searchable>,
    metadata: MetadataDocuments,
    comments: Comments,
    sections: Sections,
  ) {
    this.#index = index
    this.#searchables = searchables
    this.#metadata = metadata
    this.#comments = comments
    this.#sections = sections
  }

  canFind(kind: Kind): boolean {
    return this.#searchables.all().some(searchable => searchable.kind === kind)
  }

  /**
   * Reads the resources again and indexes them; deleted ones are removed. Calls for the same resource are serialized, so that an older read
   * is not written last.
   */
  async refresh(kind: Kind, ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += batchSize) {
      const some = ids.slice(at, at + batchSize)
      await this.#mutex.use(some, () => this.#update(kind, some))
    }
  }

  /**
   * The mutex orders the writes of this kernel. If several kernels share the index, another one may have read later and written earlier,
   * with the same revision of a file whose dataset had changed: only in that case the resources are read once more after the write.
   */
  async #update(kind: Kind, ids: readonly string[]): Promise<void> {
    const searchable = this.#searchables.all().find(each => each.kind === kind)
    if (!searchable) return
    let stale = ids
    for (let pass = 0; stale.length > 0 && pass < maxSharedPasses; pass += 1) {
      const described = await searchable.describe(stale)
      const documents = await this.#complete(described)
      await this.#index.apply(stale.map(id => toChange(id, documents.get(id))))
      if (!this.#index.isShared) return
      const now = await searchable.describe(stale)
      stale = stale.filter(id => !isDeepStrictEqual(described.get(id), now.get(id)))
    }
  }

  /** The files of the sections that exist. */
  async filesOf(sections: readonly string[]): Promise<readonly string[]> {
    return [...(await this.#sections.getMany(sections)).values()].map(({ file }) => file)
  }

  /** All resources, for a rebuild. */
  async *everything(): AsyncIterable<SearchDocument> {
    for (const searchable of this.#searchables.all()) {
      let batch: string[] = []
      for await (const id of searchable.all()) {
        batch.push(id)
        if (batch.length < batchSize) continue
        yield* (await this.#complete(await searchable.describe(batch))).values()
        batch = []
      }
      if (batch.length > 0) yield* (await this.#complete(await searchable.describe(batch))).values()
    }
  }

  async #complete(described: ReadonlyMap<string, SearchDocument>): Promise<ReadonlyMap<string, SearchDocument>> {
    const full = new Map<string, SearchDocument>()
    const rest = described.values()
    const take = async (): Promise<void> => {
      for (const document of rest) full.set(document.id, await this.#withWhatHangsOn(document))
    }
    await Promise.all(Array.from({ length: readAtOnce }, take))
    return full
  }

  async #withWhatHangsOn(document: SearchDocument): Promise<SearchDocument> {
    const target = { kind: document.kind, id: document.id }
    const [{ values, text }, comments, onSections] = await Promise.all([
      this.#metadataOf(target),
      this.#commentsOn(target),
      target.kind === 'file' ? this.#tagsOnSections(target.id) : [],
    ])
    return {
      ...document,
      tags: onSections.length > 0 ? [...new Set([...document.tags, ...onSections])].slice(0, mostTags) : document.tags,
      metadata: [...document.metadata, ...values],
      comments,
      ...(text === '' ? {} : { text }),
    }
  }

  async #metadataOf(target: Ref): Promise<IndexedMetadata> {
    const collected = new MetadataCollector()
    for await (const items of pagesOf(page => this.#metadata.of(target, page))) {
      for (const document of items) collected.add(document)
      if (collected.isFull) break
    }
    return collected.metadata
  }

  async #commentsOn(target: Ref): Promise<readonly string[]> {
    const texts: string[] = []
    let length = 0
    for await (const items of pagesOf(page => this.#comments.of(target, page))) {
      for (const { text } of items) {
        texts.push(text)
        length += text.length
      }
      if (length >= longComments) break
    }
    return texts
  }

  async #tagsOnSections(file: string): Promise<readonly string[]> {
    const names = new Set<string>()
    for await (const items of pagesOf(page => this.#sections.of(file, page))) {
      for (const { tags } of items) for (const { name } of tags) names.add(name)
      if (names.size >= mostTags) break
    }
    return [...names]
  }
}
wire(Indexer, SearchIndex, Searchables, MetadataDocuments, Comments, Sections)

const toChange = (id: string, document: SearchDocument | undefined) => (document ? { put: document } : { remove: id })

type ReadPage<T> = (page: { readonly after?: After; readonly limit: number }) => Promise<Page<T>>

/** The searched items of a resource: one page for an ordinary one. */
export async function* pagesOf<T>(read: ReadPage<T>, limit = pageSize): AsyncGenerator<readonly T[], void> {
  let after: After | undefined
  for (let count = 0; count < mostItems; count += limit) {
    const { items, next } = await read({ limit, ...(after ? { after } : {}) })
    yield items
    if (!next) return
    after = next
  }
}
