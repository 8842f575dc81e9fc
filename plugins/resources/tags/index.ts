import { BulkOperations, definePlugin, provide, Tags } from 'pounce/sdk'
import { TagBulkOperations } from './bulk-operations.ts'
import * as routes from './routes.ts'
import { StoredTags } from './stored-tags.ts'

export const plugin = definePlugin({
  id: 'resources.tags',
  summary: 'Tags that people and extractors add to files, datasets, collections and sections.',
  provides: [provide(Tags, StoredTags), provide(BulkOperations, TagBulkOperations)],
  routes,
})
