import { type Caller, DocumentStore, geoNumberOf, Policy, type Searchable, type SearchDocument, s, Users, wire } from 'pounce/sdk'
import { streams } from '../collections.ts'
import { idsIn, searchDocuments } from '../searchable.ts'

/** What the search index knows of streams. */
export class SearchableStreams implements Searchable {
  readonly kind = 'stream'
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
    return searchDocuments(tools, streams, ids, ({ parameters, sensor, spaces }) => ({
      kind: 'stream',
      values: parameters.map(value => ({ field: 'parameters', value })),
      childOf: [sensor, ...spaces],
    }))
  }

  all(): AsyncIterable<string> {
    return idsIn(this.#documents, streams)
  }

  async present(ids: readonly string[], _caller: Caller): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>> {
    const found = await this.#documents.getMany(streams, ids)
    return new Map(
      [...found].map(([id, { name, created, sensor }]) => [
        id,
        {
          id: String(geoNumberOf(id)),
          name,
          created: s.toV1Date(created),
          sensor_id: String(geoNumberOf(sensor)),
          resource_type: 'stream',
        },
      ]),
    )
  }
}
wire(SearchableStreams, DocumentStore, Users, Policy)
