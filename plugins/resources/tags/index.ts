import { definePlugin, provide, Tags } from 'pounce/sdk'
import * as routes from './routes.ts'
import { StoredTags, TagDesk } from './stored-tags.ts'

export const plugin = definePlugin({
  id: 'resources.tags',
  summary: 'Tags: words that people and extractors put on files, datasets, collections and sections.',
  provides: [provide(Tags, StoredTags), provide(TagDesk, StoredTags)],
  routes,
})
