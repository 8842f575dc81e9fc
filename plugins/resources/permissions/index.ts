import { definePlugin } from 'pounce/sdk'
import * as routes from './routes.ts'

export const plugin = definePlugin({
  id: 'resources.permissions',
  summary: 'Permissions, and why a user has or lacks one.',
  routes,
})
