import type { Installation, Metrics } from 'pounce/sdk'
import { silent } from 'pounce/sdk/testing'
import { ObjectIds, systemClock } from '../../core/services/services.ts'
import { type Disk, realDisk } from '../../plugins/blobs/disk/disk.ts'
import { DiskBlobs } from '../../plugins/blobs/disk/disk-blobs.ts'
import { SqliteDocuments } from '../../plugins/documents/sqlite/sqlite-documents.ts'
import { tempFolder } from './temp-folder.ts'

const nothing = (): void => undefined
const noMetrics: Metrics = { count: nothing, gauge: nothing, observe: nothing }

interface Stores {
  readonly documents: SqliteDocuments
  readonly blobs: DiskBlobs
}

/** Starts the embedded stores in a folder. */
export const storesIn = async (
  folder: string,
  { disk = realDisk, maxSizeMiB = 0 }: { readonly disk?: Disk; readonly maxSizeMiB?: number } = {},
): Promise<Stores> => {
  const installation = { dataFolder: folder } as Installation
  const settings = { cacheMiB: 8, maxSizeMiB, inlineRows: 2000, readTimeoutMs: 10_000, maxBackups: 2 }
  const documents = new SqliteDocuments(settings, installation, new ObjectIds(systemClock), systemClock, silent, noMetrics)
  const blobs = new DiskBlobs({}, installation, systemClock, silent, disk)
  await documents.start()
  await blobs.start()
  return { documents, blobs }
}

/** The same, closed after the test; to be passed to `bootForTest` as overrides. */
export const embeddedStores = async (
  t: { teardown(end: () => Promise<void>): void },
  { folder, ...options }: { readonly disk?: Disk; readonly maxSizeMiB?: number; readonly folder?: string } = {},
): Promise<Stores & { readonly folder: string }> => {
  const own = folder ?? (await tempFolder(t))
  const stores = await storesIn(own, options)
  t.teardown(async () => {
    await stores.documents.dispose()
    await stores.blobs.dispose()
  })
  return { ...stores, folder: own }
}
