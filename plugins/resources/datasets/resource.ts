import { and, type DatasetRecord, defineResource, eq, event, isIn } from 'pounce/sdk'
import { createdOrTaggedBy, transferred } from 'pounce/sdk/kit'
import { datasets } from './collection.ts'
import { DatasetTrash } from './dataset-trash.ts'
import { DatasetTree } from './dataset-tree.ts'
import { SearchableDatasets } from './searchable-datasets.ts'

const live = eq('state', 'live')

export const datasetResource = defineResource<DatasetRecord>({
  kind: 'dataset',
  collection: datasets,
  view: 'ViewDataset',
  // One that is being imported is there for no one.
  rights: ({ author, spaces, isPublic, state }) => (state === 'importing' ? undefined : { author, spaces, isPublic, state }),
  follow: ({ name, state }) => (state === 'live' ? name : undefined),
  counts: {
    space: id => ({ using: 'bySpace', where: and(live, eq('spaces', id)) }),
    collection: id => ({ using: 'byCollection', where: and(live, eq('collections', id)) }),
  },
  search: SearchableDatasets,
  tree: { contents: DatasetTree, node: ({ name, author, spaces }) => ({ name, data: { authorId: author, spaces } }) },
  trash: DatasetTrash,
  report: {
    where: [live],
    // What is in the trash is no news, but it takes space.
    inSpace: id => ({ using: 'bySpace', where: and(isIn('state', ['live', 'trashed']), eq('spaces', id)) }),
  },
  personalData: {
    name: 'datasets',
    summary: 'Datasets that you created, and tags that you added to others.',
    ...createdOrTaggedBy<DatasetRecord>(
      ...(['name', 'description', 'created', 'modified', 'spaces', 'collections', 'creators', 'license', 'state'] as const),
    ),
    erase: transferred(id => [event('dataset.updated', { kind: 'dataset', id }, { fields: ['author'] })]),
  },
})
