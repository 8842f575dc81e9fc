import { currentLanguage, t } from './i18n.ts'

const cached = <T>(make: (language: string) => T): (() => T) => {
  const made = new Map<string, T>()
  return () => {
    const language = currentLanguage()
    const one = made.get(language) ?? make(language)
    made.set(language, one)
    return one
  }
}

const numbers = cached(language => new Intl.NumberFormat(language))
const days = cached(language => new Intl.DateTimeFormat(language, { dateStyle: 'medium' }))
const exact = cached(language => new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'long' }))
const relative = cached(language => new Intl.RelativeTimeFormat(language, { numeric: 'auto' }))
const collators = cached(language => new Intl.Collator(language, { numeric: true }))

/** A number with the separators of the language. */
export const number = (value: number): string => numbers().format(value)

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte'] as const

/** A size in SI units: 1 kB is 1,000 bytes. */
export const bytes = (value: number): string => {
  let power = 0
  let size = value
  while (size >= 999.5 && power < units.length - 1) {
    size /= 1000
    power++
  }
  // `Intl` writes "8 byte" or "8B".
  if (power === 0) return `${number(size)}\u00a0B`
  return new Intl.NumberFormat(currentLanguage(), {
    style: 'unit',
    unit: units[power],
    unitDisplay: 'short',
    maximumFractionDigits: size >= 99.95 ? 0 : 1,
  }).format(size)
}

const steps: readonly (readonly [number, Intl.RelativeTimeFormatUnit])[] = [
  [60, 'second'],
  [3600, 'minute'],
  [86_400, 'hour'],
  [7 * 86_400, 'day'],
]
const seconds: Readonly<Partial<Record<Intl.RelativeTimeFormatUnit, number>>> = { second: 1, minute: 60, hour: 3600, day: 86_400 }

/** Relative within a week; otherwise the date. */
export const when = (time: string | Date): string => {
  const date = new Date(time)
  const ago = (Date.now() - date.getTime()) / 1000
  const step = ago < 0 ? undefined : steps.find(([limit]) => ago < limit)
  if (!step) return days().format(date)
  return relative().format(-Math.floor(ago / (seconds[step[1]] ?? 1)), step[1])
}

/** A time with its zone, for tooltips. */
export const exactTime = (time: string | Date): string => exact().format(new Date(time))

/** Natural sort order of names: digits are compared as numbers. */
export const compareNames = (one: string, other: string): number => collators().compare(one, other)

/** Used storage, and the limit. */
export const storageText = ({ usedBytes, maxBytes }: { readonly usedBytes: number; readonly maxBytes: number }): string =>
  maxBytes > 0 ? t('storage.of', { used: bytes(usedBytes), max: bytes(maxBytes) }) : t('storage.used', { used: bytes(usedBytes) })
