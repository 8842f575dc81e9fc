import { collection, personalRecords, type SiteSettings, type Time } from 'pounce/sdk'

/** One record: what was set so far. */
export const site = collection<Partial<SiteSettings>>('site')

/** Something that somebody wrote to the server admins. Its id counts it among those of an account and an hour. */
export interface LetterRecord {
  readonly user: string
  readonly subject: string
  readonly body: string
  readonly at: Time
  readonly isSent: boolean
}
export const letters = collection<LetterRecord>('admin.letters', { byAt: { on: ['at'] } })

export const PersonalLetters = personalRecords({
  name: 'letters',
  summary: 'Messages that you sent to the server admins.',
  in: letters,
  isOf: ({ user }, { id }) => user === id,
  show: ({ subject, body, at }) => ({ subject, body, at }),
  erase: () => 'remove',
})
