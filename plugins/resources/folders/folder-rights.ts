import { DocumentStore, type Rights, type RightsOf, wire } from 'pounce/sdk'
import { folders } from './collection.ts'

/** A folder has the rights of its dataset and none of its own, not even for whoever made it. */
export class FolderRights implements RightsOf {
  readonly kind = 'folder'
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
    const found = await this.#documents.getMany(folders, ids)
    const none = { author: '', spaces: [], isPublic: false, state: 'live' } as const
    return new Map([...found].map(([id, { dataset }]) => [id, { ...none, parents: [{ kind: 'dataset', id: dataset }] }]))
  }
}
wire(FolderRights, DocumentStore)
