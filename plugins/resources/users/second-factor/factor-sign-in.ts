import { Clock, NotSignedIn, SecondFactorRequired, SecretEncryption, type Stored, TooMany, type UserRecord, Users, wire } from 'pounce/sdk'
import type { SignInMethod } from '../collections.ts'
import { isSameDigest } from '../keys/installation-secret.ts'
import { LoginThrottle } from '../sign-in/login-throttle.ts'
import { usable } from '../sign-in/sign-in.ts'
import { stampOf } from '../sign-in/stored-sessions.ts'
import { methodsOf } from './factor-policy.ts'
import { type Assertion, Passkeys } from './passkeys.ts'
import { type Proof, SecondFactors } from './second-factors.ts'

const lastsMs = 5 * 60_000

const enrolmentLastsMs = 10 * 60_000

const ivBytes = 12

export type ChallengePurpose = 'sign-in' | 'passkey sign-in' | 'step-up' | 'totp enrolment' | 'passkey enrolment'

/** The encrypted contents of a token. */
interface Challenge {
  /** The account; absent while it is unknown. */
  readonly user?: string
  /** Matches the password at that time: a new one ends the challenge. */
  readonly stamp?: string
  /** The challenge that an authenticator has to sign. */
  readonly webauthn?: string
  /** The TOTP secret awaiting its first code. */
  readonly secret?: string
}

type Issued = Challenge & { readonly until: number }

/** Short-lived tokens that bind the second step of a sign-in or enrolment to the first. Nothing is stored until one is used. */
export class Challenges {
  readonly #seals: SecretEncryption
  readonly #throttle: LoginThrottle
  readonly #clock: Clock

  constructor(seals: SecretEncryption, throttle: LoginThrottle, clock: Clock) {
    this.#seals = seals
    this.#throttle = throttle
    this.#clock = clock
  }

  issue(purpose: ChallengePurpose, challenge: Challenge): Promise<string> {
    const lasts = purpose.endsWith('enrolment') ? enrolmentLastsMs : lastsMs
    const issued: Issued = { ...challenge, until: this.#clock.now().getTime() + lasts }
    return this.#seals.seal(purpose, '', JSON.stringify(issued))
  }

  /** Undefined for a token that has expired, is for another purpose, or is not from this installation. */
  async open(purpose: ChallengePurpose, token: string): Promise<Challenge | undefined> {
    const text = await this.#seals.open(purpose, '', token)
    if (text === undefined) return undefined
    const issued = JSON.parse(text) as Issued
    return issued.until > this.#clock.now().getTime() ? issued : undefined
  }

  /** True for the first caller that completes the challenge, across all kernels. */
  async use(token: string): Promise<boolean> {
    try {
      // Identified by its bytes, because Base64 has several spellings. The mark is kept for fifteen minutes and so outlives the challenge.
      await this.#throttle.take('challenge', Buffer.from(token, 'base64url').toString('hex', 0, ivBytes), 1)
    } catch (error) {
      if (!(error instanceof TooMany)) throw error
      return false
    }
    return true
  }
}
wire(Challenges, SecretEncryption, LoginThrottle, Clock)

type User = UserRecord & Stored

/** The account that has signed in, and by which methods. */
export interface SignedIn {
  readonly user: User
  readonly methods: readonly SignInMethod[]
}

const wrong = 'The code or passkey is wrong or was already used'

const over = 'The sign-in has expired or the account was changed; start again'

/** The step after the password, and signing in with a passkey alone. */
export class FactorSignIn {
  readonly #users: Users
  readonly #factors: SecondFactors
  readonly #passkeys: Passkeys
  readonly #challenges: Challenges
  readonly #throttle: LoginThrottle

  constructor(users: Users, factors: SecondFactors, passkeys: Passkeys, challenges: Challenges, throttle: LoginThrottle) {
    this.#users = users
    this.#factors = factors
    this.#passkeys = passkeys
    this.#challenges = challenges
    this.#throttle = throttle
  }

  /** The refusal that leads to the second step; undefined for an account without a second factor. */
  async challengeFor(user: User): Promise<SecondFactorRequired | undefined> {
    const { secondFactor } = user
    if (!secondFactor) return undefined
    const publicKey = secondFactor.passkeys.length > 0 ? await this.#passkeys.requestOptions(secondFactor.passkeys) : undefined
    const challenge = await this.#challenges.issue('sign-in', {
      ...{ user: user.id, stamp: stampOf(user) },
      ...(publicKey ? { webauthn: publicKey.challenge } : {}),
    })
    const details = { challenge, methods: methodsOf(user), ...(publicKey ? { publicKey } : {}) }
    return new SecondFactorRequired(
      'Complete the sign-in with POST /api/login/second-factor: send the challenge, and a code or a passkey',
      {
        details,
      },
    )
  }

  /** Completes a sign-in that began with the password. Wrong proofs are throttled like wrong passwords. */
  async finish(token: string, proof: Proof, address: string): Promise<SignedIn> {
    this.#factors.requireOne(proof)
    const challenge = await this.#challenges.open('sign-in', token)
    const user = challenge?.user === undefined ? undefined : await this.#users.get(challenge.user)
    if (!challenge || !user || !isSameDigest(stampOf(user), challenge.stamp ?? '')) return this.#refuse(address, token, over)
    const spent = await this.spend(user, proof, challenge.webauthn, address)
    if (!(await this.#challenges.use(token))) throw new NotSignedIn('This challenge was already used; start again')
    return { user: usable(spent.user), methods: ['password', spent.method] }
  }

  /** WebAuthn request options while the account is unknown. */
  async passkeyOptions() {
    const publicKey = await this.#passkeys.requestOptions()
    return { challenge: await this.#challenges.issue('passkey sign-in', { webauthn: publicKey.challenge }), publicKey }
  }

  /** A discoverable passkey with user verification needs no password. */
  async withPasskey(token: string, passkey: Assertion, address: string): Promise<SignedIn> {
    const challenge = await this.#challenges.open('passkey sign-in', token)
    if (!challenge) return this.#refuse(address, token, over)
    const holder = await this.#holderOf(passkey)
    if (!holder) return this.#refuse(address, passkey.id, wrong)
    const spent = await this.spend(holder, { passkey }, challenge.webauthn, address)
    if (!(await this.#challenges.use(token))) throw new NotSignedIn('This challenge was already used; start again')
    return { user: usable(spent.user), methods: [spent.method] }
  }

  /** Verifies a proof, throttled like passwords; throws `NotSignedIn` for a wrong one. */
  async spend(user: User, proof: Proof, webauthn: string | undefined, address: string): Promise<{ user: User; method: SignInMethod }> {
    const spent = await this.#throttle.tryPassword(user.email, address, () => this.#factors.spend(user, proof, webauthn), {
      isSecondFactor: true,
    })
    if (!spent) throw new NotSignedIn(wrong)
    return spent
  }

  /** The account that an authenticator names. */
  async #holderOf({ id, response }: Assertion): Promise<User | undefined> {
    const named = Buffer.from(response.userHandle ?? '', 'base64url').toString('utf8')
    const user = /^[0-9a-f]{24}$/.test(named) ? await this.#users.get(named) : undefined
    return user?.secondFactor?.passkeys.some(({ credential }) => credential === id) ? user : undefined
  }

  async #refuse(address: string, shown: string, message: string): Promise<never> {
    await this.#throttle.wrongKey(address, shown)
    throw new NotSignedIn(message)
  }
}
wire(FactorSignIn, Users, SecondFactors, Passkeys, Challenges, LoginThrottle)
