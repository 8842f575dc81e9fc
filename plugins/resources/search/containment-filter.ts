import {
  type Caller,
  Collections,
  type Contributions,
  Datasets,
  Files,
  Folders,
  type Kind,
  type LifeState,
  Policy,
  type Searchable,
  Searchables,
  s,
  wire,
} from 'pounce/sdk'
import type { SearchQuery } from 'pounce/sdk/search'
import type { Containers } from './contains-query.ts'
import { type FieldCondition, mapField } from './map-field.ts'

/**
 * Evaluates `contains:<id>` at query time, from the containers in the records. It is not indexed, because each upload would then have to
 * index its dataset again. `in:<id>` is indexed, but only for containers that the caller may view.
 */
export class ContainmentFilter {
  #policy: Policy
  #files: Files
  #folders: Folders
  #datasets: Datasets
  #collections: Collections
  #searchables: Contributions<Searchable>

  constructor(
    policy: Policy,
    files: Files,
    folders: Folders,
    datasets: Datasets,
    collections: Collections,
    searchables: Contributions<Searchable>,
  ) {
    this.#policy = policy
    this.#files = files
    this.#folders = folders
    this.#datasets = datasets
    this.#collections = collections
    this.#searchables = searchables
  }

  /** The query in index form. Hidden, trashed and missing resources have no containers and no content. */
  async resolve(requested: SearchQuery, caller: Caller): Promise<SearchQuery> {
    const query = await this.#withinSeen(requested, caller)
    const { contentsIn, withContainers } = await import('./contains-query.ts')
    const contents = contentsIn(query)
    return contents.length === 0 ? query : withContainers(query, await this.#containersOf(contents.filter(s.isId), caller))
  }

  async #withinSeen(query: SearchQuery, caller: Caller): Promise<SearchQuery> {
    const requested = new Set<string>()
    mapField(query, 'in', condition => {
      for (const id of placesOf(condition)) if (s.isId(id)) requested.add(id)
      return condition
    })
    if (requested.size === 0) return query
    const kinds = new Set<Kind>(['space', 'folder', ...this.#searchables.all().map(({ kind }) => kind)])
    const seen = await Promise.all([...kinds].map(kind => this.#policy.seen(caller, kind, [...requested], 'frozen')))
    const hidden = requested.difference(new Set(seen.flatMap(ids => [...ids])))
    return hidden.size === 0 ? query : mapField(query, 'in', condition => without(hidden, condition))
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
wire(ContainmentFilter, Policy, Files, Folders, Datasets, Collections, Searchables)

/** The ids that a condition on `in` names. */
const placesOf = (condition: FieldCondition): readonly string[] => {
  if (condition.op === 'phrase') return [condition.text.trim()]
  return condition.op === 'field' ? condition.values.map(String) : []
}

const without = (hidden: ReadonlySet<string>, condition: FieldCondition): SearchQuery => {
  if (condition.op === 'phrase') return hidden.has(condition.text.trim()) ? { op: 'ids', ids: [] } : condition
  return condition.op === 'field' ? { ...condition, values: condition.values.filter(value => !hidden.has(String(value))) } : condition
}

const parentsOf = <T>(found: ReadonlyMap<string, T>, parents: (one: T) => readonly string[]): Containers =>
  new Map([...found].map(([id, one]) => [id, parents(one)]))

/** Trashed containers contain nothing: they are excluded from every search. */
const live = <T extends { readonly state: LifeState }>(found: ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
  new Map([...found].filter(([, { state }]) => state === 'live'))
