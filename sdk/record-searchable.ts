import type { Kind, Ref } from './model/kind.ts'
import { fullNameOf } from './model/people.ts'
import type { Class } from './port.ts'
import type { ResourceSummary, Searchable } from './ports/contributed.ts'
import { type Collection, DocumentStore, type Find, type Stored } from './ports/document-store.ts'
import type { MetadataValue, SearchDocument } from './ports/search-index.ts'
import { Users } from './ports/users.ts'
import { wire } from './wire.ts'

/** What is indexed and shown for a resource. */
export interface SearchEntry {
  readonly name: string
  readonly description?: string
  /** Account id of the author. */
  readonly author: string
  readonly created: string
  readonly tags?: readonly string[]
  /** Values that can be searched by name (`model:XR-7`) and as text. */
  readonly values?: readonly MetadataValue[]
  /** Its containers: searched with `in:<id>`, shown as its location; on a private server, members of these spaces find it. */
  readonly within: readonly Ref[]
  /** Found by everyone, even on a private server. Permission to view each hit is still checked every time. */
  readonly isPublic?: boolean
}

/** The search entries of a kind of resource; undefined for a resource that should not be found now. */
export interface RecordSearch<T extends object> {
  /** An index of the collection that covers all records, for rebuilding the search index. */
  readonly using: string
  readonly entry: (record: T & Stored) => SearchEntry | undefined
}

/** The `Searchable` of a kind whose entries are computed from its records. */
export const recordSearchable = <T extends object>(
  kind: Kind,
  from: Collection<T>,
  { using, entry }: RecordSearch<T>,
): Class<Searchable> => {
  class RecordSearchable implements Searchable {
    readonly kind = kind
    readonly #documents: DocumentStore
    readonly #users: Users

    constructor(documents: DocumentStore, users: Users) {
      this.#documents = documents
      this.#users = users
    }

    async describe(ids: readonly string[]): Promise<ReadonlyMap<string, SearchDocument>> {
      const found = await this.#entries(ids)
      const authors = await this.#users.getMany([...new Set([...found.values()].map(one => one.author))])
      return new Map(
        [...found].map(([id, one]) => {
          const author = authors.get(one.author)
          const { name, description = '', created, tags = [], values = [], within, isPublic = false } = one
          return [
            id,
            {
              ...{ id, kind, revision: one.revision, name, description, created: new Date(created), tags, comments: [], metadata: values },
              ...{ creator: one.author, creatorName: author ? fullNameOf(author) : '', creatorEmail: author?.email ?? '' },
              childOf: within.map(ref => ref.id),
              spaces: within.flatMap(ref => (ref.kind === 'space' ? [ref.id] : [])),
              ...{ isPublic, isListed: true },
            },
          ]
        }),
      )
    }

    async *all(): AsyncIterable<string> {
      const query: Pick<Find, 'using'> = { using }
      for await (const { id } of this.#documents.scan(from, query)) yield id
    }

    async present(ids: readonly string[]): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>> {
      return new Map(
        [...(await this.#entries(ids))].map(([id, { name, description = '', created, author, tags = [] }]) => [
          id,
          { id, name, description, created, authorId: author, tags, resource_type: kind },
        ]),
      )
    }

    async summarize(ids: readonly string[]): Promise<ReadonlyMap<string, ResourceSummary>> {
      return new Map(
        [...(await this.#entries(ids))].map(([id, { name, description = '', created, author, tags = [], values = [], within }]) => [
          id,
          { id, name, description, created, author, tags, values, containers: within },
        ]),
      )
    }

    async #entries(ids: readonly string[]): Promise<ReadonlyMap<string, SearchEntry & { readonly revision: number }>> {
      const entries = new Map<string, SearchEntry & { readonly revision: number }>()
      for (const [id, record] of await this.#documents.getMany(from, ids)) {
        const found = entry(record)
        if (found) entries.set(id, { ...found, revision: record.revision })
      }
      return entries
    }
  }
  wire(RecordSearchable, DocumentStore, Users)
  return RecordSearchable
}
