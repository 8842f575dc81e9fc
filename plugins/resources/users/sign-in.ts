import { createHmac, randomBytes } from 'node:crypto'
import {
  type AuthProvider,
  AuthProviders,
  type Contributions,
  NotSignedIn,
  port,
  type Stored,
  type UserRecord,
  Users,
  type VerifiedIdentity,
  wire,
} from 'pounce/sdk'
import { plainEmail } from './email.ts'
import { Doors, type Throttle } from './throttle.ts'

type User = UserRecord & Stored
const rememberMs = 30_000
const maxRemembered = 1000

interface Remembered {
  readonly userId: string
  readonly passwordHash: string | null
  readonly until: number
}

/** Turns what a sign-in method vouches for into an account. */
export class AccountSignIn {
  #providers: Contributions<AuthProvider>
  #users: Users
  #throttle: Throttle
  /** Keys the table of verified passwords, so that it holds nothing that could be tried out elsewhere. */
  #pepper = randomBytes(32)
  #remembered = new Map<string, Remembered>()
  #running = new Map<string, Promise<User | undefined>>()

  constructor(providers: Contributions<AuthProvider>, users: Users, throttle: Throttle) {
    this.#providers = providers
    this.#users = users
    this.#throttle = throttle
  }

  /** The account that an e-mail and a password open at any provider; `NotSignedIn` when there is none, `TooMany` after too many tries. */
  async withPassword(email: string, password: string, address: string): Promise<User> {
    return usable(await this.#verify(this.#providers.all(), email, password, address))
  }

  /** The same for local accounts on every request of a program: a password that was right is not hashed again for 30 s. */
  async withBasic(email: string, password: string, address: string): Promise<User> {
    const name = this.#nameOf(email, password)
    const known = this.#remembered.get(name)
    if (known && known.until > performance.now()) {
      const user = await this.#users.get(known.userId)
      if (user && user.email === plainEmail(email) && user.passwordHash === known.passwordHash) return usable(user)
    }
    this.#remembered.delete(name)
    const local = this.#providers.all().filter(provider => provider.id === 'userpass')
    // Programs start many requests at once: all of one password wait for one verification, and count as one try.
    const running = this.#running.get(name) ?? this.#verify(local, email, password, address).finally(() => this.#running.delete(name))
    this.#running.set(name, running)
    const user = await running
    if (user) this.#remember(name, user)
    return usable(user)
  }

  /** The account of a token that a provider vouches for. */
  async withBearer(token: string): Promise<User | undefined> {
    for (const provider of this.#providers.all()) {
      const identity = await provider.bearer?.(token)
      const user = identity && (await this.#accountOf(identity))
      if (user) return usable(user)
    }
    return undefined
  }

  async #verify(providers: readonly AuthProvider[], email: string, password: string, address: string): Promise<User | undefined> {
    const account = plainEmail(email)
    await this.#throttle.tryPassword(account, address)
    for (const provider of providers) {
      const identity = await provider.password?.(account, password)
      const user = identity && (await this.#accountOf(identity))
      if (!user) continue
      await this.#throttle.forgive(account, address)
      return user
    }
    return undefined
  }

  /** An account belongs to its provider; another one may open it only with an e-mail that it has checked. */
  async #accountOf(identity: VerifiedIdentity): Promise<User | undefined> {
    const user = await this.#users.byEmail(identity.email)
    return user && (user.provider === identity.provider || identity.isEmailVerified) ? user : undefined
  }

  #nameOf(email: string, password: string): string {
    return createHmac('sha256', this.#pepper)
      .update(JSON.stringify([plainEmail(email), password]))
      .digest('base64')
  }

  #remember(name: string, user: User): void {
    const [oldest] = this.#remembered.keys()
    if (this.#remembered.size >= maxRemembered && oldest !== undefined) this.#remembered.delete(oldest)
    this.#remembered.set(name, { userId: user.id, passwordHash: user.passwordHash, until: performance.now() + rememberMs })
  }
}
wire(AccountSignIn, AuthProviders, Users, Doors)

/** Inside this plugin: signing in. */
export const SignIn = port<AccountSignIn>('users.signIn')

/** An account that may be used; else the refusal. */
export const usable = (user: User | undefined): User => {
  if (!user) throw new NotSignedIn('The e-mail address or the password is wrong')
  if (user.status === 'Inactive') throw new NotSignedIn('Account is not activated')
  return user
}
