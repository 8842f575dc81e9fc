import { Invalid } from 'pounce/sdk'
import { comparableText, comparedChars, createdSpan, readingOf, type TimeSpan } from 'pounce/sdk/search'
import { anyOf, type Clause, term } from './clause.ts'
import { type FieldType, typedKey } from './field-keys.ts'

export type ComparisonOperator = 'less' | 'atMost' | 'more' | 'atLeast'
type Comparison = ComparisonOperator | 'equals'
type Value = string | number | Date

const signs = { less: 'lt', atMost: 'lte', more: 'gt', atLeast: 'gte' } as const
/** Sorts after every text with the same beginning: UTF-8 has no character beyond this one. */
const afterAll = '\u{10ffff}'

/** A comparison with the creation time. Throws `Invalid` when the value is not a time. */
export function createdIs(is: Comparison, value: Value): Clause {
  const span = createdSpan(value)
  if (!span) throw new Invalid(`created must be compared with a date such as 2026-01-31, not with ${String(value).slice(0, 100)}`)
  return { range: { created: inTime(is, span) } }
}

/** A comparison with typed metadata; `key` is the field key. `equals` is used for dates only. */
export function metadataIs(key: string, is: Comparison, value: Value): Clause {
  const { text, number, span } = readingOf(value)
  const clauses: Clause[] = []
  if (span) clauses.push(valueIs(typedKey(key, 'date'), inTime(is, span)))
  if (is !== 'equals') {
    if (number !== undefined) clauses.push(valueIs(typedKey(key, 'number'), { [signs[is]]: number }))
    else if (!span && text !== undefined) clauses.push(textIs(typedKey(key, 'text'), is, comparableText(text)))
  }
  return anyOf(clauses)
}

/** Sorts by the values of a metadata field, whatever their type; documents without values come last. */
export const sortByValue = (key: string, order: 'asc' | 'desc'): Clause => {
  const types: readonly FieldType[] = ['number', 'date']
  const nested = { path: 'values', filter: anyOf(types.map(type => term('values.field', typedKey(key, type)))) }
  return { 'values.number': { order, nested, missing: '_last' } }
}

function inTime(is: Comparison, { from, before }: TimeSpan): Readonly<Record<string, number>> {
  if (is === 'less') return { lt: from }
  if (is === 'atMost') return { lt: before }
  if (is === 'atLeast') return { gte: from }
  if (is === 'more') return { gte: before }
  return { gte: from, lt: before }
}

const valueIs = (key: string, range: Readonly<Record<string, number>>): Clause => ({
  nested: { path: 'values', query: { bool: { filter: [term('values.field', key), { range: { 'values.number': range } }] } } },
})

/** A truncated text equals every other one with the same truncation: the rest of its term is ignored. */
function textIs(key: string, is: ComparisonOperator, text: string): Clause {
  const last = text.length < comparedChars ? text : `${text}\u0000${afterAll}`
  const bounds = {
    less: { gte: key, lt: key + text },
    atMost: { gte: key, lte: key + last },
    more: { gt: key + last, lt: key + afterAll },
    atLeast: { gte: key + text, lt: key + afterAll },
  }
  return { range: { is: bounds[is] } }
}
