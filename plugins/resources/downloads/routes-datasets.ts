import { type Bytes, CorruptContent, Invalid, NotFound, Quarantined, ref, routesFor, ScanPending, s } from 'pounce/sdk'
import { DatasetDownloads } from './dataset-downloads.ts'
import { DownloadCounters } from './download-counters.ts'

const route = routesFor('datasets', { downloads: DatasetDownloads, tallies: DownloadCounters })
const params = s.Object({ id: s.id() })
const bagit = s.Boolean({ default: false, description: 'Download a BagIt bag with descriptions and metadata instead of a plain ZIP' })
const compression = s.Integer({ default: -1, minimum: -1, maximum: 9, description: 'No effect, as in Clowder 1.x' })
const responses = { 200: s.bytes<Bytes>({ 'application/zip': s.bytes() }) }
const throws = [NotFound, Invalid, CorruptContent, ScanPending, Quarantined]

export const downloadDataset = route({
  method: 'GET',
  path: '/api/datasets/:id/download',
  summary: 'Download a dataset as a ZIP',
  description:
    'Files are in their folders, stored without compression and streamed; ZIP64 if needed. Files of the same name in one folder become `name_<id>.ext`. If the stored bytes of a file are missing or damaged, the download is aborted. A plain ZIP has a Content-Length and an ETag, so that an interrupted download can be resumed by `Range` with `If-Range`. A bag has a SHA-256 manifest, and the description and metadata of each file.',
  permission: { right: 'DownloadFiles', on: ref('dataset', 'id') },
  jobKeys: 'allowed',
  cost: 'archive',
  params,
  query: s.Object({ bagit, compression, tracking: s.flag(true) }),
  responses,
  throws,
  effects: 'counts the download',
  inTrash: 'allowed',
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
  summary: 'Download selected files of a dataset as a ZIP',
  permission: { right: 'DownloadFiles', on: ref('dataset', 'id') },
  cost: 'archive',
  params,
  query: s.Object({ fileList: s.String({ minLength: 24, maxLength: 25_000, description: 'Ids of files, separated by commas' }), bagit }),
  responses,
  throws,
  effects: 'counts the download of each file',
  inTrash: 'allowed',
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
  summary: 'Download a folder as a ZIP',
  permission: { right: 'DownloadFiles', on: ref('dataset', 'id') },
  jobKeys: 'allowed',
  cost: 'archive',
  params,
  query: s.Object({ folderId: s.id(), bagit }),
  responses,
  throws,
  async handle({ params, query, caller }, { downloads }) {
    return { status: 200, body: await downloads.folder(params.id, query.folderId, { caller, bagit: query.bagit }) }
  },
})
