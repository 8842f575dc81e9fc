import type { MetadataValue } from '../ports/search-index.ts'
import { wordsOf } from './text.ts'

/** A time span in ms since 1970; `from` is inclusive, `before` exclusive. */
export interface TimeSpan {
  readonly from: number
  readonly before: number
}

/** The possible interpretations of a value in a query. */
export interface Reading {
  /** Compared with texts. Absent for a `Date`. */
  readonly text?: string
  /** Compared with numbers. */
  readonly number?: number
  /** Compared with dates: a day is the whole day, a time that millisecond. */
  readonly span?: TimeSpan
}

const numberForm = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i
const dateForm = /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)\s?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/
const dayMs = 86_400_000

/** The number that a text represents in any notation: `1.0` and `1e0` are 1. */
export function numberOf(text: string): number | undefined {
  const trimmed = text.trim()
  if (trimmed.length > 400 || !numberForm.test(trimmed)) return undefined
  const number = Number(trimmed)
  return Number.isFinite(number) ? number : undefined
}

/** The time that an ISO 8601 text represents, in ms; UTC if it has no zone. A day is its first millisecond. */
export function timeOf(text: string): number | undefined {
  const [, day, time = '00:00', zone = 'Z'] = dateForm.exec(text.trim()) ?? []
  if (day === undefined) return undefined
  const midnight = Date.parse(`${day}T00:00:00.000Z`)
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) return undefined
  const offset = /^z$/i.test(zone) ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`
  const at = Date.parse(`${day}T${time.replace(',', '.')}${offset}`)
  return Number.isNaN(at) ? undefined : at
}

/**
 * The metadata value that a text represents (Clowder 1.x): a number, a date or text. More than 15 digits are treated as text, since a number would be rounded.
 */
export function typedValue(text: string): string | number | Date {
  const number = numberOf(text)
  if (number !== undefined) return /^[+-]?\d{16,}$/.test(text.trim()) ? text : number
  const time = timeOf(text)
  return time === undefined ? text : new Date(time)
}

/** The metadata value that a text represents, found by the words of the text too. */
export function metadataValueOf(field: string, text: string): MetadataValue {
  const value = typedValue(text)
  if (typeof value === 'string') return { field, value }
  const own = value instanceof Date ? value.toISOString() : String(value)
  return wordsOf(own).join(' ') === wordsOf(text).join(' ') ? { field, value } : { field, value, written: text.trim() }
}

/** The possible interpretations of a value in a query. */
export function readingOf(value: string | number | Date): Reading {
  if (value instanceof Date) return { span: pointAt(value.getTime()) }
  if (typeof value === 'number') return { text: String(value), number: value }
  const number = numberOf(value)
  const span = spanOf(value)
  return { text: value, ...(number === undefined ? {} : { number }), ...(span ? { span } : {}) }
}

/** The span that `created` is compared with; years and months are also accepted. Undefined if the value is not a time. */
export function createdSpan(value: string | number | Date): TimeSpan | undefined {
  const text = value instanceof Date ? '' : String(value).trim()
  const [, year, month] = /^(\d{4})(?:-(\d{2}))?$/.exec(text) ?? []
  if (year === undefined) return readingOf(value).span
  const first = month === undefined ? 0 : Number(month) - 1
  if (first < 0 || first > 11) return undefined
  return {
    from: Date.UTC(Number(year), first),
    before: month === undefined ? Date.UTC(Number(year) + 1) : Date.UTC(Number(year), first + 1),
  }
}

function spanOf(text: string): TimeSpan | undefined {
  const from = timeOf(text)
  if (from === undefined) return undefined
  return /^\d{4}-\d{2}-\d{2}$/.test(text.trim()) ? { from, before: from + dayMs } : pointAt(from)
}

const pointAt = (ms: number): TimeSpan => ({ from: ms, before: ms + 1 })
