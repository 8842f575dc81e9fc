import {
  CommitConflict,
  type Contributions,
  configPort,
  DocumentStore,
  eq,
  Forbidden,
  Installation,
  Invalid,
  KnownPages,
  Log,
  ReadAccess,
  type Stored,
  Taken,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { checkedEmail, type PageAddresses, pathOfPage, type StartupMessage } from 'pounce/sdk/kit'
import { users as accounts, settings } from '../collections.ts'
import { config, type Settings } from '../config.ts'
import { isSameDigest, newToken, sha256 } from '../keys/installation-secret.ts'
import { AccountAdministration } from './account-administration.ts'

const id = 'set-up-token'

/** Ensures that the server has an admin: the configured ones, or the user who opens the setup link. */
export class FirstAdmin implements StartupMessage {
  #page: string | undefined
  #pages: Contributions<PageAddresses>
  #documents: DocumentStore
  #users: Users
  #accounts: AccountAdministration
  #installation: Installation
  #access: ReadAccess
  #log: Log

  constructor(
    { setUpPage }: Pick<Settings, 'setUpPage'>,
    pages: Contributions<PageAddresses>,
    documents: DocumentStore,
    users: Users,
    accounts: AccountAdministration,
    installation: Installation,
    access: ReadAccess,
    log: Log,
  ) {
    this.#page = setUpPage
    this.#pages = pages
    this.#documents = documents
    this.#users = users
    this.#accounts = accounts
    this.#installation = installation
    this.#access = access
    this.#log = log
  }

  /**
   * Creates the configured admin if there is none, and promotes accounts named in the configuration; a server without accounts is private
   * until its first admin has chosen. Idempotent.
   */
  async start(): Promise<void> {
    for (const { email, password } of this.#installation.admins) {
      const user = await this.#users.byEmail(email)
      // An account that is being erased stays locked.
      if (user?.erasure) continue
      // An address in the configuration is trusted only if this server has verified that it belongs to the account.
      if (user && user.status !== 'Admin' && (user.isEmailUnverified || user.provider !== 'userpass'))
        this.#log.warn('The account of a configured admin is from another provider; promote it with pounce user promote', {
          user: user.id,
        })
      else if (user && user.status !== 'Admin') await this.#accounts.setStatus(user.id, 'Admin')
      else if (!user && password !== undefined && !(await this.#accounts.hasAdmin())) await this.#make(email, password)
    }
    if (!(await this.#hasAccounts())) await this.#access.ask()
  }

  /** Path of the page that the link leads to. */
  get page(): string {
    return pathOfPage(this.#pages, 'setUp', this.#page, '/setup')
  }

  /** Creates a new link at each start without an admin, which invalidates the previous one. */
  async lines(): Promise<readonly string[]> {
    if (!this.#installation.roles.has('http') || (await this.#accounts.hasAdmin())) return []
    const token = newToken()
    await this.#keep(sha256(token))
    return [
      'This server has no administrator yet. Create the first account here (the link works once):',
      `  ${this.#installation.baseUrl}${this.page}?token=${token}`,
    ]
  }

  /**
   * Creates the first admin for the holder of the token, once, and stores whether reading requires sign-in, if given. Throws `Forbidden`
   * with a wrong or used token, or when there is an admin; `Invalid` for a choice that the configuration has made.
   */
  async claim(
    token: string,
    account: { readonly email: string; readonly password: string; readonly firstName: string; readonly lastName: string },
    isPrivate?: boolean,
  ): Promise<UserRecord & Stored> {
    if (!(await this.isOpen(token)))
      throw new Forbidden(
        'This setup link is no longer valid: use the one of the server that started last, or restart a server for a new one',
      )
    if (isPrivate !== undefined && this.#access.origin === 'configuration' && isPrivate !== this.#access.isPrivate)
      throw new Invalid('access.private is set in the configuration, which overrides any other choice')
    const email = checkedEmail(account.email)
    if (await this.#users.byEmail(email)) throw new Taken('byEmail', `An account for ${email} already exists`)
    const value = sha256(token)
    await this.#take(value)
    try {
      const admin = await this.#users.create({ ...account, email, status: 'Admin' })
      this.#log.info('First server admin created', { user: admin.id })
      if (isPrivate !== undefined && this.#access.origin !== 'configuration') await this.#access.choose(isPrivate)
      return admin
    } catch (error) {
      await this.#keep(value)
      throw error
    }
  }

  /** True for the token of the last printed link, while there is no admin. */
  async isOpen(token: string): Promise<boolean> {
    const setting = await this.#documents.get(settings, id)
    return setting !== undefined && isSameDigest(setting.value, sha256(token)) && !(await this.#accounts.hasAdmin())
  }

  async #hasAccounts(): Promise<boolean> {
    return (await this.#documents.find(accounts, { using: 'byCreated', limit: 1 })).items.length > 0
  }

  async #make(email: string, password: string): Promise<void> {
    try {
      await this.#users.create({ email, password, firstName: 'Server', lastName: 'Admin', status: 'Admin' })
    } catch (error) {
      // Another kernel of the same installation was faster.
      if (!(error instanceof Taken)) throw error
    }
  }

  /** Of two concurrent requests only one can delete the token. */
  async #take(value: string): Promise<void> {
    try {
      await this.#documents.commit({ tombstone: id, in: settings, where: eq('value', value) })
    } catch (error) {
      throw error instanceof CommitConflict ? new Forbidden('This setup link was already used', { cause: error }) : error
    }
  }

  async #keep(value: string): Promise<void> {
    try {
      await this.#documents.commit({ insert: { id, value }, into: settings })
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'exists')) throw error
      await this.#documents.commit({ update: id, in: settings, set: { value } })
    }
  }
}
wire(FirstAdmin, configPort(config), KnownPages, DocumentStore, Users, AccountAdministration, Installation, ReadAccess, Log)
