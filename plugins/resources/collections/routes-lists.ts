import { Installation, Invalid, NotFound, ref, routesFor, s } from 'pounce/sdk'
import { answerList, type ListQuery, listParameters, sortParameters, viewParameter } from 'pounce/sdk/kit'
import type { Collected } from './collection.ts'
import { CollectionView, FullCollectionViews } from './collection-full-view.ts'
import { CollectionItem, CollectionViews, SingleCollection, toCollectionItem } from './collection-json.ts'
import { CollectionLists } from './collection-lists.ts'

const route = routesFor('collections', {
  lists: CollectionLists,
  views: CollectionViews,
  shown: FullCollectionViews,
  installation: Installation,
})
const query = s.Object(listParameters)
const { after } = listParameters
const hundred = s.Object({ limit: s.Integer({ default: 100, minimum: 0 }), after })
const items = { 200: s.list(CollectionItem) }
const viewed = { 200: s.list(CollectionView) }
const singles = { 200: s.list(SingleCollection) }

const show = (some: readonly Collected[]) => some.map(toCollectionItem)

export const listCollections = route({
  method: 'GET',
  path: '/api/collections',
  aliases: [{ path: '/api/collections/list' }],
  summary: 'List top-level collections, newest first',
  permission: 'reader',
  query: s.Object({ ...listParameters, ...sortParameters, view: viewParameter }),
  responses: viewed,
  throws: [Invalid],
  async handle({ query, caller, url }, { lists, shown, installation }) {
    const read = (listQuery: ListQuery) => lists.topLevel(caller, listQuery)
    return answerList(query, { read, show: shown.showing(caller, query.view), baseUrl: installation.baseUrl, url, dated: true })
  },
})

export const listEditableCollections = route({
  method: 'GET',
  path: '/api/collections/canEdit',
  summary: 'List collections the caller may edit',
  description: 'Includes collections that are in other collections.',
  permission: 'reader',
  query: s.Object({ ...listParameters, whose: sortParameters.whose, view: viewParameter }),
  responses: viewed,
  throws: [Invalid],
  async handle({ query, caller, url }, { lists, shown, installation }) {
    const read = (listQuery: ListQuery) => lists.editable(caller, listQuery)
    return answerList(query, { read, show: shown.showing(caller, query.view), baseUrl: installation.baseUrl, url, dated: true })
  },
})

export const listPossibleParents = route({
  method: 'GET',
  path: '/api/collections/possibleParents',
  summary: 'List possible parent collections of a collection',
  description:
    'Editable collections that share a space with the collection, if it is in any; not itself, its ancestors or its descendants. A page can be shorter than `limit`.',
  permission: { right: 'ViewCollection', on: ref('collection', 'currentCollectionId') },
  query: s.Object({ ...listParameters, currentCollectionId: s.id() }),
  responses: items,
  throws: [Invalid, NotFound],
  async handle({ query, caller, url }, { lists, installation }) {
    const read = (listQuery: ListQuery) => lists.possibleParents(caller, query.currentCollectionId, listQuery)
    return answerList(query, { read, show, baseUrl: installation.baseUrl, url, dated: true })
  },
})

export const listPossibleParentsOfDataset = route({
  method: 'GET',
  path: '/api/collections/datasetPossibleParents/:dataset',
  summary: 'List possible parent collections of a dataset',
  description: 'Editable collections that share a space with the dataset, if it is in any.',
  permission: { right: 'ViewDataset', on: ref('dataset', 'dataset') },
  params: s.Object({ dataset: s.id() }),
  query,
  responses: items,
  throws: [Invalid, NotFound],
  async handle({ params, query, caller, url }, { lists, installation }) {
    const read = (listQuery: ListQuery) => lists.possibleParentsOfDataset(caller, params.dataset, listQuery)
    return answerList(query, { read, show, baseUrl: installation.baseUrl, url, dated: true })
  },
})

export const listRootCollections = route({
  method: 'GET',
  path: '/api/collections/rootCollections',
  summary: 'List root collections of all spaces',
  description: 'Those of the newest 100 top-level collections that are root collections of a space.',
  permission: { right: 'ViewCollection', unscoped: 'The list holds only collections that the caller may see.' },
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
  summary: 'List top-level collections in full',
  permission: { right: 'ViewCollection', unscoped: 'The list holds only collections that the caller may see.' },
  query: hundred,
  responses: singles,
  throws: [Invalid],
  async handle({ query, caller, url }, { lists, views, installation }) {
    const read = (listQuery: ListQuery) => lists.topLevel(caller, listQuery)
    const show = (some: readonly Collected[]) => views.singles(caller, some)
    return answerList(query, { read, show, baseUrl: installation.baseUrl, url })
  },
})

export const listAllCollections = route({
  method: 'GET',
  path: '/api/collections/allCollections',
  summary: "List the caller's collections and those of their spaces",
  description: '`showAll=true`: all collections that the caller may view. Anonymous callers get an empty list.',
  permission: { right: 'ViewCollection', unscoped: 'The list holds only collections that the caller may see.' },
  query: s.Object({ limit: s.Integer({ default: 0, minimum: 0 }), showAll: s.flag(false), after }),
  responses: singles,
  throws: [Invalid],
  async handle({ query, caller, url }, { lists, views, installation }) {
    const read = (listQuery: ListQuery) => lists.everywhere(caller, listQuery, query)
    const show = (some: readonly Collected[]) => views.singles(caller, some)
    return answerList(query, { read, show, baseUrl: installation.baseUrl, url })
  },
})

export const listSpaceCollections = routesFor('spaces', { lists: CollectionLists, shown: FullCollectionViews, installation: Installation })(
  {
    method: 'GET',
    path: '/api/spaces/:id/collections',
    summary: 'List root collections of a space',
    permission: { right: 'ViewSpace', on: ref('space', 'id') },
    params: s.Object({ id: s.id() }),
    query: s.Object({
      limit: s.Integer({ default: 0, minimum: 0 }),
      after,
      title: listParameters.title,
      ...sortParameters,
      view: viewParameter,
    }),
    responses: viewed,
    throws: [Invalid, NotFound],
    async handle({ params, query, caller, url }, { lists, shown, installation }) {
      const read = (listQuery: ListQuery) => lists.inSpace(caller, params.id, listQuery)
      return answerList(query, { read, show: shown.showing(caller, query.view), baseUrl: installation.baseUrl, url, dated: true })
    },
  },
)
