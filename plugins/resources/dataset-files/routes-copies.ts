import { Conflict, Datasets, Forbidden, isSuperAdmin, NotFound, ref, routesFor, s, signedIn, TooLarge } from 'pounce/sdk'
import { DatasetCopies } from './dataset-copies.ts'

const route = routesFor('datasets', { datasets: Datasets, copies: DatasetCopies })

export const copyDatasetToSpace = route({
  method: 'POST',
  path: '/api/datasets/:id/copyDatasetToSpace/:space',
  summary: 'Copy a dataset to a space',
  description:
    'Copies folders, files and extracted metadata. Copied files share the bytes of the originals and outlive them; each copy is related to its original. The response is sent when the copy is complete; it is not visible before.',
  permission: { right: 'AddResourceToSpace', on: ref('space', 'space') },
  alsoRequires: [{ right: 'ViewDataset', on: ref('dataset', 'id') }],
  params: s.Object({ id: s.id(), space: s.id() }),
  responses: { 200: s.Object({ newDatasetId: s.String() }) },
  throws: [NotFound, Forbidden, Conflict, TooLarge],
  async handle({ params, caller, signal }, { datasets, copies }) {
    const { id } = signedIn(caller)
    if ((await datasets.get(params.id))?.author !== id && !isSuperAdmin(caller))
      throw new Forbidden('Only the author of a dataset may copy it')
    return { status: 200, body: { newDatasetId: await copies.copy(params.id, params.space, id, signal) } }
  },
})
