import { Datasets, Installation, Invalid, NotFound, Policy, Recommenders, ref, routesFor, s, Users } from 'pounce/sdk'
import {
  answerList,
  FollowAnswer,
  follow,
  type ListQuery,
  listParameters,
  sortParameters,
  unfollow,
  versionTag,
  viewParameter,
} from 'pounce/sdk/kit'
import type { Dataset } from './collection.ts'
import { DatasetItem, DatasetLists, toDatasetItem } from './dataset-lists.ts'
import { MoveTargets } from './dataset-places.ts'
import { DatasetTrash } from './dataset-trash.ts'
import { DatasetView, DatasetViews } from './dataset-view.ts'

const route = routesFor('datasets', {
  datasets: Datasets,
  lists: DatasetLists,
  views: DatasetViews,
  targets: MoveTargets,
  trash: DatasetTrash,
  users: Users,
  recommenders: Recommenders,
  policy: Policy,
  installation: Installation,
})
const params = s.Object({ id: s.id() })
const query = s.Object(listParameters)
const sorted = s.Object({ ...listParameters, ...sortParameters, view: viewParameter })
const viewed = { 200: s.list(DatasetView) }
const items = { 200: s.list(DatasetItem) }

const show = (items: readonly Dataset[]) => items.map(toDatasetItem)

export const listDatasets = route({
  method: 'GET',
  path: '/api/datasets',
  summary: 'List datasets, newest first',
  permission: 'reader',
  query: sorted,
  responses: viewed,
  throws: [Invalid],
  async handle({ query, caller, url }, { lists, views, installation }) {
    const read = (listQuery: ListQuery) => lists.visible(caller, listQuery)
    return answerList(query, { read, show: views.showing(caller, query.view), baseUrl: installation.baseUrl, url, dated: true })
  },
})

export const listEditableDatasets = route({
  method: 'GET',
  path: '/api/datasets/canEdit',
  summary: 'List datasets the caller may edit, newest first',
  permission: 'reader',
  query: sorted,
  responses: viewed,
  throws: [Invalid],
  async handle({ query, caller, url }, { lists, views, installation }) {
    const read = (listQuery: ListQuery) => lists.editable(caller, listQuery)
    return answerList(query, { read, show: views.showing(caller, query.view), baseUrl: installation.baseUrl, url, dated: true })
  },
})

export const listMoveTargets = route({
  method: 'GET',
  path: '/api/datasets/moveFileToDataset',
  summary: 'List datasets that a file can be moved to, newest first',
  description: "Datasets that the caller may add to; only those in one of the file's spaces if `datasetFileWithinSpace` is set.",
  permission: { right: 'ViewFile', on: ref('file', 'file_id') },
  query: s.Object({ ...listParameters, file_id: s.id() }),
  responses: items,
  throws: [Invalid, NotFound],
  async handle({ query, caller, url }, { targets, installation }) {
    const read = (listQuery: ListQuery) => targets.of(caller, query.file_id, listQuery)
    return answerList(query, { read, show, baseUrl: installation.baseUrl, url, dated: true })
  },
})

export const listDatasetsOutsideCollection = route({
  method: 'GET',
  path: '/api/datasets/listOutsideCollection/:collection',
  summary: 'List datasets that are not in a collection',
  permission: { right: 'ViewCollection', on: ref('collection', 'collection') },
  params: s.Object({ collection: s.id() }),
  query,
  responses: items,
  throws: [Invalid, NotFound],
  async handle({ params, query, caller, url }, { lists, installation }) {
    const read = (listQuery: ListQuery) => lists.outside(caller, params.collection, listQuery)
    return answerList(query, { read, show, baseUrl: installation.baseUrl, url, dated: true })
  },
})

export const getDataset = route({
  method: 'GET',
  path: '/api/datasets/:id',
  summary: 'Get a dataset',
  permission: { right: 'ViewDataset', on: ref('dataset', 'id') },
  jobKeys: 'allowed',
  params,
  query: s.Object({ view: viewParameter }),
  responses: { 200: DatasetView },
  throws: [NotFound],
  async handle({ params, query, caller }, { datasets, views }) {
    const dataset = await datasets.get(params.id)
    if (!dataset) throw new NotFound('dataset')
    const [body = toDatasetItem(dataset)] = await views.showing(caller, query.view)([dataset])
    return { status: 200, body, headers: versionTag(dataset) }
  },
})

export const deleteDataset = route({
  method: 'DELETE',
  path: '/api/datasets/:id',
  summary: 'Delete a dataset',
  description:
    'Moves a dataset to the trash, unless `useTrash` is off; deleting it from the trash deletes it permanently. Its folders, files that are in no other dataset, and everything attached to them are hidden at once and deleted in the background.',
  permission: { right: 'DeleteDataset', on: ref('dataset', 'id') },
  inTrash: 'allowed',
  params,
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { trash }) {
    await trash.discard(params.id, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const followDataset = route({
  method: 'POST',
  path: '/api/datasets/:id/follow',
  summary: 'Follow a dataset',
  permission: 'signedIn',
  alsoRequires: [{ right: 'ViewDataset', on: ref('dataset', 'id') }],
  params,
  responses: { 200: FollowAnswer },
  throws: [NotFound],
  async handle({ params, caller }, needs) {
    return follow(needs, caller, { kind: 'dataset', id: params.id })
  },
})

export const unfollowDataset = route({
  method: 'POST',
  path: '/api/datasets/:id/unfollow',
  summary: 'Unfollow a dataset',
  permission: 'signedIn',
  params,
  responses: { 200: s.empty() },
  throws: [NotFound],
  async handle({ params, caller }, { users, policy }) {
    await unfollow(users, policy, caller, { kind: 'dataset', id: params.id })
    return { status: 200, body: undefined }
  },
})
