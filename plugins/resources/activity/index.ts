import { definePlugin, onBatch, provide } from 'pounce/sdk'
import { feedEvents } from './feed.ts'
import * as routes from './routes.ts'
import { Activity, activity, StoredActivity } from './stored-activity.ts'

export const plugin = definePlugin({
  id: 'resources.activity',
  summary: 'Activity: who did what, for those who follow it.',
  provides: [provide(Activity, StoredActivity)],
  routes,
  collections: [activity],
  handlers: [onBatch(feedEvents, StoredActivity)],
})
