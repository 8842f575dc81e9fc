import type { RouteGroup } from './route-groups.ts'

/** Routes outside the counts of the reference: spellings of the seed, and routes that it recommends or v1 serves outside `/api`. */
export const namedRoutes: readonly RouteGroup[] = [
  {
    name: 'besides the counts',
    routes: [
      ['N', 'POST', '/api/files/uploadToDataset'],
      ['N', 'GET', '/api/files/bulkRemove'],
      ['N', 'GET', '/api/thumbnails/:id'],
      ['N', 'GET', '/files/:id/blob'],
      ['N', 'POST', '/files/:id/links'],
      ['N', 'GET', '/files/links/:link'],
      ['N', 'GET', '/contexts/metadata.jsonld'],
      ['N', 'GET', '/api/files/:id/comments'],
      ['N', 'GET', '/api/datasets/:id/comments'],
    ],
  },
]
