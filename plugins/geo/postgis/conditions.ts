import type { GeoAttribute, GeoFilter } from 'pounce/sdk/geo'
import { areasCondition } from './areas.ts'

/** Parameters of a statement, in order: input never becomes part of its text. */
export class SqlParameters {
  readonly values: unknown[] = []

  /** The placeholder of a parameter, cast to a PostgreSQL type. */
  add(value: unknown, type: string): string {
    this.values.push(value)
    return `$${this.values.length}::${type}`
  }

  numbers(values: readonly number[]): string {
    return this.add(`{${values.join(',')}}`, 'bigint[]')
  }

  texts(values: readonly string[]): string {
    return this.add(textArray(values), 'text[]')
  }
}

/** A statement and its parameters. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** Strings as a PostgreSQL array literal. */
export const textArray = (values: readonly string[]): string =>
  `{${values.map(value => `"${value.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`

const dayMs = 86_400_000

/** The floor of the quotient of two numbers, of which the second is positive. */
export const floorDivision = (a: string, b: string): string => `((${a} - ((${a}) % ${b} + ${b}) % ${b}) / ${b})`

/** The day in UTC of a time in milliseconds. */
export const dayOf = (ms: string): string => `(date '1970-01-01' + ${floorDivision(ms, `${dayMs}::bigint`)}::int)`

/** Months since the year 0. */
export const monthOf = (ms: string): string => {
  const day = dayOf(ms)
  return `((date_part('year', ${day}) * 12 + date_part('month', ${day}))::bigint - 1)`
}

/** Two ranges of months around the year overlap when one begins within the other. */
const monthsCondition = ({ from, to }: NonNullable<GeoFilter['months']>, binds: SqlParameters): string => {
  const [first, last] = [monthOf('start_ms'), monthOf('coalesce(end_ms, start_ms)')]
  const wanted = binds.add(from - 1, 'int')
  const length = binds.add((to - from + 12) % 12, 'int')
  const start = `(${first} % 12)`
  return `((${wanted} - ${start} + 12) % 12 <= ${last} - ${first} or (${start} - ${wanted} + 12) % 12 <= ${length})`
}

/** As a member of an object: by itself, an array would also contain a non-array. */
const attributeCondition = ({ key, contains }: GeoAttribute, binds: SqlParameters): string => {
  if (contains === undefined) return `properties ? ${binds.add(key, 'text')}`
  return `properties @> ${binds.add(JSON.stringify(Object.fromEntries([[key, contains]])), 'jsonb')}`
}

const either = (conditions: readonly string[]): string => `(${conditions.join(' or ')})`

/** A filter whose streams are those that may have matching points, as far as known. */
export interface Narrowed extends GeoFilter {
  /** The streams do not extend beyond the areas, so that looking points up by shape is unnecessary. */
  readonly areShapesNear?: boolean
}

/** The conditions on matching points, except those on streams. */
export const conditionsOf = (filter: Narrowed, binds: SqlParameters): readonly string[] => {
  const { areas, areShapesNear = false, fromMs, beforeMs, untilMs, months, attributes } = filter
  const found: string[] = []
  if (fromMs !== undefined) found.push(`start_ms >= ${binds.add(fromMs, 'bigint')}`)
  if (beforeMs !== undefined) found.push(`start_ms < ${binds.add(beforeMs, 'bigint')}`)
  if (untilMs !== undefined) {
    const until = binds.add(untilMs, 'bigint')
    // The start is never after the end, and indexes contain the start.
    found.push(`end_ms <= ${until}`, `start_ms <= ${until}`)
  }
  if (months) found.push(monthsCondition(months, binds))
  if (attributes) found.push(either(attributes.map(attribute => attributeCondition(attribute, binds))))
  if (areas) found.push(areasCondition(areas, !areShapesNear, binds))
  return found
}

/** The condition that points are in one of these streams. */
export const streamsCondition = (streams: readonly number[], binds: SqlParameters): string =>
  streams.length === 1 ? `stream = ${binds.add(streams[0], 'bigint')}` : `stream = any(${binds.numbers(streams)})`
