import { Conflict, Invalid, LicenseBody, NotFound, one, routesFor, s, toLicense } from 'pounce/sdk'
import { DatasetEditing } from './dataset-edits.ts'
import { DatasetPlacing } from './dataset-places.ts'

const route = routesFor('datasets', { edits: DatasetEditing, places: DatasetPlacing })
const params = s.Object({ id: s.id() })
const done = { status: 200 as const, body: { status: 'success' } }
const creator = s.line(300)

export const renameDataset = route({
  method: 'PUT',
  path: '/api/datasets/:id/title',
  summary: 'Rename a dataset',
  permission: 'EditDataset',
  of: one('dataset'),
  params,
  body: s.Object({ name: s.line() }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params, body, caller }, { edits }) {
    await edits.write(params.id, { name: body.name }, caller.user?.id)
    return done
  },
})

export const describeDataset = route({
  method: 'PUT',
  path: '/api/datasets/:id/description',
  summary: "Change a dataset's description",
  permission: 'EditDataset',
  of: one('dataset'),
  params,
  body: s.Object({ description: s.prose() }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params, body, caller }, { edits }) {
    await edits.write(params.id, { description: body.description }, caller.user?.id)
    return done
  },
})

export const editDataset = route({
  method: 'POST',
  path: '/api/datasets/:id/editing',
  summary: 'Change name and description of a dataset at once',
  permission: 'EditDataset',
  of: one('dataset'),
  params,
  body: s.Object({ name: s.line(), description: s.prose() }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params, body: { name, description }, caller }, { edits }) {
    await edits.write(params.id, { name, description }, caller.user?.id)
    return done
  },
})

export const addDatasetCreator = route({
  method: 'POST',
  path: '/api/datasets/:id/creator',
  summary: 'Append a creator',
  permission: 'EditDataset',
  of: one('dataset'),
  params,
  body: s.Object({ creator }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params, body, caller }, { edits }) {
    await edits.addCreator(params.id, body.creator, caller.user?.id)
    return done
  },
})

export const removeDatasetCreator = route({
  method: 'DELETE',
  path: '/api/datasets/:id/creator/remove',
  summary: 'Remove a creator',
  permission: 'EditDataset',
  of: one('dataset'),
  params,
  query: s.Object({ creator }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params, query, caller }, { edits }) {
    await edits.removeCreator(params.id, query.creator, caller.user?.id)
    return done
  },
})

export const moveDatasetCreator = route({
  method: 'PUT',
  path: '/api/datasets/:id/creator/reorder',
  summary: 'Move a creator to another position',
  permission: 'EditDataset',
  of: one('dataset'),
  params,
  query: s.Object({ creator, newPos: s.Integer({ minimum: 0, description: '0 is the first' }) }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params, query, caller }, { edits }) {
    await edits.moveCreator(params.id, query.creator, query.newPos, caller.user?.id)
    return done
  },
})

export const licenseDataset = route({
  method: 'POST',
  path: '/api/datasets/:id/license',
  summary: 'Say under which license a dataset is',
  description: 'Short texts such as `by-nc-sa` are written out.',
  permission: 'EditLicense',
  of: one('dataset'),
  params,
  body: LicenseBody,
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params, body, caller }, { edits }) {
    await edits.write(params.id, { license: toLicense(body) }, caller.user?.id)
    return done
  },
})

const access = s.Optional(s.Union([s.Literal('PUBLIC'), s.Literal('PRIVATE'), s.Literal('DEFAULT')]))

export const setDatasetAccess = route({
  method: 'PUT',
  path: '/api/datasets/:id/access',
  summary: 'Say who may read a dataset',
  description: 'As `access`, or as `aceess` like Clowder 1.x spells it; PRIVATE when neither is given. DEFAULT follows the spaces.',
  permission: 'PublicDataset',
  of: one('dataset'),
  params,
  query: s.Object({ access, aceess: access }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, Conflict],
  async handle({ params, query, caller }, { places }) {
    await places.setAccess(params.id, query.access ?? query.aceess ?? 'PRIVATE', caller.user?.id)
    return done
  },
})
