import { type Caller, type FileRecord, multipart, one, type Parts, routesFor, type Stored, s } from 'pounce/sdk'
import { FileItem, toFileItem } from './file-json.ts'
import { type Upload, type UploadOptions, Uploads } from './upload.ts'

const route = routesFor('files', { uploads: Uploads })

const body = multipart(
  'One or more file parts under any field name. A text field named like a file (or like its part, with an `@context`) that holds a JSON object becomes metadata of that file.',
)
const options = {
  showPreviews: s.Union([s.Literal('DatasetLevel'), s.Literal('FileLevel'), s.Literal('None')], { default: 'DatasetLevel' }),
  extract: s.flag(true),
  folder_id: s.Optional(s.id()),
}
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
  description: 'Answers when bytes and records are durable. Extractors that match are asked unless `extract=false`.',
  permission: 'AddResourceToDataset',
  of: one('dataset'),
  params: s.Object({ id: s.id() }),
  query: s.Object(options),
  body,
  responses: { 200: result },
  async handle(request, { uploads }) {
    const { folder_id: folder, ...rest } = request.query
    return take(uploads, request, { ...rest, dataset: request.params.id, folder })
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
  query: s.Object({ ...options, dataset_id: s.Optional(s.id()) }),
  body,
  responses: { 200: result },
  async handle(request, { uploads }) {
    const { folder_id: folder, dataset_id: dataset, ...rest } = request.query
    return take(uploads, request, { ...rest, namedDataset: dataset, folder, mustNameDataset: true })
  },
})

export const uploadFile = route({
  method: 'POST',
  path: '/api/files',
  aliases: [{ path: '/api/extractions/upload_file' }],
  summary: 'Upload files that lie in no dataset',
  description: 'Only the uploader can see them until they are attached to a dataset.',
  permission: 'AddFile',
  query: s.Object({ showPreviews: options.showPreviews }),
  body,
  responses: { 200: result },
  async handle(request, { uploads }) {
    return take(uploads, request, { extract: false, showPreviews: request.query.showPreviews })
  },
})
