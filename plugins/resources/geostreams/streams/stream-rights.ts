import { DocumentStore, type Rights, type RightsOf, wire } from 'pounce/sdk'
import { streams } from '../collections.ts'

/** A stream has the rights of its sensor, now, and none of its own, not even for whoever made it. */
export class StreamRights implements RightsOf {
  readonly kind = 'stream'
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
    const found = await this.#documents.getMany(streams, ids)
    const none = { author: '', spaces: [], isPublic: false } as const
    return new Map([...found].map(([id, { sensor, state }]) => [id, { ...none, state, parents: [{ kind: 'sensor', id: sensor }] }]))
  }
}
wire(StreamRights, DocumentStore)
