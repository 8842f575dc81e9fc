import { Clock, Ids, Installation, Invalid, NotFound, type Ref, ref, routesFor, s } from 'pounce/sdk'
import { afterParameter, linkToNext, readAfter } from 'pounce/sdk/kit'
import { FeedNames } from './feed-names.ts'
import { FeedPages, LineJson } from './feed-pages.ts'
import { StoredActivity } from './stored-activity.ts'

const read = routesFor('events', { pages: FeedPages, installation: Installation })
const onDataset = routesFor('datasets', { activity: StoredActivity, names: FeedNames, ids: Ids, clock: Clock })

const feedQuery = s.Object({ limit: s.Integer({ default: 20, minimum: 1, maximum: 200 }), after: afterParameter() })

export const listEvents = read({
  method: 'GET',
  path: '/api/events',
  summary: "List the caller's activity feed, newest first",
  description:
    'An addition to Clowder 1.x, which shows the feed on web pages only. Paginated by the `Link` header; a page can be shorter than `limit`. 404 if the feed is disabled.',
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

export const listUserActivity = read({
  method: 'GET',
  path: '/api/users/:id/activity',
  summary: 'List the activity of a user, newest first',
  description:
    'Only what the caller may view. An addition to Clowder 1.x. Paginated by the `Link` header; a page can be shorter than `limit`. 404 if the feed is disabled.',
  permission: { right: 'ViewUser', on: ref('user', 'id') },
  params: s.Object({ id: s.id() }),
  query: feedQuery,
  responses: { 200: s.Array(LineJson) },
  throws: [NotFound, Invalid],
  async handle({ params, query, caller, url }, { pages, installation }) {
    if (!pages.isShown) throw new NotFound('feed')
    const after = query.after === undefined ? undefined : readAfter(query.after)
    const page = await pages.actionsOf(caller, params.id, { limit: query.limit, after })
    return { status: 200, body: [...page.lines], ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

/** The fields of entries that do not come from an event. */
const plain = { objectName: '', source: null, sourceName: '', target: null, within: [], audience: [] } as const

export const addFileEvent = onDataset({
  method: 'POST',
  path: '/api/datasets/:id/addFileEvent',
  summary: 'Record that several files were added to a dataset',
  description: 'For clients that upload file by file. In Clowder 1.x anyone could report this for any dataset.',
  permission: { right: 'AddResourceToDataset', on: ref('dataset', 'id') },
  params: s.Object({ id: s.id() }),
  query: s.Object({ inFolder: s.flag(false), fileCount: s.Integer({ minimum: 1, maximum: 1_000_000 }) }),
  responses: { 200: s.String() },
  throws: [NotFound],
  async handle({ params, query, caller }, { activity, names, ids, clock }) {
    const object: Ref = { kind: 'dataset', id: params.id }
    const objectName = (await names.of([object])).get(params.id)?.name ?? ''
    const type = `${query.inFolder ? 'add_file_folder' : 'add_file'}_${query.fileCount}`
    if (caller.user) {
      const at = clock.now().toISOString()
      await activity.add([{ ...plain, id: ids.next(), user: caller.user.id, type, object, objectName, at }])
    }
    return { status: 200, body: 'added new event' }
  },
})
