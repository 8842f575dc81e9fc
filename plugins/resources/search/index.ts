import { Commands, definePlugin, on, onBatch, provide } from 'pounce/sdk'
import { Containing, Contains } from './containing.ts'
import { Contents, ContentsToIndex } from './contents.ts'
import { IndexChanges, IndexContents, searchEvents } from './handlers.ts'
import { IndexAuthor } from './index-author.ts'
import { Indexing, SearchIndexing } from './indexing.ts'
import { Rebuild, Rebuilding, ReindexCommand } from './rebuilding.ts'
import { Board, ReindexBoard } from './reindex-board.ts'
import { reindexRecords } from './reindex-records.ts'
import * as reindexRoutes from './reindex-routes.ts'
import * as routes from './routes.ts'
import { Search, Searching } from './searching.ts'
import { Suggest, Suggesting } from './suggesting.ts'
import * as suggestionRoutes from './suggestion-routes.ts'

export const plugin = definePlugin({
  id: 'resources.search',
  summary: 'Search: keeps the index up to date and answers what people ask, within their rights.',
  provides: [
    provide(SearchIndexing, Indexing),
    provide(Contains, Containing),
    provide(Search, Searching),
    provide(Suggest, Suggesting),
    provide(Contents, ContentsToIndex),
    provide(Board, ReindexBoard),
    provide(Rebuild, Rebuilding),
    provide(Commands, ReindexCommand),
  ],
  routes: { ...routes, ...suggestionRoutes, ...reindexRoutes },
  collections: [reindexRecords],
  handlers: [
    onBatch(searchEvents, IndexChanges),
    on(['dataset.updated', 'dataset.attached', 'dataset.detached', 'dataset.trashed', 'dataset.restored'], IndexContents),
    on('user.updated', IndexAuthor),
  ],
  periodic: [{ name: 'damage', everyMs: 20_000, task: Rebuilding }],
})
