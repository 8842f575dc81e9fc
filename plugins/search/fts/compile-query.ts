import type { SearchQuery } from 'pounce/sdk/search'
import { foldValue, isAnything, patternsOf, pieceFits, type Regex, readingOf } from 'pounce/sdk/search'
import { type ComparisonOperator, compileComparison } from './compile-comparison.ts'
import { automatonOf, phrase, phraseIn, WordCompiler } from './compile-words.ts'
import { and, anyOf, type Condition, everything, hasId, not, nothing, or, quote, split } from './condition.ts'
import { InvalidQuery } from './invalid-query.ts'
import { permittedBy } from './rights.ts'
import { type FixedField, fieldToken, fixedFields, isFixedField, isPlace, type PlaceField, type TextColumn, tokens } from './tokens.ts'
import type { KnownField, Vocabulary } from './vocabulary.ts'

/** A query in the terms of the index. */
export interface CompiledQuery {
  /** All of them must hold. */
  readonly conditions: readonly Condition[]
  /** The parts that hits are scored by: those that search for words and are not negated. */
  readonly scored: readonly ScoredPart[]
}

/** A part of a query that adds to the score of the hits that match it. */
export interface ScoredPart {
  readonly fts: string
  /** The same with whole words, where `fts` also finds beginnings of words. */
  readonly whole?: string
  /** Absent: any column. */
  readonly column?: TextColumn
  /** The scopes outside of which it is not searched: there, it must not add to scores. */
  readonly within: readonly string[]
}

type FieldQuery = Extract<SearchQuery, { op: 'field' }>
type Value = FieldQuery['values'][number]
type RegexQuery = Extract<SearchQuery, { op: 'regex' }>

/** Translates a query. User text only ever becomes quoted words, hashes and bound values. */
export function compileQuery(query: SearchQuery, vocabulary: Vocabulary): CompiledQuery {
  const compiler = new QueryCompiler(vocabulary)
  const isSplit = query.op === 'and' && !query.all.some(isScope)
  const conditions = isSplit ? query.all.map(part => compiler.compile(part, true)) : [compiler.compile(query, true)]
  return { conditions, scored: compiler.scored }
}

/** The metadata path of a field in a query. */
export const metadataPath = (field: string): string => (field.startsWith('metadata.') ? field.slice('metadata.'.length) : field)

const isRange = (is: FieldQuery['is']): is is ComparisonOperator => is === 'less' || is === 'atMost' || is === 'more' || is === 'atLeast'

