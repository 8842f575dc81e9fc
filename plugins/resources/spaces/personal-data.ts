import { eq } from 'pounce/sdk'
import { personalRecords } from 'pounce/sdk/kit'
import { quotas } from './invitation-rate-limit.ts'
import { invitations } from './invitations.ts'

/** Invitations to the address of the account. */
export const PersonalInvitations = personalRecords({
  name: 'invitations',
  summary: 'Your open invitations to spaces.',
  in: invitations,
  find: ({ email }) => ({ using: 'byEmail', where: eq('email', email) }),
  isOf: ({ email }, person) => email === person.email,
  show: ({ id, space, role, message, created, expires }) => ({ id, space, role, message, created, expires }),
  erase: () => 'remove',
})

/** Invitations that a user sent: the recipients are not personal data of the sender. */
export const PersonalInvitationsSent = personalRecords({
  name: 'invitations-sent',
  summary: 'Open invitations to spaces that you sent, without their recipients.',
  in: invitations,
  isOf: ({ author }, { id }) => author === id,
  show: ({ id, space, message, created }) => ({ id, space, message, created }),
  erase: () => 'remove',
})

/** Hourly counts. */
export const PersonalQuotas = personalRecords({
  name: 'rate-limits',
  summary: 'Your use of actions with an hourly limit.',
  in: quotas,
  isOf: ({ id }, person) => id.includes(person.id),
  show: ({ count, until }) => ({ count, until }),
  erase: () => 'remove',
})
