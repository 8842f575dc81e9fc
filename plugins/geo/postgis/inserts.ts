import { Invalid } from 'pounce/sdk'
import { altitudeOf, checkDatapoint, checkGeoIds, type Datapoint, type PointInserted } from 'pounce/sdk/geo'
import { SqlParameters, textArray } from './conditions.ts'
import { type PostgisConnection, type RunStatement, withRetry } from './postgis-connection.ts'
import { toWkb } from './wkb.ts'

const maxInserted = 5000

/** Maximum per statement; larger calls are split, since all values are held in memory several times. */
const largest = { points: 1000, characters: 4_000_000 }

/**
 * Locks points in the order of their IDs, then stream rows in the order of theirs, so that two transactions never wait for each other.
 * Names are compared under the lock of the stream's row, and written only when one is new.
 */
const text = `
with input as materialized (
  select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::float8[], $7::text[], $8::text[], $9::int[])
    as i (id, stream, start_ms, end_ms, created_ms, altitude, shape, properties, keys)
), added as (
  insert into points (id, stream, start_ms, end_ms, created_ms, altitude, shape, properties)
  select id, stream, start_ms, end_ms, created_ms, altitude, shape::geometry, properties::jsonb from input order by id
  on conflict (id) do nothing
  returning id, stream, start_ms, end_ms, shape
), fresh as materialized (
  select a.stream, count(*) as count, min(a.start_ms) as first_start_ms, max(a.end_ms) as last_end_ms,
    min(ST_XMin(a.shape)) as west, min(ST_YMin(a.shape)) as south, max(ST_XMax(a.shape)) as east, max(ST_YMax(a.shape)) as north,
    case when min(i.keys) = max(i.keys) then ($10::text[])[min(i.keys)]::text[]
      else array(select distinct n.name from unnest(array_agg(distinct i.keys)) k cross join unnest(($10::text[])[k]::text[]) as n (name)) end as names,
    case when min(i.keys) = max(i.keys) then ($11::text[])[min(i.keys)]::text[]
      else array(select distinct n.name from unnest(array_agg(distinct i.keys)) k cross join unnest(($11::text[])[k]::text[]) as n (name)) end as others
  from added a join input i using (id) group by a.stream
), known as (
  insert into streams as s (stream, count, first_start_ms, last_end_ms, west, south, east, north, names, others)
  select stream, count, first_start_ms, last_end_ms, west, south, east, north, names, case when cardinality(others) <= 1000 then others end from fresh order by stream
  on conflict (stream) do update set
    count = s.count + excluded.count,
    first_start_ms = least(s.first_start_ms, excluded.first_start_ms),
    last_end_ms = greatest(s.last_end_ms, excluded.last_end_ms),
    west = least(s.west, excluded.west),
    south = least(s.south, excluded.south),
    east = greatest(s.east, excluded.east),
    north = greatest(s.north, excluded.north),
    names = case when s.names @> excluded.names then s.names
      else array(select distinct n.name collate "C" from unnest(s.names || excluded.names) as n (name) order by 1 limit 1000) end,
    others = case when s.others is null or s.others @> excluded.others then s.others
      else (select case when count(distinct n.name) <= 1000 then array_agg(distinct n.name) end from unnest(s.others || excluded.others) as n (name)) end
)
select id from added`

interface ServerProperties {
  readonly at: number
  readonly point: Datapoint
  readonly shape: string
  readonly properties: string
}

const list = (values: readonly (number | null)[]): string => `{${values.map(value => value ?? 'null').join(',')}}`

/** The names that each point has, and which of them are not numbers: points with the same ones share a key, counted from 1. */
const namesOf = (batch: readonly ServerProperties[]) => {
  const known = new Map<string, number>()
  const all: string[] = []
  const others: string[] = []
  const keys = batch.map(({ point: { properties } }) => {
    const names = Object.keys(properties)
    const [own, odd] = [textArray(names), textArray(names.filter(name => typeof properties[name] !== 'number'))]
    const key = known.get(own + odd) ?? known.size + 1
    if (key > known.size) {
      known.set(own + odd, key)
      all.push(own)
      others.push(odd)
    }
    return key
  })
  return { keys, all, others }
}

