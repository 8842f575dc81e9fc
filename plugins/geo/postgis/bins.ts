import type { GeoBin, GeoBinning } from 'pounce/sdk'
import { Binds, type Statement } from './binds.ts'
import { conditionsOf, type Narrowed, streamsCondition } from './conditions.ts'
import type { Source } from './pieces.ts'
import type { Row } from './server.ts'
import { type Spans, spansOf } from './spans.ts'

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

/** The number of each span that a point enters. */
const spansFrom = ({ numberAt }: Spans, binds: Binds): string => {
  const more = `(${numberAt('(end_ms - 1)')} - ${numberAt('start_ms')})`
  const limited = `case when ${more} >= ${maxBins} then refuse(${binds.add(reason, 'text')}) else ${more} end`
  return (
    ` cross join lateral generate_series(0::bigint, case when end_ms > start_ms then ${limited} else 0 end) later` +
    ` cross join lateral (select ${numberAt('start_ms')} + later as n) span`
  )
}

const valuesFrom = (properties: GeoBinning['properties'], binds: Binds): string => {
  if (!properties) return ' cross join lateral jsonb_each(properties) as e (property, value)'
  const names = binds.texts([...new Set(properties)])
  return ` cross join unnest(${names}) as e (property) cross join lateral (select properties -> property as value) v`
}

/** PostgreSQL refuses a sum that is too large for a number: those that could make one are summed up by themselves, scaled down. */
const isHuge = 'abs(number) >= 1e300'
const scale = 2 ** -64

/** One row for each number in each span `n`, or of the whole time. */
const numbersStatement = (filter: Narrowed, binning: GeoBinning, spans: Spans | undefined, binds: Binds): string => {
  const { depthMetres, groupBy = [], properties } = binning
  const step = depthMetres === undefined ? undefined : binds.add(depthMetres, 'float8')
  const depth = step === undefined ? 'null::float8' : `${step} * ceil(coalesce(altitude, 0) / ${step}) + 0`
  const groups = groupBy.map((name, at) => `, ${groupText(binds.add(name, 'text'))} as g${at}`).join('')
  const streams = filter.streams ? [streamsCondition(filter.streams, binds)] : []
  const conditions = [...streams, ...conditionsOf(filter, binds), `jsonb_typeof(value) = 'number'`]
  if (spans?.condition !== undefined) conditions.push(spans.condition)
  const from = `points${spans ? spansFrom(spans, binds) : ''}${valuesFrom(properties, binds)}`
  const time = spans ? 'n' : 'start_ms, coalesce(end_ms, start_ms) as last_ms'
  // So that each number is read out of its JSON once.
  return `select stream, property, ${time}, ${depth} as depth${groups}, value::float8 as number from ${from} where ${conditions.join(' and ')} offset 0`
}

/** Sums in their order, from the beginning or after one of them. */
export const binsSource = (filter: Narrowed, binning: GeoBinning): Source => ({
  isQuickAtFirst: false,
  statement: (after, limit): Statement => {
    const binds = new Binds()
    const spans = spansOf(binning.time, binds)
    const groups = (binning.groupBy ?? []).map((_, at) => `g${at}`)
    const keys = ['stream', 'property', ...(spans ? ['n'] : []), 'depth', ...groups]
    const [from, to] = spans ? [spans.startOf('n'), spans.startOf('(n + 1)')] : ['min(start_ms)', 'max(last_ms)']
    const columns = ['stream', 'property', `${from} as from_ms`, `${to} as to_ms`, 'depth', ...groups]
    const sums = `count(*), sum(number) filter (where not ${isHuge}), min(number), max(number), sum(number * ${scale}::float8) filter (where ${isHuge})`
    const numbers = numbersStatement(filter, binning, spans, binds)
    const all = `select ${columns.join(', ')}, ${sums} from (${numbers}) numbers group by ${keys.join(', ')}`
    const order = ['stream', 'property collate "C"', 'from_ms', 'depth', ...groups.map(group => `${group} collate "C" nulls first`)]
    const where = after ? ` where ${afterCondition(after, groups, binds)}` : ''
    const end = limit === undefined ? '' : ` limit ${binds.add(limit, 'bigint')}`
    return { text: `select * from (${all}) sums${where} order by ${order.join(', ')}${end}`, values: binds.values }
  },
})

/** Later in the order: nulls come first. */
const afterCondition = (row: Row, groups: readonly string[], binds: Binds): string => {
  const [stream, property, from, , depth, ...rest] = row
  const left = ['stream', 'property collate "C"', 'from_ms', 'coalesce(depth, 0)']
  const right = [binds.add(stream, 'bigint'), binds.add(property, 'text'), binds.add(from, 'bigint'), binds.add(depth ?? 0, 'float8')]
  for (const [at, group] of groups.entries()) {
    left.push(`${group} is not null`, `coalesce(${group}, '') collate "C"`)
    right.push(binds.add(rest[at] !== null, 'boolean'), binds.add(rest[at] ?? '', 'text'))
  }
  return `(${left.join(', ')}) > (${right.join(', ')})`
}

/** The sum in a row of `binsSource`. */
export const binOf = (row: Row, groups: number): GeoBin => {
  const [stream, property, from, to, depth, ...rest] = row
  const [count, sum, min, max, huge] = rest.slice(groups).map(Number) as [number, number, number, number, number]
  return {
    stream: Number(stream),
    property: property ?? '',
    fromMs: Number(from),
    toMs: Number(to),
    depth: depth === null || depth === undefined ? null : Number(depth),
    group: rest.slice(0, groups),
    count,
    sum: sum + huge / scale,
    min,
    max,
  }
}
