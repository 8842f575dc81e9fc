import {
  type AuthProvider,
  CommitConflict,
  configPort,
  eq,
  event,
  Forbidden,
  type Stored,
  Taken,
  type UserRecord,
  Users,
  type VerifiedIdentity,
  wire,
} from 'pounce/sdk'
import { Passwords } from 'pounce/sdk/kit'
import { config, type Settings } from './config.ts'
import { MailLinks, stampOf } from './mail-links.ts'

/** The user's input at sign-up. */
export interface NewAccount {
  readonly firstName: string
  readonly lastName: string
  readonly password: string
  readonly acceptTerms?: boolean
}

/** Completes the actions of emailed links. */
export class LinkedAccounts {
  #settings: Settings
  #links: MailLinks
  #users: Users
  #passwords = new Passwords()

  constructor(settings: Settings, links: MailLinks, users: Users) {
    this.#settings = settings
    this.#links = links
    this.#users = users
  }

  /** Throws `Forbidden` where sign-up is disabled. */
  requireSignUp(): void {
    if (!this.#settings.signUp) throw new Forbidden('Sign-up is disabled; a server admin creates accounts')
  }

  /** Creates the account of a link, which uses up the link; of two concurrent calls one succeeds. */
  async signUp(token: string, account: NewAccount, address: string): Promise<UserRecord & Stored> {
    this.requireSignUp()
    const link = await this.#links.open('signUp', token, address)
    const { firstName, lastName, password, acceptTerms = false } = account
    const status = this.#settings.registerThroughAdmins ? 'Inactive' : 'Active'
    try {
      // The link is used up because an email address has at most one account; deleting it is only cleanup.
      const created = await this.#users.create({ email: link.email, firstName, lastName, password, status, acceptsTerms: acceptTerms })
      await this.#links.spend(link)
      return created
    } catch (error) {
      if (error instanceof Taken) return this.#links.refuse(address, error)
      throw error
    }
  }

  /** Sets the password of a link's account. Its sessions and all its other links end; API keys are revoked only on request. */
  async reset(token: string, password: string, revokesKeys: boolean, address: string): Promise<void> {
    const { link, user } = await this.openReset(token, address)
    const passwordHash = await this.#passwords.hash(password)
    const fields = revokesKeys ? ['password', 'keys'] : ['password']
    const changed = event('user.updated', { kind: 'user', id: user.id }, { fields }, user.id)
    try {
      await this.#users.change(user.id, { set: { passwordHash }, where: eq('passwordHash', user.passwordHash) }, [changed])
    } catch (error) {
      if (error instanceof CommitConflict) return this.#links.refuse(address, error)
      throw error
    }
    await this.#links.spend(link)
  }

  /** The account whose password the link may set. */
  async openReset(token: string, address: string) {
    const link = await this.#links.open('reset', token, address)
    const user = await this.#users.get(link.account ?? '')
    if (user?.provider !== 'userpass' || stampOf(user) !== link.stamp) return this.#links.refuse(address)
    return { link, user }
  }
}
wire(LinkedAccounts, configPort(config), MailLinks, Users)

/** Local accounts: email and password. The email address is not verified, so it is not linked to any other account. */
export class LocalAccounts implements AuthProvider {
  readonly id = 'userpass'
  readonly label = 'Email and password'
  #users: Users
  #passwords = new Passwords()

  constructor(users: Users) {
    this.#users = users
  }

  async password(email: string, password: string): Promise<VerifiedIdentity | undefined> {
    const account = await this.#users.byEmail(email)
    const user = account?.provider === this.id ? account : undefined
    const isRight = await this.#passwords.verify(password, user?.passwordHash)
    if (!user || !isRight) return undefined
    const { email: subject, firstName, lastName } = user
    return { provider: this.id, subject, email: subject, isEmailVerified: false, firstName, lastName, groups: [] }
  }
}
wire(LocalAccounts, Users)
