import type { Json } from 'pounce/sdk'
import type { Datapoint } from 'pounce/sdk/geo'

/** A naive reference implementation of bins: slow, and without any of the server's code. */

const months = 'January February March April May June July August September October November December'.split(' ')
const two = (value: number): string => `${value}`.padStart(2, '0')

/** The label and the date of the period of a time, as in the reference. */
export const labelOf = (kind: string, ms: number): readonly [label: string, date: string] => {
  const [date = '', clock = ''] = new Date(ms).toISOString().split('T')
  const [year = '', month = '', day = ''] = date.split('-')
  const [y, m] = [Number(year), Number(month)]
  const noon = (ofYear: number, monthAndDay: string): string => `${ofYear}-${monthAndDay}T12:00:00.000Z`
  const monthAndDay = `${month}-${day}`
  switch (kind) {
    case 'decade':
      return [`${year.slice(0, 3)}0`, noon(Number(`${year.slice(0, 3)}5`), '07-01')]
    case 'lustrum':
      return [`${y - (y % 5)}`, noon(y - (y % 5) + 2, '07-01')]
    case 'year':
      return [year, noon(y, '07-01')]
    case 'semi':
      return m < 7 ? [`${year} spring`, noon(y, '03-01')] : [`${year} summer`, noon(y, '09-01')]
    case 'season':
      if (monthAndDay < '03-21' || monthAndDay >= '12-21') return [`${year} winter`, noon(y, '02-01')]
      if (monthAndDay < '06-21') return [`${year} spring`, noon(y, '05-01')]
      return monthAndDay < '09-21' ? [`${year} summer`, noon(y, '08-01')] : [`${year} fall`, noon(y, '11-01')]
    case 'month':
      return [`${year} ${months[m - 1]}`, noon(y, `${month}-15`)]
    case 'day':
      return [date, noon(y, monthAndDay)]
    case 'hour':
      return [`${date} ${clock.slice(0, 2)}`, `${date}T${clock.slice(0, 2)}:30:00.000Z`]
    case 'minute':
      return [`${date} ${clock.slice(0, 5)}`, `${date}T${clock.slice(0, 5)}:30.000Z`]
    default:
      return weekOf(ms)
  }
}

const dayMs = 86_400_000

/** ISO week: finds the week's Thursday, then counts the Thursdays of its year. */
const weekOf = (ms: number): readonly [string, string] => {
  const day = new Date(ms).getUTCDay() || 7
  const thursday = new Date(Math.floor(ms / dayMs) * dayMs + (4 - day) * dayMs)
  const year = thursday.getUTCFullYear()
  let week = 0
  for (let at = Date.UTC(year, 0, 1); at <= thursday.getTime(); at += dayMs) if (new Date(at).getUTCDay() === 4) week += 1
  return [`${year}-W${two(week)}`, `${thursday.toISOString().slice(0, 10)}T12:00:00.000Z`]
}

const steps: Readonly<Record<string, number>> = { minute: 30_000, hour: 30 * 60_000 }

/** All periods that a datapoint overlaps. */
const spansOf = (kind: string, { startMs, endMs }: Datapoint): ReadonlyMap<string, string> => {
  const found = new Map([labelOf(kind, startMs)])
  const last = (endMs ?? startMs) - 1
  const step = steps[kind] ?? dayMs / 2
  for (let at = startMs; at <= last; at += step) found.set(...labelOf(kind, at))
  if (last > startMs) found.set(...labelOf(kind, last))
  return found
}

/** A bin in the server's format, with sorted sources. */
export interface NaiveEntry {
  readonly depth: number
  readonly label: string
  readonly date: string
  readonly depth_code: string
  readonly sources: string[]
  readonly doubles: number[]
  readonly strings: string[]
  readonly array: string[]
}

const grown = (list: string[], text: string): void => {
  if (!list.includes(text)) list.push(text)
  list.sort()
}

const textOf = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined)

/** Bins of one sensor's datapoints, by property; entries sorted by date, depth and code. Properties with only string values are omitted. */
export const naiveBins = (
  points: readonly Datapoint[],
  kind: string,
  depthMetres: number,
): Readonly<Record<string, readonly NaiveEntry[]>> => {
  const found: Record<string, NaiveEntry[]> = {}
  for (const point of points.toSorted((one, other) => one.startMs - other.startMs || one.id - other.id)) {
    const altitude = 'coordinates' in point.geometry ? Number(point.geometry.coordinates[2] ?? 0) : 0
    let depth = 0 - 1000 * depthMetres
    while (depthMetres > 0 && depth < altitude) depth += depthMetres
    const code = textOf(point.properties['DEPTH_CODE']) ?? 'NA'
    const source = textOf(point.properties['source'])
    for (const [name, value] of Object.entries(point.properties)) {
      if (name === 'DEPTH_CODE' || name === 'source') continue
      for (const [label, date] of spansOf(kind, point)) {
        found[name] ??= []
        let entry = found[name].find(each => each.label === label && each.depth === depth && each.depth_code === code)
        if (!entry) {
          entry = { depth, label, date, depth_code: code, sources: [], doubles: [], strings: [], array: [] }
          found[name].push(entry)
        }
        if (source) grown(entry.sources, source)
        if (typeof value === 'number') entry.doubles.push(value)
        else if (typeof value === 'string') grown(entry.strings, value)
        else grown(entry.array, JSON.stringify(value))
      }
    }
  }
  const order = (one: NaiveEntry): string => `${one.date} ${String(one.depth + 1e6).padStart(12, '0')} ${one.depth_code}`
  const values = Object.entries(found).map(([name, entries]) => [
    name,
    entries.filter(({ doubles, array }) => doubles.length + array.length > 0).sort((one, other) => (order(one) < order(other) ? -1 : 1)),
  ])
  return Object.fromEntries(values.filter(([, entries]) => (entries as NaiveEntry[]).length > 0))
}
