import { Installation, Invalid, linkToNext, listParameters, NotFound, ref, routesFor, s, signedIn } from 'pounce/sdk'
import { DatasetItem, toDatasetItem } from './dataset-json.ts'
import { DatasetTrash } from './dataset-trash.ts'

const route = routesFor('datasets', { trash: DatasetTrash, installation: Installation })
const { limit, after } = listParameters

export const listDatasetTrash = route({
  method: 'GET',
  path: '/api/datasets/listTrash',
  summary: "List the caller's datasets in the trash",
  description: 'Sorted by the time of deletion; `limit` keeps the oldest and lists them last, as in Clowder 1.x.',
  permission: 'signedIn',
  query: s.Object({ limit, after }),
  responses: { 200: s.Array(DatasetItem) },
  throws: [Invalid],
  async handle({ query, caller, url }, { trash, installation }) {
    const page = await trash.of(signedIn(caller).id, query)
    const body = page.items.toReversed().map(toDatasetItem)
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

export const emptyDatasetTrash = route({
  method: 'DELETE',
  path: '/api/datasets/emptyTrash',
  summary: "Empty the caller's dataset trash",
  permission: { right: 'DeleteDataset', unscoped: "Empties the trash of the caller; nobody else's datasets are in it." },
  responses: { 200: s.String() },
  async handle({ caller }, { trash }) {
    await trash.empty(signedIn(caller).id)
    return { status: 200, body: 'Done emptying trash' }
  },
})

export const clearOldDatasetsTrash = route({
  method: 'DELETE',
  path: '/api/datasets/clearOldDatasetsTrash',
  summary: "Delete old datasets from all users' trash",
  permission: 'serverAdmin',
  query: s.Object({ days: s.Integer({ default: 30, minimum: 0, maximum: 100_000 }) }),
  responses: { 200: s.String() },
  throws: [Invalid],
  async handle({ query, caller }, { trash }) {
    await trash.clearOld(query.days, caller.user?.id)
    return { status: 200, body: `Deleted all datasets in trash older than ${query.days} days` }
  },
})

export const restoreDataset = route({
  method: 'PUT',
  path: '/api/datasets/restore/:id',
  summary: 'Restore a dataset from the trash',
  permission: { right: 'DeleteDataset', on: ref('dataset', 'id') },
  inTrash: 'allowed',
  params: s.Object({ id: s.id() }),
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { trash }) {
    await trash.restore(params.id, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})
