import type { SearchQuery } from '../ports/search-index.ts'
import { checkQuery } from './check-query.ts'
import { compareField, comparingOf, fieldContains, fieldPhrase, wildcards } from './fields.ts'
import type { ParsedAtom, ParsedQuery } from './grammar/query-parser.js'
import { parseQuery, refusal } from './parsing.ts'
import { readRegex } from './read-regex.ts'
import { patternsOf } from './text.ts'

type Comparison = Extract<ParsedQuery, { is: 'comparison' }>

const maxQueryLength = 10_000

/**
 * Parses a query as typed by a user: words, "phrases", `/expressions/`, alternatives with `|`, comparisons of fields with `: == != < <= > >= CONTAINS`,
 * `exists:` and `missing:`, combined by AND (or nothing), OR, NOT and parentheses. `Invalid` states the position of a syntax error and what was expected.
 */
export function readQuery(text: string): SearchQuery {
  if (text.length > maxQueryLength)
    throw refusal(maxQueryLength, `The query has ${text.length} characters; at most ${maxQueryLength} are read`)
  const parsed = parseQuery(text)
  return parsed === null ? { op: 'all' } : checkQuery(toQuery(parsed))
}

function toQuery(parsed: ParsedQuery): SearchQuery {
  switch (parsed.is) {
    case 'and':
      return and(parsed.of)
    case 'or':
      return { op: 'or', any: parsed.of.map(toQuery) }
    case 'not':
      return { op: 'not', not: toQuery(parsed.what) }
    case 'free':
      return oneOf(parsed.values.map(free))
    case 'comparison':
      return comparison(parsed)
  }
}

/** A dash or dot between words is ignored; on its own it matches nothing. */
function and(parts: readonly ParsedQuery[]): SearchQuery {
  const selective = parts.filter(part => part.is !== 'free' || part.values.some(isSelective))
  const all = (selective.length === 0 ? parts.slice(0, 1) : selective).map(toQuery)
  return all.length === 1 ? (all[0] as SearchQuery) : { op: 'and', all }
}

const isSelective = ({ is, text }: ParsedAtom): boolean => is === 'expression' || patternsOf(text).length > 0

const oneOf = (any: readonly SearchQuery[]): SearchQuery => (any.length === 1 ? (any[0] as SearchQuery) : { op: 'or', any })

function free(atom: ParsedAtom): SearchQuery {
  if (atom.is === 'expression') return { op: 'regex', regex: readRegex(atom.text, atom.at) }
  if (atom.is === 'quoted') return { op: 'phrase', text: atom.text }
  const [, start, text = '', end] = /^(\^?)(.*?)(\$?)$/s.exec(wildcards(plain(atom))) ?? []
  if (end === '' || text === '') return { op: 'word', text: text === '' ? atom.text : text }
  return start === '' ? { op: 'word', text: `*${text}` } : { op: 'phrase', text }
}

/** Two underscores represent a space (Clowder 1.x), except within quotation marks. */
const plain = ({ is, text }: ParsedAtom): string => (is === 'bare' ? text.replaceAll('__', ' ') : text)

function comparison({ field: written, operator, values, at }: Comparison): SearchQuery {
  const field = plain(written).trim()
  if (field === '') throw refusal(at, 'Missing field before the operator')
  if (written.is === 'bare' && (field === 'exists' || field === 'missing')) return presence(field, operator, values, at)
  const is = comparingOf(operator) ?? 'contains'
  if (is === 'contains') return oneOf(together(field, values))
  const expression = values.find(value => value.is === 'expression')
  if (expression) throw refusal(expression.at - 1, `An expression is only allowed after the operator :, not after ${operator}`)
  return compareField(field, is, values.map(plain), values[0]?.at)
}

function presence(op: 'exists' | 'missing', operator: string, values: readonly ParsedAtom[], at: number): SearchQuery {
  if (operator !== ':' && operator !== '==') throw refusal(at, `Write ${op}:field, not ${op}${operator}`)
  return oneOf(values.map(value => ({ op, field: plain(value).trim() })))
}

/** Plain alternatives become one comparison; phrases and expressions one each. */
function together(field: string, values: readonly ParsedAtom[]): readonly SearchQuery[] {
  const bare = values.filter(value => value.is === 'bare')
  const others = values.filter(value => value.is !== 'bare').map(value => atomIn(field, value))
  if (bare.length === 0) return others
  return [
    compareField(
      field,
      'contains',
      bare.map(value => wildcards(plain(value))),
      bare[0]?.at,
    ),
    ...others,
  ]
}

const atomIn = (field: string, { is, text, at }: ParsedAtom): SearchQuery =>
  is === 'expression' ? fieldContains(field, `/${text}/`, at) : fieldPhrase(field, text, at)
