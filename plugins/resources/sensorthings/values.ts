import type { Json } from 'pounce/sdk'
import type { Geometry } from 'pounce/sdk/geo'

/** A time or time span, in milliseconds since 1970; an instant has equal start and end. */
export class EntityTimeSpan {
  readonly fromMs: number
  readonly toMs: number

  constructor(fromMs: number, toMs: number | null = null) {
    this.fromMs = fromMs
    this.toMs = toMs ?? fromMs
  }

  get isInstant(): boolean {
    return this.toMs === this.fromMs
  }

  /** In the format of the standard: a time, or two separated by a slash. */
  toString(): string {
    return this.isInstant ? isoOf(this.fromMs) : `${isoOf(this.fromMs)}/${isoOf(this.toMs)}`
  }
}

const isoOf = (ms: number): string => new Date(ms).toISOString()

/** A duration. */
export class Duration {
  readonly ms: number

  constructor(ms: number) {
    this.ms = ms
  }
}

/** A location, wrapped to distinguish it from other JSON. */
export class GeoPlace {
  readonly geometry: Geometry

  constructor(geometry: Geometry) {
    this.geometry = geometry
  }
}

/** The values that filters operate on. */
export type Value = Json | EntityTimeSpan | Duration | GeoPlace | undefined

/** The kind of a value, as far as it is known at compile time. */
export type ValueKind = 'text' | 'number' | 'boolean' | 'time' | 'time of day' | 'duration' | 'place' | 'null' | 'any'

/** The member of an object, or of the GeoJSON of a location; undefined if missing. */
export const memberOf = (value: Value, name: string): Value => {
  if (value instanceof EntityTimeSpan || value instanceof Duration) return undefined
  const holder: unknown = value instanceof GeoPlace ? value.geometry : value
  if (typeof holder !== 'object' || holder === null || Array.isArray(holder) || !Object.hasOwn(holder, name)) return undefined
  return (holder as { readonly [key: string]: Json })[name]
}

/** A value as included in a response. */
export const shown = (value: Value): unknown => {
  if (value instanceof EntityTimeSpan) return value.toString()
  if (value instanceof GeoPlace) return value.geometry
  return value instanceof Duration ? value.ms : (value ?? null)
}

type EntityOrder = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le'

const isBefore = (one: EntityTimeSpan, other: EntityTimeSpan): boolean =>
  one.toMs < other.fromMs || (one.toMs === other.fromMs && !(one.isInstant && other.isInstant))

/** Spans: one is before another that begins at or after its end. */
const compareSpans = (operator: EntityOrder, one: EntityTimeSpan, other: EntityTimeSpan): boolean => {
  const isSame = one.fromMs === other.fromMs && one.toMs === other.toMs
  switch (operator) {
    case 'eq':
      return isSame
    case 'ne':
      return !isSame
    case 'lt':
      return isBefore(one, other)
    case 'le':
      return isSame || isBefore(one, other)
    case 'gt':
      return isBefore(other, one)
    case 'ge':
      return isSame || isBefore(other, one)
  }
}

const compareScalars = (operator: EntityOrder, one: number | string | boolean, other: number | string | boolean): boolean => {
  switch (operator) {
    case 'eq':
      return one === other
    case 'ne':
      return one !== other
    case 'lt':
      return one < other
    case 'le':
      return one <= other
    case 'gt':
      return one > other
    case 'ge':
      return one >= other
  }
}

/** Compares values. Values of different kinds are unequal and unordered. Null equals only null. */
export const compare = (operator: EntityOrder, one: Value, other: Value): boolean => {
  const [left, right] = [one ?? null, other ?? null]
  if (left instanceof EntityTimeSpan && right instanceof EntityTimeSpan) return compareSpans(operator, left, right)
  if (left instanceof Duration && right instanceof Duration) return compareScalars(operator, left.ms, right.ms)
  if (left === null || right === null) return operator === 'ne' ? left !== right : operator === 'eq' && left === right
  if (typeof left === 'object' || typeof right === 'object' || typeof left !== typeof right) return operator === 'ne'
  return compareScalars(operator, left, right)
}

const clockForm = /^(\d\d):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,3})\d*)?)?$/

/** `12:30` as `12:30:00.000`, so that times of day compare as strings; undefined for an invalid one. */
export const clockOf = (text: string): string | undefined => {
  const [, hours = '', minutes = '', seconds = '00', fraction = ''] = clockForm.exec(text) ?? []
  return hours === '' || Number(hours) > 23 ? undefined : `${hours}:${minutes}:${seconds}.${fraction.padEnd(3, '0')}`
}

const durationForm = /^(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/

/** Milliseconds of `P1DT12H`; undefined for an invalid duration. Months and years have no fixed length. */
export const durationMs = (text: string): number | undefined => {
  const parts = durationForm.exec(text)
  if (!parts || /[PT]$/.test(text)) return undefined
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = parts.slice(2).map(part => Number(part ?? 0))
  return (parts[1] === '-' ? -1000 : 1000) * (((days * 24 + hours) * 60 + minutes) * 60 + seconds)
}
