import { Counters, definePlugin, onBatch, provide } from 'pounce/sdk'
import * as routes from './routes.ts'
import { countedEvents, counters, StoredCounters } from './stored-counters.ts'

export const plugin = definePlugin({
  id: 'resources.status',
  summary: 'Status: version, components and totals of the server.',
  provides: [provide(Counters, StoredCounters)],
  routes,
  collections: [counters],
  handlers: [onBatch(countedEvents, StoredCounters, 'stored-counters')],
})
