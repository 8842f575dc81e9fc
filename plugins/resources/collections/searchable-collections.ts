import { type Caller, DocumentStore, eq, type Ref, type Searchable, type UserRecord, Users, wire } from 'pounce/sdk'
import { fullNameOf, lifeStates, type ResourceSummary } from 'pounce/sdk/kit'
import type { SearchDocument } from 'pounce/sdk/search'
import { type Collected, collections } from './collection.ts'
import { toCollectionItem } from './collection-json.ts'

/** Index entries of collections. */
export class SearchableCollections implements Searchable {
  readonly kind = 'collection'
  #documents: DocumentStore
  #users: Users

  constructor(documents: DocumentStore, users: Users) {
    this.#documents = documents
    this.#users = users
  }

  async describe(ids: readonly string[]): Promise<ReadonlyMap<string, SearchDocument>> {
    const found = await this.#documents.getMany(collections, ids)
    const authors = await this.#users.getMany([...new Set([...found.values()].map(one => one.author))])
    return new Map([...found].map(([id, one]) => [id, describe(one, authors.get(one.author))]))
  }

  async *all(): AsyncIterable<string> {
    for (const state of lifeStates) {
      const sort = { by: 'created', order: 'ascending' } as const
      for await (const { id } of this.#documents.scan(collections, { using: 'byCreated', where: eq('state', state), sort })) yield id
    }
  }

  async present(ids: readonly string[], _caller: Caller): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>> {
    const found = await this.#documents.getMany(collections, ids)
    return new Map([...found].filter(([, { state }]) => state === 'live').map(([id, one]) => [id, toCollectionItem(one)]))
  }

  async summarize(ids: readonly string[]): Promise<ReadonlyMap<string, ResourceSummary>> {
    const found = await this.#documents.getMany(collections, ids)
    return new Map([...found].filter(([, { state }]) => state === 'live').map(([id, one]) => [id, summarize(one)]))
  }
}
wire(SearchableCollections, DocumentStore, Users)

const describe = (one: Collected, author: UserRecord | undefined): SearchDocument => ({
  id: one.id,
  kind: 'collection',
  revision: one.revision,
  name: one.name,
  description: one.description,
  creator: one.author,
  creatorName: author ? fullNameOf(author) : '',
  creatorEmail: author?.email ?? '',
  created: new Date(one.created),
  tags: one.tags.map(tag => tag.name),
  comments: [],
  metadata: [],
  childOf: [...one.parents, ...one.spaces],
  spaces: one.spaces,
  isPublic: one.isPublic,
  isListed: one.state === 'live',
})

const summarize = ({ id, name, description, author, created, tags, parents, spaces, thumbnail }: Collected): ResourceSummary => ({
  ...{ id, name, description, author, created },
  tags: tags.map(tag => tag.name),
  containers: [...parents.map((id): Ref => ({ kind: 'collection', id })), ...spaces.map((id): Ref => ({ kind: 'space', id }))],
  ...(thumbnail === null ? {} : { thumbnail }),
})
