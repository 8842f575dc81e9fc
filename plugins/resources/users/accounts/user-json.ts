import { fullNameOf, identityProviderOf, personContext, type Stored, s, type UserRecord } from 'pounce/sdk'
import { avatarPath } from './avatars.ts'

const Profile = s.model(
  'Profile',
  s.Object({
    biography: s.Optional(s.String()),
    institution: s.Optional(s.String()),
    orcidId: s.Optional(s.String()),
    position: s.Optional(s.String()),
    currentprojects: s.Optional(s.Array(s.String())),
    pastprojects: s.Optional(s.Array(s.String())),
  }),
)

/** An account as v1 shows it. Status, roles and the last sign-in are not in it. */
export const UserJson = s.model(
  'User',
  s.Object({
    '@context': s.Record(s.String(), s.String()),
    id: s.id(),
    firstName: s.String(),
    lastName: s.String(),
    fullName: s.String(),
    email: s.Union([s.String(), s.Null()]),
    avatar: s.String(),
    profile: Profile,
    identityProvider: s.String({ description: 'Such as `Ada Lovelace (ada@example.org) [Local Account]`' }),
  }),
)
export type UserJson = s.Static<typeof UserJson>

/** An account as its owner sees it. */
export const OwnJson = s.model(
  'CurrentUser',
  s.Object({
    ...UserJson.properties,
    notifications: s.String({ description: 'Email notifications: `none`, `direct`, `hourly` or `daily`' }),
    termsPending: s.Optional(s.Boolean({ description: 'True while the terms of service are not accepted; otherwise absent' })),
  }),
)
export type OwnJson = s.Static<typeof OwnJson>

const shown = ['biography', 'institution', 'orcidId', 'position', 'currentprojects', 'pastprojects'] as const

/** Address of a person's picture: their own, else one with their initials. */
export const avatarOf = (user: UserRecord | undefined, baseUrl: string): string => user?.profile.avatarUrl ?? baseUrl + avatarPath(user)

/** Shows an account. */
export const toUserJson = (user: UserRecord & Stored, baseUrl: string): UserJson => {
  const { id, firstName, lastName, email, profile } = user
  const known = shown.flatMap(field => (profile[field] === undefined ? [] : [[field, profile[field]]]))
  return {
    '@context': personContext,
    id,
    firstName,
    lastName,
    fullName: fullNameOf(user),
    email,
    avatar: avatarOf(user, baseUrl),
    profile: Object.fromEntries(known),
    identityProvider: identityProviderOf(user),
  }
}
