import {
  type AuthProvider,
  AuthProviders,
  Clock,
  CommitConflict,
  type Contributions,
  configPort,
  DocumentStore,
  eq,
  event,
  Forbidden,
  Ids,
  Installation,
  KnownPages,
  Log,
  range,
  type Stored,
  type StoredEvent,
  type UserRecord,
  Users,
  type VerifiedIdentity,
  wire,
} from 'pounce/sdk'
import { type PageAddresses, pathOfPage, removeFound } from 'pounce/sdk/kit'
import { AccountMail } from '../accounts/account-notifications.ts'
import { type IdentityLinkRecord, identityLinks, users } from '../collections.ts'
import { config, type Settings } from '../config.ts'
import { isSameDigest, newToken, sha256 } from '../keys/installation-secret.ts'
import { LoginThrottle } from './login-throttle.ts'
import { stampOf } from './stored-sessions.ts'

type User = UserRecord & Stored

type PendingLink = IdentityLinkRecord & Stored

type Rules = Pick<Settings, 'linksByEmail' | 'linkPage'>

const lastsMs = 24 * 3_600_000

const idLength = 24

/** The name of a provider as shown at its sign-in button. */
const labelOf = (providers: Contributions<AuthProvider>, id: string): string =>
  providers
    .all()
    .flatMap(provider => [provider, ...(provider.sites ?? [])])
    .find(one => one.id === id)?.label ?? id

/** An identity of a provider as stored in an account. */
export const identityName = ({ provider, subject }: Pick<VerifiedIdentity, 'provider' | 'subject'>): string => `${provider} ${subject}`

/**
 * Identities of other providers that may be linked to an account once its owner has confirmed it by email: an address asserted by a
 * provider is no proof. Accounts of server admins are never linked this way.
 */
export class IdentityLinks {
  readonly #rules: Rules
  readonly #pages: Contributions<PageAddresses>
  readonly #documents: DocumentStore
  readonly #users: Users
  readonly #providers: Contributions<AuthProvider>
  readonly #post: AccountMail
  readonly #throttle: LoginThrottle
  readonly #ids: Ids
  readonly #clock: Clock
  readonly #installation: Installation
  readonly #log: Log

  constructor(
    rules: Rules,
    pages: Contributions<PageAddresses>,
    documents: DocumentStore,
    stored: Users,
    providers: Contributions<AuthProvider>,
    post: AccountMail,
    throttle: LoginThrottle,
    ids: Ids,
    clock: Clock,
    installation: Installation,
    log: Log,
  ) {
    this.#rules = rules
    this.#pages = pages
    this.#documents = documents
    this.#users = stored
    this.#providers = providers
    this.#post = post
    this.#throttle = throttle
    this.#ids = ids
    this.#clock = clock
    this.#installation = installation
    this.#log = log
  }

