import { definePlugin, provide } from 'pounce/sdk'
import { config, Endpoints, FixedEndpoints } from './fixed-endpoints.ts'
import * as routes from './routes.ts'

export const plugin = definePlugin({
  id: 'resources.proxy',
  summary: 'Doors to services that an admin has named, for people who are signed in.',
  config,
  provides: [provide(Endpoints, FixedEndpoints)],
  routes,
})
