import { randomBytes } from 'node:crypto'
import type { TOTP } from 'otpauth'
import {
  Clock,
  CommitConflict,
  Conflict,
  eq,
  event,
  Invalid,
  type NewEvent,
  NotFound,
  SecretEncryption,
  type Stored,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import type { PasskeyRecord, SecondFactorChange, SecondFactorRecord } from 'pounce/sdk/kit'
import type { SignInMethod } from '../collections.ts'
import { isSameDigest, sha256 } from '../keys/installation-secret.ts'
import { type Assertion, Passkeys } from './passkeys.ts'

const periodSeconds = 30

/** RFC 6238, 5.2: one step of clock drift and delay in either direction. */
const driftSteps = 1

// Loaded on first use: most installations do not need it.
const totpOf = async (secret: string | undefined, issuer = '', label = ''): Promise<TOTP> => {
  const { Secret, TOTP: Totp } = await import('otpauth')
  // RFC 4226, 4: 160 bits. SHA-1 and six digits are supported by every authenticator app.
  const key = secret === undefined ? new Secret({ size: 20 }) : Secret.fromBase32(secret)
  return new Totp({ issuer, label, secret: key, algorithm: 'SHA1', digits: 6, period: periodSeconds })
}

/** A new secret in base32, and the URI that authenticator apps read from a QR code. */
export const newTotp = async (issuer: string, label: string): Promise<{ readonly secret: string; readonly uri: string }> => {
  const totp = await totpOf(undefined, issuer, label)
  return { secret: totp.secret.base32, uri: totp.toString() }
}

/** The time step of a code: the current one, or one step before or after; undefined for a wrong code. */
export const stepOf = async (secret: string, code: string, now: Date): Promise<number | undefined> => {
  const totp = await totpOf(secret)
  const drift = totp.validate({ token: code.replaceAll(' ', ''), timestamp: now.getTime(), window: driftSteps })
  return drift === null ? undefined : Math.floor(now.getTime() / 1000 / periodSeconds) + drift
}

const count = 10

/** Crockford's base32: no letter that can be mistaken for a digit. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** 80 random bits each, so that a plain digest is sufficient. */
const newCode = (): string =>
  [...randomBytes(16)]
    .map(byte => alphabet[byte % 32])
    .join('')
    .replace(/^(.{4})(.{4})(.{4})(.{4})$/, '$1-$2-$3-$4')

const digestOf = (user: string, code: string): string =>
  sha256(`recovery code\n${user}\n${code.toLowerCase().replaceAll(/[^0-9a-z]/g, '')}`)

/** Ten codes to show once, and their digests to store. */
export const newRecoveryCodes = (user: string): { readonly codes: readonly string[]; readonly digests: readonly string[] } => {
  const codes = Array.from({ length: count }, newCode)
  return { codes, digests: codes.map(code => digestOf(user, code)) }
}

/** The remaining digests after a code is used; undefined for a wrong one. Ignores case and dashes. */
const withoutCode = (user: string, digests: readonly string[], code: string): readonly string[] | undefined => {
  const digest = digestOf(user, code)
  const left = digests.filter(each => !isSameDigest(each, digest))
  return left.length < digests.length ? left : undefined
}

type User = UserRecord & Stored

const purpose = 'TOTP secret'

/** Each lost race means that another change of the account won. */
const maxRaces = 20

/** The factors of an account that has none. */
export const none: SecondFactorRecord = { totp: null, passkeys: [], recoveryCodes: [] }

/** A proof of a second factor: one of these members. */
export interface Proof {
  readonly code?: string
  readonly recoveryCode?: string
  readonly passkey?: Assertion
}

interface Accepted {
  readonly method: SignInMethod
  /** The factors after the proof is spent. */
  readonly left: SecondFactorRecord
  readonly events: readonly NewEvent[]
}

/** A change of an account's factors: for the audit log and the email to the owner. */
export const factorsChanged = (user: string, change: SecondFactorChange, actor?: string, recoveryCodesLeft?: number): NewEvent =>
  event(
    'user.second-factor-changed',
    { kind: 'user', id: user },
    { change, ...(recoveryCodesLeft === undefined ? {} : { recoveryCodesLeft }) },
    actor,
  )

/** Verifies second factors. An accepted proof is spent and cannot be replayed, on any kernel. */
export class SecondFactors {
  readonly #users: Users
  readonly #passkeys: Passkeys
  readonly #seals: SecretEncryption
  readonly #clock: Clock

  constructor(users: Users, passkeys: Passkeys, seals: SecretEncryption, clock: Clock) {
    this.#users = users
    this.#passkeys = passkeys
    this.#seals = seals
    this.#clock = clock
  }

  /** Throws `Invalid` unless exactly one of the three proofs is present. */
  requireOne(proof: Proof): void {
    if ([proof.code, proof.recoveryCode, proof.passkey].filter(each => each !== undefined).length !== 1)
      throw new Invalid('Send one of code, recoveryCode and passkey')
  }

  /** Undefined for a wrong or used proof; otherwise the account afterwards. `webauthn` is the challenge that a passkey had to sign. */
  async spend(
    user: User,
    proof: Proof,
    webauthn: string | undefined,
  ): Promise<{ readonly user: User; readonly method: SignInMethod } | undefined> {
    let present: User | undefined = user
    for (let race = 0; race < maxRaces; race += 1) {
      const factors = present?.secondFactor
      if (!present || !factors) return undefined
      const accepted: Accepted | undefined = await this.#accepted(present.id, factors, proof, webauthn)
      if (!accepted) return undefined
      const { left, events, method } = accepted
      try {
        const update = { set: { secondFactor: left }, where: eq('revision', present.revision) }
        return { user: await this.#users.change(user.id, update, events), method }
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error
        present = await this.#users.get(user.id)
      }
    }
    throw new CommitConflict('revision', 'Too many concurrent changes of the account; try again')
  }

  seal(user: string, secret: string): Promise<string> {
    return this.#seals.seal(purpose, user, secret)
  }

  async #accepted(user: string, factors: SecondFactorRecord, proof: Proof, webauthn: string | undefined): Promise<Accepted | undefined> {
    if (proof.code !== undefined) return this.#byCode(user, factors, proof.code)
    if (proof.passkey !== undefined && webauthn !== undefined) return this.#byPasskey(factors, proof.passkey, webauthn)
    if (proof.recoveryCode === undefined) return undefined
    const recoveryCodes = withoutCode(user, factors.recoveryCodes, proof.recoveryCode)
    if (!recoveryCodes) return undefined
    const used = factorsChanged(user, 'recovery-code-used', user, recoveryCodes.length)
    return { method: 'recovery-code', left: { ...factors, recoveryCodes }, events: [used] }
  }

  async #byCode(user: string, factors: SecondFactorRecord, code: string): Promise<Accepted | undefined> {
    const { totp } = factors
    const secret = totp ? await this.#seals.open(purpose, user, totp.sealed) : undefined
    if (!totp || secret === undefined) return undefined
    const now = this.#clock.now()
    const step = await stepOf(secret, code, now)
    // RFC 6238, 5.2: a code is accepted once.
    if (step === undefined || step <= totp.lastStep) return undefined
    // Encrypted again each time, so that it uses the current secret of the installation.
    const used = { ...totp, sealed: await this.seal(user, secret), lastStep: step, lastUsed: now.toISOString() }
    return { method: 'totp', left: { ...factors, totp: used }, events: [] }
  }

  async #byPasskey(factors: SecondFactorRecord, assertion: Assertion, webauthn: string): Promise<Accepted | undefined> {
    const known = factors.passkeys.find(({ credential }) => credential === assertion.id)
    const seen = known && (await this.#passkeys.asserted(assertion, webauthn, known))
    if (!seen) return undefined
    const used: PasskeyRecord = { ...known, ...seen, lastUsed: this.#clock.now().toISOString() }
    const passkeys = factors.passkeys.map(each => (each.id === known.id ? used : each))
    return { method: 'passkey', left: { ...factors, passkeys }, events: [] }
  }
}
wire(SecondFactors, Users, Passkeys, SecretEncryption, Clock)

/** Throws `Conflict` for an account that has an app: it must not be replaced silently. */
export const requireNoTotp = ({ secondFactor }: UserRecord): void => {
  if (secondFactor?.totp) throw new Conflict('An authenticator app is already enrolled; remove it first')
}

/** Throws `NotFound` for a passkey that the account does not have. */
export const requirePasskey = ({ passkeys }: SecondFactorRecord, id: string): void => {
  if (!passkeys.some(each => each.id === id)) throw new NotFound('passkey')
}
