import { Conflict, Forbidden, NotFound, one, routesFor, s } from 'pounce/sdk'
import { DatasetFilePlaces } from './file-places.ts'

const route = routesFor('datasets', { places: DatasetFilePlaces })
const params = s.Object({ dataset: s.id(), file: s.id() })
const done = { status: 200 as const, body: { status: 'success' } }

export const attachFileToDataset = route({
  method: 'POST',
  path: '/api/datasets/:dataset/files/:file',
  summary: 'Put a file that is there already into the root of a dataset',
  description: 'It stays where it was as well. Takes the right to add to the dataset and the right to edit the file.',
  permission: 'AddResourceToDataset',
  of: one('dataset', 'dataset'),
  also: [{ permission: 'EditFile', of: one('file', 'file') }],
  params,
  responses: { 200: s.success() },
  throws: [NotFound, Conflict],
  async handle({ params, caller }, { places }) {
    await places.attach(params.dataset, [params.file], caller.user?.id)
    return done
  },
})

export const detachFileFromDataset = route({
  method: 'DELETE',
  path: '/api/datasets/:dataset/:file',
  summary: 'Take a file out of a dataset; the file survives',
  description: 'A file that is not in the dataset is no error.',
  permission: 'CreateDataset',
  of: one('dataset', 'dataset'),
  params,
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { places }) {
    await places.detach(params.dataset, params.file, caller.user?.id)
    return done
  },
})

export const detachFileFromDatasetByPost = route({
  method: 'POST',
  path: '/api/datasets/:dataset/filesRemove/:file/:ignoreNotFound',
  summary: 'Take a file out of a dataset (old spelling); the file survives',
  permission: 'CreateDataset',
  of: one('dataset', 'dataset'),
  params: s.Object({ dataset: s.id(), file: s.id(), ignoreNotFound: s.String({ pattern: '^([Tt]rue|[Ff]alse)$' }) }),
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { places }) {
    const wasThere = await places.detach(params.dataset, params.file, caller.user?.id)
    if (!wasThere && params.ignoreNotFound.toLowerCase() === 'false') throw new NotFound('file')
    return done
  },
})

export const moveFileBetweenDatasets = route({
  method: 'POST',
  path: '/api/datasets/:dataset/moveBetweenDatasets/:to/:file',
  summary: 'Move a file from the root of one dataset to the root of another',
  description: 'Takes the right to add to both datasets and the right to edit the file.',
  permission: 'AddResourceToDataset',
  of: ({ dataset, to }) => [dataset, to].map(id => ({ kind: 'dataset' as const, id })),
  also: [{ permission: 'EditFile', of: one('file', 'file') }],
  params: s.Object({ dataset: s.id(), to: s.id(), file: s.id() }),
  responses: { 200: s.success() },
  throws: [NotFound, Conflict, Forbidden],
  async handle({ params, caller }, { places }) {
    await places.move(params.dataset, params.to, params.file, caller.user?.id)
    return done
  },
})
