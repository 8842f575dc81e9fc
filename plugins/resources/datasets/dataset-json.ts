import { s } from 'pounce/sdk'
import type { Dataset } from './collection.ts'

/** A dataset as v1 shows it everywhere (reference, api-data §3a). */
export const DatasetItem = s.model(
  'Dataset',
  s.Object({
    id: s.String(),
    name: s.String(),
    description: s.String(),
    created: s.v1Date(),
    thumbnail: s.Union([s.String(), s.Null()]),
    authorId: s.String(),
    spaces: s.Array(s.String()),
    resource_type: s.String(),
  }),
)

export const toDatasetItem = (dataset: Dataset): s.Static<typeof DatasetItem> => ({
  id: dataset.id,
  name: dataset.name,
  description: dataset.description,
  created: s.toV1Date(dataset.created),
  thumbnail: dataset.thumbnail,
  authorId: dataset.author,
  spaces: [...dataset.spaces],
  resource_type: 'dataset',
})
