import type { GeoBinning } from 'pounce/sdk'
import { conditionsOf, type Narrowed, streamsCondition } from './conditions.ts'
import type { Spans } from './spans.ts'
import type { SqlParameters } from './sql-parameters.ts'

/** What is summed up: points of a filter, by the numbers that have these names, or by all that there are. */
export interface Asked {
  readonly filter: Narrowed
  readonly binning: GeoBinning
  readonly names: readonly string[] | undefined
}

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

/** Columns of the values of `groupBy`. */
export const groupsOf = ({ groupBy = [] }: GeoBinning): readonly string[] => groupBy.map((_, at) => `g${at}`)

/** The first span that a point enters and how many more; without spans its own time. */
const timesOf = (spans: Spans | undefined): string => {
  if (!spans) return 'start_ms, coalesce(end_ms, start_ms) as last_ms'
  const first = spans.numberAt('start_ms')
  return `${first} as first, case when end_ms > start_ms then ${spans.numberAt('(end_ms - 1)')} - ${first} else 0 end as more`
}

/** One row for each point that fits, or for each of its values when `from` says so. */
const pointsStatement = (
  { filter, binning }: Asked,
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
  // So that nothing is worked out or looked up again wherever it is used.
  return `select stream, ${timesOf(spans)}, ${depth} as depth${groups}, ${chosen} from ${from} where ${where} offset 0`
}

/** Numbers are summed up as the decimals that they are in JSON: no sum is too large. */
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

/** To look at the kind of each value is a fifth of all work, and mostly for nothing: of the streams it is known which names ever had other values. */
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
 * By stream, property, depth and groups the sums of those points that enter the same spans: a column says which is the first, another how many more.
 * Without spans the columns are the whole time.
 */
export const partsStatement = (asked: Asked, spans: Spans | undefined, binds: SqlParameters): string => {
  const { binning, filter, names } = asked
  const keys = ['stream', ...(spans ? ['first', 'more'] : []), 'depth', ...groupsOf(binning)].join(', ')
  const columns = spans ? sums : [...wholeTime, ...sums]
  if (!names) {
    const points = pointsStatement(asked, spans, 'property, value', `points${valuesFrom(binning, binds)}`, binds)
    const all = columns.map(([column, of]) => `${of('number')} as ${column}`).join(', ')
    const numbers = `select *, value::numeric as number from (${points}) points where jsonb_typeof(value) = 'number' offset 0`
    return `select ${keys}, property, ${all} from (${numbers}) numbers group by ${keys}, property`
  }
  const places = names.map(name => binds.add(name, 'text'))
  const chosen = places.map((place, at) => `properties -> ${place} as value${at}`).join(', ')
  const points = pointsStatement(asked, spans, chosen, 'points', binds)
  const numbers = places.map((place, at) => `${numberIn(`value${at}`, place, filter, binds)} as number${at}`).join(', ')
  const all = places.flatMap((_, at) => columns.map(([column, of]) => `${of(`number${at}`)} as ${column}${at}`)).join(', ')
  const rows = places.map((place, at) => `(${[place, ...columns.map(([column]) => `${column}${at}`)].join(', ')})`).join(', ')
  return (
    `select ${keys}, p.* from (select ${keys}, ${all} from (select *, ${numbers} from (${points}) points offset 0) numbers group by ${keys}) wide ` +
    `cross join lateral (values ${rows}) as p (property, ${columns.map(([column]) => column).join(', ')}) where p.count > 0`
  )
}
