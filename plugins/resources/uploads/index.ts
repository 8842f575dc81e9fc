import { BlobOwners, definePlugin, provide } from 'pounce/sdk'
import { parts, uploads } from './collections.ts'
import { config } from './config.ts'
import { Expiry } from './expiry.ts'
import { Finishing, Finishings } from './finishing.ts'
import { OpenUploads, StoredUploads } from './open-uploads.ts'
import { PartBlobs } from './part-blobs.ts'
import { Parts, StoredParts } from './parts.ts'
import { Receiving, Receivings } from './receiving.ts'
import * as routes from './routes.ts'

export const plugin = definePlugin({
  id: 'resources.uploads',
  summary: 'Uploads in pieces that go on after an interruption of client, network or server (tus 1.0.0).',
  config,
  provides: [
    provide(Parts, StoredParts),
    provide(OpenUploads, StoredUploads),
    provide(Finishings, Finishing),
    provide(Receivings, Receiving),
    provide(BlobOwners, PartBlobs),
  ],
  routes,
  collections: [uploads, parts],
  periodic: [{ name: 'expiry', everyMs: 60 * 60 * 1000, task: Expiry }],
})
