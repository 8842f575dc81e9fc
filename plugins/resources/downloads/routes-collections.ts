import { type Bytes, CorruptContent, NotFound, Quarantined, ref, routesFor, ScanPending, s } from 'pounce/sdk'
import { DatasetDownloads } from './dataset-downloads.ts'

const route = routesFor('collections', { downloads: DatasetDownloads })

export const downloadCollection = route({
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
