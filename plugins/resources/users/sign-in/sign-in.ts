import { createHmac, randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import {
  type AuthProvider,
  AuthProviders,
  Clock,
  type Contributions,
  event,
  type Groups,
  Installation,
  KnownGroups,
  NotFound,
  NotSignedIn,
  type Request,
  SecretEncryption,
  type Stored,
  TooMany,
  Unavailable,
  type UserRecord,
  Users,
  type VerifiedIdentity,
  WrongCredentials,
  wire,
} from 'pounce/sdk'
import { cookieIn, cookieName, plainEmail, type SignInSite, setCookie } from 'pounce/sdk/kit'
import { ApiKeys } from '../keys/api-keys.ts'

import { IdentityLinks, identityName } from './identity-links.ts'
import { LoginAttempts, LoginThrottle } from './login-throttle.ts'
import { OutsideAccounts } from './outside-accounts.ts'
import { StoredSessions } from './stored-sessions.ts'

type User = UserRecord & Stored

const rememberMs = 30_000

const maxCachedPasswords = 1000

/** Maximum number of waiting sign-ins; further ones get 503. */
const maxVerifying = 40

interface CachedPassword {
  readonly userId: string
  readonly passwordHash: string | null
  readonly until: number
}

/** Finds or creates the account for an authenticated identity. */
export class AccountSignIn {
  #providers: Contributions<AuthProvider>
  #groups: Contributions<Groups>
  #users: Users
  #outside: OutsideAccounts
  #throttle: LoginThrottle
  #clock: Clock
  /** Keys the cache of verified passwords, so that its entries cannot be attacked offline. */
  #pepper = randomBytes(32)
  #cachedPasswords = new Map<string, CachedPassword>()
  #verifying = 0
  #running = new Map<string, Promise<User | undefined>>()

  constructor(
    providers: Contributions<AuthProvider>,
    groups: Contributions<Groups>,
    users: Users,
    outside: OutsideAccounts,
    throttle: LoginThrottle,
    clock: Clock,
  ) {
    this.#providers = providers
    this.#groups = groups
    this.#users = users
    this.#outside = outside
    this.#throttle = throttle
    this.#clock = clock
  }

  /** All providers for sign-in with a password. */
  passwordProviders(): readonly AuthProvider[] {
    return this.#providers.all().filter(({ password }) => password !== undefined)
  }

  /** All sites to which a browser can be redirected, including a reverse proxy in front of the server. */
  sites(): readonly SignInSite[] {
    return this.#providers.all().flatMap(provider => [...(provider.sites ?? []), ...(provider.request ? [atProxy(provider)] : [])])
  }

  /** The site with an id; throws `NotFound` when there is none. */
  site(id: string): SignInSite {
    const site = this.sites().find(one => one.id === id)
    if (!site) throw new NotFound('sign-in provider')
    return site
  }

  /**
   * The account after a redirect from a provider, for the browser with the state cookie, which is valid once. Throws `NotSignedIn` when the
   * site returns no identity, or there is no usable account; each failure is counted.
   */
  async withReturn(site: SignInSite, at: URL, note: { readonly kept: string; readonly name: string }, by: Sender) {
    try {
      const provider = this.#providers.all().find(({ id, request }) => id === site.id && request !== undefined)
      const identity = provider ? await namedOn(provider, by) : await site.returned(at, note.kept)
      if (!identity) throw new NotSignedIn(`${site.label} did not return your identity; sign in again`)
      await this.#useUp(note.name)
      const user = await this.#arrived(identity)
      if (!user) throw new NotSignedIn(`${site.label} returned no verified email address, so no account was created`)
      return { user, ...(provider ? { identity: identityName(identity) } : {}) }
    } catch (error) {
      if (error instanceof NotSignedIn) await this.#throttle.wrongKey(by.address)
      throw error
    }
  }

  /** The identity in the headers of a listed proxy; undefined without one. Invalid headers are counted. */
  async namedByProxy(headers: IncomingHttpHeaders, address: string): Promise<VerifiedIdentity | undefined> {
    for (const provider of this.#providers.all()) {
      try {
        const identity = await provider.request?.(headers, address)
        if (identity) return identity
      } catch (error) {
        if (error instanceof WrongCredentials) await this.#throttle.wrongKey(address)
        throw error
      }
    }
    return undefined
  }

  async #useUp(note: string): Promise<void> {
    try {
      await this.#throttle.take('sign-in note', note, 1)
    } catch (error) {
      throw error instanceof TooMany ? new NotSignedIn('This sign-in has expired; sign in again', { cause: error }) : error
    }
  }

  /** Records a sign-in. */
  async note(user: User, address: string): Promise<User> {
    const lastLogin = this.#clock.now().toISOString()
    const signedInEvent = event('user.signed-in', { kind: 'user', id: user.id }, { address }, user.id)
    return this.#users.change(user.id, { set: { lastLogin } }, [signedInEvent])
  }

  /**
   * The account for an email address and password at any provider; throws `NotSignedIn` when there is none, `TooMany` after too many
   * attempts.
   */
  async withPassword(email: string, password: string, address: string): Promise<User> {
    return usable(await this.#verify(this.#providers.all(), email, password, address))
  }

  /** The same for local accounts on every request of a program: a correct password is cached for 30 s. */
  async withBasic(email: string, password: string, address: string): Promise<User> {
    const name = this.#nameOf(email, password)
    const known = this.#cachedPasswords.get(name)
    if (known && known.until > performance.now()) {
      const user = await this.#users.get(known.userId)
      if (user && user.email === plainEmail(email) && user.passwordHash === known.passwordHash) return usable(user)
    }
    this.#cachedPasswords.delete(name)
    const local = this.#providers.all().filter(provider => provider.id === 'userpass')
    // Programs start many concurrent requests: all with one password wait for one verification, and count as one attempt.
    const turn = `${name} ${address}`
    const running = this.#running.get(turn) ?? this.#verify(local, email, password, address).finally(() => this.#running.delete(turn))
    this.#running.set(turn, running)
    const user = await running
    if (user) this.#remember(name, user)
    return usable(user)
  }

  /** The account for a bearer token of a provider. The error of one that fails is thrown only if no other accepts the token. */
  async withBearer(token: string): Promise<User | undefined> {
    const failures: unknown[] = []
    for (const provider of this.#providers.all()) {
      let identity: VerifiedIdentity | undefined
      try {
        identity = await provider.bearer?.(token)
      } catch (error) {
        failures.push(error)
      }
      const user = identity && (await this.withIdentity(identity))
      if (user) return user
    }
    if (failures.length > 0) throw failures[0]
    return undefined
  }

  /** The account for an identity authenticated on this request only; undefined when the provider returns no usable address. */
  async withIdentity(identity: VerifiedIdentity): Promise<User | undefined> {
    const user = await this.#accountOf(identity)
    return user && usable(user)
  }

  async #verify(providers: readonly AuthProvider[], email: string, password: string, address: string): Promise<User | undefined> {
    // Checked before anything is read or written: refusing a request must cost almost nothing.
    if (this.#verifying >= maxVerifying) throw new Unavailable('Too many concurrent sign-ins', { retryAfterSeconds: 2 })
    this.#verifying += 1
    try {
      const account = plainEmail(email)
      const failures: unknown[] = []
      const verify = (withoutLocal: boolean) => this.#vouchedFor(providers, account, password, { failures, withoutLocal })
      const user = await this.#throttle.tryPassword(account, address, verify, {
        isAll: found => found.secondFactor === undefined,
        isComplete: () => failures.length === 0,
      })
      if (!user && failures.length > 0) throw failures[0]
      return user
    } finally {
      this.#verifying -= 1
    }
  }

  /**
   * Asks every provider, as one that is unavailable says nothing about the others. Its error is added to `failures`, and thrown only if no provider
   * has rejected the password: a rejected one has to be counted, because the response to the correct one differs. Without local accounts, these count
   * as having rejected it.
   */
  async #vouchedFor(
    providers: readonly AuthProvider[],
    account: string,
    password: string,
    { failures, withoutLocal }: { readonly failures: unknown[]; readonly withoutLocal: boolean },
  ): Promise<User | undefined> {
    let isRejected = withoutLocal
    for (const provider of providers) {
      if (!provider.password || (withoutLocal && provider.id === 'userpass')) continue
      let identity: VerifiedIdentity | undefined
      try {
        identity = await provider.password(account, password)
      } catch (error) {
        failures.push(error)
        continue
      }
      const user = identity && (await this.#arrived(identity))
      if (user) return user
      isRejected = true
    }
    if (failures.length > 0 && !isRejected) throw failures[0]
    return undefined
  }

  /** A sign-in with an identity of a provider, whose data are current from then on. */
  async #arrived(identity: VerifiedIdentity): Promise<User | undefined> {
    const account = await this.#accountOf(identity)
    if (!account) return undefined
    const user = await this.#outside.followed(usable(account), identity)
    if (identity.groups && identity.provider !== 'userpass')
      await this.#groups.all()[0]?.assignExternal(user.id, identity.provider, identity.groups)
    return user
  }

  /** Local accounts belong to this server, and no other provider authenticates them. */
  async #accountOf(identity: VerifiedIdentity): Promise<User | undefined> {
    if (identity.provider !== 'userpass') return this.#outside.of(identity)
    const user = await this.#users.byEmail(identity.subject)
    return user?.provider === 'userpass' ? user : undefined
  }

  #nameOf(email: string, password: string): string {
    return createHmac('sha256', this.#pepper)
      .update(JSON.stringify([plainEmail(email), password]))
      .digest('base64')
  }

  #remember(name: string, user: User): void {
    const [oldest] = this.#cachedPasswords.keys()
    if (this.#cachedPasswords.size >= maxCachedPasswords && oldest !== undefined) this.#cachedPasswords.delete(oldest)
    this.#cachedPasswords.set(name, { userId: user.id, passwordHash: user.passwordHash, until: performance.now() + rememberMs })
  }
}
wire(AccountSignIn, AuthProviders, KnownGroups, Users, OutsideAccounts, LoginThrottle, Clock)

