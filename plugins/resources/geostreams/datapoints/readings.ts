import { GeoStore, Invalid, wire } from 'pounce/sdk'
import type { Datapoint, GeoAfter, GeoFilter, GeoSort } from 'pounce/sdk/geo'
import { type StreamOwner, type StreamSensors, StreamSensorsFactory } from './stream-sensors.ts'

/** Datapoints with the sensors of their streams. A datapoint whose stream has lost its sensor is omitted from responses. */
export interface DatapointChunk {
  readonly points: readonly Datapoint[]
  readonly owners: ReadonlyMap<number, StreamOwner | undefined>
}

/** A query for all datapoints, or for a page. */
export interface DatapointQuery {
  readonly filter: GeoFilter
  readonly sort: GeoSort
  readonly page?: { readonly limit: number; readonly after?: GeoAfter }
}

/** The result. */
export interface Answered {
  /** The first datapoints of the result, at most 1,000. */
  readonly first: readonly Datapoint[]
  /** True if there are no others, or a page was requested. */
  readonly isWhole: boolean
  pieces(): AsyncIterable<DatapointChunk>
  /** The cursor of the next page, if there is one. */
  readonly next?: string
}

/** Maximum number of datapoints that a store returns at once: smaller results need no streaming. */
const maxUnstreamed = 1000

const afterForm = /^(-?\d{1,15})_(\d{1,16})_(\d{1,16})$/

/** Parses the cursor `after` of a `Link` header. */
export const readGeoAfter = (text: string): GeoAfter => {
  const [, startMs, stream, id] = afterForm.exec(text) ?? []
  if (id === undefined) throw new Invalid('after must be a cursor from a Link header')
  return { startMs: Number(startMs), stream: Number(stream), id: Number(id) }
}

/** Reads datapoints for queries. */
export class ReadingsStore {
  readonly geo: GeoStore
  #owners: StreamSensorsFactory

  constructor(geo: GeoStore, owners: StreamSensorsFactory) {
    this.geo = geo
    this.#owners = owners
  }

  async ask({ filter, sort, page }: DatapointQuery): Promise<Answered> {
    const owners = this.#owners.begin()
    const { points, next } = await this.geo.find({ filter, sort, ...(page ?? { limit: maxUnstreamed }) })
    const isWhole = page !== undefined || next === undefined
    const known = await owners.of(points.map(({ stream }) => stream))
    const first = points.filter(({ stream }) => known.get(stream) !== undefined)
    const answered = { first, isWhole, pieces: () => joined(isWhole ? [points] : this.geo.read({ filter, sort }), owners) }
    return page && next ? { ...answered, next: [next.startMs, next.stream, next.id].join('_') } : answered
  }

  /** One datapoint; undefined when it, its stream or its sensor is deleted. */
  async one(id: number): Promise<{ readonly point: Datapoint; readonly owner: StreamOwner } | undefined> {
    const point = await this.geo.get(id)
    if (!point) return undefined
    const owner = (await this.#owners.begin().of([point.stream])).get(point.stream)
    return owner && { point, owner }
  }
}
wire(ReadingsStore, GeoStore, StreamSensorsFactory)

async function* joined(
  pieces: AsyncIterable<readonly Datapoint[]> | Iterable<readonly Datapoint[]>,
  owners: StreamSensors,
): AsyncGenerator<DatapointChunk> {
  for await (const points of pieces) {
    yield { points, owners: await owners.of(points.map(({ stream }) => stream)) }
  }
}
