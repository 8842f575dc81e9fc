import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GeoStore, Installation, s } from 'pounce/sdk'
import type { Datapoint, GeoFilter } from 'pounce/sdk/geo'
import type { TestContext } from 'pounce/sdk/testing'
import { type config, RtreeGeo } from './rtree-geo.ts'

type Settings = s.Static<typeof config>

/** A folder that is deleted when the test ends. */
export const testFolder = async (t: TestContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'geo-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A started store, closed when the test ends. */
export const openGeo = async (t: TestContext, folder: string, settings: Partial<Settings> = {}): Promise<RtreeGeo> => {
  const store = new RtreeGeo({ cacheMiB: 4, maxSizeMiB: 0, placesPerStream: 64, readers: 2, ...settings }, {
    dataFolder: folder,
  } as Installation)
  await store.start()
  t.teardown(() => store.dispose())
  return store
}

/** A point at 10°E 50°N on 5 January 2026, with `changes` applied. */
export const pointAt = (id: number, changes: Partial<Datapoint> = {}): Datapoint => {
  const startMs = changes.startMs ?? Date.UTC(2026, 0, 5)
  const geometry = { type: 'Point', coordinates: [10, 50] } as const
  return { id, stream: 1, startMs, endMs: startMs, createdMs: startMs, geometry, properties: {}, ...changes }
}

/** IDs of all matching points, in order. */
export const idsIn = async (store: GeoStore, filter: GeoFilter = {}): Promise<readonly number[]> => {
  const ids: number[] = []
  for await (const piece of store.read({ filter })) ids.push(...piece.map(({ id }) => id))
  return ids
}
