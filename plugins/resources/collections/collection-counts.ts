import { and, CachedCounts, type ContentCount, DocumentStore, eq, type Ref, wire } from 'pounce/sdk'
import { collections } from './collection.ts'

const live = eq('state', 'live')
const inSpace = (id: string) => ({ using: 'bySpace', where: and(live, eq('spaces', id)) })
const inCollection = (id: string) => ({ using: 'byParent', where: and(live, eq('parents', id)) })

/** How many collections are in a space, or right below a collection. */
export class CollectionCounts implements ContentCount {
  readonly kind = 'collection'
  #documents: DocumentStore
  #kept = new CachedCounts()

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  countIn({ kind, id }: Ref, upTo?: number): Promise<number> {
    const place = kind === 'space' ? inSpace(id) : kind === 'collection' ? inCollection(id) : undefined
    if (place === undefined) return Promise.resolve(0)
    const counting = (most: number) => this.#documents.count(collections, { ...place, upTo: most })
    return upTo === undefined ? this.#kept.count(id, counting) : counting(upTo)
  }
}
wire(CollectionCounts, DocumentStore)
