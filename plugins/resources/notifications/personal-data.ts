import { personalRecords } from 'pounce/sdk'
import { digests } from './digest-record.ts'

export const PersonalDigests = personalRecords({
  name: 'notifications',
  summary: 'Your email digest setting, and the time of the last digest.',
  in: digests,
  isOf: (digest, { id }) => digest.id === id,
  show: ({ every, told, due }) => ({ every, told, due }),
  erase: () => 'remove',
})
