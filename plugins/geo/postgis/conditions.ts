import type { GeoAttribute, GeoFilter } from 'pounce/sdk/geo'
import { areasCondition } from './areas.ts'

/** Values of a statement, in their order: what is requested never becomes part of its text. */
export class SqlParameters {
  readonly values: unknown[] = []

  /** The place of a value in the text, as a type of PostgreSQL. */
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

/** A statement and its values. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** Texts as PostgreSQL writes an array of them. */
export const textArray = (values: readonly string[]): string =>
  `{${values.map(value => `"${value.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`

const dayMs = 86_400_000

/** The greatest whole number not above the quotient of two, of which the second is positive. */
export const floorDivision = (a: string, b: string): string => `((${a} - ((${a}) % ${b} + ${b}) % ${b}) / ${b})`

/** The day in UTC of a time in milliseconds. */
export const dayOf = (ms: string): string => `(date '1970-01-01' + ${floorDivision(ms, `${dayMs}::bigint`)}::int)`

/** Months since the year 0. */
export const monthOf = (ms: string): string => {
  const day = dayOf(ms)
  return `((date_part('year', ${day}) * 12 + date_part('month', ${day}))::bigint - 1)`
}

/** Two runs of months around the year meet when one begins within the other. */
const monthsCondition = ({ from, to }: NonNullable<GeoFilter['months']>, binds: SqlParameters): string => {
  const [first, last] = [monthOf('start_ms'), monthOf('coalesce(end_ms, start_ms)')]
  const wanted = binds.add(from - 1, 'int')
  const length = binds.add((to - from + 12) % 12, 'int')
  const start = `(${first} % 12)`
  return `((${wanted} - ${start} + 12) % 12 <= ${last} - ${first} or (${start} - ${wanted} + 12) % 12 <= ${length})`
}

/** As a member of an object: by itself an array would contain what is no array. */
const attributeCondition = ({ key, contains }: GeoAttribute, binds: SqlParameters): string => {
  if (contains === undefined) return `properties ? ${binds.add(key, 'text')}`
  return `properties @> ${binds.add(JSON.stringify(Object.fromEntries([[key, contains]])), 'jsonb')}`
}

const either = (conditions: readonly string[]): string => `(${conditions.join(' or ')})`

/** A filter whose streams are those that can have points that fit, as far as is known. */
export interface Narrowed extends GeoFilter {
  /** The streams go no further than the areas do, so that looking points up by their shapes as well is for nothing. */
  readonly areShapesNear?: boolean
}

/** What holds of the points that fit, but for their streams. */
export const conditionsOf = (filter: Narrowed, binds: SqlParameters): readonly string[] => {
  const { areas, areShapesNear = false, fromMs, beforeMs, untilMs, months, attributes } = filter
  const found: string[] = []
  if (fromMs !== undefined) found.push(`start_ms >= ${binds.add(fromMs, 'bigint')}`)
  if (beforeMs !== undefined) found.push(`start_ms < ${binds.add(beforeMs, 'bigint')}`)
  if (untilMs !== undefined) {
    const until = binds.add(untilMs, 'bigint')
    // The start is not after the end, and indexes contain the start.
    found.push(`end_ms <= ${until}`, `start_ms <= ${until}`)
  }
  if (months) found.push(monthsCondition(months, binds))
  if (attributes) found.push(either(attributes.map(attribute => attributeCondition(attribute, binds))))
  if (areas) found.push(areasCondition(areas, !areShapesNear, binds))
  return found
}

/** What holds of points in one of these streams. */
export const streamsCondition = (streams: readonly number[], binds: SqlParameters): string =>
  streams.length === 1 ? `stream = ${binds.add(streams[0], 'bigint')}` : `stream = any(${binds.numbers(streams)})`
