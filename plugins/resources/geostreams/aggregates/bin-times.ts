import { Invalid } from 'pounce/sdk'
import type { GeoBin, GeoBinning, TimeBin } from 'pounce/sdk/geo'

type Named = Exclude<TimeBin, 'all'>
/** A bin's time span as returned to clients. Bins with the same label are combined. */
export interface BinTime {
  readonly label: string
  /** Calendar parts of the span: `year`, `month`, `week`, `day`, `hour`, `minute`, as applicable. */
  readonly parts: Readonly<Record<string, number>>
  /** An instant near the middle of the span. */
  readonly dateMs: number
}

const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December']
const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000]
const digits = (value: number, length = 2): string => String(value).padStart(length, '0')
/** `Date.UTC` maps the years 0 to 99 to the 20th century. */
const noonOf = (year: number, month: number, day: number): number => new Date(0).setUTCFullYear(year, month, day) + 12 * hourMs

/** Year, month and so on of an instant; the month counts from 0. */
const calendar = (ms: number) => {
  const date = new Date(ms)
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth(),
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
  }
}

const years =
  (middle: number) =>
  (fromMs: number): BinTime => {
    const { year } = calendar(fromMs)
    return { label: String(year), parts: { year }, dateMs: noonOf(year + middle, 6, 1) }
  }

const partOfYear =
  (parts: readonly (readonly [name: string, month: number])[], partOf: (month: number) => number) =>
  (fromMs: number): BinTime => {
    const { year, month } = calendar(fromMs)
    const [name, middle] = parts[partOf(month)] ?? ['', 0]
    return { label: `${year} ${name}`, parts: { year }, dateMs: noonOf(year, middle, 1) }
  }

/** The year and number of an ISO 8601 week, which are those of its Thursday. */
const weekOf = (mondayMs: number): { readonly year: number; readonly week: number } => {
  const thursday = mondayMs + 3 * dayMs
  const { year } = calendar(thursday)
  return { year, week: Math.floor((thursday - noonOf(year, 0, 1) + 12 * hourMs) / (7 * dayMs)) + 1 }
}

const day = (fromMs: number) => {
  const { year, month, day } = calendar(fromMs)
  return { label: `${digits(year, 4)}-${digits(month + 1)}-${digits(day)}`, parts: { year, month: month + 1, day } }
}

/** Labels and dates are those of Clowder 1.x, except for weeks, which it does not have. */
const named: Readonly<Record<Named, (fromMs: number) => BinTime>> = {
  decade: years(5),
  lustrum: years(2),
  year: years(0),
  semi: partOfYear(
    [
      ['spring', 2],
      ['summer', 8],
    ],
    month => (month < 6 ? 0 : 1),
  ),
  // Seasons begin in January, March, June, September and December; December belongs to the winter of its own year.
  season: partOfYear(
    [
      ['winter', 1],
      ['spring', 4],
      ['summer', 7],
      ['fall', 10],
    ],
    month => Math.floor((month + 1) / 3) % 4,
  ),
  month: fromMs => {
    const { year, month } = calendar(fromMs)
    return { label: `${year} ${months[month]}`, parts: { year, month: month + 1 }, dateMs: noonOf(year, month, 15) }
  },
  week: fromMs => {
    const { year, week } = weekOf(fromMs)
    return { label: `${digits(year, 4)}-W${digits(week)}`, parts: { year, week }, dateMs: fromMs + 3.5 * dayMs }
  },
  day: fromMs => ({ ...day(fromMs), dateMs: fromMs + 12 * hourMs }),
  hour: fromMs => {
    const { label, parts } = day(fromMs)
    const { hour } = calendar(fromMs)
    return { label: `${label} ${digits(hour)}`, parts: { ...parts, hour }, dateMs: fromMs + hourMs / 2 }
  },
  minute: fromMs => {
    const { label, parts } = day(fromMs)
    const { hour, minute } = calendar(fromMs)
    const time = `${digits(hour)}:${digits(minute)}`
    return { label: `${label} ${time}`, parts: { ...parts, hour, minute }, dateMs: fromMs + minuteMs / 2 }
  },
}

const even = ({ fromMs, toMs }: Pick<GeoBin, 'fromMs' | 'toMs'>): BinTime => {
  const { year } = calendar(fromMs)
  return { label: new Date(fromMs).toISOString(), parts: { year }, dateMs: Math.floor((fromMs + toMs) / 2) }
}

/** A division of time into spans, and their format. */
export interface BinTimes {
  readonly time: GeoBinning['time']
  of(span: Pick<GeoBin, 'fromMs' | 'toMs'>): BinTime
  /** Spans with different group numbers have different labels, and no later span repeats a label. */
  group(fromMs: number): number
}

const kinds = Object.keys(named) as Named[]
const duration = /^P(?=.)(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?=.)(?:(\d{1,7})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?$/i
const units = [7 * dayMs, dayMs, hourMs, minuteMs, 1000]
/** Maximum length of a span: the years that datapoints can be in. */
const maxSpanMs = 400 * 365 * dayMs

const wrongTime = (given: string, name: string): Invalid =>
  new Invalid(
    `${name}: ${JSON.stringify(given.slice(0, 60))} is not a valid bin. Valid are ${kinds.join(', ')}, and durations such as PT90M, PT6H or P10D (weeks, days, hours, minutes, seconds; from 1 second to 400 years)`,
  )

/**
 * The division for a client's parameter: a name of Clowder 1.x, `week`, or an ISO 8601 duration, counted from `originMs`. Throws `Invalid`
 * listing the valid values.
 */
export const binTimesOf = (given: string, originMs: number, name = 'time'): BinTimes => {
  const kind = kinds.find(each => each === given.toLowerCase())
  if (kind) {
    const format = named[kind]
    const group = kind === 'season' ? (fromMs: number): number => calendar(fromMs).year : (fromMs: number): number => fromMs
    return { time: kind, of: ({ fromMs }) => format(fromMs), group }
  }
  const found = duration.exec(given)
  const everyMs = units.reduce((sum, unit, at) => sum + unit * Number(found?.[at + 1] ?? 0), 0)
  if (!found || everyMs < 1000 || everyMs > maxSpanMs) throw wrongTime(given, name)
  return { time: { everyMs, originMs }, of: even, group: fromMs => fromMs }
}
