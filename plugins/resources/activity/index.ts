import { definePlugin, Feed, onBatch, PersonalDataSources, provide } from 'pounce/sdk'
import { config } from './config.ts'
import { feedEvents } from './feed.ts'
import { FeedDigest } from './feed-digest.ts'
import { activity, PersonalActivity } from './feed-names.ts'
import * as routes from './routes.ts'
import { StoredActivity } from './stored-activity.ts'
export const plugin = definePlugin({
  id: 'resources.activity',
  summary: 'Activity feed: who did what, for followers.',
  config,
  provides: [provide(Feed, FeedDigest), provide(PersonalDataSources, PersonalActivity)],
  routes,
  collections: [activity],
  handlers: [onBatch(feedEvents, StoredActivity, 'stored-activity', { withResources: true })],
})
