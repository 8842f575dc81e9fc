import { definePlugin } from 'pounce/sdk'
import { config } from './fixed-endpoints.ts'
import * as routes from './routes.ts'

export const plugin = definePlugin({
  id: 'resources.proxy',
  summary: 'Reverse proxy to configured services for signed-in users.',
  isSwitchable: true,
  config,
  routes,
})
