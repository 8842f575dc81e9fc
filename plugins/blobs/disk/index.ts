import { BlobStore, definePlugin, provide, StatusParts } from 'pounce/sdk'
import { config, DiskBlobs } from './disk-blobs.ts'
import { DiskStatus } from './disk-status.ts'

export const plugin = definePlugin({
  id: 'blobs.disk',
  summary: 'Keeps the bytes of files on a local disk, with a checksum of every block.',
  config,
  provides: [provide(BlobStore, DiskBlobs), provide(StatusParts, DiskStatus)],
})
