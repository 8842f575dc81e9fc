import {
  type Bytes,
  Clock,
  CorruptContent,
  Datasets,
  event,
  type FileRecord,
  Files,
  Invalid,
  Log,
  NotFound,
  ref,
  routesFor,
  type Stored,
  s,
  wire,
} from 'pounce/sdk'
import { countedBytes, DownloadCounts, Quarantined, ScanPending } from 'pounce/sdk/kit'
import { DatasetDownloads } from './dataset-downloads.ts'

/** Counts archives before they are sent, so that a client that reads the count after a download finds it included. */
class DatasetDownloadCounts {
  #datasets: DownloadCounts
  #files: DownloadCounts

  constructor(datasets: Datasets, files: Files, clock: Clock, log: Log) {
    this.#datasets = new DownloadCounts(datasets, clock, log)
    this.#files = new DownloadCounts(files, clock, log)
  }

  async dispose(): Promise<void> {
    await Promise.all([this.#datasets.dispose(), this.#files.dispose()])
  }

  dataset(id: string, archive: { readonly sizeBytes: number; readonly entries: number }, user: string | undefined): Promise<void> {
    this.#datasets.add(event('dataset.downloaded', { kind: 'dataset', id }, archive, user))
    return this.#datasets.counted(id)
  }

  async files(files: readonly (FileRecord & Stored)[], user: string | undefined): Promise<void> {
    for (const { id, sizeBytes } of files)
      this.#files.add(event('file.downloaded', { kind: 'file', id }, { sizeBytes, isTracked: true, isWhole: false }, user))
    await Promise.all(files.map(({ id }) => this.#files.counted(id)))
  }
}
wire(DatasetDownloadCounts, Datasets, Files, Clock, Log)

const route = routesFor('datasets', { downloads: DatasetDownloads, counts: DatasetDownloadCounts })

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
  async handle({ params, query, caller }, { downloads, counts }) {
    const { bytes, files, folders, fileBytes } = await downloads.whole(params.id, { caller, bagit: query.bagit })
    if (!query.tracking) return { status: 200, body: bytes }
    const archive = { sizeBytes: bytes.sizeBytes ?? fileBytes, entries: files + folders }
    return { status: 200, body: countedBytes(bytes, () => counts.dataset(params.id, archive, caller.user?.id)) }
  },
})

export const downloadDatasetPartially = route({
  method: 'GET',
  path: '/api/datasets/:id/downloadPartial',
  summary: 'Download selected files of a dataset as a ZIP',
  permission: { right: 'DownloadFiles', on: ref('dataset', 'id') },
  cost: 'archive',
  params,
  query: s.Object({
    fileList: s.String({ minLength: 1, maxLength: 25_000, description: 'Ids of files, separated by commas, or a JSON list of them' }),
    bagit,
  }),
  responses,
  throws,
  effects: 'counts the download of each file',
  inTrash: 'allowed',
  answersHead: true,
  async handle({ params, query, caller }, { downloads, counts }) {
    // Clients made from Clowder's own description of its API send a JSON list.
    const ids = [...new Set(query.fileList.replace(/[[\]"\s]/g, '').split(','))].filter(id => id !== '')
    if (ids.length === 0) throw new Invalid('fileList must name at least one file')
    const { bytes, files } = await downloads.some(params.id, ids, { caller, bagit: query.bagit })
    return { status: 200, body: countedBytes(bytes, () => counts.files(files, caller.user?.id)) }
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

const collectionsRoute = routesFor('collections', { downloads: DatasetDownloads })

export const downloadCollection = collectionsRoute({
  method: 'GET',
  path: '/api/collections/:id/download',
  summary: 'Download a collection as a ZIP',
  description:
    'A folder for each dataset and child collection. Datasets that you may view but not download are omitted and listed in `_left_out.txt` (in a bag: `metadata/left-out.txt`). A collection that is reached by several paths is placed on the shortest one. Otherwise like the download of a dataset.',
  permission: { right: 'DownloadFiles', on: ref('collection', 'id') },
  cost: 'archive',
  params: s.Object({ id: s.id() }),
  query: s.Object({
    bagit: s.Boolean({ default: false, description: 'Download a BagIt bag with descriptions and metadata instead of a plain ZIP' }),
    compression: s.Integer({ default: -1, minimum: -1, maximum: 9, description: 'No effect, as in Clowder 1.x' }),
  }),
  responses: { 200: s.bytes<Bytes>({ 'application/zip': s.bytes() }) },
  throws: [NotFound, CorruptContent, ScanPending, Quarantined],
  async handle({ params, query, caller }, { downloads }) {
    return { status: 200, body: await downloads.collection(params.id, { caller, bagit: query.bagit }) }
  },
})
