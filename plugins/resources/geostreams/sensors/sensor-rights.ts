import { DocumentStore, type Rights, type RightsOf, wire } from 'pounce/sdk'
import { sensors } from '../collections.ts'

/** A sensor takes its rights from its author and its spaces. That everybody may read geostreams is the policy's to say. */
export class SensorRights implements RightsOf {
  readonly kind = 'sensor'
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
    const found = await this.#documents.getMany(sensors, ids)
    return new Map([...found].map(([id, { author, spaces, state }]) => [id, { author, spaces, isPublic: false, state }]))
  }
}
wire(SensorRights, DocumentStore)
