import { definePlugin, onBatch, provide, Recommenders } from 'pounce/sdk'
import { CoFollowed } from './co-followed.ts'
import { ForgetGone } from './forget-gone.ts'

export const plugin = definePlugin({
  id: 'resources.following',
  summary: 'Following: what those who follow a thing follow besides is recommended.',
  provides: [provide(Recommenders, CoFollowed)],
  handlers: [onBatch(['file.removed', 'dataset.removed', 'collection.removed', 'space.removed'], ForgetGone)],
})
