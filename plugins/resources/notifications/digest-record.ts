import { collection, personalRecords, type Time, type UserRecord } from 'pounce/sdk'

/** How often somebody is told by mail what happened. */
export type Every = Extract<NonNullable<UserRecord['notifications']>, 'hourly' | 'daily'>

/** How far somebody who wants news by mail has been told. Its id is that of the account. */
export interface DigestRecord {
  readonly every: Every
  /** What happened up to then was told, or there was nothing to tell. */
  readonly told: Time
  /** A mail about what happened from `told` to then is on its way; null when none is. */
  readonly until: Time | null
  /** When to look again. */
  readonly due: Time
}

/** Who wants news by mail, by when it is due. */
export const digests = collection<DigestRecord>('notifications.digests', { byDue: { on: ['due'] } })

const hourMs = 3_600_000
export const periodMs: Readonly<Record<Every, number>> = { hourly: hourMs, daily: 24 * hourMs }

/** How often a person wants news; undefined for those who do not. */
export const wishOf = ({ notifications, status }: Pick<UserRecord, 'notifications' | 'status'>): Every | undefined =>
  status !== 'Inactive' && (notifications === 'hourly' || notifications === 'daily') ? notifications : undefined

export const PersonalDigests = personalRecords({
  name: 'notifications',
  summary: 'Your email digest setting, and the time of the last digest.',
  in: digests,
  isOf: (digest, { id }) => digest.id === id,
  show: ({ every, told, due }) => ({ every, told, due }),
  erase: () => 'remove',
})
