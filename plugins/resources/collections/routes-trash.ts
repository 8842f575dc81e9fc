import { Installation, Invalid, linkToNext, listParameters, NotFound, Policy, ref, routesFor, s, signedIn } from 'pounce/sdk'
import { SingleCollection } from './collection-json.ts'
import { CollectionService } from './collection-service.ts'
import { CollectionTrash } from './collection-trash.ts'
import { CollectionViews } from './collection-views.ts'

const route = routesFor('collections', {
  life: CollectionService,
  trash: CollectionTrash,
  views: CollectionViews,
  installation: Installation,
  policy: Policy,
})
const { limit, after } = listParameters

export const listCollectionTrash = route({
  method: 'GET',
  path: '/api/collections/listTrash',
  summary: "List the caller's collections in the trash",
  description: 'Sorted by the time of deletion; `limit` keeps the oldest and lists them last, as in Clowder 1.x.',
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
  summary: "Empty the caller's collection trash",
  permission: { right: 'DeleteCollection', unscoped: "Empties the trash of the caller; nobody else's collections are in it." },
  responses: { 200: s.String() },
  async handle({ caller }, { trash }) {
    await trash.empty(signedIn(caller).id)
    return { status: 200, body: 'Done emptying trash' }
  },
})

export const clearOldCollectionsTrash = route({
  method: 'DELETE',
  path: '/api/collections/clearOldCollectionsTrash',
  summary: "Delete old collections from all users' trash",
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
  summary: 'Restore a collection from the trash',
  permission: { right: 'DeleteCollection', on: ref('collection', 'id') },
  inTrash: 'allowed',
  params: s.Object({ id: s.id() }),
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { life }) {
    await life.restore(params.id, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})
