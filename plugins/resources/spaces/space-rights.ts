import { DocumentStore, type Rights, type RightsOf, wire } from 'pounce/sdk'
import { spaces } from './collection.ts'

/** A space gives rights by the roles that people hold in it. */
export class SpaceRights implements RightsOf {
  readonly kind = 'space'
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
    const found = await this.#documents.getMany(spaces, ids)
    return new Map([...found].map(([id, { author, isPublic, state }]) => [id, { author, spaces: [id], isPublic, state }]))
  }
}
wire(SpaceRights, DocumentStore)
