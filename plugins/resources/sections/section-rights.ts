import { DocumentStore, type Rights, type RightsOf, wire } from 'pounce/sdk'
import { sections } from './collection.ts'

/** A section has the rights of its file, now, and none of its own, not even for whoever made it. */
export class SectionRights implements RightsOf {
  readonly kind = 'section'
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
    const found = await this.#documents.getMany(sections, ids)
    const none = { author: '', spaces: [], isPublic: false, state: 'live' } as const
    return new Map([...found].map(([id, { file }]) => [id, { ...none, parents: [{ kind: 'file', id: file }] }]))
  }
}
wire(SectionRights, DocumentStore)