const valuesOf = (batch: readonly ServerProperties[]): readonly string[] => {
  const { keys, all, others } = namesOf(batch)
  return [
    list(batch.map(({ point }) => point.id)),
    list(batch.map(({ point }) => point.stream)),
    list(batch.map(({ point }) => point.startMs)),
    list(batch.map(({ point }) => point.endMs)),
    list(batch.map(({ point }) => point.createdMs)),
    list(batch.map(({ point }) => altitudeOf(point.geometry) || null)),
    `{${batch.map(({ shape }) => shape).join(',')}}`,
    textArray(batch.map(({ properties }) => properties)),
    list(keys),
    textArray(all),
    textArray(others),
  ]
}

/** Valid points in batches created on demand, and the results of the others. */
function* batchesOf(points: readonly Datapoint[], report: PointInserted[]): Iterable<readonly ServerProperties[]> {
  const seen = new Set<number>()
  let batch: ServerProperties[] = []
  let characters = 0
  for (const [at, point] of points.entries()) {
    const reason = checkDatapoint(point)
    report[at] = reason === undefined ? { status: 'present' } : { status: 'refused', reason }
    if (reason !== undefined || seen.has(point.id)) continue
    seen.add(point.id)
    const prepared = { at, point, shape: toWkb(point.geometry), properties: JSON.stringify(point.properties) }
    batch.push(prepared)
    characters += prepared.shape.length + prepared.properties.length
    if (batch.length < largest.points && characters < largest.characters) continue
    yield batch
    batch = []
    characters = 0
  }
  if (batch.length > 0) yield batch
}

/** Inserts valid points and returns the result of each point. */
export const insertPoints = async (server: PostgisConnection, points: readonly Datapoint[]): Promise<readonly PointInserted[]> => {
  if (points.length > maxInserted) throw new Invalid(`At most ${maxInserted} points at once, not ${points.length}`)
  const report: PointInserted[] = []
  for (const batch of batchesOf(points, report)) {
    const rows = await withRetry(() => server.query(text, valuesOf(batch), 'insert'))
    const added = new Set(rows.map(([id]) => Number(id)))
    for (const { at, point } of batch) if (added.has(point.id)) report[at] = { status: 'inserted' }
  }
  return report
}

const batchSize = 5000

const byId = 'select id from points where id = any($1::bigint[]) order by id for update'

const byStream = `select id from points where id in (select id from points where stream = any($1::bigint[]) limit ${batchSize}) order by id for update`

/** Locks in the same order as inserts: points by ID, then streams. */
const removeSome = async (run: RunStatement, chosen: string, list: string): Promise<number> => {
  const removing = `with chosen as materialized (${chosen}), gone as (delete from points p using chosen c where p.id = c.id returning p.stream) select stream, count(*) from gone group by stream`
  const removed = await run(removing, [list])
  if (removed.length === 0) return 0
  const counts = removed.map(([stream, count]) => [Number(stream), Number(count)] as const)
  const binds = new SqlParameters()
  const streams = binds.numbers(counts.map(([stream]) => stream))
  const lists = [...binds.values, `{${counts.map(([, count]) => count).join(',')}}`]
  await run(`select from streams where stream = any(${streams}) order by stream for update`, binds.values)
  await run(
    'update streams s set count = s.count - g.count, is_stale = true from unnest($1::bigint[], $2::bigint[]) as g (stream, count) where s.stream = g.stream',
    lists,
  )
  await run(`delete from streams where stream = any(${streams}) and count = 0`, binds.values)
  return counts.reduce((sum, [, count]) => sum + count, 0)
}

/** Deletes points, a few thousand at a time, and returns their number. */
export const removePoints = async (
  server: PostgisConnection,
  what: { readonly ids: readonly number[] } | { readonly streams: readonly number[] },
): Promise<number> => {
  if ('ids' in what) checkGeoIds(what.ids, 'ids', 1000)
  else checkGeoIds(what.streams, 'streams', 1000)
  const list = `{${('ids' in what ? what.ids : what.streams).join(',')}}`
  const some = (chosen: string) => withRetry(() => server.transaction(run => removeSome(run, chosen, list)))
  if ('ids' in what) return some(byId)
  let count = 0
  for (let isLeft = true; isLeft; ) {
    const removed = await some(byStream)
    count += removed
    // The selected points may have been deleted by another kernel.
    if (removed < batchSize) isLeft = (await server.query('select from points where stream = any($1::bigint[]) limit 1', [list])).length > 0
  }
  return count
}
