import { Forbidden, Invalid, NotFound, Problem, routesFor, s } from 'pounce/sdk'
import { optionalOrNull } from 'pounce/sdk/kit'
import { BulkRemoval } from './bulk-removal.ts'

const route = routesFor('files', { removal: BulkRemoval })
const ids = s.Array(s.String({ maxLength: 100 }), { maxItems: 1000 })
const outcome = {
  200: s.model(
    'FileRemoval',
    s.Object({
      deleted: s.Array(s.String()),
      'not found': s.Array(s.String()),
      'error deleting': s.Array(s.String()),
      'no permission': s.Array(s.String()),
    }),
  ),
}

/** Clowder 1.x answers a request without ids with 404; clients check the status. */
const withoutIds = () => new Problem(404, 'no-files', 'No file ids supplied: fileIds is missing or empty')

export const bulkRemoveFiles = route({
  method: 'POST',
  path: '/api/files/bulkRemove',
  summary: 'Delete several files',
  permission: 'signedIn',
  limitedKeys: 'allowed',
  body: s.Object({ fileIds: optionalOrNull(ids) }),
  responses: outcome,
  throws: [Invalid, NotFound],
  async handle({ body, caller }, { removal }) {
    if (!body.fileIds?.length) throw withoutIds()
    return { status: 200, body: await removal.remove(caller, body.fileIds) }
  },
})

export const bulkRemoveFilesByGet = route({
  method: 'GET',
  path: '/api/files/bulkRemove',
  summary: 'Delete several files (old path)',
  description:
    'Requires an API key or a token; cookies and passwords, which browsers send by themselves, are refused. Ids are comma-separated or repeated.',
  permission: 'signedIn',
  limitedKeys: 'allowed',
  neverByCookie: true,
  effects: 'deletes files',
  query: s.Object({ fileIds: s.Optional(s.Array(s.String({ maxLength: 26_000 }), { maxItems: 1000 })) }),
  responses: outcome,
  throws: [Invalid, NotFound, Forbidden],
  async handle({ query, caller }, { removal }) {
    // A browser sends the password of `https://user:password@host/` with every link to the host, also from pages of other sites.
    if (caller.via === 'basic') throw new Forbidden('Passwords are not accepted here: send an API key')
    const named = (query.fileIds ?? [])
      .flatMap(text => text.split(','))
      .map(id => id.trim())
      .filter(id => id !== '')
    if (named.length === 0) throw withoutIds()
    if (named.length > 1000) throw new Invalid('fileIds must have at most 1,000 ids')
    return { status: 200, body: await removal.remove(caller, named) }
  },
})
