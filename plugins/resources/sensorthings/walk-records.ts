import { type After, Invalid, type Page } from 'pounce/sdk'
import { type GeoListing, type GeoListPage, geoAfter, geoNumberOf, type StreamStatistics } from 'pounce/sdk/geo'
import type { EntityCursor, EntityOrder, Hints } from './entity.ts'
import type { EntityLoader, StoredSensor, StoredStream } from './entity-loader.ts'

/** One scanned record. */
export interface ScannedRecord<T> {
  readonly item?: T
  readonly cursor: EntityCursor
}

/** Records that are read together. */
export type RecordBatch<T> = readonly ScannedRecord<T>[]

/** A parameter of a stream, which corresponds to a datastream. */
export interface StreamParameter {
  readonly stream: StoredStream
  readonly parameter: string
  readonly statistics: StreamStatistics
}

const badCursor = (): Invalid => new Invalid('$skiptoken must come from @iot.nextLink')

/** The cursor of a sensor or stream: its id and name; for a stream possibly the parameter that was read last. */
const readCursor = (cursor: EntityCursor): { readonly id: string; readonly name: string; readonly parameter?: string } => {
  const [id, name, parameter] = cursor
  if (typeof id !== 'string' || !/^[0-9a-f]{24}$/.test(id) || typeof name !== 'string') throw badCursor()
  return typeof parameter === 'string' ? { id, name, parameter } : { id, name }
}

const sortOf = ({ by, isDescending }: EntityOrder): NonNullable<GeoListPage['sort']> => ({
  by: by === 'name' ? 'name' : 'id',
  order: isDescending ? 'descending' : 'ascending',
})

const listingOf = ({ areas }: Hints, name?: string): GeoListing => ({
  ...(areas === undefined ? {} : { areas }),
  ...(name === undefined ? {} : { name }),
})

interface Paged {
  readonly order: EntityOrder
  readonly after?: After
  readonly wanted: number
}

interface Records<T> {
  readonly items: readonly T[]
  /** Where to continue after an empty page that is not the last. */
  readonly cursor?: EntityCursor
}

/** Reads pages lazily, the first with the needed size. */
async function* paged<T extends StoredSensor | StoredStream>(
  list: (page: GeoListPage) => Promise<Page<T>>,
  { order, after, wanted }: Paged,
): AsyncGenerator<Records<T>> {
  const sort = sortOf(order)
  let next = after
  let limit = Math.max(1, Math.min(wanted, 1000))
  do {
    const page: Page<T> = await list({ sort, limit, ...(next ? { after: next } : {}) })
    next = page.next
    const id = next?.at(-1)
    // Very many pages may be empty, so the position after each is kept.
    yield next && page.items.length === 0
      ? { items: page.items, cursor: [String(id), order.by === 'name' ? String(next[0]) : ''] }
      : { items: page.items }
    limit = Math.min(1000, Math.max(100, limit * 2))
  } while (next)
}

/** Options of a scan over records. */
export interface RecordWalk {
  readonly order: EntityOrder
  readonly hints: Hints
  readonly after?: EntityCursor
  readonly wanted: number
}

/** Sensors that the caller may view, by id or name. */
export async function* walkSensors(
  loader: EntityLoader,
  { order, hints, after, wanted }: RecordWalk,
): AsyncGenerator<RecordBatch<StoredSensor>> {
  const start = after && geoAfter(sortOf(order).by, readCursor(after))
  const list = (page: GeoListPage) => loader.ports.sensors.list(loader.caller, listingOf(hints, hints.name), page)
  for await (const { items, cursor } of paged(list, { order, wanted, ...(start ? { after: start } : {}) })) {
    yield cursor ? [{ cursor }] : items.map(item => ({ item, cursor: [item.id, item.name] }))
  }
}

/** Restricts streams and parameters. */
export interface MeasuredScope {
  /** Id of a sensor. */
  readonly sensor?: string
  readonly parameter?: string
}

