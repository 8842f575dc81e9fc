import { compareText } from '../documents/scalars.ts'
import type { SearchScope } from '../ports/policy.ts'
import type { FieldCount, MetadataValue, SearchDocument, SearchQuery, SearchRequest, ValueCount } from '../ports/search-index.ts'
import { createdSpan, readingOf } from '../search/readings.ts'
import type { Regex } from '../search/regex.ts'
import { comparableText, foldValue, patternsOf as patternsIn, wordsOf as wordsIn } from '../search/text.ts'

/** What a search must find, computed by looking at every document: no index, no engine's code, nothing fast. */
export class SearchOracle {
  readonly #documents: readonly SearchDocument[]

  constructor(documents: readonly SearchDocument[]) {
    this.#documents = documents.filter(({ isListed }) => isListed)
  }

  /** Ids in order of the sort, newest first without one; and how many there are in all. */
  search({ query, scope, kinds, sort, from, size }: SearchRequest): { readonly ids: readonly string[]; readonly total: number } {
    const found = this.#visible(scope).filter(document => (kinds?.includes(document.kind) ?? true) && fits(document, query))
    const ordered = found
      .map(document => ({ id: document.id, created: document.created.getTime(), by: sortValue(document, sort) }))
      .sort((a, b) => compareBy(a.by, b.by, sort?.order) || b.created - a.created)
    return { ids: ordered.slice(from, from + size).map(({ id }) => id), total: Math.min(found.length, 10_000) }
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

  /** Texts folded, dates as ISO text: how one of several spellings is chosen is free. */
  values(field: string, prefix: string, scope: SearchScope): readonly (readonly [string, number])[] {
    const names = this.#visible(scope).flatMap(document => [...new Set(metadataOf(document, field).map(suggested))])
    return counted(names.filter(name => name.startsWith(comparableText(prefix))))
  }

  #visible(scope: SearchScope): SearchDocument[] {
    if (scope.all) return [...this.#documents]
    const { author, includePublic, inPart = [], within } = scope
    return this.#documents.filter(({ kind, spaces, creator, isPublic }) => {
      const isIn = (some: readonly string[]): boolean => spaces.some(space => some.includes(space))
      const isSeen = isIn(scope.spaces) || creator === author || (isPublic && includePublic)
      return (isSeen || inPart.some(part => part.kinds.includes(kind) && isIn(part.spaces))) && (within === undefined || isIn(within))
    })
  }
}

/** How a suggested value is compared. */
export const suggested = (value: ValueCount['value'] | boolean): string => comparableText(textOf(value))

function counted(names: readonly string[]): [string, number][] {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].sort(([a, m], [b, n]) => n - m || compareText(a, b))
}

type Value = MetadataValue['value']
type FieldQuery = Extract<SearchQuery, { op: 'field' }>

/** The same answer is computed once. */
function once<K, V>(work: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>()
  return key => {
    const value = known.get(key) ?? work(key)
    known.set(key, value)
    return value
  }
}

const wordsOf = once<string, readonly string[]>(wordsIn)
const patternsOf = once<string, readonly string[]>(patternsIn)

const textOf = (value: Value): string => (value instanceof Date ? value.toISOString() : String(value))

function fits(document: SearchDocument, query: SearchQuery): boolean {
  switch (query.op) {
    case 'all':
      return true
    case 'and':
      return query.all.every(part => fits(document, part))
    case 'or':
      return query.any.some(part => fits(document, part))
    case 'not':
      return !fits(document, query.not)
    case 'exists':
      return exists(document, query.field)
    case 'missing':
      return !exists(document, query.field)
    case 'ids':
      return query.ids.includes(document.id)
    case 'word':
      return hasWords(allTexts(document), query.text)
    case 'phrase':
      return hasPhraseIn(document, query.text, query.field)
    case 'regex':
      return hasExpression(query.field === undefined ? allTexts(document) : valuesOf(document, query.field).map(textOf), query.regex)
    case 'field':
      if (query.is !== 'differs') return query.values.some(value => compares(document, query, value))
      return exists(document, query.field) && !query.values.some(value => compares(document, { ...query, is: 'equals' }, value))
  }
}

const fixed: Readonly<Record<string, (document: SearchDocument) => readonly (string | Date | undefined)[]>> = {
  name: ({ name }) => [name],
  description: ({ description }) => [description],
  creator: ({ creatorName, creator }) => [creatorName, creator],
  email: ({ creatorEmail }) => [creatorEmail],
  tag: ({ tags }) => tags,
  created: ({ created }) => [created],
  created_as: ({ createdAs }) => [createdAs],
  resource_type: ({ kind }) => [kind],
  content_type: ({ contentType }) => [contentType],
  comment: ({ comments }) => comments,
  in: ({ childOf }) => childOf,
}
const isSpecial = (field: string): boolean => Object.hasOwn(fixed, field)

function valuesOf(document: SearchDocument, field: string): readonly Value[] {
  const own = isSpecial(field) ? fixed[field] : undefined
  return own ? own(document).flatMap(value => (value === undefined || value === '' ? [] : [value])) : metadataOf(document, field)
}

const withoutMetadata = (field: string): string => field.replace(/^metadata\./, '')

function metadataOf({ metadata }: SearchDocument, field: string): readonly Value[] {
  const name = withoutMetadata(field)
  const end = `.${name}`
  return metadata.filter(each => each.field === name || each.field.endsWith(end)).map(({ value }) => value)
}

function exists(document: SearchDocument, field: string): boolean {
  if (valuesOf(document, field).length > 0) return true
  return !isSpecial(field) && document.metadata.some(each => `.${each.field}.`.includes(`.${withoutMetadata(field)}.`))
}

