import {
  type Caller,
  ContentCounts,
  type DatasetRecord,
  Datasets,
  Forbidden,
  Installation,
  Invalid,
  isSuperAdmin,
  NotFound,
  Policy,
  ref,
  routesFor,
  type Stored,
  s,
} from 'pounce/sdk'
import {
  answerList,
  authorizeDetach,
  countIn,
  type ListQuery,
  listParameters,
  pathFlag,
  sortParameters,
  viewParameter,
} from 'pounce/sdk/kit'
import { DatasetLists } from './dataset-lists.ts'
import { CollectionSpaces, DatasetPlaces } from './dataset-places.ts'
import { DatasetView, DatasetViews } from './dataset-view.ts'

const asDetached = ({ id, author }: DatasetRecord & Stored) => ({ kind: 'dataset', id, author, permission: 'DeleteDataset' }) as const

const needs = {
  datasets: Datasets,
  lists: DatasetLists,
  views: DatasetViews,
  places: DatasetPlaces,
  sharing: CollectionSpaces,
  counts: ContentCounts,
  policy: Policy,
  installation: Installation,
}
const ofSpaces = routesFor('spaces', needs)
const ofCollections = routesFor('collections', needs)
const params = s.Object({ id: s.id() })
const pair = s.Object({ id: s.id(), dataset: s.id() })
const page = s.Object({
  limit: s.Integer({ default: 0, minimum: 0, description: '0: no limit' }),
  after: listParameters.after,
  title: listParameters.title,
  ...sortParameters,
  view: viewParameter,
})

const existing = async (datasets: Datasets, id: string): Promise<DatasetRecord & Stored> => {
  const dataset = await datasets.get(id)
  if (!dataset) throw new NotFound('dataset')
  return dataset
}

export const listSpaceDatasets = ofSpaces({
  method: 'GET',
  path: '/api/spaces/:id/datasets',
  summary: 'List the datasets of a space, newest first',
  permission: { right: 'ViewSpace', on: ref('space', 'id') },
  params,
  query: page,
  responses: { 200: s.list(DatasetView) },
  throws: [NotFound, Invalid],
  async handle({ params, query, caller, url }, { lists, views, installation }) {
    const read = (listQuery: ListQuery) => lists.inSpace(caller, params.id, listQuery)
    return answerList(query, { read, show: views.showing(caller, query.view), baseUrl: installation.baseUrl, url })
  },
})

export const addDatasetToSpace = ofSpaces({
  method: 'POST',
  path: '/api/spaces/:id/addDatasetToSpace/:dataset',
  summary: 'Add a dataset to a space',
  permission: { right: 'AddResourceToSpace', on: ref('space', 'id') },
  alsoRequires: [{ right: 'ViewDataset', on: ref('dataset', 'dataset') }],
  params: pair,
  responses: { 200: s.Object({ datasetsInSpace: s.String() }) },
  throws: [NotFound, Forbidden],
  async handle({ params, caller }, { datasets, places, counts }) {
    const { author } = await existing(datasets, params.dataset)
    if (author !== caller.user?.id && !isSuperAdmin(caller)) throw new Forbidden('You are not the owner of the dataset')
    await places.enter(params.dataset, { kind: 'space', id: params.id }, caller.user?.id)
    return { status: 200, body: { datasetsInSpace: String(await countIn(counts, 'dataset', { kind: 'space', id: params.id })) } }
  },
})

export const removeDatasetFromSpace = ofSpaces({
  method: 'POST',
  path: '/api/spaces/:id/removeDataset/:dataset',
  summary: 'Remove a dataset from a space',
  description:
    'Requires the right to remove from the space, or being the author of the dataset, even if the space is hidden from the caller.',
  permission: 'signedIn',
  limitedKeys: 'allowed',
  alsoRequires: [{ right: 'ViewDataset', on: ref('dataset', 'dataset') }],
  params: pair,
  responses: { 200: s.Object({ isTrial: s.String() }) },
  throws: [NotFound, Forbidden],
  async handle({ params, caller }, { datasets, places, policy }) {
    const space = { kind: 'space', id: params.id } as const
    const dataset = await existing(datasets, params.dataset)
    const isIn = dataset.spaces.includes(params.id)
    await authorizeDetach(policy, caller, 'RemoveResourceFromSpace', space, { ...asDetached(dataset), isIn })
    if (!isIn) throw new NotFound('dataset')
    const { access } = await places.leave(params.dataset, space, caller.user?.id)
    return { status: 200, body: { isTrial: String(access === 'TRIAL') } }
  },
})

