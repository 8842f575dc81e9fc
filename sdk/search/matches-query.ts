import { compareText } from '../documents/scalars.ts'
import type { SearchScope } from '../ports/policy.ts'
import type { MetadataValue, SearchDocument, SearchQuery } from '../ports/search-index.ts'
import { createdSpan, readingOf } from './readings.ts'
import type { Regex } from './regex.ts'
import { RegexAutomaton } from './regex-automaton.ts'
import { comparableText, foldValue, patternsOf, pieceFits, wordsOf } from './text.ts'

type Value = MetadataValue['value']
type FieldQuery = Extract<SearchQuery, { op: 'field' }>

/** Compares a single word with a piece of a query or a regular expression. */
export interface WordTests {
  piece(piece: string, word: string): boolean
  expression(regex: Regex, word: string): boolean
}

const automata = new WeakMap<Regex, RegexAutomaton>()

const linear: WordTests = {
  piece: pieceFits,
  expression(regex, word) {
    const automaton = automata.get(regex) ?? new RegexAutomaton(regex)
    automata.set(regex, automaton)
    return automaton.fits(word)
  },
}

/**
 * Whether a query matches a document: the reference semantics of every `SearchIndex`, evaluated on the whole document. Takes linear time; throws `TooComplex`
 * for a regular expression that is too large. The caller must check `isListed` and rights.
 */
export const matchesQuery = (document: SearchDocument, query: SearchQuery, words: WordTests = linear): boolean =>
  fits(document, query, words)

/** Whether a document is within a caller's scope. */
export const isInScope = ({ kind, spaces, creator, isPublic }: SearchDocument, scope: SearchScope): boolean => {
  if (scope.all) return scope.unplaced === undefined || kind !== 'file' || spaces.length > 0 || creator === scope.unplaced.author
  const { author, includePublic, closedKinds = [], inPart = [], within } = scope
  const isIn = (some: readonly string[]): boolean => spaces.some(space => some.includes(space))
  const isSeen = isIn(scope.spaces) || creator === author || (isPublic && includePublic && !closedKinds.includes(kind))
  return (isSeen || inPart.some(part => part.kinds.includes(kind) && isIn(part.spaces))) && (within === undefined || isIn(within))
}

/** The number by which `SearchRequest.sort` orders a document, dates in ms; undefined if it lacks the field, and for text such as `name`. */
export const sortValueOf = (document: SearchDocument, by: string, order: 'ascending' | 'descending'): number | undefined => {
  const all = by === 'created' ? [document.created] : isSpecial(by) ? [] : metadataValuesOf(document, by)
  const numbers = all.flatMap(value => (value instanceof Date ? [value.getTime()] : typeof value === 'number' ? [value] : []))
  if (numbers.length === 0) return undefined
  return order === 'ascending' ? Math.min(...numbers) : Math.max(...numbers)
}

/** The values of a metadata field, given its whole path or the end of it. */
export const metadataValuesOf = ({ metadata }: SearchDocument, field: string): readonly Value[] => {
  const name = withoutMetadata(field)
  const end = `.${name}`
  return metadata.filter(each => each.field === name || each.field.endsWith(end)).map(({ value }) => value)
}

const textOf = (value: Value): string => (value instanceof Date ? value.toISOString() : String(value))

function fits(document: SearchDocument, query: SearchQuery, words: WordTests): boolean {
  switch (query.op) {
    case 'all':
      return true
    case 'and':
      return query.all.every(part => fits(document, part, words))
    case 'or':
      return query.any.some(part => fits(document, part, words))
    case 'not':
      return !fits(document, query.not, words)
    case 'exists':
      return exists(document, query.field)
    case 'missing':
      return !exists(document, query.field)
    case 'ids':
      return query.ids.includes(document.id)
    case 'visible':
      return isInScope(document, query.scope)
    case 'word':
      return hasWords(allWords(document), query.text, words)
    case 'phrase':
      return hasPhraseIn(document, query.text, query.field, words)
    case 'regex':
      return wordsIn(document, query.field).some(each => each.some(word => words.expression(query.regex, word)))
    case 'field':
      if (query.is !== 'differs') return query.values.some(value => compares(document, query, value, words))
      return exists(document, query.field) && !query.values.some(value => compares(document, { ...query, is: 'equals' }, value, words))
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
  return own ? own(document).flatMap(value => (value === undefined || value === '' ? [] : [value])) : metadataValuesOf(document, field)
}

const withoutMetadata = (field: string): string => field.replace(/^metadata\./, '')

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
  ...metadata.flatMap(({ value, written }) => (written === undefined ? [textOf(value)] : [textOf(value), written])),
  text ?? '',
]

const wordsOfDocument = new WeakMap<SearchDocument, readonly (readonly string[])[]>()

/** The words of each text in a document. */
function allWords(document: SearchDocument): readonly (readonly string[])[] {
  const known = wordsOfDocument.get(document) ?? textsIn(document).map(wordsOf)
  wordsOfDocument.set(document, known)
  return known
}

const wordsIn = (document: SearchDocument, field: string | undefined): readonly (readonly string[])[] =>
  field === undefined ? allWords(document) : valuesOf(document, field).map(value => wordsOf(textOf(value)))

const hasPiece = (texts: readonly (readonly string[])[], piece: string, words: WordTests): boolean =>
  texts.some(text => text.some(word => words.piece(piece, word)))

function hasWords(texts: readonly (readonly string[])[], text: string, words: WordTests): boolean {
  const pieces = patternsOf(text)
  if (pieces.length === 0) return false
  if (pieces.length === 1 || pieces.some(piece => /[*?]/.test(piece)))
    return pieces.every(piece => /^\*+$/.test(piece) || hasPiece(texts, piece, words))
  return texts.some(each => hasRow(each, pieces, true))
}

/** Whether these words are adjacent in this order; the last may be a prefix. */
function hasRow(words: readonly string[], row: readonly string[], mayGoOn: boolean): boolean {
  const isAt = (start: number): boolean =>
    row.every(
      (word, at) => words[start + at] === word || (mayGoOn && at === row.length - 1 && words[start + at]?.startsWith(word) === true),
    )
  return row.length > 0 && words.some((_, start) => isAt(start))
}

function hasPhraseIn(document: SearchDocument, text: string, field: string | undefined, words: WordTests): boolean {
  if (field !== undefined && ['created', 'resource_type', 'in'].includes(field))
    return compares(document, { op: 'field', field, is: 'equals', values: [] }, text.trim(), words)
  const row = wordsOf(text)
  return wordsIn(document, field).some(each => hasRow(each, row, false))
}

function compares(document: SearchDocument, { field, is }: FieldQuery, value: string | number | Date, words: WordTests): boolean {
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
  const texts = values.filter(each => !isExact(each)).map(each => wordsOf(textOf(each)))
  const pieces = patternsOf(String(value)).filter(piece => !/^\*+$/.test(piece))
  return texts.length > 0 && pieces.length > 0 && pieces.every(piece => hasPiece(texts, piece, words))
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
