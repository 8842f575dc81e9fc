import { type Bytes, CorruptContent, NotFound, one, routesFor, s } from 'pounce/sdk'
import { DatasetDownloading } from './dataset-downloads.ts'

const route = routesFor('collections', { downloads: DatasetDownloading })

export const downloadCollection = route({
  method: 'GET',
  path: '/api/collections/:id/download',
  summary: 'All datasets of a collection, and of those below it, as a ZIP',
  description:
    'A folder for each dataset and for each collection below. Datasets that you may see but not download are left out and named in `_left_out.txt` (in a bag: `metadata/left-out.txt`). ' +
    'A collection that is reached by several ways stands where the shortest leads. Otherwise as the download of a dataset.',
  permission: 'DownloadFiles',
  of: one('collection'),
  params: s.Object({ id: s.id() }),
  query: s.Object({
    bagit: s.Boolean({ default: false, description: 'As a BagIt bag with descriptions and metadata instead of a plain ZIP' }),
    compression: s.Integer({ default: -1, minimum: -1, maximum: 9, description: 'Has no effect, as in Clowder 1.x' }),
  }),
  responses: { 200: s.bytes<Bytes>() },
  throws: [NotFound, CorruptContent],
  async handle({ params, query, caller }, { downloads }) {
    return { status: 200, body: await downloads.collection(params.id, { caller, bagit: query.bagit }) }
  },
})
