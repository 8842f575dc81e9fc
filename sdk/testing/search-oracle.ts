import { compareText } from '../documents/scalars.ts'
import type { SearchScope } from '../ports/policy.ts'
import type { FieldCount, MetadataValue, SearchDocument, SearchRequest, ValueCount } from '../ports/search-index.ts'
import { isInScope, matchesQuery, metadataValuesOf, sortValueOf, type WordTests } from '../search/matches-query.ts'
import type { Regex } from '../search/regex.ts'
import { comparableText } from '../search/text.ts'

/** Computes the expected search results by scanning all documents, without an index, engine code or optimizations. */
export class SearchOracle {
  readonly #documents: readonly SearchDocument[]

  constructor(documents: readonly SearchDocument[]) {
    this.#documents = documents.filter(({ isListed }) => isListed)
  }

  /** The ids in sort order, by default newest first, and the total number. */
  search({ query, scope, kinds, sort, from, size }: SearchRequest): { readonly ids: readonly string[]; readonly total: number } {
    const found = this.#visible(scope).filter(document => (kinds?.includes(document.kind) ?? true) && matchesQuery(document, query, naive))
    const ordered = found
      .map(document => ({
        id: document.id,
        created: document.created.getTime(),
        by: sort && sort.by !== 'score' ? sortValueOf(document, sort.by, sort.order) : undefined,
      }))
      .sort((a, b) => compareBy(a.by, b.by, sort?.order) || b.created - a.created)
    return { ids: ordered.slice(from, from + size).map(({ id }) => id), total: Math.min(found.length, 10_000) }
  }

  /** Whether hits in this scope can be sorted by the field. */
  isSortable(by: string, scope: SearchScope): boolean {
    return this.#visible(scope).some(document => sortValueOf(document, by, 'ascending') !== undefined)
  }

  tags(prefix: string, scope: SearchScope): readonly { readonly tag: string; readonly count: number }[] {
    const names = this.#visible(scope).flatMap(({ tags }) =>
      [...new Set(tags)].filter(tag => tag.toLowerCase().startsWith(prefix.toLowerCase())),
    )
    return counted(names).map(([tag, count]) => ({ tag, count }))
  }

  fields(prefix: string, scope: SearchScope): readonly FieldCount[] {
    const begins = ({ field }: MetadataValue): boolean => `.${comparableText(field)}`.includes(`.${comparableText(prefix)}`)
    const names = this.#visible(scope).flatMap(({ metadata }) => [...new Set(metadata.filter(begins).map(({ field }) => field))])
    return counted(names).map(([field, count]) => ({ field, count }))
  }

  /** Texts folded, dates in ISO 8601: an index may return any spelling of a value. */
  values(field: string, prefix: string, scope: SearchScope): readonly (readonly [string, number])[] {
    const names = this.#visible(scope).flatMap(document => [...new Set(metadataValuesOf(document, field).map(suggested))])
    return counted(names.filter(name => name.startsWith(comparableText(prefix))))
  }

  #visible(scope: SearchScope): SearchDocument[] {
    return this.#documents.filter(document => isInScope(document, scope))
  }
}

/** The form in which suggested values are compared. */
export const suggested = (value: ValueCount['value'] | boolean): string =>
  comparableText(value instanceof Date ? value.toISOString() : String(value))

function counted(names: readonly string[]): [string, number][] {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].sort(([a, m], [b, n]) => n - m || compareText(a, b))
}

/** Caches results by key. */
function once<K, V>(work: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>()
  return key => {
    const value = known.get(key) ?? work(key)
    known.set(key, value)
    return value
  }
}

const pieceExpression = once((piece: string): RegExp => {
  const source = piece.replace(/[*?]/g, sign => (sign === '*' ? '.*' : '.'))
  return new RegExp(/[*?]/.test(piece) ? `^${source}$` : `^${source}`, 'su')
})

const expressionOf = once((regex: Regex): RegExp => new RegExp(`^(?:${toSource(regex)})$`, 'su'))

/** Uses JavaScript's regular expressions, which none of our engines use. */
const naive: WordTests = {
  piece: (piece, word) => pieceExpression(piece).test(word),
  expression: (regex, word) => expressionOf(regex).test(word),
}

function compareBy(one: number | undefined, other: number | undefined, order: 'ascending' | 'descending' | undefined): number {
  if (one === undefined || other === undefined) return (one === undefined ? 1 : 0) - (other === undefined ? 1 : 0)
  return order === 'ascending' ? one - other : other - one
}

/** The expression in JavaScript syntax; fast enough for the short words of tests. */
function toSource(regex: Regex): string {
  const escaped = (point: number): string => `\\u{${point.toString(16)}}`
  switch (regex.is) {
    case 'text':
      return [...regex.text].map(char => escaped(char.codePointAt(0) ?? 0)).join('')
    case 'any':
      return '.'
    case 'class':
      return `[${regex.isNegated ? '^' : ''}${regex.ranges.map(([from, to]) => `${escaped(from)}-${escaped(to)}`).join('')}]`
    case 'sequence':
      return regex.of.map(part => `(?:${toSource(part)})`).join('')
    case 'either':
      return regex.of.length === 0 ? '[]' : regex.of.map(part => `(?:${toSource(part)})`).join('|')
    case 'repeat':
      return `(?:${toSource(regex.what)}){${regex.from},${regex.to ?? ''}}`
  }
}
