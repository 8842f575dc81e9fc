import { eq, event, type Person, personalRecords, transferred } from 'pounce/sdk'
import { spaces } from './collection.ts'
import { quotas } from './invitation-rate-limit.ts'
import { invitations } from './invitation-record.ts'

const updated = (id: string, fields: readonly string[]) => [event('space.updated', { kind: 'space', id }, { fields })]
const handedOver = transferred(id => updated(id, ['author']))
const asked = (requests: readonly { readonly user: string }[], { id }: Person): boolean => requests.some(({ user }) => user === id)

/** Spaces that somebody made, or asked to join. */
export const PersonalSpaces = personalRecords({
  name: 'spaces',
  summary: 'Spaces that you created, and your requests to join others.',
  in: spaces,
  isOf: ({ author, requests }, person) => author === person.id || asked(requests, person),
  show: ({ id, name, description, author, created, requests }, person) => ({
    id,
    ...(author === person.id ? { name, description, created } : {}),
    requests: requests.filter(({ user }) => user === person.id).map(({ at, message }) => ({ at, message })),
  }),
  erase: (space, erasure) => {
    const pulled = asked(space.requests, erasure.person) ? { pull: { requests: [{ user: erasure.person.id }] } } : undefined
    const edit = handedOver(space, erasure)
    if (edit === undefined || edit === 'remove') return pulled
    return { ...edit, ...pulled }
  },
})

/** Invitations to the address. */
export const PersonalInvitations = personalRecords({
  name: 'invitations',
  summary: 'Your open invitations to spaces.',
  in: invitations,
  find: ({ email }) => ({ using: 'byEmail', where: eq('email', email) }),
  isOf: ({ email }, person) => email === person.email,
  show: ({ id, space, role, message, created, expires }) => ({ id, space, role, message, created, expires }),
  erase: () => 'remove',
})

/** Invitations that somebody sent: whom they invited is nothing about them. */
export const PersonalInvitationsSent = personalRecords({
  name: 'invitations-sent',
  summary: 'Open invitations to spaces that you sent, without their recipients.',
  in: invitations,
  isOf: ({ author }, { id }) => author === id,
  show: ({ id, space, message, created }) => ({ id, space, message, created }),
  erase: () => 'remove',
})

/** Counts of an hour. */
export const PersonalQuotas = personalRecords({
  name: 'rate-limits',
  summary: 'Your use of actions with an hourly limit.',
  in: quotas,
  isOf: ({ id }, person) => id.includes(person.id),
  show: ({ count, until }) => ({ count, until }),
  erase: () => 'remove',
})
