import { checkGeoIds } from 'pounce/sdk'
import { patiently } from './patiently.ts'
import type { PostgisConnection, Run } from './postgis-connection.ts'
import { SqlParameters } from './sql-parameters.ts'

const atOnce = 5000

const byId = 'select id from points where id = any($1::bigint[]) order by id for update'
const byStream = `select id from points where id in (select id from points where stream = any($1::bigint[]) limit ${atOnce}) order by id for update`

/** Locks as inserts do: points by id, then streams. */
const removeSome = async (run: Run, chosen: string, list: string): Promise<number> => {
  const removing = `with chosen as materialized (${chosen}), gone as (delete from points p using chosen c where p.id = c.id returning p.stream) select stream, count(*) from gone group by stream`
  const gone = await run(removing, [list])
  if (gone.length === 0) return 0
  const counts = gone.map(([stream, count]) => [Number(stream), Number(count)] as const)
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

/** Removes points, a few thousand at a time, and tells how many there were. */
export const removePoints = async (
  server: PostgisConnection,
  what: { readonly ids: readonly number[] } | { readonly streams: readonly number[] },
): Promise<number> => {
  if ('ids' in what) checkGeoIds(what.ids, 'ids', 1000)
  else checkGeoIds(what.streams, 'streams', 1000)
  const list = `{${('ids' in what ? what.ids : what.streams).join(',')}}`
  const some = (chosen: string) => patiently(() => server.transaction(run => removeSome(run, chosen, list)))
  if ('ids' in what) return some(byId)
  let count = 0
  for (let isLeft = true; isLeft; ) {
    const removed = await some(byStream)
    count += removed
    // Those that were chosen may have gone by somebody else's hand.
    if (removed < atOnce) isLeft = (await server.query('select from points where stream = any($1::bigint[]) limit 1', [list])).length > 0
  }
  return count
}
