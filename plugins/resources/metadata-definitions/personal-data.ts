import { personalRecords, transferred } from 'pounce/sdk'
import { definitions } from './collection.ts'

export const PersonalDefinitions = personalRecords({
  name: 'metadata-definitions',
  summary: 'Metadata definitions that you created.',
  in: definitions,
  isOf: ({ author }, { id }) => author === id,
  show: ({ id, label, uri, type, description, created }) => ({ id, label, uri, type, description, created }),
  erase: transferred(),
})
