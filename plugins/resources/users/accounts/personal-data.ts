import { DocumentStore, type Erasure, eq, type Person, type PersonalData, wire } from 'pounce/sdk'
import { personalRecords } from 'pounce/sdk/kit'
import { identityLinks, keys, sessions, users } from '../collections.ts'

/** The account itself: it becomes pseudonymous when all contributors are done. Until then only its followers are removed. */
export class PersonalAccount implements PersonalData {
  readonly name = 'profile'
  readonly summary =
    'Your account: profile, identities at other sites, memberships and roles, groups, what you follow, notification settings and second factors, without secrets.'
  readonly collections = [users.name]
  readonly #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  /** Fields are listed explicitly: a new one may be a secret. */
  async *export(person: Person): AsyncIterable<object> {
    const { id, email, firstName, lastName, provider, status, created, lastLogin, profile, memberships, followed } = person
    const { termsAccepted, identities, isEmailUnverified, signedOutAt, groups, notifications, passwordHash, secondFactor } = person
    const factors = secondFactor && {
      totp: secondFactor.totp && { created: secondFactor.totp.created, lastUsed: secondFactor.totp.lastUsed },
      passkeys: secondFactor.passkeys.map(({ id, name, isBackedUp, created, lastUsed }) => ({ id, name, isBackedUp, created, lastUsed })),
      recoveryCodesLeft: secondFactor.recoveryCodes.length,
    }
    yield {
      ...{ id, email, firstName, lastName, provider, status, created, lastLogin, profile, memberships, followed },
      ...{ termsAccepted, identities, isEmailUnverified, signedOutAt, groups, notifications, hasPassword: passwordHash !== null },
      secondFactor: factors,
    }
  }

  async erase({ person: { id } }: Erasure): Promise<void> {
    const followers = { using: 'byFollowed', where: eq('followed.id', id) } as const
    for await (const follower of this.#documents.scan(users, followers)) {
      await this.#documents.commit({ update: follower.id, in: users, pull: { followed: [{ kind: 'user', id }] } })
    }
  }
}
wire(PersonalAccount, DocumentStore)

export const PersonalKeys = personalRecords({
  name: 'keys',
  summary: 'Your API keys, of which only the first characters are stored in clear.',
  in: keys,
  find: ({ id }) => ({ using: 'byUser', where: eq('user', id) }),
  isOf: ({ user }, { id }) => user === id,
  show: ({ name, scope, prefix, created, lastUsed, verbs, spaces, expires }) => ({
    ...{ name, scope, prefix, created, lastUsed, verbs, spaces, expires },
  }),
  erase: () => 'remove',
})

export const PersonalSessions = personalRecords({
  name: 'sessions',
  summary: 'Your sessions.',
  in: sessions,
  find: ({ id }) => ({ using: 'byUser', where: eq('user', id) }),
  isOf: ({ user }, { id }) => user === id,
  show: ({ created, extended, expires, lastUsed, network, userAgent, authenticated, methods }) => ({
    ...{ created, extended, expires, lastUsed, network, userAgent, authenticated, methods },
  }),
  erase: () => 'remove',
})

export const PersonalIdentityLinks = personalRecords({
  name: 'identity-links',
  summary: 'Identities at sign-in providers that await your confirmation.',
  in: identityLinks,
  find: ({ id }) => ({ using: 'byAccount', where: eq('account', id) }),
  isOf: ({ account }, { id }) => account === id,
  show: ({ provider, identity, expires }) => ({ provider, identity, expires }),
  erase: () => 'remove',
})
