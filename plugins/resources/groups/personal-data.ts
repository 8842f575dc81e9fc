import { personalRecords, transferred } from 'pounce/sdk'
import { groups } from './collection.ts'

export const PersonalGroups = personalRecords({
  name: 'groups',
  summary: 'Groups that you created. Those that you belong to are in profile.json.',
  in: groups,
  isOf: ({ author }, { id }) => author === id,
  show: ({ id, name, description, created }) => ({ id, name, description, created }),
  erase: transferred(),
})
