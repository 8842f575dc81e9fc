import { Conflict, Datasets, Forbidden, NotFound, one, routesFor, s, signedIn } from 'pounce/sdk'
import { DatasetCopies } from './copies.ts'

const route = routesFor('datasets', { datasets: Datasets, copies: DatasetCopies })

export const copyDatasetToSpace = route({
  method: 'POST',
  path: '/api/datasets/:id/copyDatasetToSpace/:space',
  summary: 'Copy a dataset of your own into a space',
  description:
    'Folders, files and what extractors found. The copies of files share the bytes of the originals and outlive them; each copy is related to its original. The answer comes when the copy is whole; before, nobody sees it.',
  permission: 'AddResourceToSpace',
  of: one('space', 'space'),
  also: [{ permission: 'ViewDataset', of: one('dataset') }],
  params: s.Object({ id: s.id(), space: s.id() }),
  responses: { 200: s.Object({ newDatasetId: s.String() }) },
  throws: [NotFound, Forbidden, Conflict],
  async handle({ params, caller, signal }, { datasets, copies }) {
    const { id } = signedIn(caller)
    if ((await datasets.get(params.id))?.author !== id && !caller.superAdmin)
      throw new Forbidden('Only the author of a dataset may copy it')
    return { status: 200, body: { newDatasetId: await copies.copy(params.id, params.space, id, signal) } }
  },
})
