import { personalRecords } from 'pounce/sdk'
import { letters } from './collections.ts'

export const PersonalLetters = personalRecords({
  name: 'letters',
  summary: 'Messages that you sent to the server admins.',
  in: letters,
  isOf: ({ user }, { id }) => user === id,
  show: ({ subject, body, at }) => ({ subject, body, at }),
  erase: () => 'remove',
})
