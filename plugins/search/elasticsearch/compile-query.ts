import { Invalid } from 'pounce/sdk'
import type { SearchQuery } from 'pounce/sdk/search'
import { foldValue, isAnything, isPattern, patternsOf, readingOf, toLuceneRegex, wordsOf } from 'pounce/sdk/search'
import {
  allOf,
  anyOf,
  type Clause,
  everything,
  not,
  nothing,
  phrase,
  phraseAndPrefix,
  phraseBegins,
  pieceIn,
  regexp,
  term,
  terms,
} from './clause.ts'
import { type ComparisonOperator, createdIs, metadataIs } from './compile-comparison.ts'
import { numberToken, textToken } from './entry.ts'
import { type FieldType, type FixedField, fixedFields, fixedKey, isFixedField, metadataPath, pathKey, typedKey } from './field-keys.ts'
import { permittedBy } from './rights.ts'

/** A query in the server's query language. */
export interface CompiledQuery {
  readonly condition: Clause
  /** What hits are scored by: the words searched for and not negated. */
  readonly scored: readonly Clause[]
}

type FieldQuery = Extract<SearchQuery, { op: 'field' }>
type RegexQuery = Extract<SearchQuery, { op: 'regex' }>
type Value = FieldQuery['values'][number]
type Place = 'in' | 'resource_type'

const types: readonly FieldType[] = ['text', 'number', 'date']
const placeFields = { in: 'within', resource_type: 'kind' } as const
/** Weights of the fields; words of metadata, and of long texts, have weight one. */
const weights: Readonly<Record<string, number>> = { name: 10, tags: 6, description: 4, created_as: 2, comments: 2, any: 1 }
/** Further words of a query do not add to scores. */
const maxScoredClauses = 16 * 12

export const isPlace = (field: string): field is Place => Object.hasOwn(placeFields, field)
const isRange = (is: FieldQuery['is']): is is ComparisonOperator => is === 'less' || is === 'atMost' || is === 'more' || is === 'atLeast'

/** Translates a query. Throws `Invalid` for an unsupported one. */
export function compileQuery(query: SearchQuery): CompiledQuery {
  const compiler = new QueryCompiler()
  return { condition: compiler.compile(query, true), scored: compiler.scored.slice(0, maxScoredClauses) }
}

class QueryCompiler {
  readonly scored: Clause[] = []
  /** The scopes outside of which words are not searched: there, they must not add to scores. */
  #within: readonly Clause[] = []

  compile(query: SearchQuery, isPositive: boolean): Clause {
    switch (query.op) {
      case 'all':
        return everything
      case 'word':
        return this.#word(query.text, isPositive)
      case 'phrase':
        return this.#phrase(query.text, query.field, isPositive)
      case 'regex':
        return this.#regex(query, isPositive)
      case 'field':
        return this.#field(query, isPositive)
      case 'exists':
        return exists(query.field)
      case 'missing':
        return not(exists(query.field))
      case 'ids':
        return query.ids.length === 0
          ? nothing
          : terms(
              'key',
              query.ids.map(id => id.toWellFormed()),
            )
      case 'visible':
        return permittedBy(query.scope) ?? nothing
      case 'and':
        return this.#and(query.all, isPositive)
      case 'or':
        return anyOf(query.any.map(part => this.compile(part, isPositive)))
      case 'not':
        return not(this.compile(query.not, !isPositive))
    }
  }

  /** Hits are weighted by the fields that match, and not by how rare words are: that depends on hidden entries too, and would disclose their words. */
  #score(isPositive: boolean, clauseIn: (field: string) => Clause, fields = Object.keys(weights)): void {
    if (!isPositive) return
    for (const field of fields)
      this.scored.push({ constant_score: { filter: allOf([clauseIn(field), ...this.#within]), boost: weights[field] } })
  }

  #and(all: readonly SearchQuery[], isPositive: boolean): Clause {
    const outer = this.#within
    const scopes = all.filter(isScope).map(part => this.compile(part, false))
    this.#within = [...outer, ...scopes]
    const others = all.filter(part => !isScope(part)).map(part => this.compile(part, isPositive))
    this.#within = outer
    return allOf([...scopes, ...others])
  }

  #word(text: string, isPositive: boolean): Clause {
    const pieces = patternsOf(text)
    if (pieces.length === 0) return nothing
    if (pieces.length > 1 && !pieces.some(isPattern)) {
      this.#score(isPositive, field => phraseAndPrefix(field, pieces))
      this.#score(isPositive, field => phrase(field, pieces))
      return phraseBegins('any', pieces)
    }
    for (const piece of pieces.filter(each => !isAnything(each))) this.#scorePiece(piece, isPositive)
    return allOf(pieces.map(piece => (isAnything(piece) ? everything : pieceIn('any', piece))))
  }

  /** A whole word is scored as well, other words with the same beginning are not. */
  #scorePiece(piece: string, isPositive: boolean, fields?: string[]): void {
    this.#score(isPositive, field => pieceIn(field, piece), fields)
    if (!isPattern(piece)) this.#score(isPositive, field => term(field, piece), fields)
  }

  #phrase(text: string, field: string | undefined, isPositive: boolean): Clause {
    if (field === 'created') return createdIs('equals', text)
    if (field !== undefined && isPlace(field)) return placeIs(field, text.trim(), 'equals')
    const words = wordsOf(text)
    if (words.length === 0) return nothing
    const own = field === undefined ? 'any' : isFixedField(field) && fixedFields[field]
    if (own) {
      this.#score(isPositive, each => phrase(each, words), field === undefined ? undefined : [own])
      return phrase(own, words)
    }
    return anyOf(
      keysOf(field ?? '').map(key =>
        phrase(
          'word',
          words.map(word => key + word),
        ),
      ),
    )
  }

