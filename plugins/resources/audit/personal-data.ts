import { eq, or } from 'pounce/sdk'
import { personalRecords } from 'pounce/sdk/kit'
import { audit } from './chain-writer.ts'

/** Entries of the audit log. They outlive the account until their retention ends: they are evidence, and refer to users by account id. */
export const PersonalAudit = personalRecords({
  name: 'audit',
  summary: 'Audit log entries about your account and your actions. They are kept until their retention ends.',
  in: audit,
  find: ({ id }) => ({ using: ['byUser', 'byActor'], where: or(eq('user', id), eq('actor', id)) }),
  isOf: ({ user, actor }, { id }) => user === id || actor === id,
  show: ({ at, type, actor, user, subject, about, address, count, last }, { id }) => ({
    at,
    type,
    subject,
    byYou: actor === id,
    aboutYou: user === id,
    ...(user === id ? { about } : {}),
    // Someone else's address is not personal data of this user.
    ...(actor === id || actor === null ? { address } : {}),
    count,
    last,
  }),
})
