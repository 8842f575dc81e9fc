import { Commands, definePlugin, provide, SearchIndex } from 'pounce/sdk'
import { config, FtsSearch, SearchIndexDoctor } from './fts-search.ts'

export const plugin = definePlugin({
  id: 'search.fts',
  summary: 'Full-text search with SQLite FTS.',
  config,
  isLocal: true,
  provides: [provide(SearchIndex, FtsSearch), provide(Commands, SearchIndexDoctor)],
})
