import { and, CachedCounts, type ContentCount, DocumentStore, eq, type Ref, wire } from 'pounce/sdk'
import { datasets } from './collection.ts'

const live = eq('state', 'live')
const inSpace = (id: string) => ({ using: 'bySpace', where: and(live, eq('spaces', id)) })
const inCollection = (id: string) => ({ using: 'byCollection', where: and(live, eq('collections', id)) })

/** How many datasets are in a space or a collection. */
export class DatasetCounts implements ContentCount {
  readonly kind = 'dataset'
  #documents: DocumentStore
  #kept = new CachedCounts()

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  countIn({ kind, id }: Ref, upTo?: number): Promise<number> {
    const place = kind === 'space' ? inSpace(id) : kind === 'collection' ? inCollection(id) : undefined
    if (place === undefined) return Promise.resolve(0)
    const counting = (most: number) => this.#documents.count(datasets, { ...place, upTo: most })
    return upTo === undefined ? this.#kept.count(id, counting) : counting(upTo)
  }
}
wire(DatasetCounts, DocumentStore)
