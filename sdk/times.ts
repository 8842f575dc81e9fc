import { Invalid } from './problem.ts'

const form =
  /^(?<year>\d{4})(?:-(?<month>\d\d)(?:-(?<day>\d\d)(?:[T ](?<hour>\d\d)(?::(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,](?<fraction>\d{1,9}))?)?)?(?:\s?(?<zone>Z|[+-]\d\d(?::?\d\d)?)|\s(?<ahead>\d\d:?\d\d))?)?)?)?$/i

const offsetMinutes = (zone: string): number => {
  if (zone.toUpperCase() === 'Z') return 0
  const sign = zone.startsWith('-') ? -1 : 1
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0')
  return sign * (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2)))
}

/**
 * Parses a time sent by a client into milliseconds since 1970: ISO 8601, with a space allowed instead of the T. Omitted parts default to their start, an
 * omitted zone to UTC: `2017-03-31` is the start of that day. Fractions of a millisecond are truncated. Undefined for invalid times and years outside 1 to
 * 9999.
 */
export const msOfTime = (text: string): number | undefined => {
  const { groups } = form.exec(text.trim()) ?? {}
  if (!groups) return undefined
  const part = (name: string, least = 0): number => Number(groups[name] ?? least)
  const month = part('month', 1)
  const day = new Date(0)
  day.setUTCFullYear(part('year'), month - 1, part('day', 1))
  if (part('year') < 1 || day.getUTCMonth() !== month - 1 || day.getUTCDate() !== part('day', 1)) return undefined
  // An unescaped plus sign in a query arrives as a space.
  const zone = groups['ahead'] === undefined ? groups['zone'] : `+${groups['ahead']}`
  const offset = offsetMinutes(zone ?? 'Z')
  if (part('hour') > 23 || part('minute') > 59 || part('second') > 59 || Math.abs(offset) > 18 * 60) return undefined
  const thousandths = Number((groups['fraction'] ?? '').slice(0, 3).padEnd(3, '0'))
  const ms = day.getTime() + ((part('hour') * 60 + part('minute') - offset) * 60 + part('second')) * 1000 + thousandths
  const year = new Date(ms).getUTCFullYear()
  return year >= 1 && year <= 9999 ? ms : undefined
}

/** Parses a time (see `msOfTime`); throws `Invalid`, naming `field`, if it is malformed. */
export const readTime = (text: string, field: string): number => {
  const ms = msOfTime(text)
  if (ms === undefined)
    throw new Invalid(
      `${field} must be a time in the years 1 to 9999, such as 2018-06-20T11:40:25.000Z, 2018-06-20 11:40:25 or 2018-06-20 (UTC without a zone)`,
    )
  return ms
}
