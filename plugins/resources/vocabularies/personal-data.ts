import { personalRecords, transferred } from 'pounce/sdk'
import { standardVocabularies } from './collections.ts'

export const PersonalStandardVocabularies = personalRecords({
  name: 'standard-vocabularies',
  summary: 'Standard vocabularies that you created.',
  in: standardVocabularies,
  isOf: ({ author }, { id }) => author === id,
  show: ({ id, terms, created, modified }) => ({ id, terms, created, modified }),
  erase: transferred(),
})
