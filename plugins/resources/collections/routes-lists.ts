import {
  Installation,
  Invalid,
  type ListQuery,
  linkToNext,
  listParameters,
  NotFound,
  newestFirst,
  one,
  type Page,
  routesFor,
  s,
} from 'pounce/sdk'
import type { Collected } from './collection.ts'
import { CollectionItem, SingleCollection, toCollectionItem } from './collection-json.ts'
import { CollectionListings } from './collection-lists.ts'
import { CollectionShown } from './collection-views.ts'

const route = routesFor('collections', { lists: CollectionListings, views: CollectionShown, installation: Installation })
const query = s.Object(listParameters)
const { after } = listParameters
const hundred = s.Object({ limit: s.Integer({ default: 100, minimum: 0 }), after })
const items = { 200: s.Array(CollectionItem) }
const singles = { 200: s.Array(SingleCollection) }

const itemsOf = (page: Page<Collected>, asked: ListQuery, url: URL, { baseUrl }: Installation) => ({
  status: 200 as const,
  body: newestFirst(page, asked).map(toCollectionItem),
  ...linkToNext(baseUrl, url, page),
})

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
    return itemsOf(await lists.topLevel(caller, query), query, url, installation)
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
    return itemsOf(await lists.editable(caller, query), query, url, installation)
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
    return itemsOf(await lists.possibleParents(caller, query.currentCollectionId, query), query, url, installation)
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
    return itemsOf(await lists.possibleParentsOfDataset(caller, params.dataset, query), query, url, installation)
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
    const page = await lists.topLevel(caller, query)
    const body = await views.singles(caller, page.items)
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
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
    const page = await lists.everywhere(caller, query, query)
    const body = await views.singles(caller, page.items)
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
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
    return itemsOf(await lists.inSpace(caller, params.id, query), query, url, installation)
  },
})
