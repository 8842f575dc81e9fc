import { Forbidden, Invalid, multipart, NoSpace, routesFor, s } from 'pounce/sdk'
import { requirePlaced } from 'pounce/sdk/kit'
import { BagUploads } from './bag-uploads.ts'

const route = routesFor('datasets', { bagUploads: BagUploads })

export const createDatasetFromBag = route({
  method: 'POST',
  path: '/api/datasets/createfrombag',
  summary: 'Create a dataset from a BagIt bag',
  description:
    'Accepts bags of Pounce, of Clowder 1.x, and any valid bag: folders, files, their dates, types, licenses and descriptions, tags, creators, and metadata with its agents and contexts. Checksums are verified. The dataset becomes visible once it is complete; a rejected bag leaves nothing, and the message names the invalid entry and the reason. Extractors are triggered as for uploads. Entries of `fetch.txt` are never fetched. Each part whose name ends in `.zip` becomes a dataset, all or none; the response names the last one.',
  permission: { right: 'CreateDataset', unscoped: 'A bag becomes a new dataset of the caller; there is none yet to check.' },
  cost: 'import',
  body: multipart('Parts with files whose names end in .zip', 1000, { file: 'file' }),
  responses: { 200: s.text() },
  throws: [Invalid, NoSpace, Forbidden],
  async handle({ body, caller, signal }, { bagUploads }) {
    requirePlaced(caller, false)
    return { status: 200, body: `Created dataset ${await bagUploads.take(body, caller, signal)}` }
  },
})