  /** Sends the owner of an account an email, at most once a day, to confirm the link to an identity. */
  async request(user: User, { provider, subject, isEmailVerified }: VerifiedIdentity): Promise<void> {
    const identity = identityName({ provider, subject })
    if (!isEmailVerified || !this.#mayLink(user, provider)) {
      this.#log.warn('Identity not linked to the account with the same email address', { user: user.id, provider })
      return
    }
    const where = eq('account', user.id)
    const { items } = await this.#documents.find(identityLinks, { using: 'byAccount', where, limit: 100 })
    if (items.some(link => !this.#isOver(link) && link.stamp === stampOf(user))) return
    const now = this.#clock.now()
    const [id, expires] = [this.#ids.next(), new Date(now.getTime() + lastsMs).toISOString()]
    const link: IdentityLinkRecord = { account: user.id, provider, identity, stamp: stampOf(user), secrets: [], expires }
    const requested = event('user.link-requested', { kind: 'user', id: user.id }, { provider, link: id })
    await this.#documents.commit({ insert: { id, ...link }, into: identityLinks }, [requested])
  }

  /** Sends the email. A token is generated for each attempt, and is not stored. */
  async handle({ data: { link: id } }: StoredEvent<'user.link-requested'>): Promise<void> {
    const link = await this.#documents.get(identityLinks, id)
    const user = link && (await this.#users.get(link.account))
    if (!link || !user || this.#isOver(link)) return
    const secret = newToken()
    const page = pathOfPage(this.#pages, 'link', this.#rules.linkPage, '/api/login/link')
    await this.#documents.commit({ update: id, in: identityLinks, push: { secrets: { values: [sha256(secret)] } } })
    await this.#post.send([user], 'Connect a sign-in to your account?', [
      `Someone signed in with ${labelOf(this.#providers, link.provider)} using your email address. If this was you, link this identity to your account:`,
      `${this.#installation.baseUrl}${page}?token=${id}${secret}`,
      'The link works once, for 24 hours. If this was not you, do not use it: it would give that person access to your account.',
    ])
  }

  /** The link of a token; throws `Forbidden` for a wrong, used or old one. */
  async open(token: string, address: string): Promise<{ readonly link: PendingLink; readonly user: User; readonly label: string }> {
    const link = await this.#documents.get(identityLinks, token.slice(0, idLength))
    const secret = sha256(token.slice(idLength))
    const isRight = link?.secrets.some(each => isSameDigest(each, secret)) === true && !this.#isOver(link)
    const user = isRight ? await this.#users.get(link.account) : undefined
    if (link && user && isSameDigest(link.stamp, stampOf(user)) && this.#mayLink(user, link.provider))
      return { link, user, label: labelOf(this.#providers, link.provider) }
    await this.#throttle.wrongKey(address, token)
    throw new Forbidden('This link is no longer valid; sign in again for a new one')
  }

  /** Links the identity to the account. */
  async confirm(token: string, address: string): Promise<void> {
    const { link, user } = await this.open(token, address)
    const holders = await this.#documents.find(users, { using: 'byIdentity', where: eq('identities', link.identity), limit: 1 })
    if (holders.items.some(({ id }) => id !== user.id)) throw new Forbidden('This identity is already linked to another account')
    try {
      await this.#documents.commit({ tombstone: link.id, in: identityLinks })
      const linked = event('user.linked', { kind: 'user', id: user.id }, { provider: link.provider }, user.id)
      const where = eq('revision', user.revision)
      await this.#documents.commit({ update: user.id, in: users, where, addToSet: { identities: [link.identity] } }, [linked])
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
      throw new Forbidden('This link was used or the account was changed; sign in again for a new one', { cause: error })
    }
  }

  /** Deletes expired links. */
  async sweep(signal: AbortSignal): Promise<void> {
    const where = range('expires', { lte: this.#clock.now().toISOString() })
    await removeFound(this.#documents, identityLinks, { using: 'byExpiry', where, signal })
  }

  #mayLink(user: User, provider: string): boolean {
    const isOfAnother = user.identities?.some(known => known.startsWith(`${provider} `)) ?? false
    return this.#rules.linksByEmail && user.status !== 'Admin' && !user.isEmailUnverified && !isOfAnother
  }

  #isOver({ expires }: IdentityLinkRecord): boolean {
    return this.#clock.now().toISOString() >= expires
  }
}
wire(
  IdentityLinks,
  configPort(config),
  KnownPages,
  DocumentStore,
  Users,
  AuthProviders,
  AccountMail,
  LoginThrottle,
  Ids,
  Clock,
  Installation,
  Log,
)

/** Notifies users of a new way to sign in to their account, so that they detect one that they did not add. */
export class NotifyIdentityLinked {
  readonly #users: Users
  readonly #providers: Contributions<AuthProvider>
  readonly #post: AccountMail

  constructor(users: Users, providers: Contributions<AuthProvider>, post: AccountMail) {
    this.#users = users
    this.#providers = providers
    this.#post = post
  }

  async handle({ subject, data: { provider } }: StoredEvent<'user.linked'>): Promise<void> {
    const user = await this.#users.get(subject.id)
    if (!user) return
    await this.#post.send([user], 'New sign-in method for your account', [
      `Someone signed in with ${labelOf(this.#providers, provider)} using your email address. This identity is now linked to your account.`,
      'If this was not you, contact the operators of the server immediately.',
    ])
  }
}
wire(NotifyIdentityLinked, Users, AuthProviders, AccountMail)
