import { Installation, Invalid, linkToNext, listParameters, NotFound, one, routesFor, s, signedIn } from 'pounce/sdk'
import { DatasetItem, toDatasetItem } from './dataset-json.ts'
import { DatasetTrashes } from './dataset-trash.ts'

const route = routesFor('datasets', { trash: DatasetTrashes, installation: Installation })
const { limit, after } = listParameters

export const listDatasetTrash = route({
  method: 'GET',
  path: '/api/datasets/listTrash',
  summary: "The caller's datasets in the trash",
  description: 'The longest there are kept by `limit` and shown last, as in Clowder 1.x.',
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
  summary: "Delete the caller's datasets in the trash",
  permission: 'DeleteDataset',
  responses: { 200: s.String() },
  async handle({ caller }, { trash }) {
    await trash.empty(signedIn(caller).id)
    return { status: 200, body: 'Done emptying trash' }
  },
})

export const clearOldDatasetsTrash = route({
  method: 'DELETE',
  path: '/api/datasets/clearOldDatasetsTrash',
  summary: 'Delete what has been in the trash of anybody for some days',
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
  summary: 'Take a dataset back from the trash',
  permission: 'DeleteDataset',
  of: one('dataset'),
  params: s.Object({ id: s.id() }),
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { trash }) {
    await trash.restore(params.id, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})
