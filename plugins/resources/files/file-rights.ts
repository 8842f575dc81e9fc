import { DocumentStore, type FileRecord, type Ref, type Rights, type RightsOf, type Stored, wire } from 'pounce/sdk'
import { files } from './collection.ts'

const parentsOf = (file: FileRecord): readonly Ref[] =>
  [...new Set(file.places.map(place => place.dataset))].map(id => ({ kind: 'dataset', id }))

const rightsOf = (file: FileRecord & Stored): Rights => {
  const parents = parentsOf(file)
  return { author: file.author, spaces: [], isPublic: false, state: 'live', ...(parents.length > 0 ? { parents } : {}) }
}

/** A file takes its rights from the datasets it lies in; one in none is its author's alone. */
export class FileRights implements RightsOf {
  readonly kind = 'file'
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
    const found = await this.#documents.getMany(files, ids)
    return new Map([...found].map(([id, file]) => [id, rightsOf(file)]))
  }
}
wire(FileRights, DocumentStore)
