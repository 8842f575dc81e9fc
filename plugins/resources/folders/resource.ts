import { defineResource, eq, type FolderRecord } from 'pounce/sdk'
import { createdBy, transferred } from 'pounce/sdk/kit'
import { folders } from './collection.ts'

const within = (id: string) => ({ using: 'byParent', where: eq('parent.id', id) })

export const folderResource = defineResource<FolderRecord>({
  kind: 'folder',
  collection: folders,
  view: 'ViewDataset',
  // A folder has the rights of its dataset; its creator has none beyond these.
  rights: ({ dataset }) => ({ author: '', spaces: [], isPublic: false, state: 'live', parents: [{ kind: 'dataset', id: dataset }] }),
  counts: { dataset: within, folder: within },
  countsBelow: { dataset: id => ({ using: 'byDataset', where: eq('dataset', id) }) },
  tree: {
    sort: { by: 'displayName', order: 'ascending' },
    node: ({ displayName: name, dataset }) => ({ name, data: { parentDataset: dataset } }),
  },
  references: ({ parent }) => [parent],
  personalData: {
    name: 'folders',
    summary: 'Folders that you created.',
    ...createdBy<FolderRecord>('name', 'created', 'dataset', 'parent'),
    erase: transferred(),
  },
})
