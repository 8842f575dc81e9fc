import { definePlugin, provide } from 'pounce/sdk'
import { Explaining, RightsExplained } from './explaining.ts'
import * as routes from './routes.ts'

export const plugin = definePlugin({
  id: 'resources.permissions',
  summary: 'What the rights are, and why somebody has one or not.',
  provides: [provide(RightsExplained, Explaining)],
  routes,
})
