import { BackupParts, BlobStore, definePlugin, provide, StatusParts } from 'pounce/sdk'
import { DiskBackup } from './disk-backup.ts'
import { config, DiskBlobs, DiskStatus } from './disk-blobs.ts'

export const plugin = definePlugin({
  id: 'blobs.disk',
  summary: 'File contents on a local disk, with a checksum for every block.',
  config,
  isLocal: true,
  provides: [provide(BlobStore, DiskBlobs), provide(StatusParts, DiskStatus), provide(BackupParts, DiskBackup)],
})
