import { definePlugin, provide, SearchIndex } from 'pounce/sdk'
import { MemorySearch } from './memory-search.ts'

export const plugin = definePlugin({
  id: 'example.template',
  apiVersion: 1,
  summary: 'A search index in memory, built at each start.',
  isLocal: true,
  provides: [provide(SearchIndex, MemorySearch)],
})
