import {
  answerList,
  authorizeDetach,
  Collections,
  Conflict,
  Forbidden,
  Installation,
  Invalid,
  type ListQuery,
  listParameters,
  NotFound,
  Policy,
  ref,
  routesFor,
  s,
} from 'pounce/sdk'
import { asDetached, type Collected } from './collection.ts'
import { SingleCollection } from './collection-json.ts'
import { CollectionLists } from './collection-lists.ts'
import { CollectionTree } from './collection-tree.ts'
import { CollectionViews } from './collection-views.ts'

const route = routesFor('collections', {
  collections: Collections,
  lists: CollectionLists,
  views: CollectionViews,
  tree: CollectionTree,
  policy: Policy,
  installation: Installation,
})
const params = s.Object({ id: s.id() })
const pair = s.Object({ id: s.id(), child: s.id() })
const page = s.Object({ limit: s.Integer({ default: 0, minimum: 0 }), after: listParameters.after })

export const addSubCollection = route({
  method: 'POST',
  path: '/api/collections/:id/addSubCollection/:child',
  summary: 'Add a collection to a parent collection',
  description:
    'The collection and its descendants are added to the spaces of the parent; only the owner may add it to further spaces. Cycles are rejected.',
  permission: { right: 'AddResourceToCollection', on: ref('collection', 'id') },
  alsoRequires: [{ right: 'EditCollection', on: ref('collection', 'child') }],
  params: pair,
  responses: { 200: SingleCollection },
  throws: [NotFound, Conflict, Invalid, Forbidden],
  async handle({ params, caller }, { collections, tree, views }) {
    const [parent, child] = [await collections.get(params.id), await collections.get(params.child)]
    if (!parent || !child) throw new NotFound('collection')
    const isShared = parent.spaces.some(space => !child.spaces.includes(space))
    if (isShared && child.author !== caller.user?.id && !caller.superAdmin) {
      throw new Forbidden('Only the owner of a collection may add it to further spaces')
    }
    await tree.addChild(params.id, params.child, caller.user?.id)
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
    await authorizeDetach(policy, caller, 'RemoveResourceFromCollection', { kind: 'collection', id: params.id }, asDetached(child))
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
    const read = (asked: ListQuery) => lists.childrenOf(caller, params.id, asked)
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
  summary: 'List parent collections',
  permission: { right: 'ViewCollection', on: ref('collection', 'id') },
  params,
  responses: { 200: s.Array(SingleCollection) },
  throws: [NotFound],
  async handle({ params, caller }, { lists, views }) {
    return { status: 200, body: await views.singles(caller, await lists.parentsOf(caller, params.id)) }
  },
})
