import { and, type ContentCount, DocumentStore, eq, type Ref, wire } from 'pounce/sdk'
import { collections } from './collection.ts'

/** How many collections are in a space, or right below a collection. */
export class CollectionCounts implements ContentCount {
  readonly kind = 'collection'
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async countIn({ kind, id }: Ref, upTo = 10_000): Promise<number> {
    const live = eq('state', 'live')
    if (kind === 'space') return this.#documents.count(collections, { using: 'bySpace', where: and(live, eq('spaces', id)), upTo })
    if (kind === 'collection') return this.#documents.count(collections, { using: 'byParent', where: and(live, eq('parents', id)), upTo })
    return 0
  }
}
wire(CollectionCounts, DocumentStore)
