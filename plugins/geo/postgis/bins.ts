import type { GeoBin, GeoBinning } from 'pounce/sdk'
import { type Asked, groupsOf, partsStatement } from './bin-parts.ts'
import type { Source } from './pieces.ts'
import type { Row } from './postgis-connection.ts'
import { type Spans, spansOf } from './spans.ts'
import { SqlParameters, type Statement } from './sql-parameters.ts'

const maxBins = 10_000
/** So that some ten thousand sums are looked up rather than sorted. */
const memoryMiB = 32
const reason = `A datapoint overlaps more than ${maxBins} bins: use longer ones`

/** Each span `n` of its own. Few points enter several, so few sums are to be spread. */
const spread = (parts: string, spans: Spans, keys: readonly string[], binds: SqlParameters): string => {
  const limited = `case when more >= ${maxBins} then refuse(${binds.add(reason, 'text')}) else more end`
  const each = `select *, first + later as n from (${parts}) parts cross join lateral generate_series(0::bigint, ${limited}) later`
  const where = spans.condition === undefined ? '' : ` where ${spans.condition}`
  const times = `${spans.startOf('n')} as from_ms, ${spans.startOf('(n + 1)')} as to_ms`
  const sums = 'sum(count) as count, sum(sum) as sum, min(min) as min, max(max) as max'
  return `select stream, property, ${times}, ${keys.join(', ')}, ${sums} from (${each}) spread${where} group by stream, property, n, ${keys.join(', ')}`
}

/** Sums in their order, from the beginning or after one of them. */
export const binsSource = (asked: Asked): Source => ({
  isQuickAtFirst: false,
  memoryMiB,
  statement: (after, limit): Statement => {
    const binds = new SqlParameters()
    const spans = spansOf(asked.binning.time, binds)
    const groups = groupsOf(asked.binning)
    const keys = ['depth', ...groups]
    const parts = partsStatement(asked, spans, binds)
    const all = spans ? spread(parts, spans, keys, binds) : parts
    const columns = ['stream', 'property', 'from_ms', 'to_ms', ...keys, 'count', 'sum', 'min', 'max'].join(', ')
    const order = ['stream', 'property collate "C"', 'from_ms', 'depth', ...groups.map(group => `${group} collate "C" nulls first`)]
    const where = after ? ` where ${afterCondition(after, groups, binds)}` : ''
    const end = limit === undefined ? '' : ` limit ${binds.add(limit, 'bigint')}`
    return { text: `select ${columns} from (${all}) sums${where} order by ${order.join(', ')}${end}`, values: binds.values }
  },
})

/** Later in the order: nulls come first. */
const afterCondition = (row: Row, groups: readonly string[], binds: SqlParameters): string => {
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
export const binOf = (row: Row, { groupBy = [] }: GeoBinning): GeoBin => {
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
