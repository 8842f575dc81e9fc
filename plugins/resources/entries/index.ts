import { Commands, definePlugin, onBatch, provide } from 'pounce/sdk'
import { EntryDoctor } from './entry-doctor.ts'
import { EntryIndex, entries, entryIndexes, indexedEvents } from './entry-index.ts'
import { countedEvents, EntryTotals, entryTotals } from './entry-totals.ts'
import * as routes from './routes.ts'

export const plugin = definePlugin({
  id: 'resources.entries',
  summary: 'Entries: the folders and files of a dataset as one sorted list, with totals.',
  provides: [provide(Commands, EntryDoctor)],
  routes,
  collections: [entries, entryIndexes, entryTotals],
  handlers: [onBatch(indexedEvents, EntryIndex, 'entry-index', { maxDelayMs: 15 }), onBatch(countedEvents, EntryTotals, 'entry-totals')],
})
