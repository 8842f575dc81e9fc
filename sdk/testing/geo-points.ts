import type { Datapoint, GeoFilter, GeoStore } from '../ports/geo-store.ts'

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

/** The ids of all matches, in order. */
export const idsIn = async (store: GeoStore, filter: GeoFilter = {}): Promise<readonly number[]> => {
  const ids: number[] = []
  for await (const piece of store.read({ filter })) ids.push(...piece.map(({ id }) => id))
  return ids
}
