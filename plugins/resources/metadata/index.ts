import { definePlugin, MetadataDocuments, on, provide, RightsOf } from 'pounce/sdk'
import { metadata } from './collection.ts'
import { FollowTarget } from './follow-target.ts'
import { MetadataRights } from './metadata-rights.ts'
import * as routes from './routes.ts'
import { MetadataDesk, StoredMetadata } from './stored-metadata.ts'

export const plugin = definePlugin({
  id: 'resources.metadata',
  summary: 'Metadata: JSON-LD documents that people and extractors add to things.',
  provides: [provide(MetadataDocuments, StoredMetadata), provide(MetadataDesk, StoredMetadata), provide(RightsOf, MetadataRights)],
  routes,
  collections: [metadata],
  handlers: [on(['file.removed', 'dataset.removed'], FollowTarget)],
})
