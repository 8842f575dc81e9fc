import type { Datapoint, Geometry, Json, StreamStatistics } from 'pounce/sdk'
import { GeoPlace, TimeSpan, type Value } from './values.ts'

type Properties = { readonly [key: string]: Json }

const isObject = (value: Json | undefined): value is Properties => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What people said of a sensor or stream, or its name. */
export const descriptionOf = ({ name, properties }: { readonly name: string; readonly properties: Properties }): string => {
  const texts = [properties['description'], properties['popupContent']]
  return texts.find(text => typeof text === 'string' && text !== '')?.toString() ?? name
}

const observationTypes = 'http://www.opengis.net/def/observationType/OGC-OM/2.0'

/** By the newest readings that have the parameter. */
export const observationTypeOf = (newest: readonly Datapoint[], parameter: string): string => {
  const values = newest.map(({ properties }) => properties[parameter] ?? null).filter(value => value !== null)
  const areAll = (type: string): boolean => values.length > 0 && values.every(value => typeof value === type)
  if (areAll('number')) return `${observationTypes}/OM_Measurement`
  return `${observationTypes}/${areAll('boolean') ? 'OM_TruthObservation' : 'OM_Observation'}`
}

/** A unit with the members that the standard wants; null for what nobody said. */
export interface Unit {
  readonly [member: string]: string | null
}

const textOf = (value: Json | undefined): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** A unit as people write it: its symbol, or an object with some of name, symbol and definition. */
const readUnit = (value: Json | undefined): Unit | undefined => {
  const symbol = textOf(value)
  if (symbol !== null) return { name: symbol, symbol, definition: null }
  if (!isObject(value)) return undefined
  const [name, written, definition] = ['name', 'symbol', 'definition'].map(member => textOf(value[member]))
  return name || written || definition ? { name: name ?? null, symbol: written ?? null, definition: definition ?? null } : undefined
}

const names = ['unitOfMeasurement', 'unitsOfMeasurement', 'units', 'unit'] as const

/** For this parameter alone, or for all. */
const unitIn = (parameter: string, properties: Properties): Unit | undefined => {
  for (const name of names) {
    const said = properties[name]
    const own = isObject(said) && Object.hasOwn(said, parameter) ? readUnit(said[parameter]) : undefined
    const unit = own ?? readUnit(said)
    if (unit) return unit
  }
  return undefined
}

/** The unit of a parameter as the stream says it, or else its sensor. */
export const unitOf = (parameter: string, stream: Properties, sensor: Properties): Unit =>
  unitIn(parameter, stream) ?? unitIn(parameter, sensor) ?? { name: null, symbol: null, definition: null }

/** The smallest geometry that fills a box. */
export const placeOfBox = ([west, south, east, north]: StreamStatistics['box']): GeoPlace => {
  const corners = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  if (west === east && south === north) return new GeoPlace({ type: 'Point', coordinates: [west, south] })
  const isLine = west === east || south === north
  const line: Geometry = {
    type: 'LineString',
    coordinates: [
      [west, south],
      [east, north],
    ],
  }
  return new GeoPlace(isLine ? line : { type: 'Polygon', coordinates: [corners] })
}

/** From the first beginning to the last beginning or end. */
export const spanOf = ({ firstStartMs, lastEndMs }: StreamStatistics, newest: readonly Datapoint[]): Value => {
  const last = newest[0]?.startMs ?? firstStartMs
  return new TimeSpan(firstStartMs, Math.max(firstStartMs, last, lastEndMs ?? last))
}
