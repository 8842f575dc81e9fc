import { Commands, definePlugin, on, onBatch, provide } from 'pounce/sdk'
import { IndexChanges, IndexContents, searchEvents } from './handlers.ts'
import { Indexing, SearchIndexing } from './indexing.ts'
import { Rebuild, Rebuilding, ReindexCommand } from './rebuilding.ts'
import * as routes from './routes.ts'
import { Search, Searching } from './searching.ts'

export const plugin = definePlugin({
  id: 'resources.search',
  summary: 'Search: keeps the index up to date and answers what people ask, within their rights.',
  provides: [
    provide(SearchIndexing, Indexing),
    provide(Search, Searching),
    provide(Rebuild, Rebuilding),
    provide(Commands, ReindexCommand),
  ],
  routes,
  handlers: [
    onBatch(searchEvents, IndexChanges),
    on(['dataset.updated', 'dataset.attached', 'dataset.detached', 'dataset.trashed', 'dataset.restored'], IndexContents),
  ],
  periodic: [{ name: 'damage', everyMs: 60_000, task: Rebuilding }],
})
