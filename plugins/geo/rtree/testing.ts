import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import type { Installation, s } from 'pounce/sdk'
import { type config, RtreeGeo } from './rtree-geo.ts'

type Settings = s.Static<typeof config>

/** A folder that goes away with the test. */
export const testFolder = async (t: ExecutionContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'geo-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A started store; closed with the test. */
export const openGeo = async (t: ExecutionContext, folder: string, settings: Partial<Settings> = {}): Promise<RtreeGeo> => {
  const store = new RtreeGeo({ cacheMiB: 4, maxSizeMiB: 0, placesPerStream: 64, readers: 2, ...settings }, {
    dataFolder: folder,
  } as Installation)
  await store.start()
  t.teardown(() => store.dispose())
  return store
}
