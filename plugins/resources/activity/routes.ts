import { afterParameter, Clock, Ids, Installation, Invalid, linkToNext, NotFound, one, type Ref, readAfter, routesFor, s } from 'pounce/sdk'
import { FeedPages, LineJson } from './feed-pages.ts'
import { Things } from './feed-things.ts'
import { Activity } from './stored-activity.ts'

const read = routesFor('events', { pages: FeedPages, installation: Installation })
const onDataset = routesFor('datasets', { activity: Activity, things: Things, ids: Ids, clock: Clock })

const feedQuery = s.Object({ limit: s.Integer({ default: 20, minimum: 1, maximum: 200 }), after: afterParameter() })

export const listEvents = read({
  method: 'GET',
  path: '/api/events',
  summary: 'What happened: own deeds, what concerns the caller, and what they follow; newest first',
  description:
    'Our own addition: Clowder 1.x shows the feed on its web pages only. Further pages through the `Link` header; a page can be shorter than asked for. 404 where the feed is switched off.',
  permission: 'signedIn',
  query: feedQuery,
  responses: { 200: s.Array(LineJson) },
  throws: [NotFound, Invalid],
  async handle({ query, caller, url }, { pages, installation }) {
    if (!pages.isShown) throw new NotFound('feed')
    const after = query.after === undefined ? undefined : readAfter(query.after)
    const page = await pages.page(caller, { limit: query.limit, after })
    return { status: 200, body: [...page.lines], ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

export const listDeeds = read({
  method: 'GET',
  path: '/api/users/:id/activity',
  summary: 'What somebody did, as far as the caller may look at it; newest first',
  description:
    'Our own addition. Further pages through the `Link` header; a page can be shorter than asked for. 404 where the feed is switched off.',
  permission: 'ViewUser',
  of: one('user'),
  params: s.Object({ id: s.id() }),
  query: feedQuery,
  responses: { 200: s.Array(LineJson) },
  throws: [NotFound, Invalid],
  async handle({ params, query, caller, url }, { pages, installation }) {
    if (!pages.isShown) throw new NotFound('feed')
    const after = query.after === undefined ? undefined : readAfter(query.after)
    const page = await pages.deedsOf(caller, params.id, { limit: query.limit, after })
    return { status: 200, body: [...page.lines], ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

/** What every line has that no event wrote. */
const plain = { objectName: '', source: null, sourceName: '', target: null, within: [], audience: [] } as const

export const addFileEvent = onDataset({
  method: 'POST',
  path: '/api/datasets/:id/addFileEvent',
  summary: 'Tell the feed that several files were added at once',
  description: 'For clients that upload file by file. Clowder 1.x let everybody say this of every dataset.',
  permission: 'AddResourceToDataset',
  of: one('dataset'),
  params: s.Object({ id: s.id() }),
  query: s.Object({ inFolder: s.flag(false), fileCount: s.Integer({ minimum: 1, maximum: 1_000_000 }) }),
  responses: { 200: s.String() },
  throws: [NotFound],
  async handle({ params, query, caller }, { activity, things, ids, clock }) {
    const object: Ref = { kind: 'dataset', id: params.id }
    const objectName = (await things.of([object])).get(params.id)?.name ?? ''
    const type = `${query.inFolder ? 'add_file_folder' : 'add_file'}_${query.fileCount}`
    if (caller.user) {
      const at = clock.now().toISOString()
      await activity.add([{ ...plain, id: ids.next(), user: caller.user.id, type, object, objectName, at }])
    }
    return { status: 200, body: 'added new event' }
  },
})
