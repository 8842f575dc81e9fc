import { type Caller, DocumentStore, geoNumberOf, Policy, type Searchable, type SearchDocument, s, Users, wire } from 'pounce/sdk'
import { sensors } from '../collections.ts'
import { idsIn, searchDocuments } from '../searchable.ts'

/** What the search index knows of sensors. */
export class SearchableSensors implements Searchable {
  readonly kind = 'sensor'
  #documents: DocumentStore
  #users: Users
  #policy: Policy

  constructor(documents: DocumentStore, users: Users, policy: Policy) {
    this.#documents = documents
    this.#users = users
    this.#policy = policy
  }

  describe(ids: readonly string[]): Promise<ReadonlyMap<string, SearchDocument>> {
    const tools = { documents: this.#documents, users: this.#users, policy: this.#policy }
    return searchDocuments(tools, sensors, ids, ({ source, spaces }) => ({
      kind: 'sensor',
      values: source === null ? [] : [{ field: 'source', value: source }],
      childOf: spaces,
    }))
  }

  all(): AsyncIterable<string> {
    return idsIn(this.#documents, sensors)
  }

  async present(ids: readonly string[], _caller: Caller): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>> {
    const found = await this.#documents.getMany(sensors, ids)
    return new Map(
      [...found].map(([id, { name, created }]) => [
        id,
        { id: String(geoNumberOf(id)), name, created: s.toV1Date(created), resource_type: 'sensor' },
      ]),
    )
  }
}
wire(SearchableSensors, DocumentStore, Users, Policy)
