import { Conflict, Folders, Forbidden, Invalid, NotFound, ref, routesFor, s } from 'pounce/sdk'
import { optionalOrNull, pathFlag } from 'pounce/sdk/kit'
import { FilePlaces, placeOf } from './file-places.ts'

const route = routesFor('datasets', { places: FilePlaces, folders: Folders })
const params = s.Object({ dataset: s.id(), file: s.id() })
/** The id of a file that need not be in the dataset, nor exist. */
const anyFile = s.String({ maxLength: 100, description: 'Id of a file' })
const done = { status: 200 as const, body: { status: 'success' } }

export const attachFileToDataset = route({
  method: 'POST',
  path: '/api/datasets/:dataset/files/:file',
  summary: 'Attach an existing file to a dataset',
  description: 'The file also stays in its other datasets. Requires the right to add to the dataset and the right to edit the file.',
  permission: { right: 'AddResourceToDataset', on: ref('dataset', 'dataset') },
  alsoRequires: [{ right: 'EditFile', on: ref('file', 'file') }],
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
  summary: 'Detach a file from a dataset',
  description: 'The file itself is kept. No error if the file is not in the dataset.',
  permission: { right: 'CreateDataset', on: ref('dataset', 'dataset') },
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
  summary: 'Detach a file from a dataset (old path)',
  permission: { right: 'CreateDataset', on: ref('dataset', 'dataset') },
  params: s.Object({ dataset: s.id(), file: anyFile, ignoreNotFound: s.String({ description: '`true` or `false`' }) }),
  responses: { 200: s.success() },
  throws: [Invalid, NotFound],
  async handle({ params, caller }, { places }) {
    const ignoresAbsence = pathFlag(params.ignoreNotFound, 'ignoreNotFound')
    const wasThere = await places.detach(params.dataset, params.file, caller.user?.id)
    if (!wasThere && !ignoresAbsence) throw new NotFound('file')
    return done
  },
})

export const moveFileBetweenDatasets = route({
  method: 'POST',
  path: '/api/datasets/:dataset/moveBetweenDatasets/:to/:file',
  summary: 'Move a file to another dataset',
  description:
    'Requires the right to add to both datasets and the right to edit the file. From root to root, unless `fromFolder` or `toFolder` (additions to Clowder 1.x) names a folder.',
  permission: { right: 'AddResourceToDataset', on: ({ dataset, to }) => [dataset, to].map(id => ({ kind: 'dataset' as const, id })) },
  alsoRequires: [{ right: 'EditFile', on: ref('file', 'file') }],
  params: s.Object({ dataset: s.id(), to: s.id(), file: s.id() }),
  query: s.Object({ fromFolder: s.Optional(s.id('folder')), toFolder: s.Optional(s.id('folder')) }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, Conflict, Forbidden],
  async handle({ params: { dataset, to, file }, query, caller }, { places }) {
    const moved = await places.move(file, placeOf(dataset, query.fromFolder), placeOf(to, query.toFolder), caller.user?.id)
    if (!moved) throw new NotFound('file')
    return done
  },
})

export const moveFileToFolder = route({
  method: 'POST',
  path: '/api/datasets/:dataset/moveFile/:toFolder/:file',
  summary: 'Move a file into a folder of its dataset',
  description: 'From the root, unless `folderId` names its current folder. Requires the right to add to the dataset.',
  permission: { right: 'AddResourceToDataset', on: ref('dataset', 'dataset') },
  alsoRequires: [{ right: 'ViewFile', on: ref('file', 'file') }],
  params: s.Object({ dataset: s.id(), toFolder: s.id('folder'), file: s.id() }),
  body: s.Object({ folderId: optionalOrNull(s.String({ maxLength: 100 })) }),
  responses: { 200: s.model('FileMove', s.Object({ status: s.String(), fileName: s.String(), folderName: s.String() })) },
  throws: [NotFound, Invalid, Conflict],
  async handle({ params: { dataset, toFolder, file }, body, caller }, { places, folders }) {
    const moved = await places.move(file, placeOf(dataset, body.folderId || undefined), placeOf(dataset, toFolder), caller.user?.id)
    if (!moved) throw new Invalid(`The file is not in ${body.folderId ? 'this folder' : 'the root of the dataset'}`)
    const folder = await folders.get(toFolder)
    return { status: 200, body: { status: 'success', fileName: moved.name, folderName: folder?.displayName ?? '' } }
  },
})

export const moveFileToRoot = route({
  method: 'POST',
  path: '/api/datasets/:dataset/moveToDataset/:fromFolder/:file',
  summary: 'Move a file from a folder to the root of its dataset',
  permission: { right: 'AddResourceToDataset', on: ref('dataset', 'dataset') },
  alsoRequires: [{ right: 'ViewFile', on: ref('file', 'file') }],
  params: s.Object({ dataset: s.id(), fromFolder: s.id('folder'), file: s.id() }),
  responses: { 200: s.Object({ status: s.String(), fileName: s.String() }) },
  throws: [NotFound, Invalid, Conflict],
  async handle({ params: { dataset, fromFolder, file }, caller }, { places }) {
    const moved = await places.move(file, placeOf(dataset, fromFolder), placeOf(dataset), caller.user?.id)
    if (!moved) throw new Invalid('The file is not in this folder')
    return { status: 200, body: { status: 'success', fileName: moved.name } }
  },
})
