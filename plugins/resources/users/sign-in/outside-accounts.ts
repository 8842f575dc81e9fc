import {
  Clock,
  CommitConflict,
  checkedEmail,
  configPort,
  DocumentStore,
  eq,
  event,
  Installation,
  Invalid,
  Log,
  NotSignedIn,
  plainEmail,
  port,
  type Stored,
  Taken,
  type UserRecord,
  Users,
  type VerifiedIdentity,
  wire,
} from 'pounce/sdk'
import { users } from '../collections.ts'
import { config, type Settings } from '../config.ts'
import { idOfHash, sha256 } from '../keys/secrets.ts'

type User = UserRecord & Stored
type Rules = Pick<Settings, 'outsideAccounts' | 'linksByEmail'>
/** Each lost race means that another sign-in of the same person won. */
const maxRaces = 20

/** How an account remembers who a provider says this is. */
const nameOf = ({ provider, subject }: Pick<VerifiedIdentity, 'provider' | 'subject'>): string => `${provider} ${subject}`

const plainName = (name: string): string =>
  name
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, 200)

/** Finds and makes the accounts of people for whom other providers vouch. */
export class OutsideAccounts {
  readonly #rules: Rules
  readonly #documents: DocumentStore
  readonly #users: Users
  readonly #clock: Clock
  readonly #installation: Installation
  readonly #log: Log

  constructor(rules: Rules, documents: DocumentStore, stored: Users, clock: Clock, installation: Installation, log: Log) {
    this.#rules = rules
    this.#documents = documents
    this.#users = stored
    this.#clock = clock
    this.#installation = installation
    this.#log = log
  }

  /** The account that is known to be theirs. */
  async known(identity: Pick<VerifiedIdentity, 'provider' | 'subject'>): Promise<User | undefined> {
    const page = await this.#documents.find(users, { using: 'byIdentity', where: eq('identities', nameOf(identity)), limit: 1 })
    return page.items[0]
  }

  /**
   * Their account: the one that is known, else that of their verified e-mail address, else a new one. `NotSignedIn`, saying why, when none of
   * them can be had; undefined when the provider names no address to go by.
   */
  async of(given: VerifiedIdentity): Promise<User | undefined> {
    const identity = this.#tidied(given)
    for (let race = 0; race < maxRaces; race += 1) {
      const account = (await this.known(identity)) ?? (await this.#unlessMoved(this.#linked(identity)))
      if (account !== undefined && account !== 'moved') return account
      if (account === undefined && identity.email === '') return undefined
      const made = account === undefined ? await this.#unlessMoved(this.#made(identity)) : 'moved'
      if (made !== 'moved') return made
    }
    throw new CommitConflict('revision', 'Somebody else signs in to this account right now; try again')
  }

  /** The account as the provider that it came from describes the person now. Accounts of other providers stay as they are. */
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
    // An address that counts from now on is news of the address.
    const told = isVerifiedNow ? [...new Set([...fields, 'email'])] : fields
    const changed = event('user.updated', { kind: 'user', id: user.id }, { fields: told }, user.id)
    try {
      const unset = isVerifiedNow ? { unset: ['isEmailUnverified'] } : {}
      return await this.#users.change(user.id, { set: Object.fromEntries(fields.map(field => [field, now[field] ?? ''])), ...unset }, [
        changed,
      ])
    } catch (error) {
      if (!(error instanceof Taken)) throw error
      this.#log.warn('somebody has another e-mail address now, which belongs to another account', { user: user.id, provider })
      return user
    }
  }

  /** Links the account of a verified address, and says so. Undefined when there is none, or nobody verified the address. */
  async #linked(identity: VerifiedIdentity): Promise<User | undefined> {
    const { provider, email, isEmailVerified } = identity
    const user = email === '' ? undefined : await this.#users.byEmail(email)
    if (!user) return undefined
    // Somebody who signed in at the same moment may have made it just now.
    if (user.identities?.includes(nameOf(identity))) return user
    const isOfAnother = user.identities?.some(known => known.startsWith(`${provider} `)) ?? false
    if (!isEmailVerified || !this.#rules.linksByEmail || user.isEmailUnverified || isOfAnother) {
      this.#log.warn('an account with the e-mail address of somebody who signed in was not linked', {
        user: user.id,
        provider,
        isOfAnother,
      })
      throw new NotSignedIn(
        'There is an account with your e-mail address that you may not open this way; sign in as before, or ask an admin',
      )
    }
    const linked = event('user.linked', { kind: 'user', id: user.id }, { provider }, user.id)
    const where = eq('revision', user.revision)
    return this.#documents.commit({ update: user.id, in: users, where, addToSet: { identities: [nameOf(identity)] } }, [linked])
  }

  /** One commit; its id follows from who it is, so that two first sign-ins at once make one account. */
  async #made(identity: VerifiedIdentity): Promise<User> {
    const { provider, email, isEmailVerified, firstName, lastName } = identity
    if (this.#rules.outsideAccounts === 'none')
      throw new NotSignedIn('There is no account for you on this server; ask an admin to make one')
    const isNamedAdmin = isEmailVerified && this.#installation.admins.some(admin => plainEmail(admin.email) === email)
    const waits = !isNamedAdmin && this.#rules.outsideAccounts === 'approval'
    const id = idOfHash(sha256(nameOf(identity)))
    const record: UserRecord = {
      email,
      firstName,
      lastName,
      provider,
      passwordHash: null,
      status: isNamedAdmin ? 'Admin' : waits ? 'Inactive' : 'Active',
      created: this.#clock.now().toISOString(),
      lastLogin: null,
      profile: {},
      memberships: [],
      followed: [],
      termsAccepted: null,
      identities: [nameOf(identity)],
      ...(isEmailVerified ? {} : { isEmailUnverified: true }),
    }
    return this.#documents.commit({ insert: { id, ...record }, into: users }, [event('user.created', { kind: 'user', id }, {}, id)])
  }

  /** `moved` when somebody else was faster: what is so now decides anew. */
  async #unlessMoved<T>(work: Promise<T>): Promise<T | 'moved'> {
    try {
      return await work
    } catch (error) {
      if (error instanceof Taken || error instanceof CommitConflict) return 'moved'
      throw error
    }
  }

  /** What other servers say is checked like what people type; an address that is none is left out. */
  #tidied(identity: VerifiedIdentity): VerifiedIdentity {
    const names = { firstName: plainName(identity.firstName), lastName: plainName(identity.lastName) }
    try {
      return { ...identity, ...names, email: identity.email === '' ? '' : checkedEmail(identity.email) }
    } catch (error) {
      if (!(error instanceof Invalid)) throw error
      this.#log.warn('a provider gave an e-mail address that is none', { provider: identity.provider })
      return { ...identity, ...names, email: '', isEmailVerified: false }
    }
  }
}
wire(OutsideAccounts, configPort(config), DocumentStore, Users, Clock, Installation, Log)

/** Inside this plugin: accounts of other providers' people. */
export const Outside = port<OutsideAccounts>('users.outside')
