import { BlobStore, definePlugin, provide } from 'pounce/sdk'
import { config, FolderBlobs } from './folder-blobs.ts'

export const plugin = definePlugin({
  id: 'example.template',
  apiVersion: 1,
  summary: 'Keeps the bytes of files in one folder, one file each.',
  config,
  provides: [provide(BlobStore, FolderBlobs)],
})
