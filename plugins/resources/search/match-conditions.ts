import { compareText } from 'pounce/sdk/kit'
import type { MetadataValue, SearchQuery } from 'pounce/sdk/search'
import {
  comparableText,
  foldValue,
  isAnything,
  isPattern,
  patternsOf,
  pieceFits,
  type Regex,
  RegexAutomaton,
  readingOf,
  TooComplex,
  type WordSpan,
  wordSpansOf,
  wordsOf,
} from 'pounce/sdk/search'

/** A range of a text, in UTF-16 code units. */
export interface MatchedPart {
  readonly start: number
  readonly end: number
}

/** A value that a search may have matched. */
export interface SearchedValue {
  /** The field name as used in queries: `name`, `tag`, `metadata.depth`. */
  readonly field: string
  readonly value: MetadataValue['value']
  readonly text: string
  readonly words: readonly WordSpan[]
}

/** A part of a query that a hit can match by its contents. */
export interface MatchCondition {
  /** Absent: any text. */
  readonly field?: string
  marksIn(value: SearchedValue): readonly MatchedPart[]
}

type FieldQuery = Extract<SearchQuery, { op: 'field' }>
type Value = FieldQuery['values'][number]

/** Fields whose values explain nothing, or are not visible to every reader. */
const unshown: ReadonlySet<string> = new Set(['in', 'contains', 'resource_type', 'created', 'email'])
/** Matched only when named in the query. */
const named: ReadonlySet<string> = new Set(['creator', 'content_type'])

/** A number or date is quoted as it was written; words that only the value itself has are in the whole text. */
export const searchedValue = (field: string, value: MetadataValue['value'], written?: string): SearchedValue => {
  const own = value instanceof Date ? value.toISOString() : String(value)
  const text = written ?? own
  const words = wordSpansOf(text)
  if (written === undefined) return { field, value, text, words }
  const others = wordsOf(own).filter(word => !words.some(each => each.word === word))
  return { field, value, text, words: [...words, ...others.map(word => ({ word, start: 0, end: text.length }))] }
}

/** The parts of a query for which a match can be shown; negated parts have none. */
export const matchConditions = (query: SearchQuery): readonly MatchCondition[] => {
  switch (query.op) {
    case 'and':
      return query.all.flatMap(matchConditions)
    case 'or':
      return query.any.flatMap(matchConditions)
    case 'word':
      return [{ marksIn: wordMarks(query.text) }]
    case 'phrase':
      return inField(query.field, phraseMarks(wordsOf(query.text), false))
    case 'regex':
      return inField(query.field, expressionMarks(query.regex))
    case 'exists':
      return inField(query.field, ({ text }) => whole(text))
    case 'field':
      return fieldConditions(query)
    default:
      return []
  }
}

const fieldConditions = ({ field, is, values }: FieldQuery): readonly MatchCondition[] =>
  is === 'differs' ? [] : values.flatMap(value => inField(field, fieldMarks(is, value)))

const inField = (field: string | undefined, marksIn: MatchCondition['marksIn']): readonly MatchCondition[] =>
  field === undefined ? [{ marksIn }] : unshown.has(field) ? [] : [{ field, marksIn }]

const fixed: ReadonlySet<string> = new Set(['name', 'description', 'creator', 'tag', 'created_as', 'content_type', 'comment'])

/** Whether the condition applies to the field: `width` applies to `metadata.pounce-image.width`. */
export const isAbout = ({ field: operand }: MatchCondition, field: string): boolean => {
  if (operand === undefined) return !named.has(field)
  if (fixed.has(operand)) return field === operand
  const path = operand.replace(/^metadata\./, '')
  return field.startsWith('metadata.') && `.${field.slice('metadata.'.length)}`.endsWith(`.${path}`)
}

/** Whether only metadata documents, comments or sections can match it. */
export const isBesideRecord = ({ field }: MatchCondition): boolean =>
  field === undefined || field === 'comment' || field === 'tag' || !fixed.has(field)

const whole = (text: string): readonly MatchedPart[] => (text === '' ? [] : [{ start: 0, end: text.length }])

const markOf = ({ start, end }: MatchedPart): MatchedPart => ({ start, end })

const fitsAll =
  (fits: (word: string) => boolean): MatchCondition['marksIn'] =>
  ({ words }) =>
    words.filter(({ word }) => fits(word)).map(markOf)

const pieceMarks = (pieces: readonly string[]): MatchCondition['marksIn'] => {
  const selective = pieces.filter(piece => !isAnything(piece))
  return fitsAll(word => selective.some(piece => pieceFits(piece, word)))
}

/** A single word matches prefixes of words; several words must be adjacent, and the last one may be a prefix. */
const wordMarks = (text: string): MatchCondition['marksIn'] => {
  const pieces = patternsOf(text)
  return pieces.length > 1 && !pieces.some(isPattern) ? phraseMarks(pieces, true) : pieceMarks(pieces)
}

const phraseMarks =
  (wanted: readonly string[], mayContinue: boolean): MatchCondition['marksIn'] =>
  ({ words }) => {
    if (wanted.length === 0) return []
    const last = wanted.length - 1
    const isHere = (at: number): boolean =>
      wanted.every((piece, n) => {
        const word = words[at + n]?.word
        return word !== undefined && (mayContinue && n === last ? word.startsWith(piece) : word === piece)
      })
    return words.flatMap(({ start }, at) => (isHere(at) ? [{ start, end: words[at + last]?.end ?? start }] : []))
  }

const expressionMarks = (regex: Regex): MatchCondition['marksIn'] => {
  try {
    const automaton = new RegexAutomaton(regex)
    return fitsAll(word => automaton.fits(word))
  } catch (error) {
    // The search engine, whose regular expressions differ, may have matched.
    if (error instanceof TooComplex) return () => []
    throw error
  }
}

/** Words of a text; numbers, dates and comparisons apply to whole values. */
const fieldMarks = (is: Exclude<FieldQuery['is'], 'differs'>, operand: Value): MatchCondition['marksIn'] => {
  if (is === 'contains' && typeof operand === 'string') {
    const inWords = isAnything(operand.trim()) ? undefined : pieceMarks(patternsOf(operand))
    return value => {
      if (typeof value.value !== 'string') return compares(value, 'equals', operand) || !inWords ? whole(value.text) : []
      return inWords ? inWords(value) : whole(value.text)
    }
  }
  const comparison = is === 'contains' ? 'equals' : is
  return value => (compares(value, comparison, operand) ? whole(value.text) : [])
}

const compares = ({ value, text }: SearchedValue, is: 'equals' | 'less' | 'atMost' | 'more' | 'atLeast', operand: Value): boolean => {
  const { text: operandText, number, span } = readingOf(operand)
  if (typeof value === 'number') return number !== undefined && holds(is, value - number)
  if (value instanceof Date) {
    if (!span) return false
    const time = value.getTime()
    return holds(is, time < span.from ? -1 : time >= span.before ? 1 : 0)
  }
  if (operandText === undefined) return false
  return is === 'equals'
    ? foldValue(text) === foldValue(operandText)
    : holds(is, compareText(comparableText(text), comparableText(operandText)))
}

const holds = (is: 'equals' | 'less' | 'atMost' | 'more' | 'atLeast', order: number): boolean => {
  if (is === 'equals') return order === 0
  if (is === 'less') return order < 0
  if (is === 'atMost') return order <= 0
  return is === 'more' ? order > 0 : order >= 0
}
