import {
  type Caller,
  type Contributions,
  type Kind,
  NameFinders,
  Policy,
  type Searchable,
  Searchables,
  SearchIndex,
  wire,
} from 'pounce/sdk'
import type { NameFinder } from 'pounce/sdk/kit'
import { foldValue } from 'pounce/sdk/search'

interface Named {
  readonly id: string
  readonly name: string
}

const shownOfEachKind = 5
/** Number of hits requested in addition: some may be deleted, and names that begin with the text come first. */
const hitsPerKind = 20

const indexed = ['collection', 'dataset', 'file'] as const satisfies readonly Kind[]

/** Finds resources and users by name, for suggestions while typing. */
export class QuickSearch {
  #index: SearchIndex
  #policy: Policy
  #searchables: Contributions<Searchable>
  #finders: Contributions<NameFinder>

  constructor(index: SearchIndex, policy: Policy, searchables: Contributions<Searchable>, finders: Contributions<NameFinder>) {
    this.#index = index
    this.#policy = policy
    this.#searchables = searchables
    this.#finders = finders
  }

  async find(text: string, caller: Caller) {
    const [found, spaces, people] = await Promise.all([
      this.#inIndex(text, caller),
      this.#beside('space', text, caller),
      this.#beside('user', text, caller),
    ])
    const [collections = [], datasets = [], files = []] = indexed.map(kind => best(text, found.get(kind) ?? []))
    return { spaces: best(text, spaces), collections, datasets, files, people: best(text, people) }
  }

  /** Read again from the store and checked against the policy, like every hit. */
  async #inIndex(text: string, caller: Caller): Promise<ReadonlyMap<Kind, readonly Named[]>> {
    const scope = this.#policy.searchScope(caller)
    const hits = Map.groupBy(await this.#index.names({ text, scope, kinds: indexed, limit: hitsPerKind }), ({ kind }) => kind)
    const sources = this.#searchables.all().filter(({ kind }) => hits.has(kind))
    return new Map(
      await Promise.all(
        sources.map(async source => {
          const ids = (hits.get(source.kind) ?? []).map(({ id }) => id)
          const seen = await this.#policy.seen(caller, source.kind, ids, 'frozen')
          const summaries = await source.summarize([...seen])
          return [source.kind, ids.flatMap(id => summaries.get(id) ?? [])] as const
        }),
      ),
    )
  }

  async #beside(kind: Kind, text: string, caller: Caller): Promise<readonly Named[]> {
    const finders = this.#finders.all().filter(finder => finder.kind === kind)
    return (await Promise.all(finders.map(finder => finder.find(text, caller, hitsPerKind)))).flat()
  }
}
wire(QuickSearch, SearchIndex, Policy, Searchables, NameFinders)

/** Names that begin with the text come first. */
const best = (text: string, found: readonly Named[]): Named[] => {
  const beginning = foldValue(text)
  const begins = ({ name }: Named): number => (foldValue(name).startsWith(beginning) ? 0 : 1)
  return found
    .toSorted((a, b) => begins(a) - begins(b))
    .slice(0, shownOfEachKind)
    .map(({ id, name }) => ({ id, name }))
}
