import { Invalid, NotFound, ref, routesFor, s, signedIn } from 'pounce/sdk'
import { Bookmarks } from './bookmarks.ts'

const route = routesFor('bookmarks', { bookmarks: Bookmarks })

export const bookmarkFile = route({
  method: 'POST',
  path: '/api/files/:id/bookmark',
  summary: 'Bookmark a file',
  permission: { right: 'ViewFile', on: ref('file', 'id') },
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
  summary: "List the caller's bookmarks, oldest first",
  permission: 'signedIn',
  responses: { 200: s.Array(s.Object({ id: s.id() })) },
  async handle({ caller }, { bookmarks }) {
    return { status: 200, body: (await bookmarks.of(signedIn(caller).id)).map(id => ({ id })) }
  },
})
