import { comparableText, createdSpan, readingOf } from 'pounce/sdk/search'
import { type Condition, nothing, or, type Parameter, type SqlCondition } from './condition.ts'
import type { FieldType } from './index-entry.ts'
import { InvalidQuery } from './invalid-query.ts'
import { firstRid } from './schema.ts'
import type { KnownField } from './vocabulary.ts'

export type ComparisonOperator = 'less' | 'atMost' | 'more' | 'atLeast'

interface Comparison {
  readonly field: string
  /** The metadata fields with that name; none for `created`. */
  readonly fields: readonly KnownField[]
  readonly is: ComparisonOperator | 'equals'
  readonly value: string | number | Date
}

/** A comparison of `v`. */
interface Predicate {
  readonly fits: string
  readonly parameters: readonly Parameter[]
}

const operators = { equals: '=', less: '<', atMost: '<=', more: '>', atLeast: '>=' } as const

/** Compiles a comparison with `created` or with typed metadata. `equals` is handled here for dates only: other whole values are words of the index. */
export function compileComparison(comparison: Comparison): Condition {
  return comparison.field === 'created' ? createdIs(comparison) : metadataIs(comparison)
}

function createdIs({ is, value }: Comparison): SqlCondition {
  const span = createdSpan(value)
  if (!span) throw new InvalidQuery(`created must be compared with a date such as 2026-01-31, not with ${String(value).slice(0, 100)}`)
  const { fits, parameters } = inInterval(is, firstRid(span.from), firstRid(span.before))
  return { sql: `(${fits.replaceAll('v ', '$rid ')})`, parameters }
}

/** A comparison with the interval from `from` (inclusive) to `before` (exclusive). */
function inInterval(is: Comparison['is'], from: number, before: number): Predicate {
  if (is === 'less') return { fits: 'v < ?', parameters: [from] }
  if (is === 'atMost') return { fits: 'v < ?', parameters: [before] }
  if (is === 'atLeast') return { fits: 'v >= ?', parameters: [from] }
  if (is === 'more') return { fits: 'v >= ?', parameters: [before] }
  return { fits: 'v >= ? AND v < ?', parameters: [from, before] }
}

function metadataIs({ fields, is, value }: Comparison): Condition {
  const { text, number, span } = readingOf(value)
  const conditions: Condition[] = []
  const compare = (type: FieldType, fit: Predicate): void => {
    const typed = fields.filter(field => field.type === type)
    if (typed.length > 0) conditions.push(comparisonOf(typed, fit))
  }
  const compared = (v: Parameter): Predicate => ({ fits: `v ${operators[is]} ?`, parameters: [v] })
  if (span) compare('date', inInterval(is, span.from, span.before))
  if (is !== 'equals') {
    if (number !== undefined) compare('number', compared(number))
    else if (!span && text !== undefined) compare('text', compared(comparableText(text)))
  }
  return conditions.length === 0 ? nothing : or(conditions)
}

function comparisonOf(fields: readonly KnownField[], { fits, parameters }: Predicate): SqlCondition {
  const ids = fields.map(({ id }) => id).join(', ')
  const isSingle = fields.length === 1 && fields.every(field => field.isSingle)
  const sql = `EXISTS (SELECT 1 FROM value WHERE doc = $rid AND field IN (${ids}) AND ${fits})`
  return { sql, parameters, range: { fields: ids, fits, parameters, isSingle } }
}
