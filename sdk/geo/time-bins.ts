import type { GeoBinning, TimeBin } from '../ports/geo-store.ts'
import { Invalid } from '../problem.ts'

/** A time span, excluding its end. */
export interface TimeSpan {
  readonly fromMs: number
  readonly toMs: number
}

const maxBins = 10_000
const dayMs = 86_400_000
const lengths: Readonly<Partial<Record<TimeBin, number>>> = { minute: 60_000, hour: 3_600_000, day: dayMs, week: 7 * dayMs }
const monthsIn: Readonly<Partial<Record<TimeBin, number>>> = { month: 1, semi: 6, year: 12, lustrum: 60, decade: 120 }
/** 29 December 1969 was a Monday. */
const mondayMs = -3 * dayMs
/** Months and days, in order, on which seasons begin. */
const cuts: readonly (readonly [month: number, day: number])[] = [
  [0, 1],
  [2, 21],
  [5, 21],
  [8, 21],
  [11, 21],
]

/** True for the name of a time bin. */
export const isTimeBin = (name: string): name is TimeBin =>
  name === 'all' || name === 'season' || Object.hasOwn(lengths, name) || Object.hasOwn(monthsIn, name)

/** `Date.UTC` maps the years 0 to 99 to 1900 to 1999. */
const utc = (year: number, month: number, day: number): number => new Date(0).setUTCFullYear(year, month, day)

/** The span of a named kind or a given length that contains a time. Not for `all`. */
export const spanAt = (ms: number, time: GeoBinning['time']): TimeSpan => {
  if (typeof time !== 'string') return even(ms, time.everyMs, time.originMs)
  const length = lengths[time]
  if (length !== undefined) return even(ms, length, time === 'week' ? mondayMs : 0)
  const date = new Date(ms)
  const year = date.getUTCFullYear()
  const months = monthsIn[time]
  if (months === undefined) return seasonAt(ms, year)
  const first = Math.floor((year * 12 + date.getUTCMonth()) / months) * months
  return { fromMs: utc(0, first, 1), toMs: utc(0, first + months, 1) }
}

const even = (ms: number, length: number, origin: number): TimeSpan => {
  const fromMs = origin + Math.floor((ms - origin) / length) * length
  return { fromMs, toMs: fromMs + length }
}

const seasonAt = (ms: number, year: number): TimeSpan => {
  const starts = [...cuts.map(([month, day]) => utc(year, month, day)), utc(year + 1, 0, 1)]
  const next = starts.findIndex(start => start > ms)
  return { fromMs: starts[next - 1] ?? ms, toMs: starts[next] ?? ms }
}

/** The spans that a datapoint is counted in, in order: those that it overlaps, but only one winter per year. Throws `Invalid` if there are more than 10,000. */
export const spansOf = (startMs: number, endMs: number | null, time: GeoBinning['time']): readonly TimeSpan[] => {
  if (time === 'all') return [{ fromMs: startMs, toMs: endMs ?? startMs }]
  const spans = [spanAt(startMs, time)]
  for (let last = spans[0]; last && last.toMs < (endMs ?? startMs); last = spans.at(-1)) {
    if (spans.length === maxBins) throw new Invalid(tooLong(startMs, endMs ?? startMs))
    spans.push(spanAt(last.toMs, time))
  }
  return time === 'season' ? oneWinter(spans) : spans
}

const tooLong = (startMs: number, endMs: number): string =>
  `The datapoint from ${new Date(startMs).toISOString()} to ${new Date(endMs).toISOString()} overlaps more than ${maxBins} bins: use longer bins`

/** How often numbers of one query may be counted in bins after their first: about a second of work. */
export const maxFurtherBins = 1_000_000

const maxTextLength = 32 * 1024 * 1024

const tooMuchText = `The bins have more than ${maxTextLength} characters of texts, objects, sources or depth codes: filter by attributes or streams, or use a shorter period`

/** Bounds the work of one query, since numbers of long datapoints are counted in many bins, and its memory, since texts may be long. */
export class BinLimit {
  #left = maxFurtherBins
  #room = maxTextLength

  /** Exempts a number of counts from the limit. */
  allow(count: number): void {
    this.#left += count
  }

  /** Adds to the count. Throws `Invalid` when it exceeds the exempted number by more than a million. */
  take(count: number): void {
    this.#left -= count
    if (this.#left < 0) throw new Invalid(tooManyBins)
  }

  /** Counts texts that are held in memory. Throws `Invalid` while there are more than 32 Mi characters of them. */
  hold(length: number): void {
    this.#room -= length
    if (this.#room < 0) throw new Invalid(tooMuchText)
  }

  /** Counts texts that are no longer held. */
  release(length: number): void {
    this.#room += length
  }
}

/** The message when datapoints overlap too many bins. */
export const tooManyBins = `The datapoints overlap more than ${maxFurtherBins} bins after their first: use longer bins, a shorter period, or fewer sensors, streams or properties`

/** Drops the last season of each year whose first season is included: both are its winter. */
const oneWinter = (spans: readonly TimeSpan[]): readonly TimeSpan[] => {
  const years = new Set(
    spans.filter(({ fromMs }) => new Date(fromMs).getUTCMonth() === 0).map(({ fromMs }) => new Date(fromMs).getUTCFullYear()),
  )
  return spans.filter(({ fromMs }) => {
    const from = new Date(fromMs)
    return from.getUTCMonth() !== 11 || !years.has(from.getUTCFullYear())
  })
}
