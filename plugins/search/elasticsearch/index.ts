import { definePlugin, provide, SearchIndex, StatusParts } from 'pounce/sdk'
import { ElasticsearchStatus } from './elasticsearch-connection.ts'
import { ElasticsearchSearch } from './elasticsearch-search.ts'
import { config } from './settings.ts'

export const plugin = definePlugin({
  id: 'search.elasticsearch',
  summary: 'Full-text search with an Elasticsearch server.',
  config,
  provides: [provide(SearchIndex, ElasticsearchSearch), provide(StatusParts, ElasticsearchStatus)],
})
