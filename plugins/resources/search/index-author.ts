import { SearchIndex, type StoredEvent, Users, wire } from 'pounce/sdk'
import { fullNameOf } from 'pounce/sdk/kit'
import type { SearchQuery } from 'pounce/sdk/search'
import { Indexer } from './indexer.ts'

const named = new Set(['firstName', 'lastName', 'email'])
const batchSize = 100

/**
 * Reindexes the work of a user whose name or address has changed. Resumes after an interruption, because reindexed documents have the new
 * name.
 */
export class IndexAuthor {
  #index: SearchIndex
  #indexing: Indexer
  #users: Users

  constructor(index: SearchIndex, indexing: Indexer, users: Users) {
    this.#index = index
    this.#indexing = indexing
    this.#users = users
  }

  async handle({ subject: { id }, data }: StoredEvent<'user.updated'>): Promise<void> {
    const user = data.fields.some(field => named.has(field)) ? await this.#users.get(id) : undefined
    if (!user) return
    const query: SearchQuery = {
      op: 'and',
      all: [is('creator', id), { op: 'not', not: { op: 'and', all: [is('creator', fullNameOf(user)), is('email', user.email)] } }],
    }
    const seen = new Set<string>()
    for (;;) {
      const { hits } = await this.#index.search({ query, scope: { all: true }, from: 0, size: batchSize })
      const stale = hits.filter(hit => !seen.has(hit.id))
      // Documents that indexing does not change must not be queried forever.
      if (stale.length === 0) return
      for (const [kind, some] of Map.groupBy(stale, hit => hit.kind)) {
        const ids = some.map(hit => hit.id)
        for (const each of ids) seen.add(each)
        await this.#indexing.refresh(kind, ids)
      }
    }
  }
}
wire(IndexAuthor, SearchIndex, Indexer, Users)

const is = (field: 'creator' | 'email', value: string): SearchQuery => ({ op: 'field', field, is: 'equals', values: [value] })
