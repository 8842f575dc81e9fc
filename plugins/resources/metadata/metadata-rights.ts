import { anonymousUserId, DocumentStore, type Rights, type RightsOf, wire } from 'pounce/sdk'
import { metadata } from './collection.ts'

/** A document has the rights of what it hangs on; who sent it owns it. */
export class MetadataRights implements RightsOf {
  readonly kind = 'metadata'
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
    const found = await this.#documents.getMany(metadata, ids)
    return new Map(
      [...found].map(([id, { author, target }]) => [
        id,
        { author: author ?? anonymousUserId, spaces: [], isPublic: false, state: 'live', parents: [target] },
      ]),
    )
  }
}
wire(MetadataRights, DocumentStore)
