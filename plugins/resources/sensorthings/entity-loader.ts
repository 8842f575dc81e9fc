import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Caller, GeoStore, Policy, Sensors, Stored, Streams } from 'pounce/sdk'
import { type Datapoint, geoNumberOf, type SensorRecord, type StreamRecord, type StreamStatistics } from 'pounce/sdk/geo'

/**
 * A few at a time, and once they have taken `stintMs` together it is the turn of other requests: what resolves at once would else be one turn,
 * however often one request needs it.
 */
export const inTurns = <Q, A>(together: number, stintMs: number, work: (question: Q) => Promise<A>): ((question: Q) => Promise<A>) => {
  const waiting: (() => void)[] = []
  let running = 0
  let untilMs = performance.now() + stintMs
  const begin = async (): Promise<void> => {
    if (running >= together) await new Promise<void>(resolve => waiting.push(resolve))
    else running += 1
    while (performance.now() > untilMs) {
      await nextTurn()
      untilMs = Math.max(untilMs, performance.now() + stintMs)
    }
  }
  const end = (): void => {
    // The place of the one that ends is the next one's.
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }
  return async question => {
    await begin()
    try {
      return await work(question)
    } finally {
      end()
    }
  }
}

interface Batch<K, V> {
  readonly keys: K[]
  readonly values: Promise<ReadonlyMap<K, V>>
}

/** Gathers the keys of one turn, and loads `most` of them at once, each key once. What `many` does not find is undefined. */
export const batched = <K, V>(
  most: number,
  many: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>,
): ((key: K) => Promise<V | undefined>) => {
  const known = new Map<K, Promise<V | undefined>>()
  let open: Batch<K, V> | undefined
  const begin = (): Batch<K, V> => {
    const keys: K[] = []
    const values = new Promise<void>(resolve => setImmediate(resolve)).then(() => {
      if (open === batch) open = undefined
      return many(keys)
    })
    const batch: Batch<K, V> = { keys, values }
    return batch
  }
  return key => {
    const found = known.get(key)
    if (found) return found
    const batch = open ?? begin()
    batch.keys.push(key)
    open = batch.keys.length < most ? batch : undefined
    const value = batch.values.then(values => values.get(key))
    known.set(key, value)
    return value
  }
}

export type StoredSensor = SensorRecord & Stored

export type StoredStream = StreamRecord & Stored

/** What the whole service has. */
export interface Ports {
  readonly sensors: Sensors
  readonly streams: Streams
  readonly geo: GeoStore
  readonly policy: Policy
  /** Without a trailing slash. */
  readonly baseUrl: string
  now(): number
}

/** The newest readings of a stream, from which the types of its parameters follow. */
export const sampled = 5

/** Pages of readings that are found at the same time, and how long they may take until others have their turn. */
const [pagesTogether, stintMs] = [3, 10]

/** Streams of one lot of sensors that are read at once. */
const mostTogether = 5000

/** The data of one request, read once. It shows nothing that the caller may not view. */
export class EntityLoader {
  readonly caller: Caller
  readonly ports: Ports
  /** The address of the service. */
  readonly root: string
  /** Undefined of a sensor that does not exist, or not for this caller. */
  readonly sensor: (id: string) => Promise<StoredSensor | undefined>
  /** Undefined of a stream that does not exist, or not for this caller. */
  readonly stream: (id: string) => Promise<StoredStream | undefined>
  readonly statistics: (stream: number) => Promise<StreamStatistics | undefined>
  /** All streams of a sensor; undefined when there are very many, to be read in pages. */
  readonly streamsOf: (sensor: string) => Promise<readonly StoredStream[] | undefined>
  readonly find: GeoStore['find']
  #newest = new Map<number, Promise<readonly Datapoint[]>>()

  constructor(caller: Caller, ports: Ports) {
    this.caller = caller
    this.ports = ports
    this.root = `${ports.baseUrl}/api/sensorthings/v1.1`
    this.sensor = batched(500, ids => this.#seen('sensor', ids, ports.sensors))
    this.stream = batched(500, ids => this.#seen('stream', ids, ports.streams))
    this.statistics = batched(1000, streams => ports.geo.statistics(streams))
    this.streamsOf = batched(500, ids => this.#streams(ids))
    this.find = inTurns(pagesTogether, stintMs, query => ports.geo.find(query))
  }

  /** The last readings by their beginning, the newest first, at most `sampled`. */
  newest(stream: StoredStream): Promise<readonly Datapoint[]> {
    const number = geoNumberOf(stream.id)
    const known = this.#newest.get(number)
    if (known) return known
    const sort = { by: 'start', order: 'descending' } as const
    const points = this.find({ filter: { streams: [number] }, sort, limit: sampled }).then(page => page.points)
    this.#newest.set(number, points)
    return points
  }

  async #seen<T extends StoredSensor | StoredStream>(
    kind: 'sensor' | 'stream',
    ids: readonly string[],
    records: { getMany(ids: readonly string[]): Promise<ReadonlyMap<string, T>> },
  ): Promise<ReadonlyMap<string, T>> {
    const [found, seen] = await Promise.all([records.getMany(ids), this.ports.policy.allowed(this.caller, 'ViewGeoStream', kind, ids)])
    return new Map([...found].filter(([id, { state }]) => state === 'live' && seen.has(id)))
  }

  async #streams(ids: readonly string[]): Promise<ReadonlyMap<string, readonly StoredStream[]>> {
    const of = new Map<string, StoredStream[]>(ids.map(id => [id, []]))
    let count = 0
    let after: Awaited<ReturnType<Streams['list']>>['next']
    do {
      const sort = { by: 'id', order: 'ascending' } as const
      const page = await this.ports.streams.list(this.caller, { sensors: ids }, { sort, limit: 1000, ...(after ? { after } : {}) })
      for (const stream of page.items) of.get(stream.sensor)?.push(stream)
      count += page.items.length
      after = page.next
      if (count > mostTogether && after) return new Map()
    } while (after)
    return of
  }
}
