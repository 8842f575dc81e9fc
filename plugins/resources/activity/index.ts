import { definePlugin, Feed, onBatch, provide } from 'pounce/sdk'
import { activity } from './activity-lines.ts'
import { config } from './config.ts'
import { feedEvents } from './feed.ts'
import { FeedNews } from './feed-news.ts'
import { FeedPages, Pages } from './feed-pages.ts'
import { Things, ThingsNamed } from './feed-things.ts'
import * as routes from './routes.ts'
import { Activity, StoredActivity } from './stored-activity.ts'
import { LineRights, Visibility } from './visible-lines.ts'

export const plugin = definePlugin({
  id: 'resources.activity',
  summary: 'Activity: who did what, for those who follow it.',
  config,
  provides: [
    provide(Things, ThingsNamed),
    provide(Activity, StoredActivity),
    provide(Visibility, LineRights),
    provide(FeedPages, Pages),
    provide(Feed, FeedNews),
  ],
  routes,
  collections: [activity],
  handlers: [onBatch(feedEvents, StoredActivity)],
})
