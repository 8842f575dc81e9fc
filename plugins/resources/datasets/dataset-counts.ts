import { and, type ContentCount, DocumentStore, eq, port, type Ref, wire } from 'pounce/sdk'
import { datasets } from './collection.ts'

/** How many datasets are in a space or a collection. */
export class DatasetCounts implements ContentCount {
  readonly kind = 'dataset'
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async countIn({ kind, id }: Ref, upTo = 10_000): Promise<number> {
    const live = eq('state', 'live')
    if (kind === 'space') return this.#documents.count(datasets, { using: 'bySpace', where: and(live, eq('spaces', id)), upTo })
    if (kind === 'collection')
      return this.#documents.count(datasets, { using: 'byCollection', where: and(live, eq('collections', id)), upTo })
    return 0
  }
}
wire(DatasetCounts, DocumentStore)

export const DatasetTallies = port<DatasetCounts>('datasets.counts')
