import { DocumentStore, type Rights, type RightsOf, wire } from 'pounce/sdk'
import { datasets } from './collection.ts'

/** A dataset takes its rights from its author, its spaces and its access. One that is being imported is there for nobody. */
export class DatasetRights implements RightsOf {
  readonly kind = 'dataset'
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
    const found = await this.#documents.getMany(datasets, ids)
    const seen = [...found].filter(([, { state }]) => state !== 'importing')
    return new Map(seen.map(([id, { author, spaces, isPublic, state }]) => [id, { author, spaces, isPublic, state }]))
  }
}
wire(DatasetRights, DocumentStore)
