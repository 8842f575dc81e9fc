import { BlobStore, definePlugin, provide } from 'pounce/sdk'
import { config, GzipBlobs } from './gzip-blobs.ts'

export const plugin = definePlugin({
  id: 'example.blobs-gzip',
  summary: 'Keeps the bytes of files compressed, one gzip file each.',
  config,
  provides: [provide(BlobStore, GzipBlobs)],
})
