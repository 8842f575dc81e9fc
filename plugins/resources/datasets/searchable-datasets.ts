import { type Caller, DocumentStore, eq, type Ref, type Searchable, type UserRecord, Users, wire } from 'pounce/sdk'
import { fullNameOf, lifeStates, type ResourceSummary } from 'pounce/sdk/kit'
import type { SearchDocument } from 'pounce/sdk/search'
import { type Dataset, datasets } from './collection.ts'
import { toDatasetItem } from './dataset-lists.ts'

/** Index entries of datasets. */
export class SearchableDatasets implements Searchable {
  readonly kind = 'dataset'
  #documents: DocumentStore
  #users: Users

  constructor(documents: DocumentStore, users: Users) {
    this.#documents = documents
    this.#users = users
  }

  async describe(ids: readonly string[]): Promise<ReadonlyMap<string, SearchDocument>> {
    const found = await this.#documents.getMany(datasets, ids)
    const authors = await this.#users.getMany([...new Set([...found.values()].map(dataset => dataset.author))])
    const seen = [...found].filter(([, { state }]) => state !== 'importing')
    return new Map(seen.map(([id, dataset]) => [id, describe(dataset, authors.get(dataset.author))]))
  }

  async *all(): AsyncIterable<string> {
    for (const state of lifeStates) {
      const sort = { by: 'created', order: 'ascending' } as const
      for await (const { id } of this.#documents.scan(datasets, { using: 'byCreated', where: eq('state', state), sort })) yield id
    }
  }

  async present(ids: readonly string[], _caller: Caller): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>> {
    const found = await this.#documents.getMany(datasets, ids)
    return new Map([...found].filter(([, { state }]) => state === 'live').map(([id, dataset]) => [id, toDatasetItem(dataset)]))
  }

  async summarize(ids: readonly string[]): Promise<ReadonlyMap<string, ResourceSummary>> {
    const found = await this.#documents.getMany(datasets, ids)
    return new Map([...found].filter(([, { state }]) => state === 'live').map(([id, dataset]) => [id, summarize(dataset)]))
  }
}
wire(SearchableDatasets, DocumentStore, Users)

const describe = (dataset: Dataset, author: UserRecord | undefined): SearchDocument => ({
  id: dataset.id,
  kind: 'dataset',
  revision: dataset.revision,
  name: dataset.name,
  description: dataset.description,
  creator: dataset.author,
  creatorName: author ? fullNameOf(author) : '',
  creatorEmail: author?.email ?? '',
  created: new Date(dataset.created),
  tags: dataset.tags.map(tag => tag.name),
  comments: [],
  metadata: [],
  childOf: [...dataset.collections, ...dataset.spaces],
  spaces: dataset.spaces,
  isPublic: dataset.isPublic,
  isListed: dataset.state === 'live',
})

const summarize = ({ id, name, description, author, created, tags, spaces, collections, thumbnail }: Dataset): ResourceSummary => ({
  ...{ id, name, description, author, created },
  tags: tags.map(tag => tag.name),
  containers: [...spaces.map((id): Ref => ({ kind: 'space', id })), ...collections.map((id): Ref => ({ kind: 'collection', id }))],
  ...(thumbnail === null ? {} : { thumbnail }),
})
