import { Invalid, NotFound, ref, routesFor, s, signedIn } from 'pounce/sdk'
import { optionalOrNull } from 'pounce/sdk/kit'
import { DatasetCreation } from './dataset-creation.ts'

const route = routesFor('datasets', { creation: DatasetCreation })
const createdResponse = { 200: s.Object({ id: s.String() }) }
/** Clients of Clowder 1.x send null for absent values. */
const oneOrMore = s.Optional(
  s.Union([s.String(), s.Array(s.String(), { maxItems: 1000 }), s.Null()], { description: 'Ids; `default` means none' }),
)
const description = optionalOrNull(s.prose())
const existingfiles = s.String({ maxLength: 25_000, description: 'Ids of existing files, separated by commas' })

const idsOf = (given: string | readonly string[] | null | undefined): readonly string[] => {
  const ids = typeof given === 'string' ? [given] : (given ?? [])
  return [...new Set(ids)].filter(id => id !== '' && id !== 'default')
}

const joinedIds = (given: string | null | undefined): readonly string[] => idsOf((given ?? '').split(',').map(id => id.trim()))

export const createEmptyDataset = route({
  method: 'POST',
  path: '/api/datasets/createempty',
  summary: 'Create a dataset',
  description: 'Optionally in spaces and collections, and with existing files; each requires its own right.',
  permission: {
    right: 'CreateDataset',
    unscoped: 'The dataset is new; the handler checks the rights on the spaces, collections and files that the body names.',
  },
  body: s.model(
    'NewDataset',
    s.Object({
      name: s.line(),
      description,
      space: oneOrMore,
      collection: oneOrMore,
      access: s.Optional(s.Union([s.Literal('PUBLIC'), s.Literal('PRIVATE'), s.Literal('DEFAULT'), s.Null()])),
      existingfiles: optionalOrNull(existingfiles),
    }),
  ),
  responses: createdResponse,
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
  summary: 'Create a private dataset from an existing file',
  permission: {
    right: 'CreateDataset',
    unscoped: 'The dataset is new; the handler checks the rights on the file and the spaces that the body names.',
  },
  body: s.model('NewDatasetOfFile', s.Object({ name: s.line(), file_id: s.String(), description, space: optionalOrNull(s.String()) })),
  responses: createdResponse,
  throws: [Invalid, NotFound],
  async handle({ body: { name, description, space, file_id: file }, caller }, { creation }) {
    const dataset = { name, description: description ?? '', author: signedIn(caller).id, spaces: idsOf(space), access: 'PRIVATE' as const }
    return { status: 200, body: { id: await creation.create(caller, dataset, [file]) } }
  },
})

export const attachFilesToDataset = route({
  method: 'POST',
  path: '/api/datasets/attachmultiple',
  summary: 'Attach several existing files to a dataset',
  permission: {
    right: 'AddResourceToDataset',
    unscoped: 'The body names the dataset and the files; the handler checks AddResourceToDataset and EditFile on them.',
  },
  body: s.Object({ datasetid: s.String(), existingfiles }),
  responses: createdResponse,
  throws: [Invalid, NotFound],
  async handle({ body, caller }, { creation }) {
    await creation.attach(caller, body.datasetid, joinedIds(body.existingfiles))
    return { status: 200, body: { id: body.datasetid } }
  },
})

export const detachAndDeleteDataset = route({
  method: 'POST',
  path: '/api/datasets/:id/detachdelete',
  summary: 'Delete a dataset permanently but keep its root files',
  description: 'Files in folders are deleted, unless they are in other datasets as well.',
  permission: { right: 'DeleteDataset', on: ref('dataset', 'id') },
  params: s.Object({ id: s.id() }),
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { creation }) {
    await creation.detachAndDelete(params.id, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})
