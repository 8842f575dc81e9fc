import { Invalid, routesFor, s } from 'pounce/sdk'
import { FileBulkRemoval } from './bulk-removal.ts'

const route = routesFor('files', { removal: FileBulkRemoval })
const ids = s.Array(s.String({ maxLength: 100 }), { minItems: 1, maxItems: 1000 })
const outcome = {
  200: s.Object({
    deleted: s.Array(s.String()),
    'not found': s.Array(s.String()),
    'error deleting': s.Array(s.String()),
    'no permission': s.Array(s.String()),
  }),
}

export const bulkRemoveFiles = route({
  method: 'POST',
  path: '/api/files/bulkRemove',
  summary: 'Delete many files and say of each what became of it',
  permission: 'signedIn',
  limitedKeys: 'allowed',
  body: s.Object({ fileIds: ids }),
  responses: outcome,
  throws: [Invalid],
  async handle({ body, caller }, { removal }) {
    return { status: 200, body: await removal.remove(caller, body.fileIds) }
  },
})

export const bulkRemoveFilesByGet = route({
  method: 'GET',
  path: '/api/files/bulkRemove',
  summary: 'Delete many files (old spelling)',
  description:
    'Only with a key or another credential that a program sends, never by the cookie of a browser. Ids joined by commas, or repeated.',
  permission: 'signedIn',
  limitedKeys: 'allowed',
  neverByCookie: true,
  effects: 'deletes files',
  query: s.Object({ fileIds: s.Array(s.String({ maxLength: 26_000 }), { minItems: 1, maxItems: 1000 }) }),
  responses: outcome,
  throws: [Invalid],
  async handle({ query, caller }, { removal }) {
    const named = query.fileIds
      .flatMap(text => text.split(','))
      .map(id => id.trim())
      .filter(id => id !== '')
    if (named.length === 0 || named.length > 1000) throw new Invalid('fileIds must name 1 to 1,000 files')
    return { status: 200, body: await removal.remove(caller, named) }
  },
})
