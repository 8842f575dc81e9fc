import { fullNameOf, type Stored, s, type Users } from 'pounce/sdk'
import type { AuditRecord } from './audit-record.ts'
import { isChained } from './chain-hash.ts'

const Account = s.Union([s.model('AuditAccount', s.Object({ id: s.String(), fullName: s.String(), email: s.String() })), s.Null()], {
  description: 'Null for the server itself and for anonymous callers; names are empty for deleted accounts',
})

/** A line of the audit log as admins read it. */
export const AuditJson = s.model(
  'AuditEntry',
  s.Object({
    id: s.String(),
    at: s.String({ description: 'ISO 8601' }),
    type: s.String(),
    actor: Account,
    user: Account,
    subject: s.Union([s.Object({ kind: s.String(), id: s.String() }), s.Null()]),
    about: s.Record(s.String(), s.Union([s.String(), s.Number(), s.Boolean(), s.Array(s.String())])),
    address: s.Union([s.String(), s.Null()]),
    count: s.Integer({ description: 'Greater than one if similar events are combined' }),
    last: s.String({ description: 'Time of the last combined event' }),
    chain: s.Union([s.Object({ id: s.String(), seq: s.Integer(), prev: s.String(), hash: s.String() }), s.Null()], {
      description: 'Position in the hash chain, and the hash of the previous entry; null for entries of versions without chains',
    }),
  }),
)
export type AuditJson = s.Static<typeof AuditJson>

/** Shows up to 500 lines with the names of people, in one read. */
export const shownLines = async (users: Users, lines: readonly (AuditRecord & Stored)[]): Promise<AuditJson[]> => {
  const ids = new Set(lines.flatMap(({ actor, user }) => [actor, user]).filter(id => id !== null))
  const people = await users.getMany([...ids])
  const account = (id: string | null) => {
    if (id === null) return null
    const person = people.get(id)
    return { id, fullName: person ? fullNameOf(person) : '', email: person?.email ?? '' }
  }
  return lines.map(line => ({
    ...shown(line, account),
    chain: isChained(line) ? { id: line.chain, seq: line.seq, prev: line.prev, hash: line.hash } : null,
  }))
}

const shown = (
  { id, at, type, actor, user, subject, about, address, count, last }: AuditRecord & Stored,
  account: (id: string | null) => AuditJson['actor'],
) => ({
  ...{ id, at, type, actor: account(actor), user: account(user), subject, address, count, last },
  about: Object.fromEntries(Object.entries(about).map(([name, fact]) => [name, typeof fact === 'object' ? [...fact] : fact])),
})
