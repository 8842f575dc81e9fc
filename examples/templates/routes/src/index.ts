import { definePlugin } from 'pounce/sdk'
import { config, notes } from './notes.ts'
import * as routes from './routes.ts'

export const plugin = definePlugin({
  id: 'example.template',
  apiVersion: 1,
  summary: 'Notes that people keep for themselves.',
  config,
  routes,
  collections: [notes],
})