  #regex({ regex, field }: RegexQuery, isPositive: boolean): Clause {
    if (field === 'created') throw new Invalid('created is a time and does not support regular expressions')
    const expression = toLuceneRegex(regex)
    if (field === 'resource_type') return regexp('kind', expression)
    if (field !== undefined && isPlace(field)) throw new Invalid(`${field} must be an id, not a regular expression`)
    const own = field === undefined ? 'any' : isFixedField(field) && fixedFields[field]
    if (own) {
      this.#score(isPositive, each => regexp(each, expression), field === undefined ? undefined : [own])
      return regexp(own, expression)
    }
    return anyOf(keysOf(field ?? '').map(key => regexp('word', `${key}(${expression})`)))
  }

  #field(query: FieldQuery, isPositive: boolean): Clause {
    const { field, is, values } = query
    if (is === 'differs') return allOf([exists(field), not(anyOf(values.map(value => this.#value(field, 'equals', value, false))))])
    return anyOf(values.map(value => this.#value(field, is, value, isPositive)))
  }

  #value(field: string, is: Exclude<FieldQuery['is'], 'differs'>, value: Value, isPositive: boolean): Clause {
    if (field === 'created') return createdIs(is === 'contains' ? 'equals' : is, value)
    if (isRange(is)) {
      if (isFixedField(field) || isPlace(field))
        throw new Invalid(`${field} is text; only created and metadata support comparison operators`)
      return metadataIs(pathKey(metadataPath(field)), is, value)
    }
    if (is === 'contains' && isAnything(String(value).trim())) return exists(field)
    if (isPlace(field)) return placeIs(field, String(value), is)
    if (is === 'contains') return this.#contains(field, value, isPositive)
    return isFixedField(field) ? term('is', textToken(fixedKey(field), String(value))) : equals(field, value, types)
  }

  #contains(field: string, value: Value, isPositive: boolean): Clause {
    const pieces = patternsOf(String(value)).filter(piece => !isAnything(piece))
    if (isFixedField(field)) return this.#containsFixed(field, pieces, isPositive)
    const { number, span } = readingOf(value)
    const isExact = (type: FieldType): boolean =>
      typeof value !== 'string' || (type === 'number' && number !== undefined) || (type === 'date' && span !== undefined)
    const key = pathKey(metadataPath(field))
    const worded = types.filter(type => !isExact(type)).map(type => typedKey(key, type))
    return anyOf([equals(field, value, types.filter(isExact)), ...(worded.length > 0 ? [piecesIn(worded, pieces)] : [])])
  }

  #containsFixed(field: FixedField, pieces: readonly string[], isPositive: boolean): Clause {
    const own = fixedFields[field]
    if (!own) return piecesIn([typedKey(fixedKey(field), 'text')], pieces)
    for (const piece of pieces) this.#scorePiece(piece, isPositive, [own])
    return pieces.length === 0 ? nothing : allOf(pieces.map(piece => pieceIn(own, piece)))
  }
}

const isScope = (query: SearchQuery): boolean => query.op === 'visible' || (query.op === 'not' && query.not.op === 'visible')

/** The term prefixes of a field, for each type that its values may have. */
const keysOf = (field: string): readonly string[] =>
  isFixedField(field) ? [typedKey(fixedKey(field), 'text')] : types.map(type => typedKey(pathKey(metadataPath(field)), type))

/** All pieces, each in a value of any of the types. */
const piecesIn = (keys: readonly string[], pieces: readonly string[]): Clause =>
  pieces.length === 0 ? nothing : allOf(pieces.map(piece => anyOf(keys.map(key => pieceIn('word', piece, key)))))

/** Whole metadata values of one of these types: exact numbers and texts, dates by their span. */
function equals(field: string, value: Value, among: readonly FieldType[]): Clause {
  const key = pathKey(metadataPath(field))
  const { text, number, span } = readingOf(value)
  const tokens = [
    ...(among.includes('number') && number !== undefined ? [numberToken(key, number)] : []),
    ...(among.includes('text') && text !== undefined ? [textToken(key, text)] : []),
  ]
  const inSpan = among.includes('date') && span ? [metadataIs(key, 'equals', value)] : []
  return anyOf([...tokens.map(token => term('is', token)), ...inSpan])
}

function exists(field: string): Clause {
  if (field === 'created' || field === 'resource_type') return everything
  if (isPlace(field)) return { exists: { field: placeFields[field] } }
  return term('has', isFixedField(field) ? fixedKey(field) : pathKey(metadataPath(field)))
}

/** The kind of a resource, or its container. */
function placeIs(field: Place, value: string, is: 'contains' | 'equals'): Clause {
  if (field !== 'resource_type') return term(placeFields[field], value.toWellFormed())
  if (is === 'equals') return term('kind', foldValue(value).toWellFormed())
  const pieces = patternsOf(value)
  return pieces.length === 0 ? nothing : allOf(pieces.map(piece => pieceIn('kind', piece)))
}

/** Metadata under a path with a number or a date, which results can be sorted by. */
export const sortable = (field: string): Clause => {
  const key = pathKey(metadataPath(field))
  return anyOf([term('has', typedKey(key, 'number')), term('has', typedKey(key, 'date'))])
}
