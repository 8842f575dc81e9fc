import { BlobStore, definePlugin, provide, StatusParts } from 'pounce/sdk'
import { S3Status } from './connection.ts'
import { AbandonedUploads } from './multipart-uploads.ts'
import { S3Blobs } from './s3-blobs.ts'
import { config } from './s3-config.ts'

export const plugin = definePlugin({
  id: 'blobs.s3',
  summary: 'File contents in a bucket of S3 or a compatible server, with a checksum for every block.',
  config,
  provides: [provide(BlobStore, S3Blobs), provide(StatusParts, S3Status)],
  periodic: [{ name: 'abandoned-uploads', everyMs: 6 * 60 * 60 * 1000, task: AbandonedUploads }],
})
