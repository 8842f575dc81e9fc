import { isJsonObject } from '../json-object.ts'
import type { Datapoint } from '../ports/geo-store.ts'

const maxPositions = 10_000
const maxNesting = 4
const maxDepth = 64
const maxPropertiesLength = 65_536
/** Databases and ISO 8601 differ outside the years 1 to 9999. */
const firstMs = -62_135_596_800_000
const lastMs = 253_402_300_799_999

/** True for a valid time: integer milliseconds since 1970 in the years 1 to 9999. */
export const isGeoTime = (ms: unknown): ms is number => Number.isInteger(ms) && (ms as number) >= firstMs && (ms as number) <= lastMs

/** True for a valid datapoint id or stream number. */
export const isGeoId = (id: unknown): id is number => Number.isSafeInteger(id) && (id as number) > 0

/** True for two or three finite numbers in range: longitude, latitude and optionally an altitude. */
export const isPosition = (value: unknown): value is readonly number[] => {
  if (!Array.isArray(value) || (value.length !== 2 && value.length !== 3) || !value.every(Number.isFinite)) return false
  const [longitude, latitude] = value as [number, number]
  return Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90
}

type Check = (value: unknown) => boolean

const listOf =
  (least: number, isItem: Check): Check =>
  value =>
    Array.isArray(value) && value.length >= least && value.every(isItem)

const ringOf = (isPlace: Check): Check => {
  const isLongEnough = listOf(4, isPlace)
  return value => isLongEnough(value) && Array.isArray(value) && String(value[0]) === String(value.at(-1))
}

/** True for at least four positions of which the last equals the first. */
export const isRing = ringOf(isPosition)

/**
 * Why a datapoint is invalid, or undefined if it is valid: numbers, times, a geometry of at most 10,000 positions with equal dimensions, collections at most 4
 * levels deep, properties of at most 64 KiB as JSON and 64 levels, finite numbers, no null characters and no lone surrogates.
 */
export const checkDatapoint = (point: Datapoint): string | undefined => {
  const { id, stream, startMs, endMs, createdMs, geometry, properties } = point
  if (!isGeoId(id)) return 'id is not a positive whole number'
  if (!isGeoId(stream)) return 'stream is not a positive whole number'
  if (!isGeoTime(startMs)) return 'start is not a time in the years 1 to 9999'
  if (endMs !== null && !isGeoTime(endMs)) return 'end is not a time in the years 1 to 9999'
  if (endMs !== null && endMs < startMs) return 'end is before start'
  if (!isGeoTime(createdMs)) return 'created is not a time in the years 1 to 9999'
  return geometryFault(geometry) ?? propertiesFault(properties)
}

/** Why a geometry is invalid, or undefined if it is valid. */
export const geometryFault = (geometry: unknown): string | undefined => {
  let [positions, dimensions] = [0, 0]
  const shapes = shapesOf(value => {
    if (!isPosition(value)) return false
    positions += 1
    dimensions ||= value.length
    return positions <= maxPositions && value.length === dimensions
  })
  const fault = faultIn(geometry, shapes, 1)
  return positions > maxPositions ? `geometry has more than ${maxPositions} positions` : fault
}

const faultIn = (geometry: unknown, shapes: ReadonlyMap<unknown, Check>, depth: number): string | undefined => {
  if (!isJsonObject(geometry)) return 'geometry must be an object'
  const { type, coordinates, geometries } = geometry
  if (type !== 'GeometryCollection') {
    const check = shapes.get(type)
    if (!check) return 'geometry has no valid GeoJSON type'
    if (check(coordinates)) return undefined
    const rings = String(type).endsWith('Polygon') ? '; rings of four positions or more end where they begin' : ''
    return `geometry has no coordinates of a ${type}: longitude within 180 degrees, latitude within 90 and, in all or none, altitude${rings}`
  }
  if (depth > maxNesting) return `geometry nests collections more than ${maxNesting} deep`
  if (!Array.isArray(geometries) || geometries.length === 0) return 'geometry is a collection without geometries'
  for (const inner of geometries) {
    const fault = faultIn(inner, shapes, depth + 1)
    if (fault !== undefined) return fault
  }
  return undefined
}

const shapesOf = (isPlace: Check): ReadonlyMap<unknown, Check> => {
  const isLine = listOf(2, isPlace)
  const isPolygon = listOf(1, ringOf(isPlace))
  return new Map<unknown, Check>([
    ['Point', isPlace],
    ['MultiPoint', listOf(1, isPlace)],
    ['LineString', isLine],
    ['MultiLineString', listOf(1, isLine)],
    ['Polygon', isPolygon],
    ['MultiPolygon', listOf(1, isPolygon)],
  ])
}

/** The same for properties. */
export const propertiesFault = (properties: unknown): string | undefined => {
  if (!isJsonObject(properties)) return 'properties is not an object'
  const fault = jsonFault(properties, 1)
  if (fault !== undefined) return `properties ${fault}`
  return JSON.stringify(properties).length > maxPropertiesLength ? `properties has more than ${maxPropertiesLength} characters` : undefined
}

/** Why a value is not JSON that every database can store, or undefined if it is. */
export const jsonFault = (value: unknown, depth = 1): string | undefined => {
  if (depth > maxDepth) return `is nested more than ${maxDepth} deep`
  if (value === null || typeof value === 'boolean') return undefined
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'has a number that is not finite'
  if (typeof value === 'string') return isKept(value) ? undefined : 'has a text with a null character or a lone surrogate'
  if (typeof value !== 'object') return 'has a value that is not JSON'
  for (const [key, inner] of Object.entries(value)) {
    if (!isKept(key)) return 'has a name with a null character or a lone surrogate'
    const fault = jsonFault(inner, depth + 1)
    if (fault !== undefined) return fault
  }
  return undefined
}

const isKept = (text: string): boolean => !text.includes('\0') && text.isWellFormed()
