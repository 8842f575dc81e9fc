import type { Datapoint, GeoPosition } from 'pounce/sdk/geo'

/** Part of the Earth, as a question of whether a place is in it. */
export type Area = (longitude: number, latitude: number) => boolean

const dayMs = 86_400_000
const earthMetres = 6_371_008.8
const radians = (degrees: number): number => (degrees * Math.PI) / 180

/** By the haversine formula. */
export const metresApart = ([x1, y1]: GeoPosition, [x2, y2]: GeoPosition): number => {
  const [north, east] = [radians((y2 ?? 0) - (y1 ?? 0)) / 2, radians((x2 ?? 0) - (x1 ?? 0)) / 2]
  const chord = Math.sin(north) ** 2 + Math.cos(radians(y1 ?? 0)) * Math.cos(radians(y2 ?? 0)) * Math.sin(east) ** 2
  return 2 * earthMetres * Math.asin(Math.sqrt(chord))
}

/** By the number of edges that a ray to the east crosses. */
export const inside =
  (ring: readonly (readonly [longitude: number, latitude: number])[]): Area =>
  (longitude, latitude) =>
    ring.reduce((isIn, [x1, y1], at) => {
      const [x2, y2] = ring[(at + 1) % ring.length] ?? [x1, y1]
      if (y1 > latitude === y2 > latitude) return isIn
      return longitude < ((x2 - x1) * (latitude - y1)) / (y2 - y1) + x1 ? !isIn : isIn
    }, false)

const steps = 50

/** Places of a geometry, close to each other. */
const placesOf = ({ geometry }: Datapoint): readonly GeoPosition[] => {
  if (geometry.type === 'Point') return [geometry.coordinates]
  const line = geometry.type === 'LineString' ? geometry.coordinates : geometry.type === 'Polygon' ? (geometry.coordinates[0] ?? []) : []
  if (line.length === 0) throw new Error(`The stations have no ${geometry.type}`)
  return line.slice(1).flatMap(([x2 = 0, y2 = 0], at) => {
    const [x1 = 0, y1 = 0] = line[at] ?? []
    return Array.from({ length: steps + 1 }, (_, step) => [x1 + ((x2 - x1) * step) / steps, y1 + ((y2 - y1) * step) / steps])
  })
}

/** True of a reading some of whose place is in the area. */
export const touchesArea = (reading: Datapoint, area: Area): boolean =>
  placesOf(reading).some(([longitude, latitude]) => area(longitude ?? 0, latitude ?? 0))

const two = (number: number): string => String(number).padStart(2, '0')
const names = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December']

const parts = (ms: number) => {
  const date = new Date(ms)
  return { year: date.getUTCFullYear(), month: date.getUTCMonth(), day: date.getUTCDate(), hour: date.getUTCHours() }
}

/** What Clowder 1.x calls the span that holds a moment. */
export const labels = {
  day: (ms: number): string => {
    const { year, month, day } = parts(ms)
    return `${year}-${two(month + 1)}-${two(day)}`
  },
  month: (ms: number): string => {
    const { year, month } = parts(ms)
    return `${year} ${names[month]}`
  },
  season: (ms: number): string => {
    const { year, month, day } = parts(ms)
    const of = (month + 1) * 100 + day
    return `${year} ${of < 321 ? 'winter' : of < 621 ? 'spring' : of < 921 ? 'summer' : of < 1221 ? 'fall' : 'winter'}`
  },
  semi: (ms: number): string => `${parts(ms).year} ${parts(ms).month < 6 ? 'spring' : 'summer'}`,
  year: (ms: number): string => String(parts(ms).year),
} as const

export type Span = keyof typeof labels

/** Labels of all spans that a reading is in, each once: its end does not enter the one that begins there. */
export const labelsOf = ({ startMs, endMs }: Pick<Datapoint, 'startMs' | 'endMs'>, span: Span): ReadonlySet<string> => {
  const found = new Set([labels[span](startMs)])
  if (endMs === null) return found
  for (let at = startMs; at < endMs; at += dayMs) found.add(labels[span](at))
  if (endMs > startMs) found.add(labels[span](endMs - 1))
  return found
}

export const meanOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0) / numbers.length

/** The numbers of one property. */
export const numbersOf = (readings: readonly Datapoint[], property: string): readonly number[] =>
  readings.map(({ properties }) => properties[property]).filter(value => typeof value === 'number')

/** A bin of one property: where it is, how many numbers it holds and what they are on average. */
export interface Summed {
  readonly label: string
  readonly depth: number
  readonly code: string
  readonly numbers: number[]
}

/** One property of some readings by span, step of altitude (0: all are one) and depth code. */
export const summed = (readings: readonly Datapoint[], property: string, span: Span, step: number): ReadonlyMap<string, Summed> => {
  const found = new Map<string, Summed>()
  for (const reading of readings) {
    const value = reading.properties[property]
    if (typeof value !== 'number') continue
    const altitude = placesOf(reading)[0]?.[2] ?? 0
    const depth = step === 0 ? 0 : step * Math.ceil(altitude / step)
    const code = String(reading.properties['DEPTH_CODE'] ?? 'NA')
    for (const label of labelsOf(reading, span)) {
      const key = [label, depth, code].join('|')
      const known = found.get(key)
      if (known) known.numbers.push(value)
      else found.set(key, { label, depth, code, numbers: [value] })
    }
  }
  return found
}

/** As clients read times: to the second. */
export const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`
