import { definePlugin, provide, SearchIndex } from 'pounce/sdk'
import { config, FtsSearch } from './fts-search.ts'

export const plugin = definePlugin({
  id: 'search.fts',
  summary: 'Searches names, descriptions, tags, comments, metadata and text with the full-text engine of SQLite.',
  config,
  isLocal: true,
  provides: [provide(SearchIndex, FtsSearch)],
})
