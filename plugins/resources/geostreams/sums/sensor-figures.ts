import type { Datapoint, GeoBin, GeoFilter, GeoStore, Json } from 'pounce/sdk'
import { hasAttribute } from 'pounce/sdk/geo'
import type { Sums } from './bin-entry.ts'
import type { SensorPart } from './selected-sensors.ts'

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

const namesAtOnce = 100
/** Most names are in the first readings; whatever is not is looked for in larger pages. */
const [fewPoints, manyPoints] = [16, 1000]

/** The first value of each name that is wanted: most are in the first reading, the others in the first one that has them. */
const firstValues = async (
  store: GeoStore,
  filter: GeoFilter,
  first: Datapoint,
  isWanted: (name: string) => boolean,
  { properties }: SensorPart,
): Promise<ReadonlyMap<string, Json>> => {
  const names = [...properties].filter(isWanted)
  const values = new Map(names.flatMap(name => valueIn(first, name)))
  const missing = names.filter(name => !values.has(name))
  for (let at = 0; at < missing.length; at += namesAtOnce) {
    const some = missing.slice(at, at + namesAtOnce)
    for (const [name, value] of await looked(store, filter, some)) values.set(name, value)
  }
  return new Map(names.flatMap(name => (values.has(name) ? [[name, values.get(name) ?? null] as const] : [])))
}

const valueIn = ({ properties }: Datapoint, name: string): readonly (readonly [string, Json])[] =>
  Object.hasOwn(properties, name) ? [[name, properties[name] ?? null]] : []

const looked = async (store: GeoStore, filter: GeoFilter, names: readonly string[]): Promise<ReadonlyMap<string, Json>> => {
  const values = new Map<string, Json>()
  // Attributes are alternatives: the store looks for the names, and those of the question are looked at here.
  const { attributes: asked } = filter
  let query = { filter: { ...filter, attributes: names.map(key => ({ key })) }, limit: fewPoints }
  for (;;) {
    const { points, next } = await store.find(query)
    for (const point of points)
      if (!asked || asked.some(each => hasAttribute(point.properties, each)))
        for (const name of names) if (!values.has(name)) for (const [, value] of valueIn(point, name)) values.set(name, value)
    if (!next || values.size === names.length) return values
    query = { ...query, ...{ after: next }, limit: manyPoints }
  }
}
