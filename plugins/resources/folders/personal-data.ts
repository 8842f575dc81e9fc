import { personalRecords, transferred } from 'pounce/sdk'
import { folders } from './collection.ts'

export const PersonalFolders = personalRecords({
  name: 'folders',
  summary: 'Folders that you created.',
  in: folders,
  isOf: ({ author }, { id }) => author === id,
  show: ({ id, name, created, dataset, parent }) => ({ id, name, created, dataset, parent }),
  erase: transferred(),
})
