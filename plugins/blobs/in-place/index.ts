import { BlobStore, definePlugin, InPlaceFiles, provide } from 'pounce/sdk'
import { InPlaceBlobStore } from './in-place-blob-store.ts'
import { config } from './listed-folders.ts'
import { RegisteredFiles, registrations } from './registered-files.ts'

export const plugin = definePlugin({
  id: 'blobs.in-place',
  summary: 'Files in server folders that are registered in place, in addition to the blob store.',
  config,
  provides: [provide(InPlaceFiles, RegisteredFiles), provide(BlobStore, InPlaceBlobStore)],
  wraps: [BlobStore],
  collections: [registrations],
})
