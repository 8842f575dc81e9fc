import { Commands, definePlugin, on, onBatch, PersonalDataSources, provide, SessionSources } from 'pounce/sdk'
import { IndexChanges, IndexContents, searchEvents } from './handlers.ts'
import { IndexAuthor } from './index-author.ts'
import { IndexDoctor } from './index-doctor.ts'
import { IndexRebuilder, ReindexCommand } from './index-rebuilder.ts'
import * as reindexRoutes from './reindex-routes.ts'
import { reindexRecords } from './reindex-tasks.ts'
import * as routes from './routes.ts'
import * as savedSearchRoutes from './saved-search-routes.ts'
import { PersonalSavedSearches, savedSearches } from './saved-searches.ts'
import { SearchCapability } from './search-limits.ts'
import * as suggestionRoutes from './suggestion-routes.ts'

export const plugin = definePlugin({
  id: 'resources.search',
  summary: "Search: keeps the index up to date and answers queries within the caller's rights.",
  provides: [
    provide(Commands, ReindexCommand),
    provide(Commands, IndexDoctor),
    provide(PersonalDataSources, PersonalSavedSearches),
    provide(SessionSources, SearchCapability),
  ],
  routes: { ...routes, ...suggestionRoutes, ...reindexRoutes, ...savedSearchRoutes },
  collections: [reindexRecords, savedSearches],
  handlers: [
    onBatch(searchEvents, IndexChanges, 'index-changes', { withResources: true, maxDelayMs: 15 }),
    on(['dataset.updated', 'dataset.attached', 'dataset.detached', 'dataset.trashed', 'dataset.restored'], IndexContents, 'index-contents'),
    on('user.updated', IndexAuthor, 'index-author'),
  ],
  periodic: [{ name: 'damage', everyMs: 20_000, task: IndexRebuilder }],
})
