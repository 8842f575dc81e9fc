import { createHash } from 'node:crypto'
import { fullNameOf, identityProviderOf, personContext, type Stored, s, type UserRecord } from 'pounce/sdk'

/** An account as v1 shows it. Status, roles and the last sign-in are not in it. */
export const UserJson = s.Object({
  '@context': s.Record(s.String(), s.String()),
  id: s.id(),
  firstName: s.String(),
  lastName: s.String(),
  fullName: s.String(),
  email: s.Union([s.String(), s.Null()]),
  avatar: s.String(),
  profile: s.Object({
    biography: s.Optional(s.String()),
    institution: s.Optional(s.String()),
    orcidId: s.Optional(s.String()),
    position: s.Optional(s.String()),
    currentprojects: s.Optional(s.Array(s.String())),
    pastprojects: s.Optional(s.Array(s.String())),
  }),
  identityProvider: s.String({ description: 'Such as `Ada Lovelace (ada@example.org) [Local Account]`' }),
})
export type UserJson = s.Static<typeof UserJson>

/** An account as its owner sees it. */
export const OwnJson = s.Object({
  ...UserJson.properties,
  notifications: s.String({ description: 'What is written by mail: `none`, `direct`, `hourly` or `daily`' }),
  termsPending: s.Optional(s.Boolean({ description: 'True while the terms of service wait to be accepted; otherwise absent' })),
})
export type OwnJson = s.Static<typeof OwnJson>

const shown = ['biography', 'institution', 'orcidId', 'position', 'currentprojects', 'pastprojects'] as const

/** Address of a person's picture; `drawing` is Gravatar's for people without one. */
export const avatarOf = (user: UserRecord, drawing: string): string =>
  user.profile.avatarUrl ?? `https://www.gravatar.com/avatar/${createHash('md5').update(user.email).digest('hex')}?s=256&d=${drawing}`

/** Shows an account; `drawing` is Gravatar's picture for people without one. */
export const toUserJson = (user: UserRecord & Stored, drawing: string): UserJson => {
  const { id, firstName, lastName, email, profile } = user
  const known = shown.flatMap(field => (profile[field] === undefined ? [] : [[field, profile[field]]]))
  return {
    '@context': personContext,
    id,
    firstName,
    lastName,
    fullName: fullNameOf(user),
    email,
    avatar: avatarOf(user, drawing),
    profile: Object.fromEntries(known),
    identityProvider: identityProviderOf(user),
  }
}
