import { demandPlaced, Forbidden, Invalid, multipart, NoSpace, routesFor, s } from 'pounce/sdk'
import { BagTaking } from './bag-desk.ts'

const route = routesFor('datasets', { desk: BagTaking })

export const createDatasetFromBag = route({
  method: 'POST',
  path: '/api/datasets/createfrombag',
  summary: 'Make a private dataset of a BagIt bag in a ZIP',
  description:
    'Takes our own bags, those of Clowder 1.x, and any valid bag: folders, files, their dates, types, licenses and descriptions, tags, creators, and metadata with its agents and contexts. Checksums are verified. ' +
    'The dataset is seen when it is whole; a bag that is refused leaves nothing, and the message says which entry is wrong and why. Extractors are asked as for uploads. Nothing that `fetch.txt` names is ever fetched.',
  permission: 'CreateDataset',
  body: multipart('A part with a file whose name ends in .zip'),
  responses: { 200: s.text() },
  throws: [Invalid, NoSpace, Forbidden],
  async handle({ body, caller, signal }, { desk }) {
    demandPlaced(caller, false)
    return { status: 200, body: `Created dataset ${await desk.take(body, caller, signal)}` }
  },
})
