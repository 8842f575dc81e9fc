import { Commands, Counters, definePlugin, onBatch, provide } from 'pounce/sdk'
import * as routes from './routes.ts'
import { countedEvents, counters, StoredCounters } from './stored-counters.ts'
import { TotalsDoctor } from './totals-doctor.ts'

export const plugin = definePlugin({
  id: 'resources.status',
  summary: 'Status: version, components and totals of the server.',
  provides: [provide(Counters, StoredCounters), provide(Commands, TotalsDoctor)],
  routes,
  collections: [counters],
  handlers: [onBatch(countedEvents, StoredCounters, 'stored-counters')],
})
