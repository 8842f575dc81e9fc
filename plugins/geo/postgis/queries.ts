import { checkGeoFilter, checkGeoIds, type GeoAfter, type GeoFilter, type GeoSort, type StreamStatistics } from 'pounce/sdk/geo'
import { boxesOf } from './areas.ts'
import { conditionsOf, type Narrowed, SqlParameters, type Statement, streamsCondition } from './conditions.ts'
import { pointColumns, pointText } from './cursor.ts'
import { type PostgisConnection, type TextRow, withRetry } from './postgis-connection.ts'

/** More streams than this are not selected by their boxes, nor queried one by one. */
const maxStreams = { candidates: 1000, apart: 100 }

/** Maximum ratio of a stream's box to an area, in width and height, at which its points need no lookup by shape. */
const nearby = 2

/** The filter with the streams that may have matching points; undefined when none can. */
export const narrowed = async (server: PostgisConnection, filter: GeoFilter): Promise<Narrowed | undefined> => {
  checkGeoFilter(filter)
  const { streams, areas } = filter
  if (streams?.length === 0) return undefined
  if (!areas) return filter
  const binds = new SqlParameters()
  const boxes = areas.flatMap(boxesOf)
  const places = boxes.map(([west, south, east, north]) => {
    const [w, s, e, n] = [west, south, east, north].map(degrees => binds.add(degrees, 'float8'))
    return `(west <= ${e} and east >= ${w} and south <= ${n} and north >= ${s})`
  })
  const own = streams ? `${streamsCondition(streams, binds)} and ` : ''
  const text = `select stream, east - west, north - south from streams where ${own}count > 0 and (${places.join(' or ')}) limit ${maxStreams.candidates + 1}`
  // Most have one box, in the same form.
  const name = boxes.length === 1 && !streams ? 'streams-in-box' : undefined
  const found = (await server.query(text, binds.values, name)).map(row => row.map(Number) as [number, number, number])
  if (found.length === 0) return undefined
  if (found.length > maxStreams.candidates) return filter
  const width = Math.max(...boxes.map(([west, , east]) => east - west)) * nearby
  const height = Math.max(...boxes.map(([, south, , north]) => north - south)) * nearby
  const areShapesNear = found.every(([, wide, high]) => wide <= width && high <= height)
  return { ...filter, streams: found.map(([stream]) => stream), areShapesNear }
}

const columnsOf = (by: GeoSort['by']): readonly string[] => (by === 'stream' ? ['stream', 'start_ms', 'id'] : ['start_ms', 'id'])

const afterCondition = ({ by, order }: GeoSort, after: GeoAfter, binds: SqlParameters): string => {
  const { id, stream, startMs } = after
  const values = (by === 'stream' ? [stream, startMs, id] : [startMs, id]).map(value => binds.add(value, 'bigint'))
  return `(${columnsOf(by).join(', ')}) ${order === 'ascending' ? '>' : '<'} (${values.join(', ')})`
}

export const ascending: GeoSort = { by: 'start', order: 'ascending' }

/** Matching points in order, optionally after one of them and with a limit. */
export const pointsStatement = (filter: Narrowed, sort: GeoSort, after?: GeoAfter, limit?: number): Statement => {
  const binds = new SqlParameters()
  const { streams } = filter
  const conditions = [...conditionsOf(filter, binds), ...(after ? [afterCondition(sort, after, binds)] : [])]
  const order = `order by ${columnsOf(sort.by)
    .map(column => `${column} ${sort.order === 'ascending' ? 'asc' : 'desc'}`)
    .join(', ')}`
  const end = limit === undefined ? '' : ` limit ${binds.add(limit, 'bigint')}`
  // Texts are built only from the rows left after sorting and limiting.
  const printed = (found: string): Statement => ({ text: `select ${pointText('p')} from (${found}) p ${order}`, values: binds.values })
  // The first points of each stream are found in its index; those of many streams at once would all be read and sorted.
  if (streams && limit !== undefined && sort.by === 'start' && streams.length > 1 && streams.length <= maxStreams.apart) {
    const where = ['stream = s.number', ...conditions].join(' and ')
    const each = `select ${pointColumns} from points where ${where} ${order}${end}`
    const numbers = binds.numbers([...new Set(streams)])
    return printed(`select f.* from unnest(${numbers}) as s (number) cross join lateral (${each}) f ${order}${end}`)
  }
  const all = [...(streams ? [streamsCondition(streams, binds)] : []), ...conditions]
  const where = all.length > 0 ? ` where ${all.join(' and ')}` : ''
  return printed(`select ${pointColumns} from points${where} ${order}${end}`)
}

/** Number of matching points, up to a limit. */
export const countStatement = (filter: Narrowed, upTo: number): Statement => {
  const binds = new SqlParameters()
  const { streams } = filter
  const conditions = conditionsOf(filter, binds)
  const own = streams ? [streamsCondition(streams, binds)] : []
  const where = [...own, ...conditions].join(' and ') || 'true'
  // Without further conditions it is already known.
  if (conditions.length === 0) return { text: `select coalesce(sum(count), 0) from streams where ${where}`, values: binds.values }
  const text = `select count(*) from (select from points where ${where} limit ${binds.add(upTo, 'bigint')}) found`
  return { text, values: binds.values }
}

const text = `
select s.stream, s.count, s.first_start_ms, s.last_end_ms, s.west, s.south, s.east, s.north, s.is_stale,
  to_jsonb(array(select n.name from unnest(s.names) as n (name) order by n.name collate "C" limit 1000))
from streams s where s.stream = any($1::bigint[]) and s.count > 0`

const statisticsOf = ([, count, first, last, west, south, east, north, , names]: TextRow): StreamStatistics => ({
  count: Number(count),
  firstStartMs: Number(first),
  lastEndMs: last === null || last === undefined ? null : Number(last),
  properties: JSON.parse(names ?? '[]') as readonly string[],
  box: [Number(west), Number(south), Number(east), Number(north)],
})

/** Recomputes the statistics of a stream after a removal. The lock on the stream's row keeps inserts from being seen in part. */
const refresh = (server: PostgisConnection, stream: string): Promise<void> =>
  server.transaction(async run => {
    const stale = await run('select from streams where stream = $1::bigint and is_stale for update', [stream])
    if (stale.length === 0) return
    await run(
      `update streams set (first_start_ms, last_end_ms, west, south, east, north, names, is_stale) = (
         select min(start_ms), max(end_ms), min(ST_XMin(shape)), min(ST_YMin(shape)), max(ST_XMax(shape)), max(ST_YMax(shape)), array(
           select distinct k.name collate "C" from points p cross join jsonb_object_keys(p.properties) as k (name) where p.stream = $1::bigint
           order by 1 limit 1000), false
         from points where stream = $1::bigint)
       where stream = $1::bigint`,
      [stream],
    )
  })

/** Statistics of streams that have points. */
export const readStatistics = async (
  server: PostgisConnection,
  streams: readonly number[],
): Promise<ReadonlyMap<number, StreamStatistics>> => {
  checkGeoIds(streams, 'streams', 1000)
  if (streams.length === 0) return new Map()
  const read = () => server.query(text, [`{${streams.join(',')}}`], 'statistics')
  let rows = await read()
  const stale = rows.filter(row => row[8] === 't').map(([stream]) => stream ?? '')
  for (const stream of stale) await withRetry(() => refresh(server, stream))
  if (stale.length > 0) rows = await read()
  return new Map(rows.map(row => [Number(row[0]), statisticsOf(row)]))
}
