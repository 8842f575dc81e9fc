import { definePlugin, Fetch, provide } from 'pounce/sdk'
import { config, GuardedFetch } from './guarded-fetch.ts'

export const plugin = definePlugin({
  id: 'net.fetch',
  summary: 'Fetches from other servers: public addresses only, unless others are listed.',
  config,
  configPath: 'outbound',
  provides: [provide(Fetch, GuardedFetch)],
})
