import type { SearchQuery } from 'pounce/sdk'
import { compileComparison } from './compile-comparison.ts'
import { allOf, and, anyOf, type Condition, everything, not, nothing, or, quote } from './condition.ts'
import { readings } from './readings.ts'
import { Refused } from './refused.ts'
import { type FixedField, fieldToken, fixedFields, isFixedField, tokens } from './tokens.ts'
import type { KnownField, Vocabulary } from './vocabulary.ts'
import { patternsOf, wordsOf } from './words.ts'

/** A query in the terms of the index. */
export interface CompiledQuery {
  /** All of them hold. */
  readonly conditions: readonly Condition[]
  /** The parts that look for words and are not negated: what a hit is scored by. */
  readonly scored: readonly string[]
  /** Every hit has all of these parts. */
  readonly isAllScored: boolean
}

type FieldQuery = Extract<SearchQuery, { op: 'field' }>
type Value = FieldQuery['values'][number]

const kinds = ['file', 'dataset', 'collection', 'space', 'folder', 'section', 'preview', 'user', 'metadata', 'comment', 'thumbnail']
const indexedPrefixChars = 3
const mostBeginnings = 30
const mostPatternTerms = 2000

/** Translates a query. What a person typed only ever becomes quoted words, hashes and bound values. */
export function compileQuery(query: SearchQuery, vocabulary: Vocabulary): CompiledQuery {
  const compiler = new QueryCompiler(vocabulary)
  const conditions = query.op === 'and' ? query.all.map(part => compiler.compile(part, true)) : [compiler.compile(query, true)]
  return { conditions, scored: compiler.scored, isAllScored: !compiler.hasAlternatives }
}

/** The field as metadata knows it. */
export const metadataPath = (field: string): string => (field.startsWith('metadata.') ? field.slice('metadata.'.length) : field)

