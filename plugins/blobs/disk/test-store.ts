import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PermissionCatalog } from 'pounce/sdk/kit'
import { FixedClock, silent } from 'pounce/sdk/testing'
import { type Disk, realDisk } from './disk.ts'
import { DiskBlobs } from './disk-blobs.ts'

/** A started store and its folder, both removed when the test ends. */
export async function freshStore(
  t: { teardown(fn: () => Promise<void>): void },
  disk: Disk = realDisk,
): Promise<{ store: DiskBlobs; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-blobs-'))
  const store = await startedStore(folder, disk)
  t.teardown(async () => {
    await store.dispose()
    await rm(folder, { recursive: true, force: true })
  })
  return { store, folder }
}

/** A store on a folder that may already have content. */
export async function startedStore(folder: string, disk: Disk = realDisk): Promise<DiskBlobs> {
  const installation = {
    instance: 'test',
    version: '0',
    dataFolder: folder,
    baseUrl: '',
    plugins: [],
    roles: new Set(['http' as const]),
    admins: [],
    permissions: new PermissionCatalog(),
  }
  const store = new DiskBlobs({ folder }, installation, new FixedClock(), silent, disk)
  await store.start()
  return store
}
