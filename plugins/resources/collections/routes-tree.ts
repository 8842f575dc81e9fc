import {
  authorize,
  type Caller,
  Collections,
  Conflict,
  ContentCounts,
  Forbidden,
  Installation,
  Invalid,
  isSuperAdmin,
  NotFound,
  Policy,
  ref,
  routesFor,
  s,
} from 'pounce/sdk'
import { answerList, authorizeDetach, countIn, type ListQuery, listParameters, sortParameters, viewParameter } from 'pounce/sdk/kit'
import { asDetached, type Collected } from './collection.ts'
import { FullCollectionViews, SingleCollectionView } from './collection-full-view.ts'
import { CollectionViews, SingleCollection } from './collection-json.ts'
import { CollectionLists } from './collection-lists.ts'
import { CollectionTree, mayBring } from './collection-tree.ts'

const route = routesFor('collections', {
  collections: Collections,
  lists: CollectionLists,
  views: CollectionViews,
  shown: FullCollectionViews,
  tree: CollectionTree,
  policy: Policy,
  installation: Installation,
})

const params = s.Object({ id: s.id() })

const pair = s.Object({ id: s.id(), child: s.id() })

const bringing = (caller: Caller) => ({ actor: caller.user?.id, withOthers: isSuperAdmin(caller) })

const page = s.Object({ limit: s.Integer({ default: 0, minimum: 0 }), after: listParameters.after })

export const addSubCollection = route({
  method: 'POST',
  path: '/api/collections/:id/addSubCollection/:child',
  summary: 'Add a collection to a parent collection',
  description:
    'The collection is added to the spaces of the parent; only the owner may add it to further spaces. Its descendants that the caller owns follow in the background. Cycles are rejected.',
  permission: { right: 'AddResourceToCollection', on: ref('collection', 'id') },
  alsoRequires: [{ right: 'EditCollection', on: ref('collection', 'child') }],
  params: pair,
  responses: { 200: SingleCollection },
  throws: [NotFound, Conflict, Invalid, Forbidden],
  async handle({ params, caller }, { collections, tree, views }) {
    const parent = await collections.get(params.id)
    if (!parent) throw new NotFound('collection')
    await tree.addChild(params.id, params.child, bringing(caller))
    return { status: 200, body: await views.single(caller, parent) }
  },
})

