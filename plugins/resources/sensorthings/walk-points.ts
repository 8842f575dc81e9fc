import { Invalid } from 'pounce/sdk'
import { type Datapoint, type GeoFilter, type GeoSort, geoNumberOf, streamIdOf } from 'pounce/sdk/geo'
import type { EntityCursor, EntityOrder, Hints } from './entity.ts'
import { type EntityLoader, sampled } from './entity-loader.ts'
import type { RecordBatch, ScannedRecord, StreamParameter } from './walk-records.ts'

/** One value of a datapoint. */
export interface Observed {
  readonly point: Datapoint
  readonly parameter: string
}

interface PointWalk {
  readonly order: EntityOrder | undefined
  readonly hints: Hints
  readonly after?: EntityCursor
  readonly wanted: number
}

type After = NonNullable<Parameters<EntityLoader['find']>[0]['after']>

const readCursor = (cursor: EntityCursor): After & { readonly parameter?: string } => {
  const [id, stream, startMs, parameter] = cursor
  const isRight = Number.isSafeInteger(id) && Number.isSafeInteger(stream) && Number.isSafeInteger(startMs)
  if (!isRight || Number(id) < 1 || Number(stream) < 1) throw new Invalid('$skiptoken must come from @iot.nextLink')
  const after = { id: Number(id), stream: Number(stream), startMs: Number(startMs) }
  return typeof parameter === 'string' ? { ...after, parameter } : after
}

const cursorOf = ({ id, stream, startMs }: After): EntityCursor => [id, stream, startMs]

const farthestMs = 253_402_300_799_999

/** The part of a filter that the store evaluates. */
const timesOf = ({ fromMs, toMs }: Hints): Pick<GeoFilter, 'fromMs' | 'beforeMs'> | 'none' => {
  const [from, before] = [fromMs === undefined ? undefined : Math.ceil(fromMs), toMs === undefined ? undefined : Math.floor(toMs) + 1]
  if ((from !== undefined && from > farthestMs) || (before !== undefined && before <= -62_135_596_800_000)) return 'none'
  return {
    ...(from === undefined || from < -62_135_596_800_000 ? {} : { fromMs: from }),
    ...(before === undefined || before > farthestMs ? {} : { beforeMs: before }),
  }
}

interface QueryOptions {
  readonly filter: GeoFilter
  readonly sort: GeoSort
  readonly after?: After
  readonly wanted: number
}

/** Reads pages lazily, the first with the needed size. */
async function* paged(loader: EntityLoader, { filter, sort, after, wanted }: QueryOptions): AsyncGenerator<readonly Datapoint[]> {
  let next = after
  let limit = Math.max(1, Math.min(wanted, 1000))
  do {
    const page = await loader.find({ filter, sort, limit, ...(next ? { after: next } : {}) })
    yield page.points
    next = page.next
    limit = Math.min(1000, Math.max(100, limit * 4))
  } while (next)
}

const orderOf = (order: EntityOrder | undefined): GeoSort['order'] => (order?.isDescending ? 'descending' : 'ascending')

/** Without a known end, no datapoint of the stream has one. */
const withEnds = (hints: Hints, { statistics }: StreamParameter): Hints => {
  if (statistics.lastEndMs !== null || hints.endsFromMs === undefined) return hints
  return { ...hints, fromMs: Math.max(hints.endsFromMs, hints.fromMs ?? hints.endsFromMs) }
}

/** The values of one parameter of one stream, by start of the datapoints. Datapoints without it are skipped. */
export async function* walkObserved(
  loader: EntityLoader,
  measured: StreamParameter,
  walk: PointWalk,
): AsyncGenerator<RecordBatch<Observed>> {
  const { parameter, stream } = measured
  const times = timesOf(withEnds(walk.hints, measured))
  if (times === 'none') return
  const show = (point: Datapoint): ScannedRecord<Observed> =>
    Object.hasOwn(point.properties, parameter) ? { item: { point, parameter }, cursor: cursorOf(point) } : { cursor: cursorOf(point) }
  let after: After | undefined = walk.after && readCursor(walk.after)
  if (!after && walk.order?.isDescending && Object.keys(times).length === 0) {
    // The newest datapoints are loaded already, once for all parameters of the stream.
    const newest = await loader.newest(stream)
    yield newest.map(show)
    if (newest.length < sampled) return
    after = newest.at(-1)
  }
  const sort = { by: 'start', order: orderOf(walk.order) } as const
  const filter = { streams: [geoNumberOf(stream.id)], ...times }
  for await (const points of paged(loader, { filter, sort, wanted: walk.wanted, ...(after ? { after } : {}) })) yield points.map(show)
}

/** The property names of a datapoint, by code point. */
export const namesOf = ({ properties }: Datapoint): readonly string[] => Object.keys(properties).sort()

/** All datapoints that the caller may view: by stream and start, or by start if an order is requested. */
export async function* walkPoints(loader: EntityLoader, walk: PointWalk): AsyncGenerator<RecordBatch<Datapoint>> {
  const times = timesOf(walk.hints)
  if (times === 'none') return
  const streams = await loader.ports.streams.chosen(loader.caller, {})
  const sort = { by: walk.order ? 'start' : 'stream', order: orderOf(walk.order) } as const
  const after = walk.after && readCursor(walk.after)
  const filter = { ...(streams ? { streams } : {}), ...times }
  for await (const points of paged(loader, { filter, sort, wanted: walk.wanted, ...(after ? { after } : {}) })) {
    // Datapoints may outlive their stream for a while.
    const known = streams ? undefined : await Promise.all(points.map(({ stream }) => loader.stream(streamIdOf(stream))))
    yield points.map((item, at) => (known && !known[at] ? { cursor: cursorOf(item) } : { item, cursor: cursorOf(item) }))
  }
}

/** A datapoint of a stream that the caller may view. */
export const seenPoint = async (loader: EntityLoader, id: number): Promise<Datapoint | undefined> => {
  const point = await loader.ports.geo.get(id)
  return point && (await loader.stream(streamIdOf(point.stream))) ? point : undefined
}

const observedIn = ({ item: point, cursor }: ScannedRecord<Datapoint>): RecordBatch<Observed> => {
  const names = point ? namesOf(point) : []
  if (!point || names.length === 0) return [{ cursor }]
  return names.map(parameter => ({ item: { point, parameter }, cursor: [...cursor, parameter] }))
}

/** All values of all datapoints that the caller may view. */
export async function* walkAllObserved(loader: EntityLoader, walk: PointWalk): AsyncGenerator<RecordBatch<Observed>> {
  const after = walk.after && readCursor(walk.after)
  const last = after?.parameter
  if (after && last !== undefined) {
    const item = await seenPoint(loader, after.id)
    if (item) yield observedIn({ item, cursor: cursorOf(item) }).filter(each => each.item && each.item.parameter > last)
  }
  for await (const points of walkPoints(loader, walk)) yield points.flatMap(observedIn)
}
