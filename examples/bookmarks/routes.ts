import { Invalid, NotFound, one, routesFor, s, signedIn } from 'pounce/sdk'
import { Bookmarks } from './bookmarks.ts'

const route = routesFor('bookmarks', { bookmarks: Bookmarks })

export const bookmarkFile = route({
  method: 'POST',
  path: '/api/files/:id/bookmark',
  summary: 'Keep a file among the bookmarks of the caller',
  permission: 'ViewFile',
  of: one('file'),
  params: s.Object({ id: s.id() }),
  responses: { 200: s.success() },
  throws: [Invalid, NotFound],
  async handle({ params, caller }, { bookmarks }) {
    await bookmarks.add(signedIn(caller).id, params.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const listBookmarks = route({
  method: 'GET',
  path: '/api/bookmarks',
  summary: 'The bookmarks of the caller, oldest first',
  permission: 'signedIn',
  responses: { 200: s.Array(s.Object({ id: s.id() })) },
  async handle({ caller }, { bookmarks }) {
    return { status: 200, body: (await bookmarks.of(signedIn(caller).id)).map(id => ({ id })) }
  },
})
