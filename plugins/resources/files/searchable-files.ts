import {
  type Caller,
  Datasets,
  DocumentStore,
  type FileRecord,
  Files,
  fullNameOf,
  type Searchable,
  type SearchDocument,
  type Stored,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { files } from './collection.ts'
import { toFileItem } from './file-json.ts'

type File = FileRecord & Stored

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
    const datasets = await this.#datasets.getMany(
      [...new Set(found.flatMap(file => file.places.map(place => place.dataset)))].slice(0, 1000),
    )
    const authors = await this.#users.getMany([...new Set(found.map(file => file.author))])
    return new Map(
      found.map(file => {
        const holders = file.places.flatMap(place => datasets.get(place.dataset) ?? [])
        const author = authors.get(file.author)
        return [file.id, describe(file, holders, author)]
      }),
    )
  }

  async *all(): AsyncIterable<string> {
    for await (const file of this.#documents.scan(files, { using: 'byCreated' })) yield file.id
  }

  async present(ids: readonly string[], _caller: Caller): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>> {
    return new Map([...(await this.#files.getMany(ids))].map(([id, file]) => [id, toFileItem(file)]))
  }
}
wire(SearchableFiles, DocumentStore, Files, Datasets, Users)

type Holder = {
  readonly id: string
  readonly author: string
  readonly spaces: readonly string[]
  readonly collections: readonly string[]
  readonly isPublic: boolean
  readonly state: string
}

const describe = (file: File, holders: readonly Holder[], author: UserRecord | undefined): SearchDocument => {
  const live = holders.filter(holder => holder.state === 'live')
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
    isListed: file.places.length === 0 || live.length > 0,
  }
}
