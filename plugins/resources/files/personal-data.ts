import { personalRecords } from 'pounce/sdk'
import { fileLinks } from './file-links.ts'

/** Links by which anybody can download a file for a while. They end with the account. */
export const PersonalLinks = personalRecords({
  name: 'download-links',
  summary: 'Download links that you created and that are still valid, without their secrets.',
  in: fileLinks,
  isOf: ({ maker }, { id }) => maker === id,
  show: ({ file, created, expires }) => ({ file, created, expires }),
  erase: () => 'remove',
})
