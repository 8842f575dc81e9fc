import { isDeepStrictEqual } from 'node:util'
import {
  type After,
  type CommentRecord,
  Comments,
  type Contributions,
  type Kind,
  MetadataDocuments,
  type Page,
  type Searchable,
  Searchables,
  SearchIndex,
  type SectionRecord,
  Sections,
  wire,
} from 'pounce/sdk'
import { firstOfEach, type ItemsOfOwners, KeyedMutex } from 'pounce/sdk/kit'
import type { SearchDocument } from 'pounce/sdk/search'
import { MetadataCollector } from './metadata-values.ts'

const batchSize = 100
/** Of a file and its sections in total. */
const maxTags = 2000
/** Number of characters of comments after which no further one is indexed. */
const longComments = 2_000_000
/** Maximum number of metadata documents, comments and sections of a resource that are read. */
const maxItems = 2000
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

  /** Adds what is attached to some resources of one kind: metadata, comments, and the tags of sections. */
  async #complete(described: ReadonlyMap<string, SearchDocument>): Promise<ReadonlyMap<string, SearchDocument>> {
    const documents = [...described.values()]
    const files = documents.filter(({ kind }) => kind === 'file')
    const [metadata, comments, sections] = await Promise.all([
      collect(MetadataCollector, documents, {
        read: (some, page) => this.#metadata.of(some, page),
        ownerOf: ({ target }) => target.id,
      }),
      collect(CommentCollector, documents, {
        read: (some, page) => this.#comments.of(some, page),
        ownerOf: ({ target }) => target.id,
      }),
      collect(SectionTagCollector, files, {
        read: (some, page) =>
          this.#sections.of(
            some.map(({ id }) => id),
            page,
          ),
        ownerOf: ({ file }) => file,
      }),
    ])
    const complete = (document: SearchDocument): SearchDocument => {
      const { values, text } = (metadata.get(document.id) as MetadataCollector).metadata
      const onSections = sections.get(document.id)?.names ?? new Set()
      return {
        ...document,
        tags: onSections.size > 0 ? [...new Set([...document.tags, ...onSections])].slice(0, maxTags) : document.tags,
        metadata: [...document.metadata, ...values],
        comments: (comments.get(document.id) as CommentCollector).texts,
        ...(text === '' ? {} : { text }),
      }
    }
    return new Map(documents.map(document => [document.id, complete(document)]))
  }
}
wire(Indexer, SearchIndex, Searchables, MetadataDocuments, Comments, Sections)

const toChange = (id: string, document: SearchDocument | undefined) => (document ? { put: document } : { remove: id })

/** What is kept of the items of one resource. */
interface Collector<T> {
  add(item: T): void
  /** No further item is needed. */
  readonly isFull: boolean
}

class CommentCollector implements Collector<CommentRecord> {
  readonly texts: string[] = []
  #length = 0

  get isFull(): boolean {
    return this.#length >= longComments
  }

  add({ text }: CommentRecord): void {
    this.texts.push(text)
    this.#length += text.length
  }
}

class SectionTagCollector implements Collector<SectionRecord> {
  readonly names = new Set<string>()

  get isFull(): boolean {
    return this.names.size >= maxTags
  }

  add({ tags }: SectionRecord): void {
    for (const { name } of tags) this.names.add(name)
  }
}

/** Collects the items of each resource, by id: those of ordinary resources in one read, those of one with very many page by page. */
const collect = async <O extends { readonly id: string }, T, C extends Collector<T>>(
  newCollector: new () => C,
  owners: readonly O[],
  items: ItemsOfOwners<O, T>,
): Promise<ReadonlyMap<string, C>> => {
  const collected = new Map<string, C>()
  for await (const { owner, items: first, next } of firstOfEach(owners, items)) {
    const collector = new newCollector()
    collected.set(owner.id, collector)
    for (const item of first) collector.add(item)
    if (!next || collector.isFull) continue
    for await (const more of pagesOf(page => items.read([owner], page), pageSize, next)) {
      for (const item of more) collector.add(item)
      if (collector.isFull) break
    }
  }
  return collected
}

type ReadPage<T> = (page: { readonly after?: After; readonly limit: number }) => Promise<Page<T>>

/** The searched items of a resource, or those after a first page: one page for an ordinary one. */
export async function* pagesOf<T>(read: ReadPage<T>, limit = pageSize, from?: After): AsyncGenerator<readonly T[], void> {
  let after = from
  for (let count = from ? limit : 0; count < maxItems; count += limit) {
    const { items, next } = await read({ limit, ...(after ? { after } : {}) })
    yield items
    if (!next) return
    after = next
  }
}
