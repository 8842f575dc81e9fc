import { Conflict, Invalid, type Kind, type SearchIndex, wire } from 'pounce/sdk'
import {
  beginsWordsOf,
  comparableText,
  type FacetCounts,
  type FacetName,
  type FacetRequest,
  type FieldCount,
  foldValue,
  type IndexChange,
  isInScope,
  matchesQuery,
  metadataValuesOf,
  type NameRequest,
  type SearchDocument,
  type SearchHits,
  type SearchQuery,
  type SearchRequest,
  type SearchScope,
  sortValueOf,
  TooComplex,
  type ValueCount,
  wordsOf,
} from 'pounce/sdk/search'

const maxCounted = 10_000

/** The entries of one index. */
class Entries {
  readonly #documents = new Map<string, SearchDocument>()
  readonly #removed = new Set<string>()

  /** With `isEarlier` the document was read before those in the index and does not replace one with an equal revision. */
  apply(change: IndexChange, isEarlier = false): void {
    if ('remove' in change) {
      this.#removed.add(change.remove)
      this.#documents.delete(change.remove)
      return
    }
    const { put } = change
    const known = this.#documents.get(put.id)?.revision ?? Number.NEGATIVE_INFINITY
    if (this.#removed.has(put.id) || known > put.revision || (isEarlier && known === put.revision)) return
    this.#documents.set(put.id, put)
  }

  /** Newest first. */
  within(scope: SearchScope, kinds?: readonly Kind[]): readonly SearchDocument[] {
    return [...this.#documents.values()]
      .filter(document => document.isListed && (kinds?.includes(document.kind) ?? true) && isInScope(document, scope))
      .sort((one, other) => other.created.getTime() - one.created.getTime())
  }
}

/** A search index in memory that scans all documents. */
export class MemorySearch implements SearchIndex {
  readonly engine = 'memory'
  readonly isShared = false
  #entries = new Entries()
  /** The index being filled by a rebuild. */
  #next: Entries | undefined
  #isBuilt = false

  async needsRebuild(): Promise<boolean> {
    return !this.#isBuilt
  }

  async apply(changes: readonly IndexChange[]): Promise<void> {
    mustBeWithin('changes', changes.length, 0, 1000)
    for (const change of changes) {
      this.#entries.apply(change)
      this.#next?.apply(change)
    }
  }

  async search({ query, scope, kinds, sort, from, size }: SearchRequest): Promise<SearchHits> {
    mustBeWithin('from', from, 0, 10_000)
    mustBeWithin('size', size, 0, 1000)
    const found = matching(this.#entries.within(scope, kinds), query)
    const ordered = !sort || sort.by === 'score' ? byScore(found, query) : this.#sorted(found, scope, sort)
    return {
      hits: ordered.slice(from, from + size).map(({ id, kind }) => ({ id, kind })),
      total: Math.min(found.length, maxCounted),
      isNewestFirst: false,
    }
  }

  async facets({ query, scope, kinds, facets, limit }: FacetRequest): Promise<FacetCounts> {
    mustBeWithin('limit', limit, 1, 1000)
    const all = matching(this.#entries.within(scope, kinds), query)
    const found = all.slice(0, maxCounted)
    const counts = facets.map(facet => {
      const named = counted(found.map(document => new Set(facetValues[facet](document))))
      return [facet, named.slice(0, limit).map(([value, count]) => ({ value, count }))] as const
    })
    return { counts: Object.fromEntries(counts), isExact: all.length === found.length }
  }

  async names({ text, scope, kinds, limit }: NameRequest): Promise<SearchHits['hits']> {
    mustBeWithin('limit', limit, 1, 100)
    const letters = wordsOf(text).filter(word => [...word].length === 1)
    const fits = ({ name }: SearchDocument): boolean => beginsWordsOf(text, name) && letters.every(letter => wordsOf(name).includes(letter))
    const found = this.#entries.within(scope, kinds).filter(fits)
    return kinds.flatMap(kind => found.filter(each => each.kind === kind).slice(0, limit)).map(({ id, kind }) => ({ id, kind }))
  }

  async fields(prefix: string, scope: SearchScope, limit: number): Promise<readonly FieldCount[]> {
    const start = `.${comparableText(prefix)}`
    const begins = (field: string): boolean => `.${comparableText(field)}`.includes(start)
    const fields = this.#entries.within(scope).map(({ metadata }) => new Set(metadata.map(({ field }) => field).filter(begins)))
    return counted(fields)
      .slice(0, limit)
      .map(([field, count]) => ({ field, count }))
  }

  async values(field: string, prefix: string, scope: SearchScope, limit: number): Promise<readonly ValueCount[]> {
    const written = new Map<string, ValueCount['value']>()
    const keysOf = (document: SearchDocument): ReadonlySet<string> => {
      const values = metadataValuesOf(document, field).map(value => (typeof value === 'boolean' ? String(value) : value))
      const named = values.map(value => [comparableText(value instanceof Date ? value.toISOString() : String(value)), value] as const)
      for (const [key, value] of named) if (!written.has(key)) written.set(key, typeof value === 'string' ? value.slice(0, 200) : value)
      return new Set(named.map(([key]) => key))
    }
    return counted(this.#entries.within(scope).map(keysOf))
      .filter(([key]) => key.startsWith(comparableText(prefix)))
      .slice(0, limit)
      .map(([key, count]) => ({ value: written.get(key) ?? key, count }))
  }

  async tags(
    prefix: string,
    scope: SearchScope,
    limit: number,
    kind?: Kind,
  ): Promise<readonly { readonly tag: string; readonly count: number }[]> {
    const begins = (tag: string): boolean => foldValue(tag).startsWith(foldValue(prefix))
    const tags = this.#entries.within(scope, kind === undefined ? undefined : [kind]).map(each => new Set(each.tags.filter(begins)))
    return counted(tags)
      .slice(0, Math.min(limit, 10_000))
      .map(([tag, count]) => ({ tag, count }))
  }

  async rebuild(
    documents: AsyncIterable<SearchDocument>,
    { signal, progress }: { readonly signal?: AbortSignal; progress?(count: number): void } = {},
  ): Promise<{ readonly count: number }> {
    if (this.#next) throw new Conflict('A rebuild of the index is already running')
    const next = new Entries()
    this.#next = next
    let count = 0
    try {
      for await (const put of documents) {
        signal?.throwIfAborted()
        next.apply({ put }, true)
        count += 1
        progress?.(count)
      }
      signal?.throwIfAborted()
      this.#entries = next
      this.#isBuilt = true
      return { count }
    } finally {
      this.#next = undefined
    }
  }

  async clear(): Promise<void> {
    if (this.#next) throw new Conflict('The index cannot be emptied during a rebuild')
    this.#entries = new Entries()
    this.#isBuilt = true
  }

  #sorted(
    found: readonly SearchDocument[],
    scope: SearchScope,
    { by, order }: NonNullable<SearchRequest['sort']>,
  ): readonly SearchDocument[] {
    const isSortable = () => this.#entries.within(scope).some(document => sortValueOf(document, by, order) !== undefined)
    if (by !== 'created' && found.length > 0 && !isSortable())
      throw new Invalid(`Results can be sorted by score, created, or metadata with numbers or dates, which ${by} is not`)
    const sign = order === 'ascending' ? 1 : -1
    return found
      .map(document => ({ document, value: sortValueOf(document, by, order) }))
      .sort(({ value: one }, { value: other }) =>
        one === undefined || other === undefined ? Number(one === undefined) - Number(other === undefined) : sign * (one - other),
      )
      .map(({ document }) => document)
  }
}
wire(MemorySearch)

const mustBeWithin = (name: string, value: number, least: number, most: number): void => {
  if (!Number.isInteger(value) || value < least || value > most) throw new Invalid(`${name} must be ${least} to ${most}, not ${value}`)
}

const matching = (documents: readonly SearchDocument[], query: SearchQuery): readonly SearchDocument[] => {
  try {
    return documents.filter(document => matchesQuery(document, query))
  } catch (error) {
    throw error instanceof TooComplex ? new Invalid(error.message) : error
  }
}

/** Best match first. How often a word occurs in other documents must not matter: that would disclose the words of hidden ones. */
const byScore = (found: readonly SearchDocument[], query: SearchQuery): readonly SearchDocument[] => {
  const scores = new Map(found.map(document => [document, scoreOf(document, query)]))
  return [...found].sort((one, other) => (scores.get(other) ?? 0) - (scores.get(one) ?? 0))
}

const scoreOf = (document: SearchDocument, query: SearchQuery): number => {
  switch (query.op) {
    case 'and':
      if (query.all.some(part => part.op === 'visible' && !isInScope(document, part.scope))) return 0
      return query.all.reduce((sum, part) => sum + scoreOf(document, part), 0)
    case 'or':
      return query.any.reduce((sum, part) => sum + scoreOf(document, part), 0)
    case 'word':
      return pointsFor(document, query) + pointsFor(document, { op: 'phrase', text: query.text })
    case 'phrase':
    case 'regex':
    case 'field':
      return pointsFor(document, query)
    default:
      return 0
  }
}

/** The points for a match in each field. */
const points = { name: 10, tags: 6, description: 4, createdAs: 2, comments: 2 } as const
const names = Object.keys(points) as readonly (keyof typeof points)[]

const pointsFor = (document: SearchDocument, query: SearchQuery): number => {
  const { createdAs: _createdAs, text: _text, ...rest } = document
  const empty: SearchDocument = { ...rest, name: '', description: '', tags: [], comments: [], metadata: [] }
  const anywhere = matchesQuery(document, query) ? 1 : 0
  return names.reduce((sum, name) => sum + (matchesQuery({ ...empty, [name]: document[name] }, query) ? points[name] : 0), anywhere)
}

const facetValues: Readonly<Record<FacetName, (document: SearchDocument) => readonly string[]>> = {
  type: ({ kind }) => [kind],
  mediaType: ({ contentType }) => (contentType === undefined ? [] : [foldValue(contentType)]),
  tag: ({ tags }) => tags,
  space: ({ spaces }) => spaces,
  creator: ({ creator }) => [creator],
  year: ({ created }) => [String(created.getUTCFullYear())],
}

/** The number of sets that contain each text: most frequent first, then by code point. */
const counted = (sets: readonly ReadonlySet<string>[]): readonly (readonly [string, number])[] => {
  const counts = new Map<string, number>()
  for (const set of sets) for (const text of set) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts].sort(([one, m], [other, n]) => n - m || Buffer.compare(Buffer.from(one), Buffer.from(other)))
}
