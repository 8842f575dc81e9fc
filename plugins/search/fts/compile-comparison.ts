import { type Condition, nothing, or, type SqlCondition } from './condition.ts'
import { comparable, type FieldType } from './index-entry.ts'
import { readings } from './readings.ts'
import { Refused } from './refused.ts'
import { firstRid, ridsPerMs } from './schema.ts'
import type { KnownField } from './vocabulary.ts'

type Operator = 'contains' | 'equals' | 'less' | 'atMost' | 'more' | 'atLeast'

interface Comparison {
  readonly field: string
  /** The metadata fields of that name; none for `created`. */
  readonly fields: readonly KnownField[]
  readonly is: Operator
  readonly value: string | number | Date
}

const signs = { equals: '=', contains: '=', less: '<', atMost: '<=', more: '>', atLeast: '>=' } as const

/** A comparison with `created` or with typed metadata. */
export function compileComparison(comparison: Comparison): Condition {
  return comparison.field === 'created' ? createdIs(comparison) : metadataIs(comparison)
}

function createdIs({ is, value }: Comparison): SqlCondition {
  const date = readings(value).find(each => each instanceof Date)
  if (!date) throw new Refused(`created is compared with a date such as 2026-01-31, not with ${String(value).slice(0, 100)}`)
  const ms = date.getTime()
  const isDay = typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value.trim())
  const next = isDay ? ms + 86_400_000 : ms + 1
  if (is === 'less') return { sql: '$rid < ?', parameters: [firstRid(ms)] }
  if (is === 'atMost') return { sql: '$rid < ?', parameters: [firstRid(next)] }
  if (is === 'atLeast') return { sql: '$rid >= ?', parameters: [firstRid(ms)] }
  if (is === 'more') return { sql: '$rid >= ?', parameters: [firstRid(next)] }
  return { sql: '($rid >= ? AND $rid < ?)', parameters: [firstRid(ms), firstRid(ms) + (next - ms) * ridsPerMs] }
}

function metadataIs({ fields, is, value }: Comparison): Condition {
  const conditions = compared(value).flatMap(({ type, v }): readonly SqlCondition[] => {
    const typed = fields.filter(field => field.type === type)
    if (typed.length === 0) return []
    const ids = typed.map(({ id }) => id).join(', ')
    const fits = `v ${signs[is]} ?`
    const isSingle = typed.length === 1 && typed.every(field => field.isSingle)
    const sql = `EXISTS (SELECT 1 FROM value WHERE doc = $rid AND field IN (${ids}) AND ${fits})`
    return [{ sql, parameters: [v], range: { fields: ids, fits, parameters: [v], isSingle } }]
  })
  return conditions.length === 0 ? nothing : or(conditions)
}

/** Numbers are compared with numbers, dates with dates; a text that is neither with texts. */
function compared(value: string | number | Date): readonly { readonly type: FieldType; readonly v: number | string }[] {
  const typed = readings(value).filter(each => typeof each !== 'string')
  if (typed.length === 0) return [{ type: 'text', v: comparable(value) }]
  return typed.map(each => ({ type: each instanceof Date ? 'date' : 'number', v: comparable(each) }))
}
