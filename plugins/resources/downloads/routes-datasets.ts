import { type Bytes, CorruptContent, Invalid, NotFound, one, routesFor, s } from 'pounce/sdk'
import { DatasetDownloading } from './dataset-downloads.ts'
import { DownloadTallies } from './tallies.ts'

const route = routesFor('datasets', { downloads: DatasetDownloading, tallies: DownloadTallies })
const params = s.Object({ id: s.id() })
const bagit = s.Boolean({ default: false, description: 'As a BagIt bag with descriptions and metadata instead of a plain ZIP' })
const compression = s.Integer({ default: -1, minimum: -1, maximum: 9, description: 'Has no effect, as in Clowder 1.x' })
const responses = { 200: s.bytes<Bytes>() }
const throws = [NotFound, Invalid, CorruptContent]

export const downloadDataset = route({
  method: 'GET',
  path: '/api/datasets/:id/download',
  summary: 'All files of a dataset as a ZIP',
  description:
    'In their folders, stored without compression, written while it is sent; ZIP64 when it has to be. Files of one name in one folder become `name_<id>.ext`. A file whose stored bytes are missing or damaged breaks the download off. ' +
    'The length of a plain ZIP is known and it has an ETag, so that a download that broke off can be resumed by `Range` with `If-Range`. ' +
    'A bag has a SHA-256 manifest, and beside each file what is known of it and its metadata.',
  permission: 'DownloadFiles',
  of: one('dataset'),
  params,
  query: s.Object({ bagit, compression, tracking: s.flag(true) }),
  responses,
  throws,
  effects: 'counts the download',
  answersHead: true,
  async handle({ params, query, caller, headers, isHead }, { downloads, tallies }) {
    const { bytes, files, folders, fileBytes } = await downloads.whole(params.id, { caller, bagit: query.bagit })
    const isStart = headers.range === undefined || headers.range.startsWith('bytes=0-')
    if (query.tracking && isStart && !isHead)
      tallies.dataset(params.id, { sizeBytes: bytes.sizeBytes ?? fileBytes, entries: files + folders }, caller.user?.id)
    return { status: 200, body: bytes }
  },
})

export const downloadDatasetPartially = route({
  method: 'GET',
  path: '/api/datasets/:id/downloadPartial',
  summary: 'Some files of a dataset as a ZIP without folders',
  permission: 'DownloadFiles',
  of: one('dataset'),
  params,
  query: s.Object({ fileList: s.String({ minLength: 24, maxLength: 25_000, description: 'Ids of files, joined by commas' }), bagit }),
  responses,
  throws,
  effects: 'counts the download of each file',
  answersHead: true,
  async handle({ params, query, caller, headers, isHead }, { downloads, tallies }) {
    const ids = [...new Set(query.fileList.split(',').map(id => id.trim()))].filter(id => id !== '')
    const { bytes, files } = await downloads.some(params.id, ids, { caller, bagit: query.bagit })
    const isStart = headers.range === undefined || headers.range.startsWith('bytes=0-')
    if (isStart && !isHead) tallies.files(files, caller.user?.id)
    return { status: 200, body: bytes }
  },
})

export const downloadDatasetFolder = route({
  method: 'GET',
  path: '/api/datasets/:id/downloadFolder',
  summary: 'A folder of a dataset as a ZIP',
  permission: 'DownloadFiles',
  of: one('dataset'),
  params,
  query: s.Object({ folderId: s.id(), bagit }),
  responses,
  throws,
  async handle({ params, query, caller }, { downloads }) {
    return { status: 200, body: await downloads.folder(params.id, query.folderId, { caller, bagit: query.bagit }) }
  },
})
