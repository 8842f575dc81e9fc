import { createHash } from 'node:crypto'
import { type Contributions, Installation, type Stored, s, UnreadCounts, type UserRecord, wire } from 'pounce/sdk'
import { fullNameOf, identityProviderOf, personContext, type UnreadCount } from 'pounce/sdk/kit'
import { CallerUsers } from './caller-users.ts'

/** White text has a contrast ratio of at least 4.5 on each of them. */
const colours = [
  ...['#a3262a', '#a8401a', '#85540f', '#6b5e00', '#4a6a12', '#1f7033', '#0f6e5c', '#0b6a7d'],
  ...['#1c6299', '#2f55b0', '#4a49b5', '#6540ab', '#7d3a9c', '#953385', '#a12c64', '#5c5c66'],
] as const

const nobody = '-15'

const firstLetter = (name: string): string => {
  const [letter = ''] = /[\p{L}\p{N}]/u.exec(name) ?? []
  return [...letter.toUpperCase()][0] ?? ''
}

/** Path of the generated avatar of a user. It contains all that the image shows, and depends on the name alone. */
const avatarPath = (user: Pick<UserRecord, 'firstName' | 'lastName'> | undefined): string => {
  const initials = user ? firstLetter(user.firstName) + firstLetter(user.lastName) : ''
  if (!user || initials === '') return `/api/avatars/${nobody}`
  const [colour = 0] = createHash('sha256').update(`${user.firstName}\n${user.lastName}`).digest()
  return `/api/avatars/${encodeURIComponent(initials)}-${colour % (colours.length - 1)}`
}

/** The image at a path; undefined if there is none. */
export const drawAvatar = (picture: string): string | undefined => {
  const [, initials = '', number = ''] = /^([\p{L}\p{N}]{0,2})-(\d{1,2})$/u.exec(picture) ?? []
  const colour = number === '' ? undefined : colours[Number(number)]
  if (colour === undefined) return undefined
  // Letters and digits need no escaping; a silhouette is used without initials.
  const shape =
    initials === ''
      ? '<circle cx="64" cy="48" r="22" fill="#fff"/><path d="M20 128a44 40 0 0 1 88 0z" fill="#fff"/>'
      : `<text x="64" y="64" dy=".35em" text-anchor="middle" font-family="sans-serif" font-size="54" fill="#fff">${initials}</text>`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256" viewBox="0 0 128 128"><rect width="128" height="128" fill="${colour}"/>${shape}</svg>`
}

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

/** An account in v1's format, without status, roles and last sign-in. */
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

/** An account as returned to its owner. */
export const OwnJson = s.model(
  'CurrentUser',
  s.Object({
    ...UserJson.properties,
    notifications: s.String({ description: 'Email notifications: `none`, `direct`, `hourly` or `daily`' }),
    unreadNotifications: s.Optional(
      s.Integer({ description: 'Number of unread notifications, counted up to 100; absent if no plugin stores notifications' }),
    ),
    termsPending: s.Optional(s.Boolean({ description: 'True while the terms of service are not accepted; otherwise absent' })),
  }),
)

export type OwnJson = s.Static<typeof OwnJson>

const shown = ['biography', 'institution', 'orcidId', 'position', 'currentprojects', 'pastprojects'] as const

/** URL of a user's picture: their own, otherwise a generated one with their initials. */
export const avatarOf = (user: UserRecord | undefined, baseUrl: string): string => user?.profile.avatarUrl ?? baseUrl + avatarPath(user)

/** Shows an account. */
const toUserJson = (user: UserRecord & Stored, baseUrl: string): UserJson => {
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

/** Renders accounts according to the settings of the installation. */
export class UserViews {
  #installation: Installation
  #standing: CallerUsers
  #unread: Contributions<UnreadCount>

  constructor(installation: Installation, standing: CallerUsers, unread: Contributions<UnreadCount>) {
    this.#unread = unread
    this.#standing = standing
    this.#installation = installation
  }

  of(user: UserRecord & Stored): UserJson {
    return toUserJson(user, this.#installation.baseUrl)
  }

  /** For the owner of the account. */
  async ownOf(user: UserRecord & Stored): Promise<OwnJson> {
    const { termsPending } = await this.#standing.of(user)
    const { notifications = 'direct' } = user
    const [inbox] = this.#unread.all()
    const unread = inbox ? { unreadNotifications: await inbox.unread(user.id) } : {}
    return { ...this.of(user), notifications, ...unread, ...(termsPending ? { termsPending } : {}) }
  }
}
wire(UserViews, Installation, CallerUsers, UnreadCounts)
