import { type GeoBin, type GeoBinning, maxFurtherBins, type TimeBin, tooManyBins } from 'pounce/sdk/geo'
import {
  conditionsOf,
  dayOf,
  floorDivision,
  monthOf,
  type Narrowed,
  SqlParameters,
  type Statement,
  streamsCondition,
} from './conditions.ts'
import type { RowSource } from './pieces.ts'
import type { TextRow } from './postgis-connection.ts'

/** What is aggregated: points of a filter, by the numbers with these names, or by all of them. */
interface BinQuery {
  readonly filter: Narrowed
  readonly binning: GeoBinning
  readonly names: readonly string[] | undefined
}

/** A number in JavaScript's notation: PostgreSQL writes exponents differently. */
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

/** Columns of the `groupBy` values. */
const groupsOf = ({ groupBy = [] }: GeoBinning): readonly string[] => groupBy.map((_, at) => `g${at}`)

/** The first span that contains a point, and how many more do; without spans, its own time. */
const timesOf = (spans: Spans | undefined): string => {
  if (!spans) return 'start_ms, coalesce(end_ms, start_ms) as last_ms'
  const first = spans.numberAt('start_ms')
  return `${first} as first, case when end_ms > start_ms then ${spans.numberAt('(end_ms - 1)')} - ${first} else 0 end as more`
}

/** One row for each matching point, or for each of its values when `from` requires it. */
const pointsStatement = (
  { filter, binning }: BinQuery,
  spans: Spans | undefined,
  chosen: string,
  from: string,
  binds: SqlParameters,
): string => {
  const { depthMetres, groupBy = [] } = binning
  const step = depthMetres === undefined ? undefined : binds.add(depthMetres, 'float8')
  const depth = step === undefined ? 'null::float8' : `${step} * ceil(coalesce(altitude, 0) / ${step}) + 0`
  const groups = groupBy.map((name, at) => `, ${groupText(binds.add(name, 'text'))} as g${at}`).join('')
  const streams = filter.streams ? [streamsCondition(filter.streams, binds)] : []
  const where = [...streams, ...conditionsOf(filter, binds)].join(' and ') || 'true'
  // So that nothing is computed or looked up again at each use.
  return `select stream, ${timesOf(spans)}, ${depth} as depth${groups}, ${chosen} from ${from} where ${where} offset 0`
}

/** Numbers are summed as the decimals that they are in JSON: no sum overflows. */
const sums: readonly (readonly [column: string, (number: string) => string])[] = [
  ['count', number => `count(${number})`],
  ['sum', number => `sum(${number})`],
  ['min', number => `min(${number})`],
  ['max', number => `max(${number})`],
]

const wholeTime: typeof sums = [
  ['from_ms', number => `min(start_ms) filter (where ${number} is not null)`],
  ['to_ms', number => `max(last_ms) filter (where ${number} is not null)`],
]

/** Checking the type of each value is a fifth of the work, and mostly unnecessary: streams record which names ever had other values. */
const numberIn = (value: string, name: string, { streams }: Narrowed, binds: SqlParameters): string => {
  const own = streams ? ` where ${streamsCondition(streams, binds)}` : ''
  const isAlways = `(select bool_and(not coalesce(${name} = any(others), true)) from streams${own})`
  return `case when ${isAlways} or jsonb_typeof(${value}) = 'number' then ${value}::numeric end`
}

const valuesFrom = ({ properties }: GeoBinning, binds: SqlParameters): string => {
  if (!properties) return ' cross join lateral jsonb_each(properties) as e (property, value)'
  const names = binds.texts([...new Set(properties)])
  return ` cross join unnest(${names}) as e (property) cross join lateral (select properties -> property as value) v`
}

/**
 * By stream, property, depth and groups, the sums of those points that fall into the same spans: one column is the first span, another the number of
 * further ones. Without spans, the columns are the whole time.
 */
const partsStatement = (query: BinQuery, spans: Spans | undefined, binds: SqlParameters): string => {
  const { binning, filter, names } = query
  const keys = ['stream', ...(spans ? ['first', 'more'] : []), 'depth', ...groupsOf(binning)].join(', ')
  const columns = spans ? sums : [...wholeTime, ...sums]
  if (!names) {
    const points = pointsStatement(query, spans, 'property, value', `points${valuesFrom(binning, binds)}`, binds)
    const all = columns.map(([column, of]) => `${of('number')} as ${column}`).join(', ')
    const numbers = `select *, value::numeric as number from (${points}) points where jsonb_typeof(value) = 'number' offset 0`
    return `select ${keys}, property, ${all} from (${numbers}) numbers group by ${keys}, property`
  }
  const places = names.map(name => binds.add(name, 'text'))
  const chosen = places.map((place, at) => `properties -> ${place} as value${at}`).join(', ')
  const points = pointsStatement(query, spans, chosen, 'points', binds)
  const numbers = places.map((place, at) => `${numberIn(`value${at}`, place, filter, binds)} as number${at}`).join(', ')
  const all = places.flatMap((_, at) => columns.map(([column, of]) => `${of(`number${at}`)} as ${column}${at}`)).join(', ')
  const rows = places.map((place, at) => `(${[place, ...columns.map(([column]) => `${column}${at}`)].join(', ')})`).join(', ')
  return (
    `select ${keys}, p.* from (select ${keys}, ${all} from (select *, ${numbers} from (${points}) points offset 0) numbers group by ${keys}) wide ` +
    `cross join lateral (values ${rows}) as p (property, ${columns.map(([column]) => column).join(', ')}) where p.count > 0`
  )
}

/** Numbered time spans: the number of the span that contains a time, and the start of a span by its number. */
interface Spans {
  readonly numberAt: (ms: string) => string
  readonly startOf: (number: string) => string
  /** Which spans `n` a point falls into; `later` is how many precede it, when not all are included. */
  readonly condition?: string
}

