import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Caller, GeoStore, Policy, Sensors, Stored, Streams } from 'pounce/sdk'
import { type Datapoint, geoNumberOf, type SensorRecord, type StreamRecord, type StreamStatistics } from 'pounce/sdk/geo'

/**
 * Limits concurrency, and yields to other requests after `stintMs` of combined work: work that resolves immediately would otherwise run in
 * a single turn, regardless of how much one request needs.
 */
export const inTurns = <Q, A>(together: number, stintMs: number, work: (request: Q) => Promise<A>): ((request: Q) => Promise<A>) => {
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
    // The next one takes over the slot.
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }
  return async request => {
    await begin()
    try {
      return await work(request)
    } finally {
      end()
    }
  }
}

interface Batch<K, V> {
  readonly keys: K[]
  readonly values: Promise<ReadonlyMap<K, V>>
}

/**
 * Collects the keys requested in one turn, and loads them in batches of `batchSize`, each key once. Keys that `many` does not find are
 * undefined.
 */
export const batched = <K, V>(
  batchSize: number,
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
    open = batch.keys.length < batchSize ? batch : undefined
    const value = batch.values.then(values => values.get(key))
    known.set(key, value)
    return value
  }
}

export type StoredSensor = SensorRecord & Stored

export type StoredStream = StreamRecord & Stored

/** The dependencies of the service. */
export interface Ports {
  readonly sensors: Sensors
  readonly streams: Streams
  readonly geo: GeoStore
  readonly policy: Policy
  /** Without a trailing slash. */
  readonly baseUrl: string
  now(): number
}

/** Number of the newest datapoints of a stream from which the types of its parameters are determined. */
export const sampled = 5

/** Number of pages of datapoints that are read concurrently, and how long they may take before the event loop is yielded. */
const [pagesTogether, stintMs] = [3, 10]

/** Maximum number of streams that are read at once for a batch of sensors. */
const maxTogether = 5000

/** The data of one request, each record read once. Contains nothing that the caller may not view. */
export class EntityLoader {
  readonly caller: Caller
  readonly ports: Ports
  /** The base URL of the service. */
  readonly root: string
  /** Undefined for a sensor that is missing or hidden from the caller. */
  readonly sensor: (id: string) => Promise<StoredSensor | undefined>
  /** Undefined for a stream that is missing or hidden from the caller. */
  readonly stream: (id: string) => Promise<StoredStream | undefined>
  readonly statistics: (stream: number) => Promise<StreamStatistics | undefined>
  /** All streams of a sensor; undefined when there are too many, which are then read in pages. */
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

  /** The newest datapoints by start, at most `sampled`. */
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
      if (count > maxTogether && after) return new Map()
    } while (after)
    return of
  }
}
