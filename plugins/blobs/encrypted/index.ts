import { BlobStore, definePlugin, provide } from 'pounce/sdk'
import { EncryptedBlobStore } from './encrypted-blob-store.ts'
import { config } from './encryption-keys.ts'

export const plugin = definePlugin({
  id: 'blobs.encrypted',
  summary: 'Encrypts file contents before the blob store keeps them (AES-256-GCM).',
  config,
  provides: [provide(BlobStore, EncryptedBlobStore)],
  wraps: [BlobStore],
})
