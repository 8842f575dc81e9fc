import { personalRecords, transferred } from 'pounce/sdk'
import { contexts } from './stored-contexts.ts'

export const PersonalContexts = personalRecords({
  name: 'metadata-contexts',
  summary: 'Named metadata contexts that you created.',
  in: contexts,
  isOf: ({ author }, { id }) => author === id,
  show: ({ id, name, context, created }) => ({ id, name, context, created }),
  erase: transferred(),
})
