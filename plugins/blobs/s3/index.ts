import { BlobStore, definePlugin, provide, StatusParts } from 'pounce/sdk'
import { AbandonedUploads } from './abandoned-uploads.ts'
import { Connection, S3Connection } from './connection.ts'
import { S3Blobs } from './s3-blobs.ts'
import { config } from './s3-config.ts'
import { S3Status } from './s3-status.ts'

export const plugin = definePlugin({
  id: 'blobs.s3',
  summary: 'Keeps the bytes of files in a bucket of S3, or of a server that speaks like it, with a checksum of every block.',
  config,
  provides: [provide(Connection, S3Connection), provide(BlobStore, S3Blobs), provide(StatusParts, S3Status)],
  periodic: [{ name: 'abandoned-uploads', everyMs: 6 * 60 * 60 * 1000, task: AbandonedUploads }],
})
