import {
  type Caller,
  type DatasetRecord,
  Datasets,
  DocumentStore,
  type FileRecord,
  Files,
  type Ref,
  type Searchable,
  type Stored,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { fullNameOf, type ResourceSummary } from 'pounce/sdk/kit'
import type { SearchDocument } from 'pounce/sdk/search'
import { files } from './collection.ts'
import { toFileItem } from './file-json.ts'

type File = FileRecord & Stored
type Holder = DatasetRecord & Stored

/** Maximum number of records that a store reads at once. */
const readTogether = 1000

/** Files for the search index. A file has the rights of its datasets, and is listed while one of them is live. */
export class SearchableFiles implements Searchable {
  readonly kind = 'file'
  #documents: DocumentStore
  #files: Files
  #datasets: Datasets
  #users: Users

  constructor(documents: DocumentStore, fileRecords: Files, datasets: Datasets, users: Users) {
    this.#documents = documents
    this.#files = fileRecords
    this.#datasets = datasets
    this.#users = users
  }

  async describe(ids: readonly string[]): Promise<ReadonlyMap<string, SearchDocument>> {
    const found = [...(await this.#files.getMany(ids)).values()]
    const datasets = await this.#datasetsOf(found)
    const authors = await this.#users.getMany([...new Set(found.map(file => file.author))])
    return new Map(
      found.map(file => {
        const author = authors.get(file.author)
        return [file.id, describe(file, holdersOf(file, datasets), author)]
      }),
    )
  }

  async *all(): AsyncIterable<string> {
    for await (const file of this.#documents.scan(files, { using: 'byCreated' })) yield file.id
  }

  async present(ids: readonly string[], _caller: Caller): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>> {
    return new Map((await this.#listed(ids)).map(file => [file.id, toFileItem(file)]))
  }

  async summarize(ids: readonly string[]): Promise<ReadonlyMap<string, ResourceSummary>> {
    return new Map((await this.#listed(ids)).map(file => [file.id, summarize(file)]))
  }

  async #listed(ids: readonly string[]): Promise<readonly File[]> {
    const found = [...(await this.#files.getMany(ids)).values()]
    const datasets = await this.#datasetsOf(found)
    return found.filter(file => isListed(file, holdersOf(file, datasets)))
  }

  async #datasetsOf(found: readonly File[]): Promise<ReadonlyMap<string, Holder>> {
    const ids = [...new Set(found.flatMap(({ places }) => places.map(({ dataset }) => dataset)))]
    const datasets = new Map<string, Holder>()
    for (let at = 0; at < ids.length; at += readTogether) {
      for (const [id, dataset] of await this.#datasets.getMany(ids.slice(at, at + readTogether))) datasets.set(id, dataset)
    }
    return datasets
  }
}
wire(SearchableFiles, DocumentStore, Files, Datasets, Users)

const holdersOf = ({ places }: File, datasets: ReadonlyMap<string, Holder>): readonly Holder[] =>
  places.flatMap(({ dataset }) => datasets.get(dataset) ?? [])

const isLive = ({ state }: Holder): boolean => state === 'live'

/** A file without location is visible to its author; others are in the trash with the last of their datasets. */
const isListed = ({ places }: File, holders: readonly Holder[]): boolean => places.length === 0 || holders.some(isLive)

const describe = (file: File, holders: readonly Holder[], author: UserRecord | undefined): SearchDocument => {
  const live = holders.filter(isLive)
  const spaces = [...new Set(live.flatMap(holder => holder.spaces))]
  const places = file.places.flatMap(place => (place.folder === null ? [place.dataset] : [place.dataset, place.folder]))
  return {
    id: file.id,
    kind: 'file',
    revision: file.revision,
    name: file.name,
    description: file.description,
    creator: file.author,
    creatorName: author ? fullNameOf(author) : '',
    creatorEmail: author?.email ?? '',
    createdAs: file.originalName,
    created: new Date(file.created),
    contentType: file.contentType,
    tags: file.tags.map(tag => tag.name),
    comments: [],
    metadata: [],
    childOf: [...new Set([...places, ...spaces, ...live.flatMap(holder => holder.collections)])],
    spaces: [...new Set([...spaces, ...live.map(holder => holder.author)])],
    isPublic: live.some(holder => holder.isPublic),
    isListed: isListed(file, holders),
  }
}

const summarize = (file: File): ResourceSummary => {
  const { id, name, description, author, created, contentType, sizeBytes, thumbnail } = file
  return {
    ...{ id, name, description, author, created, contentType, sizeBytes },
    tags: file.tags.map(tag => tag.name),
    containers: file.places.map(
      ({ dataset, folder }): Ref => (folder === null ? { kind: 'dataset', id: dataset } : { kind: 'folder', id: folder }),
    ),
    createdAs: file.originalName,
    ...(thumbnail === null ? {} : { thumbnail }),
  }
}
