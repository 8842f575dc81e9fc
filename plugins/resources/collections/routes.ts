import {
  authorize,
  Collections,
  event,
  Installation,
  Invalid,
  NotFound,
  Policy,
  Recommenders,
  ref,
  routesFor,
  s,
  signedIn,
  Users,
} from 'pounce/sdk'
import {
  ChangedMeanwhile,
  changeIfMatching,
  FollowAnswer,
  follow,
  linkToNext,
  listParameters,
  optionalOrNull,
  requirePlaced,
  unfollow,
  versionTag,
  viewParameter,
} from 'pounce/sdk/kit'
import { FullCollectionViews, SingleCollectionView } from './collection-full-view.ts'
import { CollectionService } from './collection-service.ts'
import { CollectionTrash } from './stored-collections.ts'

const route = routesFor('collections', {
  collections: Collections,
  service: CollectionService,
  shown: FullCollectionViews,
  policy: Policy,
  users: Users,
  recommenders: Recommenders,
  trash: CollectionTrash,
  installation: Installation,
})

const params = s.Object({ id: s.id() })

const named = {
  name: s.line(),
  description: s.prose(),
}

const space = optionalOrNull(
  s.Union([s.String(), s.Array(s.String(), { maxItems: 1 })], {
    description: 'Id of a space to add it to, as text or as the only element of a list; `default` means none',
  }),
)

const spaceIn = (given: string | readonly string[] | null | undefined): string | undefined => {
  const id = typeof given === 'string' ? given : given?.[0]
  return id === '' || id === 'default' ? undefined : id
}

export const createCollection = route({
  method: 'POST',
  path: '/api/collections',
  summary: 'Create a collection',
  description: 'In a space it is a root collection.',
  permission: {
    right: 'CreateCollection',
    unscoped: 'The collection is new; the handler checks AddResourceToSpace on the space that the body names.',
  },
  body: s.model('NewCollection', s.Object({ name: named.name, description: optionalOrNull(named.description), space })),
  responses: { 200: s.Object({ id: s.String() }) },
  throws: [Invalid, NotFound],
  async handle({ body, caller }, { service, policy }) {
    const author = signedIn(caller).id
    const space = spaceIn(body.space)
    requirePlaced(caller, space !== undefined)
    if (space !== undefined) await authorize(policy, caller, 'AddResourceToSpace', { kind: 'space', id: space })
    const { id } = await service.create({ name: body.name, description: body.description ?? '', author, space })
    return { status: 200, body: { id } }
  },
})

export const createCollectionWithParent = route({
  method: 'POST',
  path: '/api/collections/newCollectionWithParent',
  summary: 'Create a collection in a parent collection',
  description: 'It is added to the spaces of its parent. Without `parentId` it has no parent.',
  permission: {
    right: 'CreateCollection',
    unscoped: 'The collection is new; the handler checks the rights on the parent and the space that the body names.',
  },
  body: s.model(
    'NewChildCollection',
    s.Object({
      name: named.name,
      description: optionalOrNull(named.description),
      space,
      parentId: optionalOrNull(
        s.Union([s.String(), s.Array(s.String(), { minItems: 1, maxItems: 1 })], {
          description: 'Id of the parent, as text or as the only element of a list as pyclowder sends it',
        }),
      ),
    }),
  ),
  responses: { 200: s.Object({ id: s.String() }) },
  throws: [Invalid, NotFound],
  async handle({ body, caller }, { service, policy }) {
    const author = signedIn(caller).id
    const parent = typeof body.parentId === 'string' ? body.parentId : body.parentId?.[0]
    const space = spaceIn(body.space)
    requirePlaced(caller, parent !== undefined || space !== undefined)
    if (parent !== undefined) await authorize(policy, caller, 'AddResourceToCollection', { kind: 'collection', id: parent })
    if (space !== undefined) await authorize(policy, caller, 'AddResourceToSpace', { kind: 'space', id: space })
    const { id } = await service.create({ name: body.name, description: body.description ?? '', author, space, parent })
    return { status: 200, body: { id } }
  },
})

