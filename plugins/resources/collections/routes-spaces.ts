import {
  authorize,
  authorizeDetach,
  Collections,
  ContentCounts,
  countIn,
  Forbidden,
  Invalid,
  NotFound,
  Policy,
  ref,
  routesFor,
  s,
} from 'pounce/sdk'
import { asDetached } from './collection.ts'
import { SingleCollection } from './collection-json.ts'
import { CollectionLists } from './collection-lists.ts'
import { CollectionTree } from './collection-tree.ts'
import { CollectionViews } from './collection-views.ts'

const needs = {
  collections: Collections,
  lists: CollectionLists,
  tree: CollectionTree,
  views: CollectionViews,
  counts: ContentCounts,
  policy: Policy,
}
const ofSpaces = routesFor('spaces', needs)
const route = routesFor('collections', needs)
const inSpace = s.Object({ id: s.id(), collection: s.id() })
const atSpace = s.Object({ id: s.id(), space: s.id() })

export const addCollectionToSpace = ofSpaces({
  method: 'POST',
  path: '/api/spaces/:id/addCollectionToSpace/:collection',
  summary: 'Add a collection to a space',
  description: 'It becomes a root collection of the space. Its descendants are added in the background.',
  permission: { right: 'AddResourceToSpace', on: ref('space', 'id') },
  alsoRequires: [{ right: 'ViewCollection', on: ref('collection', 'collection') }],
  params: inSpace,
  responses: { 200: s.Object({ collectionInSpace: s.String() }) },
  throws: [NotFound, Forbidden],
  async handle({ params, caller }, { collections, tree, counts }) {
    const found = await collections.get(params.collection)
    if (!found) throw new NotFound('collection')
    if (found.author !== caller.user?.id && !caller.superAdmin) throw new Forbidden('You are not the owner of the collection')
    await tree.enterSpace(params.collection, params.id, { asRoot: true, actor: caller.user?.id })
    return { status: 200, body: { collectionInSpace: String(await countIn(counts, 'collection', { kind: 'space', id: params.id })) } }
  },
})

export const removeCollectionFromSpace = ofSpaces({
  method: 'POST',
  path: '/api/spaces/:id/removeCollection/:collection',
  summary: 'Remove a collection from a space',
  description:
    'Requires the right to remove from the space, or being the author of the collection. `removeDatasets=true` also removes its datasets, unless another collection of the space contains them; this requires the right on the space.',
  permission: 'signedIn',
  limitedKeys: 'allowed',
  alsoRequires: [
    { right: 'ViewSpace', on: ref('space', 'id') },
    { right: 'ViewCollection', on: ref('collection', 'collection') },
  ],
  params: inSpace,
  query: s.Object({ removeDatasets: s.Boolean() }),
  responses: { 200: s.String() },
  throws: [NotFound, Forbidden, Invalid],
  async handle({ params, query, caller }, { collections, lists, tree, policy }) {
    const space = { kind: 'space', id: params.id } as const
    const found = await collections.get(params.collection)
    if (!found?.spaces.includes(params.id)) throw new NotFound('collection')
    if (query.removeDatasets) await authorize(policy, caller, 'RemoveResourceFromSpace', space)
    else await authorizeDetach(policy, caller, 'RemoveResourceFromSpace', space, asDetached(found))
    if (await lists.hasParentIn(found, params.id)) throw new Invalid('The collection is in the space through a parent collection')
    await tree.leaveSpace(found.id, params.id, { withDatasets: query.removeDatasets, actor: caller.user?.id })
    return { status: 200, body: 'success' }
  },
})

export const removeFromSpaceAllowed = route({
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

export const setRootFlag = route({
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

export const unsetRootFlag = route({
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