class QueryCompiler {
  readonly #vocabulary: Vocabulary
  readonly scored: string[] = []
  hasAlternatives = false

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary
  }

  compile(query: SearchQuery, isPositive: boolean): Condition {
    switch (query.op) {
      case 'all':
        return everything
      case 'word':
        return this.#scored(this.#words(query.text), isPositive)
      case 'phrase':
        return this.#scored(phrase(query.text), isPositive)
      case 'field':
        this.hasAlternatives ||= query.values.length > 1
        return or(query.values.map(value => this.#field(query, value, isPositive)))
      case 'exists':
        return this.#exists(query.field)
      case 'missing':
        return not(this.#exists(query.field))
      case 'and':
        return and(query.all.map(part => this.compile(part, isPositive)))
      case 'or':
        this.hasAlternatives ||= query.any.length > 1
        return or(query.any.map(part => this.compile(part, isPositive)))
      case 'not':
        return not(this.compile(query.not, !isPositive))
    }
  }

  #scored(fts: string, isPositive: boolean): Condition {
    if (isPositive) this.scored.push(fts)
    return { fts }
  }

  /** Words next to each other, the last of which may go on; with patterns in it, all of them anywhere. */
  #words(text: string): string {
    const pieces = patternsOf(text)
    if (pieces.length === 0) return quote('_none')
    if (pieces.length === 1 || pieces.some(isPattern)) return allOf(pieces.map(piece => this.#piece(piece)))
    return `${quote(...pieces)} *`
  }

  #piece(piece: string): string {
    if (isAnything(piece)) return quote('_all')
    const begin = beginningOf(piece)
    if (!begin && isPattern(piece)) return anyOf(this.#vocabulary.matching(piece).map(word => quote(word)))
    return this.#beginning(begin ?? piece)
  }

  /** A few whole words are merged as the index is read; the beginning of many is put together first, which takes longer. */
  #beginning(word: string): string {
    if (word.length <= indexedPrefixChars) return `${quote(word)} *`
    const words = this.#vocabulary.beginningWith(word, mostBeginnings + 1)
    return words.length > mostBeginnings ? `${quote(word)} *` : anyOf(words.map(each => quote(each)))
  }

  #field(query: FieldQuery, value: Value, isPositive: boolean): Condition {
    const { field, is } = query
    if (is === 'differs') return and([this.#exists(field), not(this.#field({ ...query, is: 'equals' }, value, false))])
    if (field === 'created') return compileComparison({ field, fields: [], is, value })
    if (is === 'less' || is === 'atMost' || is === 'more' || is === 'atLeast') {
      if (isFixedField(field) || isPlace(field))
        throw new Refused(`${field} is text; only created and metadata can be compared with more and less`)
      return compileComparison({ field, fields: this.#fields(field), is, value })
    }
    if (isPlace(field)) return placeIs(field, String(value), is)
    return is === 'equals' ? this.#equals(field, value) : this.#contains(field, value, isPositive)
  }

  #equals(field: string, value: Value): Condition {
    if (isFixedField(field)) return { fts: quote(tokens.equals(fixedFields[field].token, String(value))) }
    return { fts: anyOf(this.#fields(field).flatMap(({ id }) => readings(value).map(each => quote(tokens.equals(fieldToken(id), each))))) }
  }

  #contains(field: string, value: Value, isPositive: boolean): Condition {
    const pieces = patternsOf(String(value)).filter(piece => !isAnything(piece))
    if (pieces.length === 0) return /[*?]/.test(String(value)) ? this.#exists(field) : nothing
    if (isFixedField(field)) return this.#scored(this.#containsFixed(field, pieces), isPositive)
    const known = this.#fields(field)
    const isNumber = readings(value).some(each => typeof each === 'number')
    const exact = known.filter(({ type }) => typeof value !== 'string' || (type === 'number' && isNumber))
    const worded = known.filter(each => !exact.includes(each)).map(({ id }) => fieldToken(id))
    const whole = exact.flatMap(({ id }) => readings(value).map(each => quote(tokens.equals(fieldToken(id), each))))
    return { fts: anyOf([...whole, ...(worded.length > 0 ? [this.#piecesIn(worded, pieces)] : [])]) }
  }

  #containsFixed(field: FixedField, pieces: readonly string[]): string {
    const { token, column } = fixedFields[field]
    return column ? `${column} : (${pieces.map(piece => this.#piece(piece)).join(' AND ')})` : this.#piecesIn([token], pieces)
  }

  /** All pieces, each in any of the fields. */
  #piecesIn(names: readonly string[], pieces: readonly string[]): string {
    return allOf(pieces.map(piece => this.#pieceIn(names, piece)))
  }

  #pieceIn(names: readonly string[], piece: string): string {
    const begin = isPattern(piece) ? beginningOf(piece) : piece
    if (begin) return anyOf(names.map(name => `${quote(tokens.word(name, begin))} *`))
    const words = this.#vocabulary.matching(piece)
    if (words.length * names.length > mostPatternTerms) throw new Refused(`Too many words match ${piece}; give more letters`)
    return anyOf(names.flatMap(name => words.map(word => quote(tokens.word(name, word)))))
  }

  #exists(field: string): Condition {
    if (field === 'created' || field === 'resource_type') return everything
    if (isPlace(field)) throw new Refused(`${field} takes an id; it cannot be asked whether it exists`)
    if (isFixedField(field)) return { fts: quote(tokens.has(fixedFields[field].token)) }
    return { fts: anyOf(this.#fields(field).map(({ id }) => quote(tokens.has(fieldToken(id))))) }
  }

  #fields(field: string): readonly KnownField[] {
    return this.#vocabulary.fields(metadataPath(field))
  }
}

const isPattern = (piece: string): boolean => /[*?]/.test(piece)
const isAnything = (piece: string): boolean => /^\*+$/.test(piece)
/** The letters of a pattern that says no more than how a word begins. */
const beginningOf = (piece: string): string | undefined => /^([^*?]+)\*+$/.exec(piece)?.[1]

function phrase(text: string): string {
  const words = wordsOf(text)
  return words.length === 0 ? quote('_none') : quote(...words)
}

const isPlace = (field: string): boolean => field === 'in' || field === 'contains' || field === 'resource_type'

function placeIs(field: string, value: string, is: FieldQuery['is']): Condition {
  if (field === 'in') return { fts: quote(tokens.within(value)) }
  if (field === 'contains') return { fts: quote(tokens.containing(value)) }
  const wanted = value.toLowerCase().trim().replace(/\*+$/, '')
  const fits = (kind: string): boolean => (is === 'equals' ? kind === wanted : kind.startsWith(wanted))
  return { fts: anyOf(kinds.filter(fits).map(kind => quote(tokens.kind(kind)))) }
}
