import { collection, personalRecords, type Time } from 'pounce/sdk'

/** A link that somebody asked for. What it is for is decided when it is sent, for the request must not tell who has an account. */
export interface LinkRecord {
  readonly email: string
  readonly asked: 'signUp' | 'reset'
  /** What the mail that was sent led to; null until then, and where no link was sent. */
  readonly opens: 'signUp' | 'reset' | null
  /** Digests of its secret: one for each try to send it. */
  readonly secrets: readonly string[]
  /** Of a reset: the account, and a digest that fits the password it replaces. */
  readonly account: string | null
  readonly stamp: string | null
  readonly isSent: boolean
  readonly created: Time
  readonly expires: Time
}

export const links = collection<LinkRecord>('auth.local.links', { byExpiry: { on: ['expires'] } })

export const PersonalMailLinks = personalRecords({
  name: 'mailed-links',
  summary: 'Pending links to sign up or reset your password, without their secrets.',
  in: links,
  isOf: ({ email, account }, person) => email === person.email || account === person.id,
  show: ({ asked, created, expires }) => ({ asked, created, expires }),
  erase: () => 'remove',
})
