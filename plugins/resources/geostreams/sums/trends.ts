import type { GeoFilter, GeoStore } from 'pounce/sdk'
import { finite, meanOf, type Sums } from './bin-entry.ts'
import type { BinTimes } from './bin-times.ts'
import { gatheredBins } from './gathered-bins.ts'
import type { SensorPart } from './selected-sensors.ts'
import { numbersOf, type SensorFigures } from './sensor-figures.ts'
import { type Window, within } from './windows.ts'

/** What a trend is measured by. */
export interface TrendQuestion {
  readonly filter: Omit<GeoFilter, 'streams'>
  readonly shown?: ReadonlySet<string>
  readonly window: Window
  /** Tells the newest of these spans besides. */
  readonly last?: BinTimes
}

/** How numbers of a sensor went: members of `properties`, and the label of the newest span when that was asked for. */
export interface Trend {
  readonly properties: Readonly<Record<string, number | null>>
  readonly lastTime?: string
}

const none: Sums = { count: 0, sum: 0, min: 0, max: 0 }

/** In percent of the whole; null where there is nothing to compare, or to divide by. */
const change = (whole: number | null, part: number | null): number | null =>
  whole === null || part === null || whole === 0 ? null : finite(((part - whole) / whole) * 100)

/** Compares what a sensor told within the window with all that it told. */
export const trendOf = async (store: GeoStore, part: SensorPart, figures: SensorFigures, question: TrendQuestion): Promise<Trend> => {
  const { filter, shown, window, last } = question
  const interval = await numbersOf(store, { ...within(filter, window), streams: part.streams }, shown)
  const newest = last ? await newestOf(store, part, question, last) : undefined
  const properties: Record<string, number | null> = {}
  for (const [name, sums] of figures.numbers) {
    const [whole, mean] = [meanOf(sums), meanOf(interval.get(name) ?? none)]
    properties[`${name}_total_average`] = whole
    properties[`${name}_interval_average`] = mean
    if (newest) properties[`${name}_last_average`] = meanOf(newest.numbers.get(name) ?? none)
    properties[`${name}_percentage_change`] = change(whole, mean)
  }
  return { properties, ...(newest?.label === undefined ? {} : { lastTime: newest.label }) }
}

interface Newest {
  readonly label: string | undefined
  readonly numbers: ReadonlyMap<string, Sums>
}

/** The newest span in which the sensor told a number, and the numbers in it. */
const newestOf = async (store: GeoStore, part: SensorPart, { filter, shown }: TrendQuestion, times: BinTimes): Promise<Newest> => {
  let [dateMs, label] = [Number.NEGATIVE_INFINITY, undefined as string | undefined]
  const found = new Map<string, { readonly dateMs: number; readonly sums: Sums }>()
  const binning = { time: times.time, ...(shown ? { properties: [...shown] } : {}) }
  for await (const { property, bins } of gatheredBins(store, { ...filter, streams: part.streams }, binning, times.group))
    for (const bin of bins) {
      const time = times.of(bin)
      if (time.dateMs > dateMs) [dateMs, label] = [time.dateMs, time.label]
      const known = found.get(property)
      if (known && known.dateMs > time.dateMs) continue
      const before = known?.dateMs === time.dateMs ? known.sums : none
      found.set(property, { dateMs: time.dateMs, sums: { ...bin, count: before.count + bin.count, sum: before.sum + bin.sum } })
    }
  return { label, numbers: new Map([...found].filter(([, each]) => each.dateMs === dateMs).map(([name, { sums }]) => [name, sums])) }
}
