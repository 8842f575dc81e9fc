import { BlobStore, definePlugin, InPlaceFiles, provide } from 'pounce/sdk'
import { config, Folders, ListedFolders } from './listed-folders.ts'
import { RegisteredFiles } from './registered-files.ts'
import { registrations } from './registrations.ts'
import { WithFilesInPlace } from './with-files-in-place.ts'

export const plugin = definePlugin({
  id: 'blobs.in-place',
  summary: 'Files in folders of the server that are used where they lie, beside the bytes that the store keeps itself.',
  config,
  provides: [provide(Folders, ListedFolders), provide(InPlaceFiles, RegisteredFiles), provide(BlobStore, WithFilesInPlace)],
  wraps: [BlobStore],
  collections: [registrations],
})
