import type { Json } from 'pounce/sdk'
import { isJsonObject } from 'pounce/sdk/kit'
import { isWkt } from './wkt.ts'

type Members = Readonly<Record<string, Json>>

/** The values that fields of a type accept. */
export interface Expectation {
  /** `beside`: the other fields of the same document, for values that consist of two. */
  fits(value: Json, beside: Members): boolean
  /** For problem messages: `a date and time in ISO 8601`. */
  readonly what: string
  readonly example: string
}

const isText = (value: Json): value is string => typeof value === 'string' && value.trim() !== ''
const isNumeric = (value: Json): boolean =>
  typeof value === 'number' || (typeof value === 'string' && /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i.test(value))

const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate()
const dateForm = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?\s*(?:Z|[+-]\d\d(?::?\d\d)?)?)?)?)?$/

/** A year, month, day or time of day in ISO 8601 that exists in the calendar. */
export const isIsoDate = (text: string): boolean => {
  const parts = dateForm.exec(text.trim())
  if (!parts) return false
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts
    .slice(1)
    .map(part => (part === undefined ? undefined : Number(part)))
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month) && hour <= 24 && minute <= 59 && second <= 60
}

const within = (value: Json | undefined, max: number): boolean =>
  value === undefined || (isNumeric(value) && Math.abs(Number(value)) <= max)

const geometryTypes = new Set(['Point', 'MultiPoint', 'LineString', 'MultiLineString', 'Polygon', 'MultiPolygon'])
const isGeoJson = (value: Json, nesting = 0): boolean => {
  if (!isJsonObject(value) || nesting > 16) return false
  const { type, coordinates, geometry, geometries, features } = value
  if (type === 'Feature') return geometry === null || (geometry !== undefined && isGeoJson(geometry, nesting + 1))
  if (type === 'FeatureCollection') return Array.isArray(features) && features.every((each: Json) => isGeoJson(each, nesting + 1))
  if (type === 'GeometryCollection') return Array.isArray(geometries) && geometries.every((each: Json) => isGeoJson(each, nesting + 1))
  return typeof type === 'string' && geometryTypes.has(type) && Array.isArray(coordinates)
}

const isUnit = (value: Json | undefined): boolean => value === undefined || value === null || typeof value === 'string'

const text: Expectation = { fits: value => typeof value === 'string', what: 'text', example: '"Illinois River, upstream"' }

const expectations: Readonly<Record<string, Expectation>> = {
  string: text,
  annotation: {
    fits: value => typeof value === 'string' || isJsonObject(value),
    what: 'text, or an object',
    example: '"sampled after the rain"',
  },
  number: { fits: isNumeric, what: 'a number', example: '12.5' },
  datetime: {
    fits: value => typeof value === 'string' && isIsoDate(value),
    what: 'a date, or a date and time, in ISO 8601',
    example: '"2018-06-20T11:40:25Z"',
  },
  // The list itself is checked where it is available.
  list: { fits: isText, what: 'a term of its list', example: '"Precipitation"' },
  listjquery: { fits: isText, what: 'a term of its list', example: '"Precipitation"' },
  listgeocode: {
    fits: (value, beside) => isText(value) && within(beside['Latitude'], 90) && within(beside['Longitude'], 180),
    what: 'the name of a place, and beside it Latitude (-90 to 90) and Longitude (-180 to 180)',
    example: '"Champaign, IL, USA" with "Latitude": "40.12", "Longitude": "-88.24"',
  },
  wkt: {
    fits: value => (typeof value === 'string' ? isWkt(value) : isGeoJson(value)),
    what: 'a geometry in well-known text, or a GeoJSON object',
    example: '"POINT (-88.24 40.12)"',
  },
  scientific_variable: {
    fits: (value, beside) => {
      if (isJsonObject(value)) return isText(value['name'] ?? value['variable'] ?? value['value'] ?? null) && isUnit(value['unit'])
      return isText(value) && isUnit(beside['Unit'])
    },
    what: 'the name of a variable as text, and its unit, if any, as text in Unit beside it',
    example: '"air_temperature" with "Unit": "K"',
  },
}
const aliases: Readonly<Record<string, string>> = { date: 'datetime', float: 'number', integer: 'number' }

/** The values that a field of a type accepts; undefined for types that are not validated. */
export const expectationOf = (type: string): Expectation | undefined => {
  const name = Object.hasOwn(aliases, type) ? aliases[type] : type
  return name !== undefined && Object.hasOwn(expectations, name) ? expectations[name] : undefined
}

/** A field may have one value or a list of values. */
export const fits = (expectation: Expectation, value: Json, beside: Members): boolean =>
  Array.isArray(value) ? value.every((each: Json) => expectation.fits(each, beside)) : expectation.fits(value, beside)