export const removeSubCollection = route({
  method: 'POST',
  path: '/api/collections/:id/removeSubCollection/:child',
  summary: 'Remove a collection from a parent collection',
  description: 'Requires the right to remove from the parent, or being the author of the child. The child stays in its spaces.',
  permission: 'signedIn',
  limitedKeys: 'allowed',
  alsoRequires: [{ right: 'ViewCollection', on: ({ id, child }) => [id, child].map(id => ({ kind: 'collection' as const, id })) }],
  params: pair,
  responses: { 200: s.success() },
  throws: [NotFound, Forbidden],
  async handle({ params, caller }, { collections, tree, policy }) {
    const child = await collections.get(params.child)
    if (!child) throw new NotFound('collection')
    const parent = { kind: 'collection', id: params.id } as const
    const isIn = child.parents.includes(params.id)
    await authorizeDetach(policy, caller, 'RemoveResourceFromCollection', parent, { ...asDetached(child), isIn })
    await tree.removeChild(params.id, params.child, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const getChildCollectionIds = route({
  method: 'GET',
  path: '/api/collections/:id/getChildCollectionIds',
  summary: 'List the ids of child collections',
  permission: { right: 'ViewCollection', on: ref('collection', 'id') },
  params,
  query: page,
  responses: { 200: s.list(s.String()) },
  throws: [NotFound, Invalid],
  async handle({ params, query, caller, url }, { lists, installation }) {
    const read = (listQuery: ListQuery) => lists.childrenOf(caller, params.id, listQuery)
    const show = (some: readonly Collected[]) => some.map(child => child.id)
    return answerList(query, { read, show, baseUrl: installation.baseUrl, url })
  },
})

export const getParentCollectionIds = route({
  method: 'GET',
  path: '/api/collections/:id/getParentCollectionIds',
  summary: 'List the ids of parent collections',
  permission: { right: 'ViewCollection', on: ref('collection', 'id') },
  params,
  responses: { 200: s.Array(s.String()) },
  throws: [NotFound],
  async handle({ params, caller }, { lists }) {
    const parents = await lists.parentsOf(caller, params.id)
    return { status: 200, body: parents.map(parent => parent.id) }
  },
})

export const getChildCollections = route({
  method: 'GET',
  path: '/api/collections/:id/getChildCollections',
  summary: 'List child collections',
  permission: { right: 'ViewCollection', on: ref('collection', 'id') },
  params,
  query: s.Object({ ...page.properties, title: listParameters.title, ...sortParameters, view: viewParameter }),
  responses: { 200: s.list(SingleCollectionView) },
  throws: [NotFound, Invalid],
  async handle({ params, query, caller, url }, { lists, shown, installation }) {
    const read = (listQuery: ListQuery) => lists.childrenOf(caller, params.id, listQuery)
    return answerList(query, { read, show: shown.singles(caller, query.view), baseUrl: installation.baseUrl, url })
  },
})

export const getParentCollections = route({
  method: 'GET',
  path: '/api/collections/:id/getParentCollections',
  summary: 'List parent collections',
  permission: { right: 'ViewCollection', on: ref('collection', 'id') },
  params,
  responses: { 200: s.Array(SingleCollection) },
  throws: [NotFound],
  async handle({ params, caller }, { lists, views }) {
    return { status: 200, body: await views.singles(caller, await lists.parentsOf(caller, params.id)) }
  },
})

const needs = {
  collections: Collections,
  lists: CollectionLists,
  tree: CollectionTree,
  views: CollectionViews,
  counts: ContentCounts,
  policy: Policy,
}

const ofSpaces = routesFor('spaces', needs)

const spaceRoute = routesFor('collections', needs)

const inSpace = s.Object({ id: s.id(), collection: s.id() })

const atSpace = s.Object({ id: s.id(), space: s.id() })

export const addCollectionToSpace = ofSpaces({
  method: 'POST',
  path: '/api/spaces/:id/addCollectionToSpace/:collection',
  summary: 'Add a collection to a space',
  description:
    'It becomes a root collection of the space. Its descendants that the caller owns are added in the background; those of other owners stay out of the space.',
  permission: { right: 'AddResourceToSpace', on: ref('space', 'id') },
  alsoRequires: [{ right: 'ViewCollection', on: ref('collection', 'collection') }],
  params: inSpace,
  responses: { 200: s.Object({ collectionInSpace: s.String() }) },
  throws: [NotFound, Forbidden],
  async handle({ params, caller }, { collections, tree, counts }) {
    const found = await collections.get(params.collection)
    if (!found) throw new NotFound('collection')
    const by = bringing(caller)
    if (!mayBring(found, by)) throw new Forbidden('You are not the owner of the collection')
    await tree.enterSpace(params.collection, params.id, { asRoot: true, by })
    return { status: 200, body: { collectionInSpace: String(await countIn(counts, 'collection', { kind: 'space', id: params.id })) } }
  },
})

export const removeCollectionFromSpace = ofSpaces({
  method: 'POST',
  path: '/api/spaces/:id/removeCollection/:collection',
  summary: 'Remove a collection from a space',
  description:
    'Requires the right to remove from the space, or being the author of the collection. One that is only there through a parent collection must be removed from that instead, unless the parent is in the trash. `removeDatasets=true` also removes its datasets, unless another collection of the space contains them; this requires the right on the space.',
  permission: 'signedIn',
  limitedKeys: 'allowed',
  alsoRequires: [{ right: 'ViewCollection', on: ref('collection', 'collection') }],
  params: inSpace,
  query: s.Object({ removeDatasets: s.Boolean() }),
  responses: { 200: s.String() },
  throws: [NotFound, Forbidden, Invalid],
  async handle({ params, query, caller }, { collections, lists, tree, policy }) {
    const space = { kind: 'space', id: params.id } as const
    const found = await collections.get(params.collection)
    if (!found) throw new NotFound('collection')
    if (!found.spaces.includes(params.id)) {
      await authorize(policy, caller, 'ViewSpace', space)
      throw new NotFound('collection')
    }
    if (query.removeDatasets) await authorize(policy, caller, 'RemoveResourceFromSpace', space)
    else await authorizeDetach(policy, caller, 'RemoveResourceFromSpace', space, { ...asDetached(found), isIn: true })
    const isRoot = found.rootSpaces.includes(params.id)
    if (!isRoot && (await lists.hasParentIn(found, params.id)))
      throw new Invalid('The collection is in the space through a parent collection')
    await tree.leaveSpace(found.id, params.id, { withDatasets: query.removeDatasets, actor: caller.user?.id })
    return { status: 200, body: 'success' }
  },
})

export const removeFromSpaceAllowed = spaceRoute({
  method: 'GET',
  path: '/api/collections/:id/removeFromSpaceAllowed/:space',
  summary: 'Check whether a collection can be removed from a space',
  description: 'False if one of its parents is in the space.',
  permission: { right: 'AddResourceToSpace', on: ref('space', 'space') },
  alsoRequires: [{ right: 'ViewCollection', on: ref('collection', 'id') }],
  params: atSpace,
  responses: { 200: s.Boolean() },
  throws: [NotFound],
  async handle({ params }, { collections, lists }) {
    const found = await collections.get(params.id)
    if (!found) throw new NotFound('collection')
    return { status: 200, body: !(await lists.hasParentIn(found, params.space)) }
  },
})

export const setRootFlag = spaceRoute({
  method: 'POST',
  path: '/api/collections/:id/rootFlag/:space',
  summary: 'Set the root flag of a collection in a space',
  description: 'A root collection is listed at the top level of a space that it is in.',
  permission: { right: 'AddResourceToSpace', on: ref('space', 'space') },
  alsoRequires: [{ right: 'ViewCollection', on: ref('collection', 'id') }],
  params: atSpace,
  responses: { 200: SingleCollection },
  throws: [NotFound, Invalid],
  async handle({ params, caller }, { tree, views }) {
    const changed = await tree.setRoot(params.id, params.space, true, caller.user?.id)
    return { status: 200, body: await views.single(caller, changed) }
  },
})

export const unsetRootFlag = spaceRoute({
  method: 'POST',
  path: '/api/collections/:id/unsetRootFlag/:space',
  summary: 'Clear the root flag of a collection in a space',
  description: 'The collection stays in the space, but is listed only below its parents.',
  permission: { right: 'AddResourceToSpace', on: ref('space', 'space') },
  alsoRequires: [{ right: 'ViewCollection', on: ref('collection', 'id') }],
  params: atSpace,
  responses: { 200: SingleCollection },
  throws: [NotFound, Invalid],
  async handle({ params, caller }, { tree, views }) {
    const changed = await tree.setRoot(params.id, params.space, false, caller.user?.id)
    return { status: 200, body: await views.single(caller, changed) }
  },
})
