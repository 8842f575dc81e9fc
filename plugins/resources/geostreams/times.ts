import { Invalid } from 'pounce/sdk'

const form =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)[T ](?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,](?<fraction>\d{1,9}))?)?\s?(?<zone>Z|[+-]\d\d(?::?\d\d)?)$/i

const offsetMinutes = (zone: string): number => {
  if (zone.toUpperCase() === 'Z') return 0
  const sign = zone.startsWith('-') ? -1 : 1
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0')
  return sign * (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2)))
}

/** Milliseconds since 1970; undefined for what is no time with a zone in the years 1 to 9999. */
const millisecondsOf = (text: string): number | undefined => {
  // A plus sign that was not escaped in a query arrives as a blank.
  const { groups } = form.exec(text.trim().replace(/ (?=\d\d:?\d\d$)/, '+')) ?? {}
  if (!groups) return undefined
  const part = (name: string): number => Number(groups[name] ?? 0)
  const day = new Date(0)
  day.setUTCFullYear(part('year'), part('month') - 1, part('day'))
  if (part('year') < 1 || day.getUTCMonth() !== part('month') - 1 || day.getUTCDate() !== part('day')) return undefined
  const offset = offsetMinutes(groups['zone'] ?? 'Z')
  if (part('hour') > 23 || part('minute') > 59 || part('second') > 59 || Math.abs(offset) > 18 * 60) return undefined
  const thousandths = Number((groups['fraction'] ?? '').slice(0, 3).padEnd(3, '0'))
  const ms = day.getTime() + ((part('hour') * 60 + part('minute') - offset) * 60 + part('second')) * 1000 + thousandths
  const year = new Date(ms).getUTCFullYear()
  return year >= 1 && year <= 9999 ? ms : undefined
}

/**
 * Reads a time as clients write it: ISO 8601 with a zone, a blank for the T allowed, seconds and their fraction optional. Milliseconds since 1970, finer
 * ones cut off; else `Invalid`, which names `field`.
 */
export const readTime = (text: string, field: string): number => {
  const ms = millisecondsOf(text)
  if (ms === undefined) throw new Invalid(`${field} must be a time with its zone in the years 1 to 9999, such as 2017-01-25T09:30:00Z`)
  return ms
}

/** Prints a time as Clowder 1.x does: `2017-01-25T09:30:00Z`, UTC, no fraction; null stays null. */
export function showTime(time: Date | string | number): string
export function showTime(time: Date | string | number | null): string | null
export function showTime(time: Date | string | number | null): string | null {
  return time === null ? null : `${new Date(time).toISOString().slice(0, 19)}Z`
}
