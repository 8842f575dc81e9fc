import { BlobStore, definePlugin, provide } from 'pounce/sdk'
import { config, DiskBlobs } from './disk-blobs.ts'

export const plugin = definePlugin({
  id: 'blobs.disk',
  summary: 'Keeps the bytes of files on a local disk, with a checksum of every block.',
  config,
  isLocal: true,
  provides: [provide(BlobStore, DiskBlobs)],
})
