import { definePlugin, provide } from 'pounce/sdk'
import * as routes from './routes.ts'
import { Tree, WholeTree } from './tree.ts'

export const plugin = definePlugin({
  id: 'resources.tree',
  summary: 'The tree: what lies right below a space, collection, dataset or folder.',
  provides: [provide(Tree, WholeTree)],
  routes,
})
