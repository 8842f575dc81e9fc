import type { IncomingHttpHeaders } from 'node:http'
import { type Caller, Conflict, Installation, Invalid, NotFound, ref, routesFor, s, signedIn } from 'pounce/sdk'
import { ChangedMeanwhile, LicenseBody, linkToNext, listParameters, toLicense, viewParameter } from 'pounce/sdk/kit'
import { DatasetEdits } from './dataset-edits.ts'
import { DatasetPlaces } from './dataset-places.ts'
import { DatasetTrash } from './dataset-trash.ts'
import { DatasetView, DatasetViews } from './dataset-view.ts'

const route = routesFor('datasets', {
  edits: DatasetEdits,
  places: DatasetPlaces,
  trash: DatasetTrash,
  views: DatasetViews,
  installation: Installation,
})

const params = s.Object({ id: s.id() })

const done = { status: 200 as const, body: { status: 'success' } }

/** An existing creator: it may date from a version that accepted blank ones. */
const creator = s.String({ minLength: 1, maxLength: 300 })

const editOf = (caller: Caller, headers: IncomingHttpHeaders) => ({ actor: caller.user?.id, ifMatch: headers['if-match'] })

export const renameDataset = route({
  method: 'PUT',
  path: '/api/datasets/:id/title',
  summary: 'Rename a dataset',
  permission: { right: 'EditDataset', on: ref('dataset', 'id') },
  params,
  body: s.Object({ name: s.line() }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, ChangedMeanwhile],
  async handle({ params, body, caller, headers }, { edits }) {
    await edits.write(params.id, { name: body.name }, editOf(caller, headers))
    return done
  },
})

export const describeDataset = route({
  method: 'PUT',
  path: '/api/datasets/:id/description',
  summary: 'Update the description of a dataset',
  permission: { right: 'EditDataset', on: ref('dataset', 'id') },
  params,
  body: s.Object({ description: s.prose() }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, ChangedMeanwhile],
  async handle({ params, body, caller, headers }, { edits }) {
    await edits.write(params.id, { description: body.description }, editOf(caller, headers))
    return done
  },
})

export const editDataset = route({
  method: 'POST',
  path: '/api/datasets/:id/editing',
  summary: 'Update the name and description of a dataset',
  permission: { right: 'EditDataset', on: ref('dataset', 'id') },
  params,
  body: s.Object({ name: s.line(), description: s.prose() }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, ChangedMeanwhile],
  async handle({ params, body: { name, description }, caller, headers }, { edits }) {
    await edits.write(params.id, { name, description }, editOf(caller, headers))
    return done
  },
})

export const addDatasetCreator = route({
  method: 'POST',
  path: '/api/datasets/:id/creator',
  summary: 'Add a creator to a dataset',
  permission: { right: 'EditDataset', on: ref('dataset', 'id') },
  params,
  body: s.Object({ creator: s.line(300) }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, ChangedMeanwhile],
  async handle({ params, body, caller, headers }, { edits }) {
    await edits.addCreator(params.id, body.creator, editOf(caller, headers))
    return done
  },
})

export const removeDatasetCreator = route({
  method: 'DELETE',
  path: '/api/datasets/:id/creator/remove',
  summary: 'Remove a creator from a dataset',
  permission: { right: 'EditDataset', on: ref('dataset', 'id') },
  params,
  query: s.Object({ creator }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, ChangedMeanwhile],
  async handle({ params, query, caller, headers }, { edits }) {
    await edits.removeCreator(params.id, query.creator, editOf(caller, headers))
    return done
  },
})

export const moveDatasetCreator = route({
  method: 'PUT',
  path: '/api/datasets/:id/creator/reorder',
  summary: 'Reorder the creators of a dataset',
  permission: { right: 'EditDataset', on: ref('dataset', 'id') },
  params,
  query: s.Object({ creator, newPos: s.Integer({ minimum: 0, description: 'New position; 0 is the first' }) }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, ChangedMeanwhile],
  async handle({ params, query, caller, headers }, { edits }) {
    await edits.moveCreator(params.id, query.creator, query.newPos, editOf(caller, headers))
    return done
  },
})

export const licenseDataset = route({
  method: 'POST',
  path: '/api/datasets/:id/license',
  summary: 'Set the license of a dataset',
  description: 'Short names such as `by-nc-sa` are expanded.',
  permission: { right: 'EditLicense', on: ref('dataset', 'id') },
  params,
  body: LicenseBody,
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, ChangedMeanwhile],
  async handle({ params, body, caller, headers }, { edits }) {
    await edits.write(params.id, { license: toLicense(body) }, editOf(caller, headers))
    return done
  },
})

const access = s.Optional(s.Union([s.Literal('PUBLIC'), s.Literal('PRIVATE'), s.Literal('DEFAULT')]))

export const setDatasetAccess = route({
  method: 'PUT',
  path: '/api/datasets/:id/access',
  summary: 'Set the access level of a dataset',
  description: 'Given as `access`, or as `aceess`, the spelling of Clowder 1.x; PRIVATE by default. DEFAULT follows the spaces.',
  permission: { right: 'PublicDataset', on: ref('dataset', 'id') },
  params,
  query: s.Object({ access, aceess: access }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, Conflict],
  async handle({ params, query, caller }, { places }) {
    await places.setAccess(params.id, query.access ?? query.aceess ?? 'PRIVATE', caller.user?.id)
    return done
  },
})

const { limit, after } = listParameters

export const listDatasetTrash = route({
  method: 'GET',
  path: '/api/datasets/listTrash',
  summary: "List the caller's datasets in the trash",
  description: 'Sorted by the time of deletion; with `limit`, the oldest are returned, oldest last, as in Clowder 1.x.',
  permission: 'signedIn',
  query: s.Object({ limit, after, view: viewParameter }),
  responses: { 200: s.Array(DatasetView) },
  throws: [Invalid],
  async handle({ query, caller, url }, { trash, views, installation }) {
    const page = await trash.of(signedIn(caller).id, query)
    const body = [...(await views.showing(caller, query.view)(page.items.toReversed()))]
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

export const emptyDatasetTrash = route({
  method: 'DELETE',
  path: '/api/datasets/emptyTrash',
  summary: "Empty the caller's dataset trash",
  permission: { right: 'DeleteDataset', unscoped: "Empties the trash of the caller; it contains no other user's datasets." },
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
