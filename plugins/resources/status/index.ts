import { Counters, definePlugin, onBatch, provide } from 'pounce/sdk'
import { KnownParts, Parts } from './known-parts.ts'
import { KnownTotals, LastTotals } from './known-totals.ts'
import * as routes from './routes.ts'
import { countedEvents, counters, StoredCounters } from './stored-counters.ts'

export const plugin = definePlugin({
  id: 'resources.status',
  summary: 'Status: what runs here, which version, and how much it holds.',
  provides: [provide(Counters, StoredCounters), provide(KnownParts, Parts), provide(KnownTotals, LastTotals)],
  routes,
  collections: [counters],
  handlers: [onBatch(countedEvents, StoredCounters)],
})
