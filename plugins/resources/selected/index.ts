import { definePlugin, provide } from 'pounce/sdk'
import { selections } from './collection.ts'
import * as routes from './routes.ts'
import { Selecting, Selections } from './selections.ts'

export const plugin = definePlugin({
  id: 'resources.selected',
  summary: 'Selected datasets: a person picks some and tags, downloads or deletes them at once.',
  provides: [provide(Selecting, Selections)],
  routes,
  collections: [selections],
})
