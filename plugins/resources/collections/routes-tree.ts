import {
  answerList,
  Collections,
  Conflict,
  Forbidden,
  Installation,
  Invalid,
  type ListQuery,
  listParameters,
  NotFound,
  one,
  Policy,
  routesFor,
  s,
} from 'pounce/sdk'
import type { Collected } from './collection.ts'
import { SingleCollection } from './collection-json.ts'
import { CollectionListings } from './collection-lists.ts'
import { CollectionTrees } from './collection-tree.ts'
import { CollectionShown } from './collection-views.ts'
import { mayTakeOut } from './may-take-out.ts'

const route = routesFor('collections', {
  collections: Collections,
  lists: CollectionListings,
  views: CollectionShown,
  tree: CollectionTrees,
  policy: Policy,
  installation: Installation,
})
const params = s.Object({ id: s.id() })
const pair = s.Object({ id: s.id(), child: s.id() })
const page = s.Object({ limit: s.Integer({ default: 0, minimum: 0 }), after: listParameters.after })

export const addSubCollection = route({
  method: 'POST',
  path: '/api/collections/:id/addSubCollection/:child',
  summary: 'Put a collection into another one',
  description:
    'It joins the spaces of its parent, and so does what is below it: into further spaces only its owner may bring it. Circles are refused.',
  permission: 'AddResourceToCollection',
  of: one('collection'),
  also: [{ permission: 'EditCollection', of: one('collection', 'child') }],
  params: pair,
  responses: { 200: SingleCollection },
  throws: [NotFound, Conflict, Invalid, Forbidden],
  async handle({ params, caller }, { collections, tree, views }) {
    const [parent, child] = [await collections.get(params.id), await collections.get(params.child)]
    if (!parent || !child) throw new NotFound('collection')
    const isShared = parent.spaces.some(space => !child.spaces.includes(space))
    if (isShared && child.author !== caller.user?.id && !caller.superAdmin) {
      throw new Forbidden('Only its owner may bring a collection into further spaces')
    }
    await tree.addChild(params.id, params.child, caller.user?.id)
    return { status: 200, body: await views.single(caller, parent) }
  },
})

export const removeSubCollection = route({
  method: 'POST',
  path: '/api/collections/:id/removeSubCollection/:child',
  summary: 'Take a collection out of another one',
  description: 'Takes the right to remove from the parent, or being the author of the child. The child stays in its spaces.',
  permission: 'signedIn',
  limitedKeys: 'allowed',
  also: [{ permission: 'ViewCollection', of: ({ id, child }) => [id, child].map(id => ({ kind: 'collection' as const, id })) }],
  params: pair,
  responses: { 200: s.success() },
  throws: [NotFound, Forbidden],
  async handle({ params, caller }, { collections, tree, policy }) {
    const child = await collections.get(params.child)
    if (!child) throw new NotFound('collection')
    await mayTakeOut(policy, caller, 'RemoveResourceFromCollection', { kind: 'collection', id: params.id }, child)
    await tree.removeChild(params.id, params.child, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const getChildCollectionIds = route({
  method: 'GET',
  path: '/api/collections/:id/getChildCollectionIds',
  summary: 'Ids of the collections right inside a collection',
  permission: 'ViewCollection',
  of: one('collection'),
  params,
  query: page,
  responses: { 200: s.list(s.String()) },
  throws: [NotFound, Invalid],
  async handle({ params, query, caller, url }, { lists, installation }) {
    const read = (asked: ListQuery) => lists.childrenOf(caller, params.id, asked)
    const show = (some: readonly Collected[]) => some.map(child => child.id)
    return answerList(query, { read, show, baseUrl: installation.baseUrl, url })
  },
})

export const getParentCollectionIds = route({
  method: 'GET',
  path: '/api/collections/:id/getParentCollectionIds',
  summary: 'Ids of the collections that a collection is in',
  permission: 'ViewCollection',
  of: one('collection'),
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
  summary: 'The collections right inside a collection',
  permission: 'ViewCollection',
  of: one('collection'),
  params,
  query: page,
  responses: { 200: s.list(SingleCollection) },
  throws: [NotFound, Invalid],
  async handle({ params, query, caller, url }, { lists, views, installation }) {
    const read = (asked: ListQuery) => lists.childrenOf(caller, params.id, asked)
    const show = (some: readonly Collected[]) => views.singles(caller, some)
    return answerList(query, { read, show, baseUrl: installation.baseUrl, url })
  },
})

export const getParentCollections = route({
  method: 'GET',
  path: '/api/collections/:id/getParentCollections',
  summary: 'The collections that a collection is in',
  permission: 'ViewCollection',
  of: one('collection'),
  params,
  responses: { 200: s.Array(SingleCollection) },
  throws: [NotFound],
  async handle({ params, caller }, { lists, views }) {
    return { status: 200, body: await views.singles(caller, await lists.parentsOf(caller, params.id)) }
  },
})