/** Parameters of streams that the caller may view: by id or name of the stream, then by name of the parameter. */
export async function* walkMeasured(
  loader: EntityLoader,
  scope: MeasuredScope,
  walk: RecordWalk,
): AsyncGenerator<RecordBatch<StreamParameter>> {
  const { order, after, wanted } = walk
  const start = after && readCursor(after)
  if (start?.parameter !== undefined) {
    const stream = await loader.stream(start.id)
    if (stream) yield await measuredOf(loader, [stream], scope, order, start.parameter)
  }
  const whole = scope.sensor === undefined ? undefined : await loader.streamsOf(scope.sensor)
  if (whole) return yield await measuredOf(loader, behind(sorted(whole, order), start, order), scope, order)
  const listing = { ...listingOf(walk.hints, streamNamed(walk.hints)), ...(scope.sensor === undefined ? {} : { sensors: [scope.sensor] }) }
  const list = (page: GeoListPage) => loader.ports.streams.list(loader.caller, listing, page)
  for await (const { items, cursor } of paged(list, { order, wanted, ...(start ? { after: geoAfter(sortOf(order).by, start) } : {}) })) {
    yield cursor ? [{ cursor }] : await measuredOf(loader, items, scope, order)
  }
}

/** The name of the stream within that of a datastream, if it is unambiguous. */
const streamNamed = ({ name }: Hints): string | undefined => {
  const parts = name?.split(': ')
  return parts?.length === 2 ? parts[0] : undefined
}

const rank = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

const sorted = (streams: readonly StoredStream[], { by, isDescending }: EntityOrder): readonly StoredStream[] => {
  const ascending = streams.toSorted((one, other) => (by === 'name' ? rank(one.name, other.name) : 0) || rank(one.id, other.id))
  return isDescending ? ascending.toReversed() : ascending
}

const behind = (
  streams: readonly StoredStream[],
  start: { readonly id: string; readonly name: string } | undefined,
  { by, isDescending }: EntityOrder,
): readonly StoredStream[] => {
  if (!start) return streams
  return streams.filter(({ id, name }) => {
    const place = (by === 'name' ? rank(name, start.name) : 0) || rank(id, start.id)
    return isDescending ? place < 0 : place > 0
  })
}

const measuredOf = async (
  loader: EntityLoader,
  streams: readonly StoredStream[],
  { parameter: only }: MeasuredScope,
  { isDescending }: EntityOrder,
  last?: string,
): Promise<RecordBatch<StreamParameter>> => {
  const isLeft = (name: string): boolean => last === undefined || (isDescending ? name < last : name > last)
  const lots = streams.map(async (stream): Promise<RecordBatch<StreamParameter>> => {
    const statistics = await loader.statistics(geoNumberOf(stream.id))
    const names = (statistics?.properties ?? []).filter(name => (only === undefined || name === only) && isLeft(name))
    if (!statistics || names.length === 0) return [{ cursor: [stream.id, stream.name] }]
    const inOrder = isDescending ? names.toReversed() : names
    return inOrder.map(parameter => ({ item: { stream, parameter, statistics }, cursor: [stream.id, stream.name, parameter] }))
  })
  return (await Promise.all(lots)).flat()
}

/** Maximum number of streams that are searched for parameters. */
const maxStreams = 10_000

/** The parameters of all streams that the caller may view, by code point; of the first 10,000 streams. */
export const parametersOf = async (loader: EntityLoader): Promise<readonly string[]> => {
  const names = new Set<string>()
  let count = 0
  const list = (page: GeoListPage) => loader.ports.streams.list(loader.caller, {}, page)
  for await (const { items } of paged(list, { order: { by: 'id', isDescending: false }, wanted: 1000 })) {
    const all = await loader.ports.geo.statistics(items.map(({ id }) => geoNumberOf(id)))
    for (const { properties } of all.values()) for (const name of properties) names.add(name)
    count += items.length
    if (count >= maxStreams) break
  }
  return [...names].sort()
}
