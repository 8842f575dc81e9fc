import { type Command, type Contributions, DocumentStore, type Ref, type Searchable, Searchables, SearchIndex, wire } from 'pounce/sdk'
import { type DoctorRow, doctorRow, inBatches } from 'pounce/sdk/kit'

/** At most this many ids can be described at once. */
const batchSize = 200
/** Maximum number of missing resources that are kept. */
const maxFound = 1000

/** The part of `pounce doctor` that finds resources without an entry in the search index. Outdated entries are not found. */
export class IndexDoctor implements Command {
  readonly name = 'doctor'
  readonly summary = 'Check the installation for problems; changes nothing without an option'
  readonly #index: SearchIndex
  readonly #searchables: Contributions<Searchable>
  readonly #documents: DocumentStore

  constructor(index: SearchIndex, searchables: Contributions<Searchable>, documents: DocumentStore) {
    this.#index = index
    this.#searchables = searchables
    this.#documents = documents
  }

  async run(_input: unknown, progress: (message: string) => void): Promise<readonly DoctorRow[]> {
    if (await this.#index.needsRebuild?.()) return [{ check: 'search index', ok: true, detail: 'undecided while it is being rebuilt' }]
    const found: Ref[] = []
    for (const searchable of this.#searchables.all()) {
      progress(`search index: ${searchable.kind}`)
      for await (const batch of inBatches(searchable.all(), { size: batchSize })) {
        found.push(...(await this.#missingOf(searchable, batch)))
        if (found.length >= maxFound) break
      }
    }
    const remains = async ({ kind, id }: Ref): Promise<boolean> => {
      const searchable = this.#searchables.all().find(each => each.kind === kind)
      return searchable !== undefined && (await this.#missingOf(searchable, [id])).length > 0
    }
    const text = ({ kind, id }: Ref): string => `${kind} ${id} is missing`
    return [await doctorRow(this.#documents, 'search index', found, { remains, text, remedy: '`pounce reindex` rebuilds it' })]
  }

  async #missingOf(searchable: Searchable, ids: readonly string[]): Promise<readonly Ref[]> {
    const { hits } = await this.#index.search({ query: { op: 'ids', ids }, scope: { all: true }, from: 0, size: ids.length })
    const indexed = new Set(hits.map(({ id }) => id))
    const others = ids.filter(id => !indexed.has(id))
    if (others.length === 0) return []
    const wanted = await searchable.describe(others)
    return others.filter(id => wanted.get(id)?.isListed).map(id => ({ kind: searchable.kind, id }))
  }
}
wire(IndexDoctor, SearchIndex, Searchables, DocumentStore)