export const listCollectionDatasets = ofCollections({
  method: 'GET',
  path: '/api/collections/:id/datasets',
  aliases: [{ path: '/api/collections/:id/getDatasets' }],
  summary: 'List the datasets of a collection, newest first',
  permission: { right: 'ViewCollection', on: ref('collection', 'id') },
  params,
  query: page,
  responses: { 200: s.list(DatasetView) },
  throws: [NotFound, Invalid],
  async handle({ params, query, caller, url }, { lists, views, installation }) {
    const read = (listQuery: ListQuery) => lists.inCollection(caller, params.id, listQuery)
    return answerList(query, { read, show: views.showing(caller, query.view), baseUrl: installation.baseUrl, url })
  },
})

export const addDatasetToCollection = ofCollections({
  method: 'POST',
  path: '/api/collections/:id/datasets/:dataset',
  summary: 'Add a dataset to a collection',
  description: "With `resources.datasets.addDatasetToCollectionSpace`, a dataset that its author adds also enters the collection's spaces.",
  permission: { right: 'AddResourceToCollection', on: ref('collection', 'id') },
  alsoRequires: [{ right: 'EditDataset', on: ref('dataset', 'dataset') }],
  params: pair,
  responses: { 200: s.Object({ datasetsInCollection: s.Integer() }) },
  throws: [NotFound, Forbidden],
  async handle({ params, caller }, { places, sharing, counts }) {
    const collection = { kind: 'collection', id: params.id } as const
    const dataset = await places.enter(params.dataset, collection, caller.user?.id)
    await sharing.share(dataset, params.id, caller)
    return { status: 200, body: { datasetsInCollection: await countIn(counts, 'dataset', collection) } }
  },
})

interface DetachServices {
  readonly datasets: Datasets
  readonly places: DatasetPlaces
  readonly policy: Policy
}

const leaveCollection = async (
  { datasets, places, policy }: DetachServices,
  caller: Caller,
  { id, dataset }: s.Static<typeof pair>,
  ignoreNotFound: boolean,
): Promise<{ readonly status: 200; readonly body: { readonly status: string } }> => {
  const collection = { kind: 'collection', id } as const
  const record = await existing(datasets, dataset)
  const isIn = record.collections.includes(id)
  await authorizeDetach(policy, caller, 'RemoveResourceFromCollection', collection, { ...asDetached(record), isIn })
  if (!isIn && !ignoreNotFound) throw new NotFound('dataset')
  await places.leave(dataset, collection, caller.user?.id)
  return { status: 200, body: { status: 'success' } }
}

export const removeDatasetFromCollection = ofCollections({
  method: 'DELETE',
  path: '/api/collections/:id/datasets/:dataset',
  summary: 'Remove a dataset from a collection',
  description: 'Requires the right to remove from the collection, or being the author of the dataset.',
  permission: 'signedIn',
  limitedKeys: 'allowed',
  alsoRequires: [{ right: 'ViewDataset', on: ref('dataset', 'dataset') }],
  params: pair,
  query: s.Object({ ignoreNotFound: s.flag(true) }),
  responses: { 200: s.success() },
  throws: [NotFound, Forbidden],
  async handle({ params, query, caller }, needs) {
    return leaveCollection(needs, caller, params, query.ignoreNotFound)
  },
})

export const removeDatasetFromCollectionByPost = ofCollections({
  method: 'POST',
  path: '/api/collections/:id/datasetsRemove/:dataset/:ignoreNotFound',
  summary: 'Remove a dataset from a collection (old path)',
  permission: 'signedIn',
  limitedKeys: 'allowed',
  alsoRequires: [{ right: 'ViewDataset', on: ref('dataset', 'dataset') }],
  params: s.Object({ id: s.id(), dataset: s.id(), ignoreNotFound: s.String({ description: '`true` or `false`' }) }),
  responses: { 200: s.success() },
  throws: [Invalid, NotFound, Forbidden],
  async handle({ params, caller }, needs) {
    return leaveCollection(needs, caller, params, pathFlag(params.ignoreNotFound, 'ignoreNotFound'))
  },
})
