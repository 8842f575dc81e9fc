import { type FileRecord, multipart, type Parts, type Request, ref, routesFor, type Stored, s } from 'pounce/sdk'
import { FileItem, toFileItem } from './file-json.ts'
import { MultipartUpload, type UploadOptions } from './upload.ts'

const route = routesFor('files', { uploads: MultipartUpload })

const body = multipart(
  'One or more file parts under any field name. A text field with the name of a file (or of its part, with an `@context`) and a JSON object as value becomes metadata of that file. ' +
    'A text field `file` with `{"path": …, "md": {…}, "dataset": id}` registers a file of a server folder (`blobs.in-place.folders`) in place. ' +
    'A text field `path` (`a/b/c.txt`) is the relative path of the one file in the dataset or folder, with its name: missing folders are created. Without a dataset a path with folders is refused. ' +
    'A text field `multiple` that is `true` omits the files from the activity feed: the client reports them by `addFileEvent`.',
  1000,
  { file: 'file', path: 'text', multiple: 'text' },
)
const options = {
  showPreviews: s.Union([s.Literal('DatasetLevel'), s.Literal('FileLevel'), s.Literal('None')], { default: 'DatasetLevel' }),
  originalZipFile: s.String({ default: '', maxLength: 500, description: 'Accepted for Clowder 1.x clients; no effect, as there' }),
  flags: s.String({ default: '', maxLength: 500, description: 'Accepted for Clowder 1.x clients; no effect, as there' }),
}
const pathOptions = {
  batch: s.Optional(
    s.String({
      maxLength: 100,
      description:
        'Id that you choose for uploads that belong together: they cause one entry in the activity feed and one `files.added` for extractors, once no more files arrive. A file sent again with the same batch, path and content is stored once, so that a request whose response was lost can be repeated, and again once it was deleted',
    }),
  ),
  path: s.Optional(
    s.String({
      maxLength: 4000,
      description:
        'Relative path of the file in the dataset or folder, with its name: `a/b/c.txt`. Missing folders are created. Same as a text field `path`. Only one file per request',
    }),
  ),
}
const inDataset = { ...options, extract: s.flag(true), folder_id: s.Optional(s.id()) }
const result = s.Union([s.Object({ id: s.String() }), s.Object({ ids: s.Array(FileItem) })], {
  description: 'One file: its id. Several: a description of each.',
})

const answer = (files: readonly (FileRecord & Stored)[]) => {
  const [first] = files
  return { status: 200 as const, body: first && files.length === 1 ? { id: first.id } : { ids: files.map(toFileItem) } }
}

type UploadRequest = Pick<Request<undefined, undefined, undefined>, 'caller' | 'signal' | 'headers'> & { readonly body: Parts }

const take = async (uploads: MultipartUpload, { body: parts, caller, signal, headers }: UploadRequest, uploadOptions: UploadOptions) => {
  const bodyBytes = headers['content-length'] === undefined ? undefined : Number(headers['content-length'])
  return answer(await uploads.take(parts, caller, { ...uploadOptions, bodyBytes }, signal))
}

export const uploadToDataset = route({
  method: 'POST',
  path: '/api/uploadToDataset/:id',
  summary: 'Upload files to a dataset',
  description:
    'The response is sent when bytes and records are durable; either all files are stored or none. Matching extractors are triggered unless `extract=false`. The type of a file without one is derived from its extension; a ZIP archive gets a type by its content (`multi/files-zipped`, `model/obj-zipped` …).',
  permission: { right: 'AddResourceToDataset', on: ref('dataset', 'id') },
  jobKeys: 'allowed',
  params: s.Object({ id: s.id() }),
  query: s.Object({ ...inDataset, ...pathOptions }),
  body,
  responses: { 200: result },
  async handle(request, { uploads }) {
    const { folder_id: folder, extract, showPreviews, path, batch } = request.query
    return take(uploads, request, { extract, showPreviews, dataset: request.params.id, folder, path, batch })
  },
})

export const addFilesToDataset = route({
  method: 'POST',
  path: '/api/datasets/:id/files',
  summary: 'Upload files to the root of a dataset',
  permission: { right: 'AddResourceToDataset', on: ref('dataset', 'id') },
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
  summary: 'Upload files to a dataset or folder given by fields',
  description: 'The right to add to the dataset is checked as soon as the dataset is known.',
  permission: {
    right: 'AddFile',
    unscoped: 'The dataset may be named by a field of the body; the upload checks AddResourceToDataset on it.',
  },
  jobKeys: 'allowed',
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
  summary: 'Upload files without a dataset',
  description: 'Only the uploader can see the files until they are attached to a dataset.',
  permission: { right: 'AddFile', unscoped: 'The file is new, in no dataset, and accessible to its uploader only.' },
  query: s.Object({ ...options, extract: s.flag(true) }),
  body,
  responses: { 200: result },
  async handle(request, { uploads }) {
    return take(uploads, request, { extract: false, showPreviews: request.query.showPreviews })
  },
})
