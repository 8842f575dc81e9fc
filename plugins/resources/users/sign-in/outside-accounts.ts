import {
  Clock,
  type Command,
  CommitConflict,
  configPort,
  DocumentStore,
  eq,
  event,
  Invalid,
  Log,
  NotSignedIn,
  type Stored,
  Taken,
  type UserRecord,
  Users,
  type VerifiedIdentity,
  wire,
} from 'pounce/sdk'
import { checkedEmail } from 'pounce/sdk/kit'
import { sortedNames } from '../accounts/people-directory.ts'
import { namedAccount } from '../accounts/user-commands.ts'
import { users } from '../collections.ts'
import { config, type Settings } from '../config.ts'
import { idOfHash, sha256 } from '../keys/installation-secret.ts'
import { IdentityLinks, identityName } from './identity-links.ts'
import { StoredSessions } from './stored-sessions.ts'

type User = UserRecord & Stored

type Rules = Pick<Settings, 'outsideAccounts'>

/** Each lost race means that another sign-in of the same user won. */
const maxRaces = 20

const plainName = (name: string): string =>
  name
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, 200)
    .toWellFormed()

/** Finds and creates the accounts of users authenticated by other providers. */
export class OutsideAccounts {
  readonly #rules: Rules
  readonly #documents: DocumentStore
  readonly #users: Users
  readonly #clock: Clock
  readonly #links: IdentityLinks
  readonly #log: Log

  constructor(rules: Rules, documents: DocumentStore, stored: Users, clock: Clock, links: IdentityLinks, log: Log) {
    this.#rules = rules
    this.#documents = documents
    this.#users = stored
    this.#clock = clock
    this.#links = links
    this.#log = log
  }

  /** The account that is linked to the identity. */
  async known(identity: Pick<VerifiedIdentity, 'provider' | 'subject'>): Promise<User | undefined> {
    const page = await this.#documents.find(users, { using: 'byIdentity', where: eq('identities', identityName(identity)), limit: 1 })
    return page.items[0]
  }

  /**
   * The linked account, otherwise a new one. The owner of an account with the same email address must confirm first. Throws `NotSignedIn`
   * with the reason when there is none; undefined when the provider returns no usable address.
   */
  async of(given: VerifiedIdentity): Promise<User | undefined> {
    const identity = this.#tidied(given)
    for (let race = 0; race < maxRaces; race += 1) {
      const account = (await this.known(identity)) ?? (await this.#unlessMoved(this.#known(identity)))
      if (account !== undefined && account !== 'moved') return account
      if (account === undefined && identity.email === '') return undefined
      const user = account === undefined ? await this.#unlessMoved(this.#createUser(identity)) : 'moved'
      if (user !== 'moved') return user
    }
    throw new CommitConflict('revision', 'The account was changed concurrently; try again')
  }

  /** Updates the account with the provider's current data if the account came from that provider; other accounts are unchanged. */
  async followed(user: User, given: VerifiedIdentity): Promise<User> {
    const { provider, firstName, lastName, email, isEmailVerified } = this.#tidied(given)
    if (user.provider !== provider) return user
    const mayFollow = email !== '' && (isEmailVerified || user.isEmailUnverified === true)
    const now: Partial<UserRecord> = {
      ...(firstName + lastName === '' ? {} : { firstName, lastName }),
      ...(mayFollow ? { email } : {}),
    }
    const fields = (Object.keys(now) as (keyof typeof now)[]).filter(field => now[field] !== user[field])
    const isVerifiedNow = user.isEmailUnverified === true && isEmailVerified && email !== ''
    if (fields.length === 0 && !isVerifiedNow) return user
    // An address that becomes verified causes the events of an address change.
    const changedFields = isVerifiedNow ? [...new Set([...fields, 'email'])] : fields
    const changed = event('user.updated', { kind: 'user', id: user.id }, { fields: changedFields }, user.id)
    try {
      const unset = isVerifiedNow ? { unset: ['isEmailUnverified'] } : {}
      return await this.#users.change(user.id, { set: Object.fromEntries(fields.map(field => [field, now[field] ?? ''])), ...unset }, [
        changed,
      ])
    } catch (error) {
      if (!(error instanceof Taken)) throw error
      this.#log.warn('New email address of a user already belongs to another account', { user: user.id, provider })
      return user
    }
  }

  /**
   * Undefined when no account has the address. The owner of such an account must confirm the identity, which gives no access until then.
   */
  async #known(identity: VerifiedIdentity): Promise<User | undefined> {
    const { email } = identity
    const user = email === '' ? undefined : await this.#users.byEmail(email)
    if (!user) return undefined
    // A concurrent sign-in may have created it just now.
    if (user.identities?.includes(identityName(identity))) return user
    await this.#links.request(user, identity)
    throw new NotSignedIn(
      'An account with your email address exists, but is not linked to this provider; sign in as before, follow the link in the email if you got one, or ask an admin',
    )
  }

  /** Derived from the identity, so that two concurrent first sign-ins create one account. Erased and unlinked accounts keep their ids. */
  async #newIdFor(identity: string): Promise<string> {
    for (let former = 0; ; former += 1) {
      const id = idOfHash(sha256(former === 0 ? identity : `${identity}\n${former}`))
      const holder = await this.#users.get(id)
      if (!holder || holder.identities?.includes(identity)) return id
    }
  }

  async #createUser(identity: VerifiedIdentity): Promise<User> {
    const { provider, email, isEmailVerified, firstName, lastName } = identity
    if (this.#rules.outsideAccounts === 'none') throw new NotSignedIn('You have no account on this server; ask an admin to create one')
    const id = await this.#newIdFor(identityName(identity))
    const record: UserRecord = {
      email,
      firstName,
      lastName,
      ...sortedNames({ firstName, lastName }),
      provider,
      passwordHash: null,
      // An address asserted by another provider never makes an account a server admin.
      status: this.#rules.outsideAccounts === 'approval' ? 'Inactive' : 'Active',
      created: this.#clock.now().toISOString(),
      lastLogin: null,
      profile: {},
      memberships: [],
      followed: [],
      termsAccepted: null,
      identities: [identityName(identity)],
      ...(isEmailVerified ? {} : { isEmailUnverified: true }),
    }
    return this.#documents.commit({ insert: { id, ...record }, into: users }, [event('user.created', { kind: 'user', id }, {}, id)])
  }

  /** `moved` after a concurrent change: the decision is then repeated with the current state. */
  async #unlessMoved<T>(work: Promise<T>): Promise<T | 'moved'> {
    try {
      return await work
    } catch (error) {
      if (error instanceof Taken || error instanceof CommitConflict) return 'moved'
      throw error
    }
  }

  /** Values from other servers are validated like user input; an invalid address is dropped. */
  #tidied(identity: VerifiedIdentity): VerifiedIdentity {
    const names = { firstName: plainName(identity.firstName), lastName: plainName(identity.lastName) }
    try {
      return { ...identity, ...names, email: identity.email === '' ? '' : checkedEmail(identity.email) }
    } catch (error) {
      if (!(error instanceof Invalid)) throw error
      this.#log.warn('Invalid email address from a provider', { provider: identity.provider })
      return { ...identity, ...names, email: '', isEmailVerified: false }
    }
  }
}
wire(OutsideAccounts, configPort(config), DocumentStore, Users, Clock, IdentityLinks, Log)