/** The parts of a request that identify the caller. */
type Sender = Pick<Request<undefined, undefined, undefined>, 'headers' | 'address' | 'isProxied'>

/** A user identified by the headers of a proxy is known when the browser sends the request. */
const atProxy = ({ id, label = id }: AuthProvider): SignInSite => ({
  id,
  label,
  redirect: async callback => ({ url: callback, kept: '' }),
  returned: async () => undefined,
})

const namedOn = async (provider: AuthProvider, { headers, address, isProxied }: Sender): Promise<VerifiedIdentity | undefined> => {
  if (!isProxied) throw new NotSignedIn('This request came through no proxy that http.trustedProxies lists: open the address of the proxy')
  return provider.request?.(headers, address)
}

/** The account if it may be used; otherwise throws the refusal. */
export const usable = (user: User | undefined): User => {
  if (!user) throw new WrongCredentials('Wrong email address or password')
  if (user.status === 'Inactive') throw new NotSignedIn('Account is not activated')
  return user
}

/** If the account is known, only the password can be wrong. */
export const ofPassword = (error: unknown): never => {
  throw error instanceof WrongCredentials ? new WrongCredentials('Wrong password') : error
}

const noteCookie = 'pounce_sign_in'

const lastsMs = 10 * 60_000

const purpose = 'notes of browsers that sign in elsewhere'