const dayMs = 86_400_000

const lengths: Readonly<Partial<Record<TimeBin, number>>> = { minute: 60_000, hour: 3_600_000, day: dayMs, week: 7 * dayMs }

const monthsIn: Readonly<Partial<Record<TimeBin, number>>> = { month: 1, semi: 6, year: 12, lustrum: 60, decade: 120 }

/** 29 December 1969 was a Monday. */
const mondayMs = -3 * dayMs

const even = (everyMs: number, originMs: number, binds: SqlParameters): Spans => {
  const [every, origin] = [binds.add(everyMs, 'bigint'), binds.add(originMs, 'bigint')]
  return {
    numberAt: ms => floorDivision(`(${ms} - ${origin})`, every),
    startOf: number => `(${origin} + ${number} * ${every})`,
  }
}

const msOf = (timestamp: string): string => `(extract(epoch from ${timestamp})::bigint * 1000)`

const months = (length: number, binds: SqlParameters): Spans => {
  const each = binds.add(length, 'bigint')
  return {
    numberAt: ms => `(${monthOf(ms)} / ${each})`,
    startOf: number => msOf(`(timestamp '2000-01-01' + make_interval(months => (${number} * ${each} - 24000)::int))`),
  }
}

/** Five a year; the first and the last are the same winter, and a point in the first is not in the last. */
const seasons: Spans = {
  numberAt: ms => {
    const day = dayOf(ms)
    const passed = `width_bucket((date_part('month', ${day}) * 100 + date_part('day', ${day}))::int, array[321, 621, 921, 1221])`
    return `(date_part('year', ${day})::bigint * 5 + ${passed})`
  },
  startOf: number => {
    const [year, which] = [`(${number} / 5)::int`, `(${number} % 5)::int`]
    return msOf(`make_date(${year}, (array[1, 3, 6, 9, 12])[${which} + 1], case when ${which} = 0 then 1 else 21 end)::timestamp`)
  },
  condition: 'not (n % 5 = 4 and later >= 4)',
}

/** The spans of an aggregation; undefined when there is only one. */
const spansOf = (time: GeoBinning['time'], binds: SqlParameters): Spans | undefined => {
  if (typeof time !== 'string') return even(time.everyMs, time.originMs, binds)
  const length = lengths[time]
  if (length !== undefined) return even(length, time === 'week' ? mondayMs : 0, binds)
  const count = monthsIn[time]
  if (count !== undefined) return months(count, binds)
  return time === 'season' ? seasons : undefined
}

const maxBins = 10_000

/** Enough memory that some ten thousand sums are hashed rather than sorted. */
const memoryMiB = 32

const reason = `A datapoint overlaps more than ${maxBins} bins: use longer ones`

/** Each span `n` in a row of its own. Few points are in several spans, so few sums are expanded. */
const spread = (parts: string, spans: Spans, keys: readonly string[], binds: SqlParameters): string => {
  const [tooLong, tooMany] = [binds.add(reason, 'text'), binds.add(tooManyBins, 'text')]
  const limited = `case when more >= ${maxBins} then refuse(${tooLong}) when further > ${maxFurtherBins} then refuse(${tooMany}) else more end`
  const counted = `select *, sum(more * count) over () as further from (${parts}) parts`
  const each = `select *, first + later as n from (${counted}) parts cross join lateral generate_series(0::bigint, ${limited}) later`
  const where = spans.condition === undefined ? '' : ` where ${spans.condition}`
  const times = `${spans.startOf('n')} as from_ms, ${spans.startOf('(n + 1)')} as to_ms`
  const sums = 'sum(count) as count, sum(sum) as sum, min(min) as min, max(max) as max'
  return `select stream, property, ${times}, ${keys.join(', ')}, ${sums} from (${each}) spread${where} group by stream, property, n, ${keys.join(', ')}`
}

/** Sums in order, from the beginning or after one of them. */
export const binsSource = (query: BinQuery): RowSource => ({
  isQuickAtFirst: false,
  memoryMiB,
  statement: (after, limit): Statement => {
    const binds = new SqlParameters()
    const spans = spansOf(query.binning.time, binds)
    const groups = groupsOf(query.binning)
    const keys = ['depth', ...groups]
    const parts = partsStatement(query, spans, binds)
    const all = spans ? spread(parts, spans, keys, binds) : parts
    const columns = ['stream', 'property', 'from_ms', 'to_ms', ...keys, 'count', 'sum', 'min', 'max'].join(', ')
    const order = ['stream', 'property collate "C"', 'from_ms', 'depth', ...groups.map(group => `${group} collate "C" nulls first`)]
    const where = after ? ` where ${afterCondition(after, groups, binds)}` : ''
    const end = limit === undefined ? '' : ` limit ${binds.add(limit, 'bigint')}`
    return { text: `select ${columns} from (${all}) sums${where} order by ${order.join(', ')}${end}`, values: binds.values }
  },
})

/** Later in the order: nulls sort first. */
const afterCondition = (row: TextRow, groups: readonly string[], binds: SqlParameters): string => {
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
export const binOf = (row: TextRow, { groupBy = [] }: GeoBinning): GeoBin => {
  const [stream, property, from, to, depth, ...rest] = row
  const [count, sum, min, max] = rest.slice(groupBy.length).map(Number) as [number, number, number, number]
  return {
    stream: Number(stream),
    property: property ?? '',
    fromMs: Number(from),
    toMs: Number(to),
    depth: depth === null || depth === undefined ? null : Number(depth),
    group: rest.slice(0, groupBy.length),
    count,
    sum,
    min,
    max,
  }
}