type Input = Parameters<Command['run']>[0]

const email = { name: 'email', summary: 'Email of the account' } as const

const provider = { name: 'provider', summary: '`ldap`, or the name of an OpenID provider' } as const

/** `pounce user link`: for users who were moved in a directory, and for programs with tokens of a provider. */
export class LinkIdentity implements Command {
  readonly name = 'user link'
  readonly summary = 'Link an identity at a sign-in provider to an account'
  readonly arguments = [email, provider, { name: 'subject', summary: 'Subject at the provider: `sub`, or the DN in lower case' }]
  #users: Users
  #outside: OutsideAccounts

  constructor(users: Users, outside: OutsideAccounts) {
    this.#users = users
    this.#outside = outside
  }

  async run(input: Input) {
    const user = await namedAccount(this.#users, input)
    const { provider: name = '', subject = '' } = input.arguments
    if (!/^[a-z][a-z0-9-]{0,63}$/.test(name) || name === 'userpass') throw new Invalid(`${name} is not a provider with linked accounts`)
    if (subject.trim() === '') throw new Invalid('The subject at the provider is required')
    const holder = await this.#outside.known({ provider: name, subject })
    if (holder && holder.id !== user.id)
      throw new Invalid(`This identity is already linked to the account ${holder.email}; unlink it first with pounce user unlink`)
    const linked = event('user.linked', { kind: 'user', id: user.id }, { provider: name })
    const { identities = [] } =
      holder ?? (await this.#users.change(user.id, { addToSet: { identities: [`${name} ${subject}`] } }, [linked]))
    return { email: user.email, identities: identities.join(', ') }
  }
}
wire(LinkIdentity, Users, OutsideAccounts)

/** `pounce user unlink`. */
export class UnlinkIdentity implements Command {
  readonly name = 'user unlink'
  readonly summary = 'Unlink all identities at sign-in providers from an account; its sessions end'
  readonly arguments = [email, provider]
  #users: Users
  #sessions: StoredSessions

  constructor(users: Users, sessions: StoredSessions) {
    this.#users = users
    this.#sessions = sessions
  }

  async run(input: Input) {
    const user = await namedAccount(this.#users, input)
    const removed = (user.identities ?? []).filter(identity => identity.startsWith(`${input.arguments['provider']} `))
    const changed = event('user.updated', { kind: 'user', id: user.id }, { fields: ['identities'] })
    const { identities = [] } =
      removed.length === 0 ? user : await this.#users.change(user.id, { pull: { identities: removed } }, [changed])
    await this.#sessions.revokeAll(user.id, user.id)
    return { email: user.email, identities: identities.join(', ') }
  }
}
wire(UnlinkIdentity, Users, StoredSessions)
