import { answerList, Installation, Invalid, type ListQuery, listParameters, NotFound, one, routesFor, s } from 'pounce/sdk'
import type { Collected } from './collection.ts'
import { CollectionItem, SingleCollection, toCollectionItem } from './collection-json.ts'
import { CollectionListings } from './collection-lists.ts'
import { CollectionShown } from './collection-views.ts'

const route = routesFor('collections', { lists: CollectionListings, views: CollectionShown, installation: Installation })
const query = s.Object(listParameters)
const { after } = listParameters
const hundred = s.Object({ limit: s.Integer({ default: 100, minimum: 0 }), after })
const items = { 200: s.list(CollectionItem) }
const singles = { 200: s.list(SingleCollection) }

const show = (some: readonly Collected[]) => some.map(toCollectionItem)

export const listCollections = route({
  method: 'GET',
  path: '/api/collections',
  aliases: [{ path: '/api/collections/list' }],
  summary: 'Collections at the top that the caller may see, newest first',
  permission: 'reader',
  query,
  responses: items,
  throws: [Invalid],
  async handle({ query, caller, url }, { lists, installation }) {
    const read = (asked: ListQuery) => lists.topLevel(caller, asked)
    return answerList(query, { read, show, baseUrl: installation.baseUrl, url, dated: true })
  },
})

export const listEditableCollections = route({
  method: 'GET',
  path: '/api/collections/canEdit',
  summary: 'Collections, also inside others, that the caller may add to or change',
  permission: 'reader',
  query,
  responses: items,
  throws: [Invalid],
  async handle({ query, caller, url }, { lists, installation }) {
    const read = (asked: ListQuery) => lists.editable(caller, asked)
    return answerList(query, { read, show, baseUrl: installation.baseUrl, url, dated: true })
  },
})

export const listPossibleParents = route({
  method: 'GET',
  path: '/api/collections/possibleParents',
  summary: 'Collections that a collection could be put into',
  description:
    'Editable ones that share a space with it, if it is in any; neither itself nor what is above or below it. A page may hold fewer than `limit`.',
  permission: 'ViewCollection',
  of: ({ currentCollectionId: id }) => ({ kind: 'collection', id }),
  query: s.Object({ ...listParameters, currentCollectionId: s.id() }),
  responses: items,
  throws: [Invalid, NotFound],
  async handle({ query, caller, url }, { lists, installation }) {
    const read = (asked: ListQuery) => lists.possibleParents(caller, query.currentCollectionId, asked)
    return answerList(query, { read, show, baseUrl: installation.baseUrl, url, dated: true })
  },
})

export const listPossibleParentsOfDataset = route({
  method: 'GET',
  path: '/api/collections/datasetPossibleParents/:dataset',
  summary: 'Collections that a dataset could be put into',
  description: 'Editable ones that share a space with it, if it is in any.',
  permission: 'ViewDataset',
  of: one('dataset', 'dataset'),
  params: s.Object({ dataset: s.id() }),
  query,
  responses: items,
  throws: [Invalid, NotFound],
  async handle({ params, query, caller, url }, { lists, installation }) {
    const read = (asked: ListQuery) => lists.possibleParentsOfDataset(caller, params.dataset, asked)
    return answerList(query, { read, show, baseUrl: installation.baseUrl, url, dated: true })
  },
})

export const listRootCollections = route({
  method: 'GET',
  path: '/api/collections/rootCollections',
  summary: 'Collections at the top of a space, of the newest 100 at the top',
  permission: 'ViewCollection',
  responses: singles,
  async handle({ caller }, { lists, views }) {
    const { items } = await lists.topLevel(caller, { limit: 100 })
    const rooted = items.filter(one => one.rootSpaces.length > 0)
    return { status: 200, body: await views.singles(caller, rooted) }
  },
})

export const listTopLevelCollections = route({
  method: 'GET',
  path: '/api/collections/topLevelCollections',
  summary: 'Collections at the top that the caller may see, in full',
  permission: 'ViewCollection',
  query: hundred,
  responses: singles,
  throws: [Invalid],
  async handle({ query, caller, url }, { lists, views, installation }) {
    const read = (asked: ListQuery) => lists.topLevel(caller, asked)
    const show = (some: readonly Collected[]) => views.singles(caller, some)
    return answerList(query, { read, show, baseUrl: installation.baseUrl, url })
  },
})

export const listAllCollections = route({
  method: 'GET',
  path: '/api/collections/allCollections',
  summary: "The caller's own collections and those of the caller's spaces, in full",
  description: '`showAll=true`: all that the caller may see. Nobody in particular gets an empty list.',
  permission: 'ViewCollection',
  query: s.Object({ limit: s.Integer({ default: 0, minimum: 0 }), showAll: s.flag(false), after }),
  responses: singles,
  throws: [Invalid],
  async handle({ query, caller, url }, { lists, views, installation }) {
    const read = (asked: ListQuery) => lists.everywhere(caller, asked, query)
    const show = (some: readonly Collected[]) => views.singles(caller, some)
    return answerList(query, { read, show, baseUrl: installation.baseUrl, url })
  },
})

export const listSpaceCollections = routesFor('spaces', { lists: CollectionListings, installation: Installation })({
  method: 'GET',
  path: '/api/spaces/:id/collections',
  summary: 'Collections at the top of a space',
  permission: 'ViewSpace',
  of: one('space'),
  params: s.Object({ id: s.id() }),
  query: s.Object({ limit: s.Integer({ default: 0, minimum: 0 }), after }),
  responses: items,
  throws: [Invalid, NotFound],
  async handle({ params, query, caller, url }, { lists, installation }) {
    const read = (asked: ListQuery) => lists.inSpace(caller, params.id, asked)
    return answerList(query, { read, show, baseUrl: installation.baseUrl, url, dated: true })
  },
})
