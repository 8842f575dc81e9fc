import type { StreamStatistics } from 'pounce/sdk/geo'
import type { Connection } from 'pounce/sdk/sqlite'
import { type Known, QueryTooLong } from './plan.ts'

const maxNames = 1000

/** Compares by code point, which is the order of bytes in UTF-8. */
export const byCodePoint = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))

/** Statistics of streams. Throws `QueryTooLong` for a stream whose own geometries have to be read again, unless `boxes` has its box. */
export const statisticsOf = (
  known: Known,
  streams: readonly number[],
  boxes: ReadonlyMap<number, readonly number[]> = new Map(),
): ReadonlyMap<number, StreamStatistics> => {
  const found = new Map<number, StreamStatistics>()
  for (const stream of streams) {
    const sql = 'SELECT count, first, last_end, moving, west, south, east, north, is_stale FROM streams WHERE stream = ?'
    const row = known.db.get(sql, stream)
    if (row === undefined) continue
    const [count, firstStartMs, lastEndMs, moving, ...rest] = row as [number, number, number | null, number, ...(number | null)[]]
    const own = boxes.get(stream)
    if (rest[4] === 1 && !own) throw new QueryTooLong()
    const box = joinedBox(known.db, stream, moving > 0 ? (own ?? (rest.slice(0, 4) as number[])) : undefined)
    found.set(stream, { count, firstStartMs, lastEndMs, properties: namesOf(known, stream, maxNames), box })
  }
  return found
}

const joinedBox = (db: Connection, stream: number, moving: readonly number[] | undefined): StreamStatistics['box'] => {
  const row = db.get('SELECT min(west), min(south), max(east), max(north) FROM places WHERE stream = ? AND count > 0', stream)
  const fixed = row?.[0] === null ? undefined : (row as StreamStatistics['box'])
  const [one, other] = [fixed ?? moving, moving ?? fixed] as [StreamStatistics['box'], StreamStatistics['box']]
  return [Math.min(one[0], other[0]), Math.min(one[1], other[1]), Math.max(one[2], other[2]), Math.max(one[3], other[3])]
}

/** Names of the properties of a stream in order of code points, `limit` at most. */
export const namesOf = ({ db, shapes }: Known, stream: number, limit: number): readonly string[] => {
  const rows = db.all('SELECT name FROM names WHERE stream = ? AND count > 0 ORDER BY name LIMIT ?', stream, limit)
  const names = new Set(rows.map(([name]) => String(name)))
  for (const [id] of db.all('SELECT shape FROM uses WHERE stream = ? AND count > 0', stream)) {
    const shape = shapes.get(Number(id))
    for (const name of shape.names) names.add(name)
    for (const name of Object.keys(shape.others)) names.add(name)
  }
  return [...names].sort(byCodePoint).slice(0, limit)
}

/** The streams among these whose box may be too large, with their `changes`. */
export const staleAmong = (db: Connection, streams: readonly number[]): readonly (readonly [stream: number, changes: number])[] =>
  streams.flatMap(stream => {
    const row = db.get('SELECT changes FROM streams WHERE stream = ? AND is_stale = 1', stream)
    return row ? [[stream, Number(row[0])] as const] : []
  })
