import { anonymousUserId, type Caller } from './model/caller.ts'
import { fullNameOf, type UserRecord } from './model/people.ts'
import type { Policy } from './ports/policy.ts'
import type { Users } from './ports/users.ts'
import * as s from './schema.ts'

/** A person as shown in comments and the feed. */
export const ShownPerson = s.model(
  'UserSummary',
  s.Object({
    id: s.String(),
    fullName: s.String(),
    avatarURL: s.String(),
    email: s.Optional(s.String({ description: 'Only for callers who may view the account' })),
  }),
)
export type ShownPerson = s.Static<typeof ShownPerson>

/** JSON-LD context of the members of a person, as in v1. */
export const personContext = {
  firstName: 'http://schema.org/Person/givenName',
  lastName: 'http://schema.org/Person/familyName',
  email: 'http://schema.org/Person/email',
  affiliation: 'http://schema.org/Person/affiliation',
} as const

const placeOf = (provider: string): string =>
  provider === 'userpass' ? 'Local Account' : `${provider.slice(0, 1).toUpperCase()}${provider.slice(1)}`

/** Name, address and provider, such as `Ada Lovelace (ada@example.org) [Local Account]`; without the address for callers who may not view it. */
export const identityProviderOf = (user: UserRecord, knowsEmail = true): string =>
  `${fullNameOf(user)}${knowsEmail ? ` (${user.email})` : ''} [${placeOf(user.provider)}]`

/** Resolves people for a caller in two reads. Address and picture are included only for accounts that the caller may view. At most 1,000 ids. */
export const peopleFor = async (
  users: Users,
  policy: Policy,
  caller: Caller,
  ids: readonly string[],
): Promise<(id: string) => ShownPerson> => {
  const wanted = [...new Set(ids)]
  const [found, known] = await Promise.all([users.getMany(wanted), policy.allowed(caller, 'ViewUser', 'user', wanted)])
  return id => {
    const user = found.get(id)
    const fullName = user ? fullNameOf(user) : id === anonymousUserId ? 'Anonymous User' : ''
    if (!user || !known.has(id)) return { id, fullName, avatarURL: users.avatarOf(undefined) }
    return { id, fullName, avatarURL: users.avatarOf(user), email: user.email }
  }
}

/** Whether someone wants mail about the actions of others. Mail about the account itself, and to server admins, needs no preference. */
export const wantsMail = ({ status, notifications }: Pick<UserRecord, 'status' | 'notifications'>): boolean =>
  status !== 'Inactive' && notifications !== 'none'
