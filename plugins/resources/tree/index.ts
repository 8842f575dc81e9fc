import { definePlugin } from 'pounce/sdk'
import * as routes from './routes.ts'
export const plugin = definePlugin({
  id: 'resources.tree',
  summary: 'Tree: the children of a space, collection, dataset or folder.',
  routes,
})
