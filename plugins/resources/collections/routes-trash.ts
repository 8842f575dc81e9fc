import { Installation, Invalid, linkToNext, listParameters, NotFound, one, Policy, routesFor, s, signedIn } from 'pounce/sdk'
import { SingleCollection } from './collection-json.ts'
import { CollectionLifes } from './collection-life.ts'
import { CollectionTrashes } from './collection-trash.ts'
import { CollectionShown } from './collection-views.ts'

const route = routesFor('collections', {
  life: CollectionLifes,
  trash: CollectionTrashes,
  views: CollectionShown,
  installation: Installation,
  policy: Policy,
})
const { limit, after } = listParameters

export const listCollectionTrash = route({
  method: 'GET',
  path: '/api/collections/listTrash',
  summary: "The caller's collections in the trash",
  description: 'The longest there are kept by `limit` and shown last, as in Clowder 1.x.',
  permission: 'reader',
  query: s.Object({ limit, after }),
  responses: { 200: s.Array(SingleCollection) },
  throws: [Invalid],
  async handle({ query, caller, url }, { trash, views, installation, policy }) {
    if (!caller.user) return { status: 200, body: [] }
    const page = await trash.of(caller.user.id, query)
    const ids = page.items.map(({ id }) => id)
    const seen = await policy.allowed(caller, 'ViewCollection', 'collection', ids)
    const body = await views.singles(caller, page.items.filter(({ id }) => seen.has(id)).toReversed())
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

export const emptyCollectionTrash = route({
  method: 'DELETE',
  path: '/api/collections/emptyTrash',
  summary: "Delete the caller's collections in the trash",
  permission: 'DeleteCollection',
  responses: { 200: s.String() },
  async handle({ caller }, { trash }) {
    await trash.empty(signedIn(caller).id)
    return { status: 200, body: 'Done emptying trash' }
  },
})

export const clearOldCollectionsTrash = route({
  method: 'DELETE',
  path: '/api/collections/clearOldCollectionsTrash',
  summary: 'Delete what has been in the trash of anybody for some days',
  permission: 'serverAdmin',
  query: s.Object({ days: s.Integer({ default: 30, minimum: 0, maximum: 100_000 }) }),
  responses: { 200: s.String() },
  throws: [Invalid],
  async handle({ query, caller }, { trash }) {
    await trash.clearOld(query.days, caller.user?.id)
    return { status: 200, body: `Deleted all collections in trash older than ${query.days} days` }
  },
})

export const restoreCollection = route({
  method: 'PUT',
  path: '/api/collections/restore/:id',
  summary: 'Take a collection back from the trash',
  permission: 'DeleteCollection',
  of: one('collection'),
  params: s.Object({ id: s.id() }),
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { life }) {
    await life.restore(params.id, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})
