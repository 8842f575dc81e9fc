import { definePlugin, provide, SearchIndex, StatusParts } from 'pounce/sdk'
import { ElasticsearchSearch } from './elasticsearch-search.ts'
import { ElasticsearchStatus } from './elasticsearch-status.ts'
import { Connection, Server } from './server.ts'
import { config } from './settings.ts'

export const plugin = definePlugin({
  id: 'search.elasticsearch',
  summary: 'Searches names, descriptions, tags, comments, metadata and text with an Elasticsearch server.',
  config,
  provides: [provide(Connection, Server), provide(SearchIndex, ElasticsearchSearch), provide(StatusParts, ElasticsearchStatus)],
})
