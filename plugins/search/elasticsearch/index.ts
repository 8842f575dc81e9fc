import { definePlugin, provide, SearchIndex } from 'pounce/sdk'
import { ElasticsearchSearch } from './elasticsearch-search.ts'
import { config } from './settings.ts'

export const plugin = definePlugin({
  id: 'search.elasticsearch',
  summary: 'Searches names, descriptions, tags, comments, metadata and text with an Elasticsearch server.',
  config,
  provides: [provide(SearchIndex, ElasticsearchSearch)],
})
