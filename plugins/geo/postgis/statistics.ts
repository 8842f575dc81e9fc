import { checkGeoIds, type StreamStatistics } from 'pounce/sdk'
import { patiently } from './patiently.ts'
import type { PostgisConnection, Row } from './postgis-connection.ts'

const text = `
select s.stream, s.count, s.first_start_ms, s.last_end_ms, s.west, s.south, s.east, s.north, s.is_stale,
  to_jsonb(array(select n.name from unnest(s.names) as n (name) order by n.name collate "C" limit 1000))
from streams s where s.stream = any($1::bigint[]) and s.count > 0`

const statisticsOf = ([, count, first, last, west, south, east, north, , names]: Row): StreamStatistics => ({
  count: Number(count),
  firstStartMs: Number(first),
  lastEndMs: last === null || last === undefined ? null : Number(last),
  properties: JSON.parse(names ?? '[]') as readonly string[],
  box: [Number(west), Number(south), Number(east), Number(north)],
})

/** Looks through the points of a stream of which some were removed. While it has the stream's row, nobody's insert is half told. */
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

/** What is known of streams that have points. */
export const readStatistics = async (
  server: PostgisConnection,
  streams: readonly number[],
): Promise<ReadonlyMap<number, StreamStatistics>> => {
  checkGeoIds(streams, 'streams', 1000)
  if (streams.length === 0) return new Map()
  const read = () => server.query(text, [`{${streams.join(',')}}`], 'statistics')
  let rows = await read()
  const stale = rows.filter(row => row[8] === 't').map(([stream]) => stream ?? '')
  for (const stream of stale) await patiently(() => refresh(server, stream))
  if (stale.length > 0) rows = await read()
  return new Map(rows.map(row => [Number(row[0]), statisticsOf(row)]))
}
