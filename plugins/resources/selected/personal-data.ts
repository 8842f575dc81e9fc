import { personalRecords } from 'pounce/sdk'
import { selections } from './collection.ts'

export const PersonalSelection = personalRecords({
  name: 'selection',
  summary: 'Datasets that you have selected.',
  in: selections,
  isOf: (selection, { id }) => selection.id === id,
  show: ({ datasets }) => ({ datasets }),
  erase: () => 'remove',
})
