import type { GeoBin, GeoBinning, GeoFilter } from 'pounce/sdk'
import { Binds, type Statement } from './binds.ts'
import { conditionsOf, streamsCondition } from './conditions.ts'
import type { Source } from './pieces.ts'
import type { Row } from './server.ts'
import { spansOf } from './spans.ts'

const maxBins = 10_000
const reason = `A point enters more than ${maxBins} bins: choose longer ones`

/** A number as JavaScript writes it: PostgreSQL has another way with exponents. */
const numberText = (value: string): string =>
  `case when abs(${value}::numeric) >= 1e21 or (abs(${value}::numeric) < 1e-6 and ${value}::numeric <> 0) ` +
  `then regexp_replace(${value}::float8::text, 'e([+-])0', 'e\\1') else ${value}::text end`

const groupText = (name: string): string => {
  const value = `(properties -> ${name})`
  return (
    `case jsonb_typeof${value} when 'string' then properties ->> ${name} when 'boolean' then properties ->> ${name} ` +
    `when 'number' then ${numberText(value)} end`
  )
}

/** Each span that a point enters. */
const spansFrom = (time: GeoBinning['time'], binds: Binds): string => {
  const spans = spansOf(time, binds)
  if (!spans) return ' cross join lateral (select start_ms as from_ms, coalesce(end_ms, start_ms) as to_ms) span'
  const { numberAt, startOf, condition } = spans
  const last = `case when end_ms > start_ms then ${numberAt('(end_ms - 1)')} else ${numberAt('start_ms')} end`
  const limited = `case when last - first >= ${maxBins} then refuse(${binds.add(reason, 'text')}) else last end`
  return (
    ` cross join lateral (select ${numberAt('start_ms')} as first, ${last} as last) ends cross join lateral generate_series(first, ${limited}) n` +
    ` cross join lateral (select ${startOf('n')} as from_ms, ${startOf('(n + 1)')} as to_ms where ${condition ?? 'true'}) span`
  )
}

const valuesFrom = (properties: GeoBinning['properties'], binds: Binds): string => {
  if (!properties) return ' cross join lateral jsonb_each(properties) as e (property, value)'
  const names = binds.texts([...new Set(properties)])
  return ` cross join unnest(${names}) as e (property) cross join lateral (select properties -> property as value) v`
}

/** One row for each number in each span. */
const numbersStatement = (filter: GeoFilter, binning: GeoBinning, binds: Binds): string => {
  const { time, depthMetres, groupBy = [], properties } = binning
  const step = depthMetres === undefined ? undefined : binds.add(depthMetres, 'float8')
  const depth = step === undefined ? 'null::float8' : `${step} * ceil(coalesce(altitude, 0) / ${step}) + 0`
  const groups = groupBy.map((name, at) => `, ${groupText(binds.add(name, 'text'))} as g${at}`).join('')
  const streams = filter.streams ? [streamsCondition(filter.streams, binds)] : []
  const where = [...streams, ...conditionsOf(filter, binds), `jsonb_typeof(value) = 'number'`].join(' and ')
  const from = `points${spansFrom(time, binds)}${valuesFrom(properties, binds)}`
  // So that each number is read out of its JSON once.
  return `select stream, property, from_ms, to_ms, ${depth} as depth${groups}, value::float8 as number from ${from} where ${where} offset 0`
}

/** Sums in their order, from the beginning or after one of them. */
export const binsSource =
  (filter: GeoFilter, binning: GeoBinning): Source =>
  (after): Statement => {
    const binds = new Binds()
    const isAll = binning.time === 'all'
    const groups = (binning.groupBy ?? []).map((_, at) => `g${at}`)
    const keys = ['stream', 'property', ...(isAll ? [] : ['from_ms', 'to_ms']), 'depth', ...groups]
    const [from, to] = isAll ? ['min(from_ms) as from_ms', 'max(to_ms) as to_ms'] : ['from_ms', 'to_ms']
    const columns = ['stream', 'property', from, to, 'depth', ...groups, 'count(*)', 'sum(number)', 'min(number)', 'max(number)']
    const sums = `select ${columns.join(', ')} from (${numbersStatement(filter, binning, binds)}) numbers group by ${keys.join(', ')}`
    const order = ['stream', 'property collate "C"', 'from_ms', 'depth', ...groups.map(group => `${group} collate "C" nulls first`)]
    const where = after ? ` where ${afterCondition(after, isAll, groups, binds)}` : ''
    return { text: `select * from (${sums}) sums${where} order by ${order.join(', ')}`, values: binds.values }
  }

/** Later in the order: nulls come first. */
const afterCondition = (row: Row, isAll: boolean, groups: readonly string[], binds: Binds): string => {
  const [stream, property, from, , depth, ...rest] = row
  const left = ['stream', 'property collate "C"', ...(isAll ? [] : ['from_ms']), 'coalesce(depth, 0)']
  const right = [binds.add(stream, 'bigint'), binds.add(property, 'text'), ...(isAll ? [] : [binds.add(from, 'bigint')])]
  right.push(binds.add(depth ?? 0, 'float8'))
  for (const [at, group] of groups.entries()) {
    left.push(`${group} is not null`, `coalesce(${group}, '') collate "C"`)
    right.push(binds.add(rest[at] !== null, 'boolean'), binds.add(rest[at] ?? '', 'text'))
  }
  return `(${left.join(', ')}) > (${right.join(', ')})`
}

/** The sum in a row of `binsSource`. */
export const binOf = (row: Row, groups: number): GeoBin => {
  const [stream, property, from, to, depth, ...rest] = row
  const [count, sum, min, max] = rest.slice(groups).map(Number) as [number, number, number, number]
  return {
    stream: Number(stream),
    property: property ?? '',
    fromMs: Number(from),
    toMs: Number(to),
    depth: depth === null || depth === undefined ? null : Number(depth),
    group: rest.slice(0, groups),
    count,
    sum,
    min,
    max,
  }
}
