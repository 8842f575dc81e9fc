import { BlobOwners, definePlugin, PersonalDataSources, provide, SessionSources } from 'pounce/sdk'
import { parts, uploads } from './collections.ts'
import { config, ResumableCapability } from './config.ts'
import { PartBlobs } from './parts.ts'
import { PersonalUploads } from './personal-data.ts'
import * as routes from './routes.ts'
import { tusCrossOriginHeaders } from './tus-headers.ts'
import { UploadExpiry } from './upload-expiry.ts'

export const plugin = definePlugin({
  id: 'resources.uploads',
  summary: 'Resumable uploads that survive interruptions of client, network or server (tus 1.0.0).',
  config,
  provides: [provide(BlobOwners, PartBlobs), provide(PersonalDataSources, PersonalUploads), provide(SessionSources, ResumableCapability)],
  routes,
  crossOriginHeaders: tusCrossOriginHeaders,
  collections: [uploads, parts],
  periodic: [{ name: 'expiry', everyMs: 60 * 60 * 1000, task: UploadExpiry }],
})
