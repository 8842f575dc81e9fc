import { personalRecords, transferred } from 'pounce/sdk'
import { standardVocabularies, vocabularies } from './collections.ts'

export const PersonalVocabularies = personalRecords({
  name: 'vocabularies',
  summary: 'Vocabularies that you created.',
  in: vocabularies,
  isOf: ({ author }, { id }) => author === id,
  show: ({ id, name, description, created, keys, tags, terms, isPublic, spaces }) => ({
    id,
    name,
    description,
    created,
    keys,
    tags,
    terms,
    isPublic,
    spaces,
  }),
  erase: transferred(),
})

export const PersonalStandardVocabularies = personalRecords({
  name: 'standard-vocabularies',
  summary: 'Standard vocabularies that you created.',
  in: standardVocabularies,
  isOf: ({ author }, { id }) => author === id,
  show: ({ id, terms, created, modified }) => ({ id, terms, created, modified }),
  erase: transferred(),
})
