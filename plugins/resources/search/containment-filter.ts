import { type Caller, Collections, Datasets, Files, Folders, type Kind, type LifeState, Policy, s, wire } from 'pounce/sdk'
import type { SearchQuery } from 'pounce/sdk/search'
import type { Containers } from './contains-query.ts'

/**
 * Evaluates `contains:<id>` at query time, from the containers in the records. It is not indexed, because each upload would then have to
 * index its dataset again.
 */
export class ContainmentFilter {
  #policy: Policy
  #files: Files
  #folders: Folders
  #datasets: Datasets
  #collections: Collections

  constructor(policy: Policy, files: Files, folders: Folders, datasets: Datasets, collections: Collections) {
    this.#policy = policy
    this.#files = files
    this.#folders = folders
    this.#datasets = datasets
    this.#collections = collections
  }

  /** The query in index form. Hidden and missing resources have no containers. */
  async resolve(query: SearchQuery, caller: Caller): Promise<SearchQuery> {
    const { contentsIn, withContainers } = await import('./contains-query.ts')
    const contents = contentsIn(query)
    return contents.length === 0 ? query : withContainers(query, await this.#containersOf(contents.filter(s.isId), caller))
  }

  async #containersOf(ids: readonly string[], caller: Caller): Promise<Containers> {
    if (ids.length === 0) return new Map()
    const [files, folders, datasets, collections] = await Promise.all([
      this.#files.getMany(ids),
      this.#folders.getMany(ids),
      this.#datasets.getMany(ids),
      this.#collections.getMany(ids),
    ])
    const seen = await Promise.all([
      this.#seen(
        caller,
        'file',
        parentsOf(files, ({ places }) => places.map(({ dataset }) => dataset)),
      ),
      this.#seen(
        caller,
        'folder',
        parentsOf(folders, ({ dataset }) => [dataset]),
      ),
      this.#seen(
        caller,
        'dataset',
        parentsOf(live(datasets), one => [...one.collections, ...one.spaces]),
      ),
      this.#seen(
        caller,
        'collection',
        parentsOf(live(collections), one => [...one.parents, ...one.spaces]),
      ),
    ])
    return new Map(seen.flat())
  }

  async #seen(caller: Caller, kind: Kind, parents: Containers) {
    const seen = await this.#policy.seen(caller, kind, [...parents.keys()])
    return [...parents].filter(([id]) => seen.has(id))
  }
}
wire(ContainmentFilter, Policy, Files, Folders, Datasets, Collections)
const parentsOf = <T>(found: ReadonlyMap<string, T>, parents: (one: T) => readonly string[]): Containers =>
  new Map([...found].map(([id, one]) => [id, parents(one)]))

/** Trashed containers contain nothing: they are excluded from every search. */
const live = <T extends { readonly state: LifeState }>(found: ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
  new Map([...found].filter(([, { state }]) => state === 'live'))
