import { Clock, TooMany, wire } from 'pounce/sdk'
import { SecretEncryption } from '../keys/secret-encryption.ts'
import { LoginThrottle } from '../sign-in/login-throttle.ts'

const lastsMs = 5 * 60_000
const enrolmentLastsMs = 10 * 60_000
const ivBytes = 12

export type ChallengePurpose = 'sign-in' | 'passkey sign-in' | 'step-up' | 'totp enrolment' | 'passkey enrolment'

/** What a token carries, encrypted. */
export interface Challenge {
  /** The account; absent where nobody knows yet who signs in. */
  readonly user?: string
  /** Fits the password of then: another one ends the challenge. */
  readonly stamp?: string
  /** What an authenticator has to sign. */
  readonly webauthn?: string
  /** The TOTP secret that waits for its first code. */
  readonly secret?: string
}
type Issued = Challenge & { readonly until: number }

/** Short-lived tokens that tie the second step of signing in, or of an enrolment, to the first. Nothing is stored until one is used. */
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

  /** Undefined for one that is over, of another purpose or not from here. */
  async open(purpose: ChallengePurpose, token: string): Promise<Challenge | undefined> {
    const text = await this.#seals.open(purpose, '', token)
    if (text === undefined) return undefined
    const issued = JSON.parse(text) as Issued
    return issued.until > this.#clock.now().getTime() ? issued : undefined
  }

  /** True for the first of all who finish the same challenge, on whichever kernel. */
  async use(token: string): Promise<boolean> {
    try {
      // Named by its bytes, for Base64 has several spellings. The mark is kept for fifteen minutes and so outlives the challenge.
      await this.#throttle.take('challenge', Buffer.from(token, 'base64url').toString('hex', 0, ivBytes), 1)
    } catch (error) {
      if (!(error instanceof TooMany)) throw error
      return false
    }
    return true
  }
}
wire(Challenges, SecretEncryption, LoginThrottle, Clock)