const textsIn = ({ name, description, tags, comments, createdAs, metadata, text }: SearchDocument): readonly string[] => [
  name,
  description,
  ...tags,
  ...comments,
  createdAs ?? '',
  ...metadata.map(({ value }) => textOf(value)),
  text ?? '',
]

const allTexts = once(textsIn)

const pieceExpression = once((piece: string): RegExp => {
  const source = piece.replace(/[*?]/g, sign => (sign === '*' ? '.*' : '.'))
  return new RegExp(/[*?]/.test(piece) ? `^${source}$` : `^${source}`, 'su')
})

function hasPiece(texts: readonly string[], piece: string): boolean {
  const expression = pieceExpression(piece)
  return texts.some(text => wordsOf(text).some(word => expression.test(word)))
}

function hasWords(texts: readonly string[], text: string): boolean {
  const pieces = patternsOf(text)
  if (pieces.length === 0) return false
  if (pieces.length === 1 || pieces.some(piece => /[*?]/.test(piece)))
    return pieces.every(piece => /^\*+$/.test(piece) || hasPiece(texts, piece))
  return texts.some(each => hasRow(wordsOf(each), pieces, true))
}

/** These words next to each other; the last may continue. */
function hasRow(words: readonly string[], row: readonly string[], mayGoOn: boolean): boolean {
  const isAt = (start: number): boolean =>
    row.every(
      (word, at) => words[start + at] === word || (mayGoOn && at === row.length - 1 && words[start + at]?.startsWith(word) === true),
    )
  return row.length > 0 && words.some((_, start) => isAt(start))
}

function hasPhraseIn(document: SearchDocument, text: string, field: string | undefined): boolean {
  if (field === undefined) return allTexts(document).some(each => hasRow(wordsOf(each), wordsOf(text), false))
  if (['created', 'resource_type', 'in'].includes(field))
    return compares(document, { op: 'field', field, is: 'equals', values: [] }, text.trim())
  return valuesOf(document, field).some(each => hasRow(wordsOf(textOf(each)), wordsOf(text), false))
}

function compares(document: SearchDocument, { field, is }: FieldQuery, value: string | number | Date): boolean {
  const values = valuesOf(document, field)
  if (is === 'contains' && /^\s*\*+\s*$/.test(String(value))) return exists(document, field)
  if (field === 'created') return values.some(each => each instanceof Date && isInTime(each, is, createdSpan(value)))
  if (field === 'in') return values.includes(String(value))
  if (is !== 'contains') return values.some(each => isComparable(each, is, value))
  const reading = readingOf(value)
  const isFixed = isSpecial(field)
  const isExact = (each: Value): boolean =>
    !isFixed &&
    (typeof value !== 'string' ||
      (typeof each === 'number' && reading.number !== undefined) ||
      (each instanceof Date && reading.span !== undefined))
  if (values.filter(isExact).some(each => isComparable(each, 'equals', value))) return true
  const texts = values.filter(each => !isExact(each)).map(textOf)
  const pieces = patternsOf(String(value)).filter(piece => !/^\*+$/.test(piece))
  return texts.length > 0 && pieces.length > 0 && pieces.every(piece => hasPiece(texts, piece))
}

function isComparable(each: Value, is: FieldQuery['is'], value: string | number | Date): boolean {
  const { text, number, span } = readingOf(value)
  if (each instanceof Date) return isInTime(each, is, span)
  if (typeof each === 'number') return number !== undefined && isOrdered(each - number, is)
  if (is === 'equals') return text !== undefined && foldValue(String(each)) === foldValue(text)
  if (number !== undefined || span !== undefined || text === undefined) return false
  return isOrdered(compareText(comparableText(String(each)), comparableText(text)), is)
}

function isOrdered(difference: number, is: FieldQuery['is']): boolean {
  if (is === 'less') return difference < 0
  if (is === 'atMost') return difference <= 0
  if (is === 'more') return difference > 0
  return is === 'atLeast' ? difference >= 0 : difference === 0
}

function isInTime(each: Date, is: FieldQuery['is'], span: { readonly from: number; readonly before: number } | undefined): boolean {
  if (!span) return false
  const at = each.getTime()
  if (is === 'less') return at < span.from
  if (is === 'atMost') return at < span.before
  if (is === 'more') return at >= span.before
  return at >= span.from && (is === 'atLeast' || at < span.before)
}

function compareBy(one: number | undefined, other: number | undefined, order: 'ascending' | 'descending' | undefined): number {
  if (one === undefined || other === undefined) return (one === undefined ? 1 : 0) - (other === undefined ? 1 : 0)
  return order === 'ascending' ? one - other : other - one
}

function sortValue(document: SearchDocument, sort: SearchRequest['sort']): number | undefined {
  if (!sort || sort.by === 'score') return undefined
  const all = sort.by === 'created' ? [document.created] : metadataOf(document, sort.by)
  const numbers = all.flatMap(value => (value instanceof Date ? [value.getTime()] : typeof value === 'number' ? [value] : []))
  if (numbers.length === 0) return undefined
  return sort.order === 'ascending' ? Math.min(...numbers) : Math.max(...numbers)
}

const expressionOf = once((regex: Regex): RegExp => new RegExp(`^(?:${toSource(regex)})$`, 'su'))

function hasExpression(texts: readonly string[], regex: Regex): boolean {
  const expression = expressionOf(regex)
  return texts.some(text => wordsOf(text).some(word => expression.test(word)))
}

/** The expression for JavaScript, good enough for the short words of tests. */
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
