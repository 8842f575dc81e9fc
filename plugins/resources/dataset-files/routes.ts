import { Invalid, NotFound, one, routesFor, s, signedIn } from 'pounce/sdk'
import { DatasetCreation } from './creation.ts'

const route = routesFor('datasets', { creation: DatasetCreation })
const made = { 200: s.Object({ id: s.String() }) }
const oneOrMore = s.Optional(s.Union([s.String(), s.Array(s.String(), { maxItems: 1000 })], { description: 'Ids; `default` is none' }))
const existingfiles = s.String({ maxLength: 25_000, description: 'Ids of files, joined by commas' })

const idsOf = (given: string | readonly string[] | undefined): readonly string[] => {
  const ids = typeof given === 'string' ? [given] : (given ?? [])
  return [...new Set(ids)].filter(id => id !== '' && id !== 'default')
}

const joinedIds = (given: string | undefined): readonly string[] => idsOf((given ?? '').split(',').map(id => id.trim()))

export const createEmptyDataset = route({
  method: 'POST',
  path: '/api/datasets/createempty',
  summary: 'Make a dataset',
  description: 'In spaces and collections if asked for, and with files that are there already; each of them takes its own right.',
  permission: 'CreateDataset',
  body: s.Object({
    name: s.line(),
    description: s.Optional(s.prose()),
    space: oneOrMore,
    collection: oneOrMore,
    access: s.Optional(s.Union([s.Literal('PUBLIC'), s.Literal('PRIVATE'), s.Literal('DEFAULT')])),
    existingfiles: s.Optional(existingfiles),
  }),
  responses: made,
  throws: [Invalid, NotFound],
  async handle({ body, caller }, { creation }) {
    const dataset = {
      name: body.name,
      description: body.description ?? '',
      author: signedIn(caller).id,
      spaces: idsOf(body.space),
      collections: idsOf(body.collection),
      access: body.access ?? 'DEFAULT',
    }
    return { status: 200, body: { id: await creation.create(caller, dataset, joinedIds(body.existingfiles)) } }
  },
})

export const createDataset = route({
  method: 'POST',
  path: '/api/datasets',
  summary: 'Make a private dataset of a file',
  permission: 'CreateDataset',
  body: s.Object({ name: s.line(), file_id: s.String(), description: s.Optional(s.prose()), space: s.Optional(s.String()) }),
  responses: made,
  throws: [Invalid, NotFound],
  async handle({ body: { name, description = '', space, file_id: file }, caller }, { creation }) {
    const dataset = { name, description, author: signedIn(caller).id, spaces: idsOf(space), access: 'PRIVATE' as const }
    return { status: 200, body: { id: await creation.create(caller, dataset, [file]) } }
  },
})

export const attachFilesToDataset = route({
  method: 'POST',
  path: '/api/datasets/attachmultiple',
  summary: 'Put files that are there already into the root of a dataset',
  permission: 'AddResourceToDataset',
  body: s.Object({ datasetid: s.String(), existingfiles }),
  responses: made,
  throws: [Invalid, NotFound],
  async handle({ body, caller }, { creation }) {
    await creation.attach(caller, body.datasetid, joinedIds(body.existingfiles))
    return { status: 200, body: { id: body.datasetid } }
  },
})

export const detachAndDeleteDataset = route({
  method: 'POST',
  path: '/api/datasets/:id/detachdelete',
  summary: 'Delete a dataset for good and keep the files in its root',
  description: 'Files in folders go, unless they lie elsewhere too.',
  permission: 'DeleteDataset',
  of: one('dataset'),
  params: s.Object({ id: s.id() }),
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { creation }) {
    await creation.detachAndDelete(params.id, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})
