import { isDeepStrictEqual } from 'node:util'
import type { Datapoint, GeoAfter, GeoFilter, GeoStore } from '../ports/geo-store.ts'

/** 5 January 2026, 10 h UTC. */
export const pinned = Date.UTC(2026, 0, 5, 10)

/** A datapoint at 10°E 50°N at `pinned`, with the given changes. */
export const pointAt = (id: number, changes: Partial<Datapoint> = {}): Datapoint => ({
  id,
  stream: 1,
  startMs: pinned,
  endMs: pinned,
  createdMs: pinned,
  geometry: { type: 'Point', coordinates: [10, 50] },
  properties: {},
  ...changes,
})

/** The ids of all matches, in order. Throws if readings, pages and counts differ. */
export const idsIn = async (store: GeoStore, filter: GeoFilter = {}): Promise<readonly number[]> => {
  const ids: number[] = []
  for await (const piece of store.read({ filter })) ids.push(...piece.map(({ id }) => id))
  const paged: number[] = []
  let after: GeoAfter | undefined
  do {
    const { points, next } = await store.find({ filter, limit: 1000, ...(after ? { after } : {}) })
    paged.push(...points.map(({ id }) => id))
    if (next && isDeepStrictEqual(next, after)) throw new Error('A page ends where the one before it did')
    after = next
  } while (after)
  const count = await store.count(filter, 100_000)
  if (!isDeepStrictEqual(paged, ids) || count !== ids.length)
    throw new Error(`${JSON.stringify(filter)}: read returns ${ids.length} points, the pages of find ${paged.length}, and count ${count}`)
  return ids
}
