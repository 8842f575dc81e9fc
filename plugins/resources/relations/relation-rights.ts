import { DocumentStore, type Rights, type RightsOf, wire } from 'pounce/sdk'
import { type RelationRecord, relations, thingOf } from './collection.ts'

/** Asked for its ends: a right on either is one on the relation. Of one that joins nothing of this server its maker is the owner. */
const rightsOf = ({ source, target, author }: RelationRecord): Rights => {
  const parents = [source, target].flatMap(end => thingOf(end) ?? [])
  const none = { spaces: [], isPublic: false, state: 'live' } as const
  return parents.length > 0 ? { ...none, author: '', parents } : { ...none, author: author ?? '' }
}

/** A relation takes its rights from what it joins. */
export class RelationRights implements RightsOf {
  readonly kind = 'relation'
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>> {
    const found = await this.#documents.getMany(relations, ids)
    return new Map([...found].map(([id, relation]) => [id, rightsOf(relation)]))
  }
}
wire(RelationRights, DocumentStore)
