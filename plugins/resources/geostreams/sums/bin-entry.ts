import { Invalid, s } from 'pounce/sdk'
import type { BinTime } from './bin-times.ts'

/** What can be told of numbers besides what Clowder 1.x tells. */
const aggregates = ['count', 'sum', 'min', 'max', 'mean'] as const
export type Aggregate = (typeof aggregates)[number]

/** Numbers summed up. */
export interface Sums {
  readonly count: number
  readonly sum: number
  readonly min: number
  readonly max: number
}

/** Query parameter of what else to tell. */
export const aggregateParameter = {
  aggregates: s.Optional(
    s.repeated(s.String({ maxLength: 100, description: 'Aggregates to return: count, sum, min, max, mean, comma-separated or repeated' })),
  ),
}

/** Reads it; `Invalid` lists what there is. */
export const readAggregates = (sent: readonly string[] = []): readonly Aggregate[] => {
  const names = sent.flatMap(text => text.split(',')).map(name => name.trim())
  const wanted = names.filter(name => name !== '').map(name => aggregates.find(each => each === name.toLowerCase()))
  if (wanted.includes(undefined)) throw new Invalid(`aggregates must be of ${aggregates.join(', ')}`)
  return aggregates.filter(each => wanted.includes(each))
}

/** JSON knows no infinity: a sum can be too large for a number. */
export const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)

export const meanOf = ({ count, sum }: Sums): number | null => (count === 0 ? null : finite(sum / count))

/** The figures that were asked for, by name. */
export const figuresOf = (sums: Sums, wanted: readonly Aggregate[]): Readonly<Record<string, number | null>> =>
  Object.fromEntries(wanted.map(name => [name, name === 'mean' ? meanOf(sums) : finite(sums[name])]))

/** What a property was in one span of time, at one depth, with one depth code. */
export interface BinEntry extends Sums {
  readonly time: BinTime
  readonly depth: number
  readonly depthCode: string
  readonly sources: readonly string[]
  /** JSON texts of values that are objects, each once. */
  readonly array?: readonly string[]
  readonly raw?: { readonly doubles: readonly number[]; readonly strings: readonly string[] }
}

/** An entry as Clowder 1.x writes it, and the figures that were asked for. */
export const entryJson = (entry: BinEntry, wanted: readonly Aggregate[]): string => {
  const { time, depth, depthCode, sources, raw, array = [], count } = entry
  const isOfNumbers = count > 0
  return JSON.stringify({
    depth,
    label: time.label,
    sources,
    ...time.parts,
    date: new Date(time.dateMs).toISOString(),
    depth_code: depthCode,
    ...raw,
    ...(isOfNumbers ? { average: meanOf(entry), count, ...figuresOf(entry, wanted) } : { array, count: array.length }),
  })
}

/** An entry as the API page has it. */
export const BinEntryJson = s.model(
  'Bin',
  s.Object({
    depth: s.Number(),
    label: s.String({ description: 'Such as `2017`, `2017 spring`, `2017 January`, `2017-W04`, `2017-01-25`, `2017-01-25 09`' }),
    sources: s.Array(s.String()),
    year: s.Integer(),
    month: s.Optional(s.Integer()),
    week: s.Optional(s.Integer()),
    day: s.Optional(s.Integer()),
    hour: s.Optional(s.Integer()),
    minute: s.Optional(s.Integer()),
    date: s.String({ description: 'A date near the middle of the bin' }),
    depth_code: s.String(),
    doubles: s.Optional(s.Array(s.Number())),
    strings: s.Optional(s.Array(s.String())),
    average: s.Optional(s.Union([s.Number(), s.Null()])),
    array: s.Optional(s.Array(s.String({ description: 'JSON text of an object' }))),
    count: s.Integer(),
    sum: s.Optional(s.Union([s.Number(), s.Null()])),
    min: s.Optional(s.Number()),
    max: s.Optional(s.Number()),
    mean: s.Optional(s.Union([s.Number(), s.Null()])),
  }),
)
