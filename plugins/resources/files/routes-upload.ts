import { type Caller, type FileRecord, multipart, one, type Parts, routesFor, type Stored, s } from 'pounce/sdk'
import { FileItem, toFileItem } from './file-json.ts'
import { type Upload, type UploadOptions, Uploads } from './upload.ts'

const route = routesFor('files', { uploads: Uploads })

const body = multipart(
  'One or more file parts under any field name. A text field named like a file (or like its part, with an `@context`) that holds a JSON object becomes metadata of that file. ' +
    'A text field `file` with `{"path": …, "md": {…}, "dataset": id}` takes a file from a folder of the server (`blobs.in-place.folders`) where it lies. ' +
    'A text field `multiple` that is `true` keeps the files out of the feed: the client tells of them by `addFileEvent`.',
)
const options = {
  showPreviews: s.Union([s.Literal('DatasetLevel'), s.Literal('FileLevel'), s.Literal('None')], { default: 'DatasetLevel' }),
  originalZipFile: s.String({ default: '', maxLength: 500, description: 'Taken for Clowder 1.x clients; without effect, as there' }),
  flags: s.String({ default: '', maxLength: 500, description: 'Taken for Clowder 1.x clients; without effect, as there' }),
}
const inDataset = { ...options, extract: s.flag(true), folder_id: s.Optional(s.id()) }
const result = s.Union([s.Object({ id: s.String() }), s.Object({ ids: s.Array(FileItem) })], {
  description: 'One file: its id. Several: a description of each.',
})

const answer = (files: readonly (FileRecord & Stored)[]) => {
  const [first] = files
  return { status: 200 as const, body: first && files.length === 1 ? { id: first.id } : { ids: files.map(toFileItem) } }
}

type Asked = { readonly body: Parts; readonly caller: Caller; readonly signal: AbortSignal }

const take = async (uploads: Upload, { body: parts, caller, signal }: Asked, asked: UploadOptions) =>
  answer(await uploads.take(parts, caller, asked, signal))

export const uploadToDataset = route({
  method: 'POST',
  path: '/api/uploadToDataset/:id',
  summary: 'Upload files to a dataset',
  description:
    'Answers when bytes and records are durable; all files are taken or none. Extractors that match are asked unless `extract=false`. ' +
    'A file without a type of its own is known by its ending; a ZIP archive is named after what is in it (`multi/files-zipped`, `model/obj-zipped` …).',
  permission: 'AddResourceToDataset',
  of: one('dataset'),
  params: s.Object({ id: s.id() }),
  query: s.Object(inDataset),
  body,
  responses: { 200: result },
  async handle(request, { uploads }) {
    const { folder_id: folder, extract, showPreviews } = request.query
    return take(uploads, request, { extract, showPreviews, dataset: request.params.id, folder })
  },
})

export const addFilesToDataset = route({
  method: 'POST',
  path: '/api/datasets/:id/files',
  summary: 'Upload files to the root of a dataset',
  permission: 'AddResourceToDataset',
  of: one('dataset'),
  params: s.Object({ id: s.id() }),
  body,
  responses: { 200: result },
  async handle(request, { uploads }) {
    return take(uploads, request, { dataset: request.params.id, extract: true, showPreviews: 'DatasetLevel' })
  },
})

export const uploadFilesToDataset = route({
  method: 'POST',
  path: '/api/files/uploadToDataset',
  summary: 'Upload files, naming the dataset and folder by fields or query',
  description: 'The right to add to the dataset is checked as soon as the dataset is known.',
  permission: 'AddFile',
  query: s.Object({ ...inDataset, dataset_id: s.Optional(s.id()) }),
  body,
  responses: { 200: result },
  async handle(request, { uploads }) {
    const { folder_id: folder, dataset_id: dataset, extract, showPreviews } = request.query
    return take(uploads, request, { extract, showPreviews, dataset, folder, mustNameDataset: true })
  },
})

export const uploadFile = route({
  method: 'POST',
  path: '/api/files',
  aliases: [{ path: '/api/extractions/upload_file' }],
  summary: 'Upload files that lie in no dataset',
  description: 'Only the uploader can see them until they are attached to a dataset.',
  permission: 'AddFile',
  query: s.Object({ ...options, extract: s.flag(true) }),
  body,
  responses: { 200: result },
  async handle(request, { uploads }) {
    return take(uploads, request, { extract: false, showPreviews: request.query.showPreviews })
  },
})
