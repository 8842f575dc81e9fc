import type { SearchQuery } from '../ports/search-index.ts'
import { refusal } from './parsing.ts'
import { readRegex } from './read-regex.ts'
import { createdSpan, readingOf } from './readings.ts'

type Comparing = Extract<SearchQuery, { op: 'field' }>['is']
type Value = string | number | Date

const operators: ReadonlyMap<string, Comparing> = new Map([
  [':', 'contains'],
  ['CONTAINS', 'contains'],
  ['=', 'equals'],
  ['==', 'equals'],
  ['!=', 'differs'],
  ['<', 'less'],
  ['<=', 'atMost'],
  ['>', 'more'],
  ['>=', 'atLeast'],
])

/** The operators of the query language. */
export const operatorSigns: readonly string[] = [...operators.keys()].filter(sign => sign !== '=')

const texts = ['name', 'description', 'creator', 'email', 'tag', 'created_as', 'content_type', 'comment', 'resource_type', 'in', 'contains']

/** The meaning of an operator; undefined if unknown. */
export const comparingOf = (operator: string): Comparing | undefined => operators.get(operator.trim())

/** Compares a field with alternatives. `Invalid` if the field does not support it; `at` is its 0-based position. */
export function compareField(field: string, is: Comparing, values: readonly Value[], at = 0): SearchQuery {
  const isRange = is !== 'contains' && is !== 'equals' && is !== 'differs'
  if (isRange && texts.includes(field))
    throw refusal(at, `${field} is text and cannot be compared with < and >; a metadata field of that name is metadata.${field}`)
  if (field === 'created') for (const value of values) mustBeTime(value, at)
  return { op: 'field', field, is, values }
}

/** The field contains what the text describes: words, patterns with `*` and `?`, an `/expression/`, or alternatives separated by `|`. */
export function fieldContains(field: string, text: string, at = 0): SearchQuery {
  const source = /^\/(.+)\/$/s.exec(text.trim())?.[1]
  if (source !== undefined) return { op: 'regex', field, regex: readRegex(source, at) }
  const values = text
    .split('|')
    .map(wildcards)
    .filter(value => value.trim() !== '')
  if (values.length === 0) throw refusal(at, `Missing value for ${field}`)
  return compareField(field, 'contains', values, at)
}

/** The field contains the phrase; a phrase that parses as a number or date also matches that value. */
export function fieldPhrase(field: string, text: string, at = 0): SearchQuery {
  const { number, span } = readingOf(text)
  if (field === 'created') return compareField(field, 'equals', [text], at)
  const phrase: SearchQuery = { op: 'phrase', field, text }
  return number === undefined && span === undefined ? phrase : { op: 'or', any: [phrase, compareField(field, 'equals', [text], at)] }
}

/** `.*` is equivalent to `*`. */
export const wildcards = (text: string): string => text.replaceAll('.*', '*')

function mustBeTime(value: Value, at: number): void {
  const isAnything = typeof value === 'string' && /^\s*\*+\s*$/.test(value)
  if (!isAnything && !createdSpan(value))
    throw refusal(
      at,
      `created is compared with a date such as 2021-04-19, 2021-04 or 2021-04-19T10:00:00Z, not with ${String(value).slice(0, 100)}`,
    )
}
