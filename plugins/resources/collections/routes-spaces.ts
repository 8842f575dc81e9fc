import { Collections, demand, Forbidden, Invalid, NotFound, one, Policy, routesFor, s } from 'pounce/sdk'
import { SingleCollection } from './collection-json.ts'
import { CollectionListings } from './collection-lists.ts'
import { CollectionTrees } from './collection-tree.ts'
import { CollectionShown } from './collection-views.ts'
import { mayTakeOut } from './may-take-out.ts'

const needs = { collections: Collections, lists: CollectionListings, tree: CollectionTrees, views: CollectionShown, policy: Policy }
const ofSpaces = routesFor('spaces', needs)
const route = routesFor('collections', needs)
const inSpace = s.Object({ id: s.id(), collection: s.id() })
const atSpace = s.Object({ id: s.id(), space: s.id() })

export const addCollectionToSpace = ofSpaces({
  method: 'POST',
  path: '/api/spaces/:id/addCollectionToSpace/:collection',
  summary: 'Put a collection of your own into a space',
  description: 'It stands at the top there. What is below it follows in the background.',
  permission: 'AddResourceToSpace',
  of: one('space'),
  also: [{ permission: 'ViewCollection', of: one('collection', 'collection') }],
  params: inSpace,
  responses: { 200: s.Object({ collectionInSpace: s.String() }) },
  throws: [NotFound, Forbidden],
  async handle({ params, caller }, { collections, tree, views }) {
    const found = await collections.get(params.collection)
    if (!found) throw new NotFound('collection')
    if (found.author !== caller.user?.id && !caller.superAdmin) throw new Forbidden('You are not the owner of the collection')
    await tree.enterSpace(params.collection, params.id, { asRoot: true, actor: caller.user?.id })
    return { status: 200, body: { collectionInSpace: String(await views.count('collection', 'space', params.id)) } }
  },
})

export const removeCollectionFromSpace = ofSpaces({
  method: 'POST',
  path: '/api/spaces/:id/removeCollection/:collection',
  summary: 'Take a collection out of a space',
  description:
    'Takes the right to remove from the space, or being the author of the collection. `removeDatasets=true` takes its datasets out as well, unless another collection of the space holds them; that needs the right on the space.',
  permission: 'signedIn',
  limitedKeys: 'allowed',
  also: [
    { permission: 'ViewSpace', of: one('space') },
    { permission: 'ViewCollection', of: one('collection', 'collection') },
  ],
  params: inSpace,
  query: s.Object({ removeDatasets: s.Boolean() }),
  responses: { 200: s.String() },
  throws: [NotFound, Forbidden, Invalid],
  async handle({ params, query, caller }, { collections, lists, tree, policy }) {
    const space = { kind: 'space', id: params.id } as const
    const found = await collections.get(params.collection)
    if (!found?.spaces.includes(params.id)) throw new NotFound('collection')
    if (query.removeDatasets) await demand(policy, caller, 'RemoveResourceFromSpace', space)
    else await mayTakeOut(policy, caller, 'RemoveResourceFromSpace', space, found)
    if (await lists.hasParentIn(found, params.id)) throw new Invalid('The collection is in the space through a collection above it')
    await tree.leaveSpace(found.id, params.id, { withDatasets: query.removeDatasets, actor: caller.user?.id })
    return { status: 200, body: 'success' }
  },
})

export const removeFromSpaceAllowed = route({
  method: 'GET',
  path: '/api/collections/:id/removeFromSpaceAllowed/:space',
  summary: 'Whether a collection could be taken out of a space: no collection above it is there',
  permission: 'AddResourceToSpace',
  of: one('space', 'space'),
  also: [{ permission: 'ViewCollection', of: one('collection') }],
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
  summary: 'Show a collection at the top of a space that it is in',
  permission: 'AddResourceToSpace',
  of: one('space', 'space'),
  also: [{ permission: 'ViewCollection', of: one('collection') }],
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
  summary: 'Show a collection in a space only inside the collections above it',
  permission: 'AddResourceToSpace',
  of: one('space', 'space'),
  also: [{ permission: 'ViewCollection', of: one('collection') }],
  params: atSpace,
  responses: { 200: SingleCollection },
  throws: [NotFound, Invalid],
  async handle({ params, caller }, { tree, views }) {
    const changed = await tree.setRoot(params.id, params.space, false, caller.user?.id)
    return { status: 200, body: await views.single(caller, changed) }
  },
})
