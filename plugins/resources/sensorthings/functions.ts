import type { Geometry } from 'pounce/sdk'
import { metresBetween, positionsOf, touches } from 'pounce/sdk/geo'
import { GeoPlace, TimeSpan, type Value, type ValueKind } from './values.ts'

/** A function of filters. Each argument has been found to be of its kind, or has become undefined. */
export interface FilterFunction {
  readonly takes: readonly ValueKind[]
  /** The last argument may be missing. */
  readonly isLastOptional?: boolean
  readonly gives: ValueKind
  run(values: readonly Value[]): Value
}

const text = (value: Value): string => (typeof value === 'string' ? value : '')
const number = (value: Value): number => (typeof value === 'number' ? value : Number.NaN)

const ofTexts = (run: (one: string, other: string) => Value, gives: ValueKind = 'boolean'): FilterFunction => ({
  takes: ['text', 'text'],
  gives,
  run: ([one, other]) => run(text(one), text(other)),
})
const ofText = (run: (one: string) => Value, gives: ValueKind = 'text'): FilterFunction => ({
  takes: ['text'],
  gives,
  run: ([one]) => run(text(one)),
})
const ofNumber = (run: (one: number) => number): FilterFunction => ({
  takes: ['number'],
  gives: 'number',
  run: ([one]) => run(number(one)),
})
/** Of a time: the part of its beginning, in UTC. */
const ofTime = (run: (date: Date) => Value, gives: ValueKind = 'number'): FilterFunction => ({
  takes: ['time'],
  gives,
  run: ([time]) => {
    const date = new Date(time instanceof TimeSpan ? time.fromMs : Number.NaN)
    return Number.isNaN(date.getTime()) ? undefined : run(date)
  },
})
const ofTimes = (run: (one: TimeSpan, other: TimeSpan) => boolean): FilterFunction => ({
  takes: ['time', 'time'],
  gives: 'boolean',
  run: ([one, other]) => one instanceof TimeSpan && other instanceof TimeSpan && run(one, other),
})
const ofPlaces = (run: (one: Geometry, other: Geometry) => Value, gives: ValueKind = 'boolean'): FilterFunction => ({
  takes: ['place', 'place'],
  gives,
  run: ([one, other]) => (one instanceof GeoPlace && other instanceof GeoPlace ? run(one.geometry, other.geometry) : undefined),
})

const meet = (one: Geometry, other: Geometry): boolean => {
  if (other.type === 'Polygon') return touches(one, { polygon: other.coordinates })
  return one.type === 'Polygon' && touches(other, { polygon: one.coordinates })
}

const lies = (one: Geometry, other: Geometry): boolean =>
  other.type === 'Polygon' &&
  positionsOf(one).every(position => touches({ type: 'Point', coordinates: position }, { polygon: other.coordinates }))

const apart = (one: Geometry, other: Geometry): number => {
  const others = positionsOf(other)
  return Math.min(...positionsOf(one).flatMap(position => others.map(place => metresBetween(position, place))))
}

/** The functions that filters may use, by their names in lower case. */
export const functions: ReadonlyMap<string, FilterFunction> = new Map<string, FilterFunction>([
  ['substringof', ofTexts((part, whole) => whole.includes(part))],
  ['contains', ofTexts((whole, part) => whole.includes(part))],
  ['startswith', ofTexts((whole, part) => whole.startsWith(part))],
  ['endswith', ofTexts((whole, part) => whole.endsWith(part))],
  ['indexof', ofTexts((whole, part) => whole.indexOf(part), 'number')],
  ['concat', ofTexts((one, other) => one + other, 'text')],
  ['length', ofText(one => one.length, 'number')],
  ['tolower', ofText(one => one.toLowerCase())],
  ['toupper', ofText(one => one.toUpperCase())],
  ['trim', ofText(one => one.trim())],
  [
    'substring',
    {
      takes: ['text', 'number', 'number'],
      isLastOptional: true,
      gives: 'text',
      run: ([one, from, length]) => {
        const start = Math.max(0, number(from))
        return text(one).slice(start, length === undefined ? undefined : start + Math.max(0, number(length)))
      },
    },
  ],
  ['round', ofNumber(one => Math.sign(one) * Math.round(Math.abs(one)))],
  ['floor', ofNumber(Math.floor)],
  ['ceiling', ofNumber(Math.ceil)],
  ['year', ofTime(date => date.getUTCFullYear())],
  ['month', ofTime(date => date.getUTCMonth() + 1)],
  ['day', ofTime(date => date.getUTCDate())],
  ['hour', ofTime(date => date.getUTCHours())],
  ['minute', ofTime(date => date.getUTCMinutes())],
  ['second', ofTime(date => date.getUTCSeconds())],
  ['fractionalseconds', ofTime(date => date.getUTCMilliseconds() / 1000)],
  ['totaloffsetminutes', ofTime(() => 0)],
  ['date', ofTime(date => date.toISOString().slice(0, 10), 'text')],
  ['time', ofTime(date => date.toISOString().slice(11, 23), 'time of day')],
  ['before', ofTimes((one, other) => one.toMs < other.fromMs)],
  ['after', ofTimes((one, other) => one.fromMs > other.toMs)],
  ['meets', ofTimes((one, other) => one.toMs === other.fromMs || one.fromMs === other.toMs)],
  ['during', ofTimes((one, other) => one.fromMs >= other.fromMs && one.toMs <= other.toMs)],
  ['overlaps', ofTimes((one, other) => one.fromMs <= other.toMs && one.toMs >= other.fromMs)],
  ['starts', ofTimes((one, other) => one.fromMs === other.fromMs)],
  ['finishes', ofTimes((one, other) => one.toMs === other.toMs)],
  ['st_within', ofPlaces(lies)],
  ['st_intersects', ofPlaces(meet)],
  ['geo.intersects', ofPlaces(meet)],
  ['st_disjoint', ofPlaces((one, other) => !meet(one, other))],
  ['geo.distance', ofPlaces(apart, 'number')],
  ['st_distance', ofPlaces(apart, 'number')],
])
