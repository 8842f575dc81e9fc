import { definePlugin } from 'pounce/sdk'
import * as routes from './routes.ts'
export const plugin = definePlugin({
  id: 'resources.reports',
  summary: 'Reports for server admins: contents, usage and storage, as CSV or JSON.',
  routes,
})
