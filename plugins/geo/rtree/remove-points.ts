import type { Cell, Connection, Row } from 'pounce/sdk/sqlite'
import type { WriteCaches } from './insert-points.ts'
import { later, StreamChanges } from './stream-changes.ts'

const columns = 'stream, start, id, span, place, shape, rest, geometry IS NOT NULL'
const piece = 1000

/** Number of points removed, and of streams left without points. */
export interface Removed {
  readonly count: number
  readonly removed: number
}

interface RemovedCounts {
  count: number
  lastEnd: number | null
  moving: number
}

/** Removes points by id in the open transaction. */
export const removeIds = (db: Connection, caches: WriteCaches, ids: readonly number[]): Removed => {
  const rows = [...new Set(ids)].flatMap(id => {
    const place = db.get('SELECT stream, start FROM ids WHERE id = ?', id)
    if (place === undefined) return []
    const found = [Number(place[0]), Number(place[1]), id]
    const row = db.get(`SELECT ${columns} FROM points WHERE stream = ? AND start = ? AND id = ?`, ...found) as Row
    db.run('DELETE FROM points WHERE stream = ? AND start = ? AND id = ?', ...found)
    return [row]
  })
  return settle(db, caches, rows)
}

/** Removes the first points of a stream, at most `limit`. */
export const removeFirst = (db: Connection, books: WriteCaches, stream: number, limit: number): Removed => {
  const rows = db.all(`SELECT ${columns} FROM points WHERE stream = ? ORDER BY start, id LIMIT ?`, stream, limit)
  const last = rows.at(-1)
  if (last === undefined) return { count: 0, removed: 0 }
  db.run('DELETE FROM points WHERE stream = ? AND (start, id) <= (?, ?)', stream, Number(last[1]), Number(last[2]))
  return settle(db, books, rows)
}

/** Deletes the removed points from the other tables. */
const settle = (db: Connection, books: WriteCaches, rows: readonly Row[]): Removed => {
  const changes = new StreamChanges()
  const losses = new Map<number, RemovedCounts>()
  for (const row of rows) {
    const [stream, start, id, span, place, shape, rest, isMoving] = row as [number, number, number, ...Cell[]]
    const loss = losses.get(stream) ?? { count: 0, lastEnd: null, moving: 0 }
    losses.set(stream, loss)
    loss.count += 1
    if (typeof span === 'number') loss.lastEnd = later(loss.lastEnd, start + span)
    if (isMoving === 1) loss.moving += db.run('DELETE FROM moving WHERE id = ?', id)
    else changes.place(stream, place as number, -1)
    changes.properties(stream, shape as number, rest as string | null, -1)
    db.run('DELETE FROM ids WHERE id = ?', id)
  }
  changes.write(db)
  let removed = 0
  for (const [stream, loss] of losses) removed += Number(take(db, books, stream, loss))
  return { count: rows.length, removed: removed }
}

/** Returns whether nothing of the stream is left. */
const take = (db: Connection, books: WriteCaches, stream: number, { count, lastEnd, moving }: RemovedCounts): boolean => {
  books.places.forget(stream)
  const first = db.get('SELECT start FROM points WHERE stream = ? ORDER BY start, id LIMIT 1', stream)?.[0]
  if (first === undefined) {
    for (const table of ['streams', 'places', 'uses', 'names']) db.run(`DELETE FROM ${table} WHERE stream = ?`, stream)
    return true
  }
  // Places are kept: they record that the stream exists.
  for (const table of ['uses', 'names']) db.run(`DELETE FROM ${table} WHERE stream = ? AND count = 0`, stream)
  db.run(
    `UPDATE streams SET count = count - ?, first = ?, moving = moving - ?, is_stale = max(is_stale, ?), changes = changes + 1 WHERE stream = ?`,
    ...[count, first as number, moving, Number(moving > 0), stream],
  )
  db.run('UPDATE streams SET is_stale = 0, west = NULL, south = NULL, east = NULL, north = NULL WHERE stream = ? AND moving = 0', stream)
  const [known, longest] = db.get('SELECT last_end, longest FROM streams WHERE stream = ?', stream) as readonly [number | null, number]
  if (lastEnd !== null && lastEnd === known)
    db.run('UPDATE streams SET last_end = ? WHERE stream = ?', lastEndOf(db, stream, longest), stream)
  return false
}

/** From the last start backwards, as far as a later end is possible. */
const lastEndOf = (db: Connection, stream: number, longest: number): number | null => {
  let best: number | null = null
  let before: readonly [number, number] = [Number.MAX_SAFE_INTEGER, 0]
  for (let seen = piece; seen === piece && (best === null || before[0] + longest > best); ) {
    seen = 0
    const sql = `SELECT each_row(start, id, span) FROM (
      SELECT start, id, span FROM points WHERE stream = ? AND (start, id) < (?, ?) ORDER BY start DESC, id DESC LIMIT ?)`
    db.each(sql, [stream, ...before, piece], ([start, id, span]) => {
      seen += 1
      before = [start as number, id as number]
      if (typeof span === 'number') best = later(best, (start as number) + span)
      return true
    })
  }
  return best
}

/** The box of all own geometries of a stream's points, and the stream version it was computed for. */
export interface TrackBox {
  readonly stream: number
  readonly changes: number
  readonly box: readonly number[]
}

/** Stores a box computed from all points, unless the stream has changed meanwhile. */
export const settleBox = (db: Connection, { stream, changes, box }: TrackBox): void => {
  const sql = 'UPDATE streams SET west = ?, south = ?, east = ?, north = ?, is_stale = 0 WHERE stream = ? AND changes = ? AND moving > 0'
  db.run(sql, ...box, stream, changes)
}
