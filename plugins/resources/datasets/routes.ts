import {
  answerList,
  Datasets,
  FollowAnswer,
  follow,
  Installation,
  Invalid,
  type ListQuery,
  listParameters,
  NotFound,
  one,
  Policy,
  Recommenders,
  routesFor,
  s,
  Users,
  unfollow,
} from 'pounce/sdk'
import type { Dataset } from './collection.ts'
import { DatasetItem, toDatasetItem } from './dataset-json.ts'
import { DatasetListings } from './dataset-lists.ts'
import { DatasetTrashes } from './dataset-trash.ts'
import { FileMoveTargets } from './move-targets.ts'

const route = routesFor('datasets', {
  datasets: Datasets,
  lists: DatasetListings,
  targets: FileMoveTargets,
  trash: DatasetTrashes,
  users: Users,
  recommenders: Recommenders,
  policy: Policy,
  installation: Installation,
})
const params = s.Object({ id: s.id() })
const query = s.Object(listParameters)
const items = { 200: s.list(DatasetItem) }

const show = (items: readonly Dataset[]) => items.map(toDatasetItem)

export const listDatasets = route({
  method: 'GET',
  path: '/api/datasets',
  summary: 'The datasets that the caller may see, newest first',
  permission: 'reader',
  query,
  responses: items,
  throws: [Invalid],
  async handle({ query, caller, url }, { lists, installation }) {
    const read = (asked: ListQuery) => lists.visible(caller, asked)
    return answerList(query, { read, show, baseUrl: installation.baseUrl, url, dated: true })
  },
})

export const listEditableDatasets = route({
  method: 'GET',
  path: '/api/datasets/canEdit',
  summary: 'The datasets that the caller may add to or change, newest first',
  permission: 'reader',
  query,
  responses: items,
  throws: [Invalid],
  async handle({ query, caller, url }, { lists, installation }) {
    const read = (asked: ListQuery) => lists.editable(caller, asked)
    return answerList(query, { read, show, baseUrl: installation.baseUrl, url, dated: true })
  },
})

export const listMoveTargets = route({
  method: 'GET',
  path: '/api/datasets/moveFileToDataset',
  summary: 'The datasets that a file could be moved to: those that the caller may add to, newest first',
  description: 'Only those in one of its spaces where `datasetFileWithinSpace` is set.',
  permission: 'ViewFile',
  of: one('file', 'file_id'),
  query: s.Object({ ...listParameters, file_id: s.id() }),
  responses: items,
  throws: [Invalid, NotFound],
  async handle({ query, caller, url }, { targets, installation }) {
    const read = (asked: ListQuery) => targets.of(caller, query.file_id, asked)
    return answerList(query, { read, show, baseUrl: installation.baseUrl, url, dated: true })
  },
})

export const listDatasetsOutsideCollection = route({
  method: 'GET',
  path: '/api/datasets/listOutsideCollection/:collection',
  summary: 'The datasets that the caller may see and that are not in a collection',
  permission: 'ViewCollection',
  of: one('collection', 'collection'),
  params: s.Object({ collection: s.id() }),
  query,
  responses: items,
  throws: [Invalid, NotFound],
  async handle({ params, query, caller, url }, { lists, installation }) {
    const read = (asked: ListQuery) => lists.outside(caller, params.collection, asked)
    return answerList(query, { read, show, baseUrl: installation.baseUrl, url, dated: true })
  },
})

export const getDataset = route({
  method: 'GET',
  path: '/api/datasets/:id',
  summary: 'One dataset',
  permission: 'ViewDataset',
  of: one('dataset'),
  params,
  responses: { 200: DatasetItem },
  throws: [NotFound],
  async handle({ params }, { datasets }) {
    const dataset = await datasets.get(params.id)
    if (!dataset) throw new NotFound('dataset')
    return { status: 200, body: toDatasetItem(dataset) }
  },
})

export const deleteDataset = route({
  method: 'DELETE',
  path: '/api/datasets/:id',
  summary: 'Delete a dataset',
  description:
    'A live one goes to the trash first, unless `useTrash` is off; deleting it there deletes it. Folders, files that lie nowhere else and what hangs on them follow in the background and are out of sight at once.',
  permission: 'DeleteDataset',
  of: one('dataset'),
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
  also: [{ permission: 'ViewDataset', of: one('dataset') }],
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
  summary: 'Stop following a dataset',
  permission: 'signedIn',
  params,
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { users, policy }) {
    await unfollow(users, policy, caller, { kind: 'dataset', id: params.id }, 'ViewDataset')
    return { status: 200, body: { status: 'success' } }
  },
})
