import { definePlugin } from 'pounce/sdk'
import * as routes from './routes.ts'

export const plugin = definePlugin({
  id: 'resources.bags',
  summary: 'Creates datasets from BagIt bags: from Pounce, Clowder 1.x, or any other valid bag.',
  isSwitchable: true,
  routes,
})
