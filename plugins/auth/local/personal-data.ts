import { personalRecords } from 'pounce/sdk'
import { links } from './collections.ts'

export const PersonalMailLinks = personalRecords({
  name: 'mailed-links',
  summary: 'Pending links to sign up or reset your password, without their secrets.',
  in: links,
  isOf: ({ email, account }, person) => email === person.email || account === person.id,
  show: ({ asked, created, expires }) => ({ asked, created, expires }),
  erase: () => 'remove',
})