export const getCollection = route({
  method: 'GET',
  path: '/api/collections/:id',
  summary: 'Get a collection',
  description: 'All values are text, as in Clowder 1.x, except with `view=full`.',
  permission: { right: 'ViewCollection', on: ref('collection', 'id') },
  params,
  query: s.Object({ view: viewParameter }),
  responses: { 200: SingleCollectionView },
  throws: [NotFound],
  async handle({ params, query, caller }, { collections, shown }) {
    const found = await collections.get(params.id)
    if (!found) throw new NotFound('collection')
    const [body] = await shown.singles(caller, query.view)([found])
    if (!body) throw new NotFound('collection')
    return { status: 200, body, headers: versionTag(found) }
  },
})

export const deleteCollection = route({
  method: 'DELETE',
  path: '/api/collections/:id',
  aliases: [{ method: 'POST', path: '/api/collections/:id/remove' }],
  summary: 'Delete a collection',
  description:
    'Moves a collection to the trash, unless `useTrash` is off; deleting it from the trash deletes it permanently. Its contents are kept.',
  permission: { right: 'DeleteCollection', on: ref('collection', 'id') },
  inTrash: 'allowed',
  params,
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { service }) {
    await service.discard(params.id, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const renameCollection = route({
  method: 'PUT',
  path: '/api/collections/:id/title',
  summary: 'Rename a collection',
  permission: { right: 'EditCollection', on: ref('collection', 'id') },
  params,
  body: s.Object({ name: named.name }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, ChangedMeanwhile],
  async handle({ params: { id }, body, caller, headers }, { collections }) {
    const renamed = event('collection.updated', { kind: 'collection', id }, { fields: ['name'] }, caller.user?.id)
    await changeIfMatching(collections, { kind: 'collection', id }, headers['if-match'], { set: { name: body.name } }, [renamed])
    return { status: 200, body: { status: 'success' } }
  },
})

export const describeCollection = route({
  method: 'PUT',
  path: '/api/collections/:id/description',
  summary: 'Update the description of a collection',
  permission: { right: 'EditCollection', on: ref('collection', 'id') },
  params,
  body: s.Object({ description: named.description }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, ChangedMeanwhile],
  async handle({ params: { id }, body, caller, headers }, { collections }) {
    const described = event('collection.updated', { kind: 'collection', id }, { fields: ['description'] }, caller.user?.id)
    const set = { description: body.description }
    await changeIfMatching(collections, { kind: 'collection', id }, headers['if-match'], { set }, [described])
    return { status: 200, body: { status: 'success' } }
  },
})

export const followCollection = route({
  method: 'POST',
  path: '/api/collections/:id/follow',
  summary: 'Follow a collection',
  permission: 'signedIn',
  alsoRequires: [{ right: 'ViewCollection', on: ref('collection', 'id') }],
  params,
  responses: { 200: FollowAnswer },
  throws: [NotFound],
  async handle({ params, caller }, needs) {
    return follow(needs, caller, { kind: 'collection', id: params.id })
  },
})

export const unfollowCollection = route({
  method: 'POST',
  path: '/api/collections/:id/unfollow',
  summary: 'Unfollow a collection',
  permission: 'signedIn',
  params,
  responses: { 200: s.empty() },
  throws: [NotFound],
  async handle({ params, caller }, { users, policy }) {
    await unfollow(users, policy, caller, { kind: 'collection', id: params.id })
    return { status: 200, body: undefined }
  },
})

const { limit, after } = listParameters

export const listCollectionTrash = route({
  method: 'GET',
  path: '/api/collections/listTrash',
  summary: "List the caller's collections in the trash",
  description: 'Sorted by the time of deletion; with `limit`, the oldest are returned, oldest last, as in Clowder 1.x.',
  permission: 'reader',
  query: s.Object({ limit, after, view: viewParameter }),
  responses: { 200: s.Array(SingleCollectionView) },
  throws: [Invalid],
  async handle({ query, caller, url }, { trash, shown, installation, policy }) {
    if (!caller.user) return { status: 200, body: [] }
    const page = await trash.of(caller.user.id, query)
    const ids = page.items.map(({ id }) => id)
    const seen = await policy.allowed(caller, 'ViewCollection', 'collection', ids)
    const body = [...(await shown.singles(caller, query.view)(page.items.filter(({ id }) => seen.has(id)).toReversed()))]
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

export const emptyCollectionTrash = route({
  method: 'DELETE',
  path: '/api/collections/emptyTrash',
  summary: "Empty the caller's collection trash",
  permission: { right: 'DeleteCollection', unscoped: "Empties the trash of the caller; it contains no other user's collections." },
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
  async handle({ params, caller }, { service }) {
    await service.restore(params.id, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})
