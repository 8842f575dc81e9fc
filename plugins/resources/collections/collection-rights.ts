import { DocumentStore, type Rights, type RightsOf, wire } from 'pounce/sdk'
import { collections } from './collection.ts'

/** A collection takes its rights from its author, its spaces and their being public. */
export class CollectionRights implements RightsOf {
  readonly kind = 'collection'
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
    const found = await this.#documents.getMany(collections, ids)
    return new Map([...found].map(([id, { author, spaces, isPublic, state }]) => [id, { author, spaces, isPublic, state }]))
  }
}
wire(CollectionRights, DocumentStore)
