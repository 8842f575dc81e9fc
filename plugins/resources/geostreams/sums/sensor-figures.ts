import type { Datapoint, GeoBin, GeoFilter, GeoStore, Json } from 'pounce/sdk'
import { hasAttribute } from 'pounce/sdk/geo'
import type { Sums } from './bin-entry.ts'
import type { SensorPart } from './chosen-sensors.ts'

type Filter = Omit<GeoFilter, 'streams'>

/** What is known of all readings of a sensor that were chosen. */
export interface SensorFigures {
  /** The one that starts first. */
  readonly first: Datapoint
  readonly endMs: number
  /** Those with readings, in the order that they were made in. */
  readonly streams: readonly number[]
  /** Of each property that is a number somewhere. */
  readonly numbers: ReadonlyMap<string, Sums>
  /** The first value of each other property. */
  readonly others: ReadonlyMap<string, Json>
}

const add = (known: Sums | undefined, { count, sum, min, max }: Sums): Sums =>
  known
    ? { count: known.count + count, sum: known.sum + sum, min: Math.min(known.min, min), max: Math.max(known.max, max) }
    : { count, sum, min, max }

/** The numbers of each property, all streams together. */
export const numbersOf = async (
  store: GeoStore,
  filter: GeoFilter,
  shown: ReadonlySet<string> | undefined,
  seen: (bin: GeoBin) => void = () => undefined,
): Promise<ReadonlyMap<string, Sums>> => {
  const numbers = new Map<string, Sums>()
  const binning = { time: 'all', ...(shown ? { properties: [...shown] } : {}) } as const
  for await (const piece of store.bins({ filter, binning }))
    for (const bin of piece) {
      numbers.set(bin.property, add(numbers.get(bin.property), bin))
      seen(bin)
    }
  return numbers
}

/** Sums up what a sensor's readings tell; undefined when none fits. */
export const sensorFigures = async (
  store: GeoStore,
  part: SensorPart,
  asked: Filter,
  shown: ReadonlySet<string> | undefined,
): Promise<SensorFigures | undefined> => {
  const filter = { ...asked, streams: part.streams }
  const [first] = (await store.find({ filter, limit: 1 })).points
  const [last] = (await store.find({ filter, limit: 1, sort: { by: 'start', order: 'descending' } })).points
  if (!first || !last) return undefined
  let endMs = Math.max(first.endMs ?? first.startMs, last.endMs ?? last.startMs)
  const streams = new Set([first.stream, last.stream])
  const numbers = await numbersOf(store, filter, shown, ({ stream, toMs }) => {
    endMs = Math.max(endMs, toMs)
    streams.add(stream)
  })
  for (const stream of part.streams)
    if (!streams.has(stream) && (await store.count({ ...asked, streams: [stream] }, 1)) > 0) streams.add(stream)
  const others = await firstValues(store, filter, first, name => (shown?.has(name) ?? true) && !numbers.has(name), part)
  return { first, endMs, streams: [...streams].sort((one, other) => one - other), numbers, others }
}

/** The first reading has most of them; of each of the others, the first reading that has it is looked for. */
const firstValues = async (
  store: GeoStore,
  filter: GeoFilter,
  first: Datapoint,
  isWanted: (name: string) => boolean,
  { properties }: SensorPart,
): Promise<ReadonlyMap<string, Json>> => {
  const values = new Map<string, Json>()
  for (const name of [...properties].filter(isWanted)) {
    const value = Object.hasOwn(first.properties, name) ? first.properties[name] : (await firstWith(store, filter, name))?.properties[name]
    if (value !== undefined) values.set(name, value)
  }
  return values
}

const firstWith = async (store: GeoStore, filter: GeoFilter, name: string): Promise<Datapoint | undefined> => {
  const { attributes } = filter
  const isWanted = ({ properties }: Datapoint): boolean => !attributes || attributes.some(each => hasAttribute(properties, each))
  // Attributes are alternatives, so the store looks for this one alone.
  const query = { filter: { ...filter, attributes: [{ key: name }] } }
  const [found] = (await store.find({ ...query, limit: 1 })).points
  if (!found || isWanted(found)) return found
  for await (const points of store.read(query)) {
    const fitting = points.find(isWanted)
    if (fitting) return fitting
  }
  return undefined
}
