import { type Bytes, CorruptContent, type DatasetRecord, Datasets, Invalid, NotFound, one, routesFor, type Stored, s } from 'pounce/sdk'
import { ArchiveWriting } from './archive-writer.ts'
import { ArchiveContents } from './contents.ts'
import { DownloadTallies } from './tallies.ts'

const route = routesFor('datasets', {
  datasets: Datasets,
  contents: ArchiveContents,
  writer: ArchiveWriting,
  tallies: DownloadTallies,
})
const params = s.Object({ id: s.id() })
const bagit = s.flag(false)
const responses = { 200: s.bytes<Bytes>() }
const throws = [NotFound, Invalid, CorruptContent]

const plainOnly = (wantsBag: boolean): void => {
  if (wantsBag) throw new Invalid('BagIt downloads come with a later version; leave bagit away for a plain ZIP')
}

const existing = async (datasets: Datasets, id: string): Promise<DatasetRecord & Stored> => {
  const dataset = await datasets.get(id)
  if (!dataset) throw new NotFound('dataset')
  return dataset
}

export const downloadDataset = route({
  method: 'GET',
  path: '/api/datasets/:id/download',
  summary: 'All files of a dataset as a ZIP',
  description:
    'In their folders, stored without compression, written while it is sent; ZIP64 when it has to be. Files of one name in one folder become `name_<id>.ext`. A file whose stored bytes are missing or damaged breaks the download off. ' +
    'Its length is known and it has an ETag, so that a download that broke off can be resumed by `Range` with `If-Range`.',
  permission: 'DownloadFiles',
  of: one('dataset'),
  params,
  query: s.Object({
    bagit,
    compression: s.Integer({ default: -1, minimum: -1, maximum: 9, description: 'Has no effect, as in Clowder 1.x' }),
    tracking: s.flag(true),
  }),
  responses,
  throws,
  effects: 'counts the download',
  answersHead: true,
  async handle({ params, query, caller, headers, isHead }, { datasets, contents, writer, tallies }) {
    plainOnly(query.bagit)
    const dataset = await existing(datasets, params.id)
    const { bytes, files, folders } = writer.plain(await contents.ofDataset(dataset), `${dataset.name}.zip`)
    const isStart = headers.range === undefined || headers.range.startsWith('bytes=0-')
    if (query.tracking && isStart && !isHead)
      tallies.dataset(params.id, { sizeBytes: bytes.sizeBytes ?? 0, entries: files + folders }, caller.user?.id)
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
  async handle({ params, query, caller, isHead }, { datasets, contents, writer, tallies }) {
    plainOnly(query.bagit)
    const { name } = await existing(datasets, params.id)
    const ids = [...new Set(query.fileList.split(',').map(id => id.trim()))].filter(id => id !== '')
    const { top, files } = await contents.some(params.id, ids)
    if (!isHead) tallies.files(files, caller.user?.id)
    return { status: 200, body: writer.plain(top, `${name} (Partial).zip`).bytes }
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
  async handle({ params, query }, { datasets, contents, writer }) {
    plainOnly(query.bagit)
    const { name } = await existing(datasets, params.id)
    const { top, folder } = await contents.ofFolder(params.id, query.folderId)
    return { status: 200, body: writer.plain(top, `${name} (${folder.displayName} Folder).zip`).bytes }
  },
})
