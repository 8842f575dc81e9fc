import { personalRecords } from 'pounce/sdk'
import { relations } from './collection.ts'

export const PersonalRelations = personalRecords({
  name: 'relations',
  summary: 'Relations that you created.',
  in: relations,
  isOf: ({ author }, { id }) => author === id,
  show: ({ id, source, target, rdfType, created }) => ({ id, source, target, rdfType, created }),
})