const nameLength = 24

/** The state of a sign-in at a provider, stored in a cookie. */
interface SignInNote {
  readonly site: string
  /** Data that the site expects back. */
  readonly kept: string
  readonly returnTo: string
}

interface Sealed extends SignInNote {
  readonly until: number
}

/**
 * State stored in encrypted cookies, so that no client can read, change or create one, and any kernel can decrypt those of another. A
 * browser without the cookie for a site's response is not the one that was redirected there.
 */
export class SealedCookies {
  readonly #seals: SecretEncryption
  readonly #clock: Clock
  readonly #installation: Installation

  constructor(seals: SecretEncryption, clock: Clock, installation: Installation) {
    this.#seals = seals
    this.#clock = clock
    this.#installation = installation
  }

  /** The value of the `Set-Cookie` header with the state, valid for ten minutes. */
  async cookie(note: SignInNote): Promise<string> {
    const sealed: Sealed = { ...note, until: this.#clock.now().getTime() + lastsMs }
    const text = await this.#seals.seal(purpose, '', JSON.stringify(sealed))
    return setCookie(noteCookie, text, { maxAgeSeconds: lastsMs / 1000, baseUrl: this.#installation.baseUrl })
  }

  /** The state in a `Cookie` header, with an id; undefined if missing, forged or expired. */
  async noteIn(cookies: string | undefined): Promise<(SignInNote & { readonly name: string }) | undefined> {
    const sealed = cookieIn(cookies, cookieName(noteCookie, this.#installation.baseUrl))
    const text = sealed === undefined ? undefined : await this.#seals.open(purpose, '', sealed)
    if (sealed === undefined || text === undefined) return undefined
    const note = JSON.parse(text) as Sealed
    return note.until > this.#clock.now().getTime() ? { ...note, name: sealed.slice(0, nameLength) } : undefined
  }
}
wire(SealedCookies, SecretEncryption, Clock, Installation)

/** Periodically deletes expired sessions, attempt counts, keys and pending links. */
export class SweepSessions {
  #sessions: StoredSessions
  #tries: LoginAttempts
  #keys: ApiKeys
  #links: IdentityLinks

  constructor(sessions: StoredSessions, tries: LoginAttempts, keys: ApiKeys, links: IdentityLinks) {
    this.#sessions = sessions
    this.#tries = tries
    this.#keys = keys
    this.#links = links
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#sessions.sweep(signal)
    await this.#tries.sweep(signal)
    await this.#keys.sweep(signal)
    await this.#links.sweep(signal)
  }
}
wire(SweepSessions, StoredSessions, LoginAttempts, ApiKeys, IdentityLinks)