class QueryCompiler {
  readonly #vocabulary: Vocabulary
  readonly #words: WordCompiler
  readonly scored: ScoredPart[] = []
  #within: readonly string[] = []

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary
    this.#words = new WordCompiler(vocabulary)
  }

  compile(query: SearchQuery, isPositive: boolean): Condition {
    switch (query.op) {
      case 'all':
        return everything
      case 'word':
        return this.#scored(this.#words.words(query.text), isPositive)
      case 'phrase':
        return this.#phrase(query.text, query.field, isPositive)
      case 'regex':
        return this.#regex(query, isPositive)
      case 'field':
        return this.#field(query, isPositive)
      case 'exists':
        return this.#exists(query.field)
      case 'missing':
        return not(this.#exists(query.field))
      case 'ids':
        return hasId(query.ids)
      case 'visible': {
        const permitted = permittedBy(query.scope)
        return permitted === undefined ? nothing : { fts: permitted }
      }
      case 'and':
        return this.#and(query.all, isPositive)
      case 'or':
        return or(query.any.map(part => this.compile(part, isPositive)))
      case 'not':
        return not(this.compile(query.not, !isPositive))
    }
  }

  #and(all: readonly SearchQuery[], isPositive: boolean): Condition {
    const outer = this.#within
    const scopes = all.filter(isScope).map(part => this.compile(part, false))
    this.#within = [...outer, ...split(scopes).fts]
    const others = all.filter(part => !isScope(part)).map(part => this.compile(part, isPositive))
    this.#within = outer
    return and([...scopes, ...others])
  }

  #scored(part: Omit<ScoredPart, 'within'>, isPositive: boolean): Condition {
    if (isPositive) this.scored.push({ ...part, within: this.#within })
    return { fts: part.fts }
  }

  #phrase(text: string, field: string | undefined, isPositive: boolean): Condition {
    if (field === undefined) return this.#scored({ fts: phrase(text) }, isPositive)
    if (field === 'created') return compileComparison({ field, fields: [], is: 'equals', value: text })
    if (isPlace(field)) return placePhrase(field, text)
    if (!isFixedField(field)) return { fts: phraseIn(this.#tokens(field), text) }
    const { token, column } = fixedFields[field]
    return column ? this.#scored({ fts: phrase(text, column), column }, isPositive) : { fts: phraseIn([token], text) }
  }

  #regex({ regex, field }: RegexQuery, isPositive: boolean): Condition {
    if (field === undefined) return this.#scored({ fts: this.#words.regex(regex) }, isPositive)
    if (field === 'created') throw new InvalidQuery('created is a time and does not support regular expressions')
    if (isPlace(field)) return placeRegex(field, regex)
    if (!isFixedField(field)) return { fts: this.#words.regexIn(this.#tokens(field), regex) }
    const { token, column } = fixedFields[field]
    return column
      ? this.#scored({ fts: this.#words.regex(regex, column), column }, isPositive)
      : { fts: this.#words.regexIn([token], regex) }
  }

  #field(query: FieldQuery, isPositive: boolean): Condition {
    const { field, is, values } = query
    if (is === 'differs') return and([this.#exists(field), not(or(values.map(value => this.#value(field, 'equals', value, false))))])
    return or(values.map(value => this.#value(field, is, value, isPositive)))
  }

  #value(field: string, is: Exclude<FieldQuery['is'], 'differs'>, value: Value, isPositive: boolean): Condition {
    if (field === 'created') return compileComparison({ field, fields: [], is: is === 'contains' ? 'equals' : is, value })
    if (isRange(is)) {
      if (isFixedField(field) || isPlace(field))
        throw new InvalidQuery(`${field} is text; only created and metadata support comparison operators`)
      return compileComparison({ field, fields: this.#fields(field), is, value })
    }
    if (is === 'contains' && isAnything(String(value).trim())) return this.#exists(field)
    if (isPlace(field)) return placeIs(field, String(value), is)
    return is === 'equals' ? this.#equals(field, value) : this.#contains(field, value, isPositive)
  }

  #equals(field: string, value: Value): Condition {
    if (!isFixedField(field)) return equalsAny(this.#fields(field), value)
    return { fts: quote(tokens.equals(fixedFields[field].token, String(value))) }
  }

  #contains(field: string, value: Value, isPositive: boolean): Condition {
    const pieces = patternsOf(String(value)).filter(piece => !isAnything(piece))
    if (isFixedField(field)) return pieces.length === 0 ? nothing : this.#containsFixed(field, pieces, isPositive)
    const reading = readingOf(value)
    const isExact = ({ type }: KnownField): boolean =>
      typeof value !== 'string' || (type === 'number' && reading.number !== undefined) || (type === 'date' && reading.span !== undefined)
    const known = this.#fields(field)
    const worded = known.filter(each => !isExact(each)).map(({ id }) => fieldToken(id))
    const words = worded.length > 0 && pieces.length > 0 ? [{ fts: this.#words.inFields(worded, pieces) }] : []
    return or([equalsAny(known.filter(isExact), value), ...words])
  }

  #containsFixed(field: FixedField, pieces: readonly string[], isPositive: boolean): Condition {
    const { token, column } = fixedFields[field]
    return column
      ? this.#scored({ ...this.#words.inColumn(column, pieces), column }, isPositive)
      : { fts: this.#words.inFields([token], pieces) }
  }

  #exists(field: string): Condition {
    if (field === 'created' || field === 'resource_type') return everything
    if (isPlace(field) || isFixedField(field)) return { fts: quote(tokens.has(isPlace(field) ? field : fixedFields[field].token)) }
    return { fts: anyOf(this.#vocabulary.fieldsWithin(metadataPath(field)).map(({ id }) => quote(tokens.has(fieldToken(id))))) }
  }

  #fields(field: string): readonly KnownField[] {
    return this.#vocabulary.fields(metadataPath(field))
  }

  #tokens(field: string): readonly string[] {
    return this.#fields(field).map(({ id }) => fieldToken(id))
  }
}

const isScope = (query: SearchQuery): boolean => query.op === 'visible' || (query.op === 'not' && query.not.op === 'visible')

/** Matches whole values in any of the fields: numbers and texts by their tokens, dates by their span. */
function equalsAny(fields: readonly KnownField[], value: Value): Condition {
  const { text, number } = readingOf(value)
  const whole = fields.flatMap(({ id, type }) => {
    if (type === 'number') return number === undefined ? [] : [tokens.equals(fieldToken(id), number)]
    return type === 'date' || text === undefined ? [] : [tokens.equals(fieldToken(id), text)]
  })
  const dates = fields.filter(({ type }) => type === 'date')
  const inSpan = compileComparison({ field: '', fields: dates, is: 'equals', value })
  return or([{ fts: anyOf(whole.map(each => quote(each))) }, ...(inSpan === nothing ? [] : [inSpan])])
}

const kinds = [
  ...['file', 'dataset', 'collection', 'sensor', 'stream'],
  ...['space', 'folder', 'section', 'preview', 'user', 'metadata', 'comment', 'thumbnail'],
]

const ofKinds = (fits: (kind: string) => boolean): Condition => ({
  fts: anyOf(kinds.filter(fits).map(kind => quote(tokens.kind(kind)))),
})

/** The kind of a resource, or its container. */
function placeIs(field: PlaceField, value: string, is: 'contains' | 'equals'): Condition {
  if (field === 'in') return { fts: quote(tokens.within(value)) }
  if (is === 'equals') return ofKinds(kind => kind === foldValue(value))
  const pieces = patternsOf(value)
  return ofKinds(kind => pieces.length > 0 && pieces.every(piece => pieceFits(piece, kind)))
}

const placePhrase = (field: PlaceField, text: string): Condition => placeIs(field, text.trim(), 'equals')

function placeRegex(field: PlaceField, regex: Regex): Condition {
  if (field !== 'resource_type') throw new InvalidQuery(`${field} must be an id, not a regular expression`)
  const automaton = automatonOf(regex)
  return ofKinds(kind => automaton.fits(kind))
}
