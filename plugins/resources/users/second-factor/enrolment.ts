import {
  type Caller,
  Clock,
  CommitConflict,
  Conflict,
  type Contributions,
  eq,
  Forbidden,
  Invalid,
  NotFound,
  type Site,
  Sites,
  type Stored,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { fullNameOf, type PasskeyRecord, type SecondFactorChange, type SecondFactorRecord, siteName } from 'pounce/sdk/kit'
import type { SessionRecord } from '../collections.ts'
import { idOfHash, isSameDigest, sha256 } from '../keys/installation-secret.ts'
import { AccountSignIn, ofPassword } from '../sign-in/sign-in.ts'
import { StoredSessions, stampOf } from '../sign-in/stored-sessions.ts'
import { FactorPolicy } from './factor-policy.ts'
import { type ChallengePurpose, Challenges } from './factor-sign-in.ts'
import { type PasskeyRegistration, Passkeys } from './passkeys.ts'
import { factorsChanged, newRecoveryCodes, newTotp, none, requireNoTotp, requirePasskey, SecondFactors, stepOf } from './second-factors.ts'

type User = UserRecord & Stored
type Session = SessionRecord & Stored
const maxPasskeys = 20
const enrolmentOver = 'This enrolment has expired or is not yours; start again'

/** The owner of an account who changes its factors, and how they have authenticated. */
export interface FactorOwner {
  readonly caller: Caller
  readonly session: Session | undefined
  readonly address: string
  /** The current password, if sent. */
  readonly password?: string | undefined
}

/** Management of second factors by the owners of accounts. */
export class FactorEnrolment {
  readonly #users: Users
  readonly #factors: SecondFactors
  readonly #passkeys: Passkeys
  readonly #challenges: Challenges
  readonly #rules: FactorPolicy
  readonly #signIn: AccountSignIn
  readonly #sessions: StoredSessions
  readonly #sites: Contributions<Site>
  readonly #clock: Clock

  constructor(
    users: Users,
    factors: SecondFactors,
    passkeys: Passkeys,
    challenges: Challenges,
    rules: FactorPolicy,
    signIn: AccountSignIn,
    sessions: StoredSessions,
    sites: Contributions<Site>,
    clock: Clock,
  ) {
    this.#users = users
    this.#factors = factors
    this.#passkeys = passkeys
    this.#challenges = challenges
    this.#rules = rules
    this.#signIn = signIn
    this.#sessions = sessions
    this.#sites = sites
    this.#clock = clock
  }

  /** Creates a secret that becomes a factor with its first code. */
  async beginTotp(owner: FactorOwner): Promise<{ readonly enrolment: string; readonly secret: string; readonly uri: string }> {
    const user = await this.#proven(owner)
    requireNoTotp(user)
    const { secret, uri } = await newTotp(await siteName(this.#sites), user.email)
    return { enrolment: await this.#challenges.issue('totp enrolment', { user: user.id, stamp: stampOf(user), secret }), secret, uri }
  }

  /** Returns the recovery codes if it is the first factor. */
  async confirmTotp(owner: FactorOwner, enrolment: string, code: string): Promise<readonly string[] | undefined> {
    const { user, secret = '' } = await this.#begun('totp enrolment', owner, enrolment)
    const now = this.#clock.now()
    const lastStep = await stepOf(secret, code, now)
    if (lastStep === undefined) throw new Invalid('Invalid code: check the clock of the device, and send its current code')
    await this.#useUp(enrolment)
    const totp = { sealed: await this.#factors.seal(user.id, secret), lastStep, created: now.toISOString(), lastUsed: null }
    return this.#add(owner, user, 'totp-enrolled', present => {
      requireNoTotp(present)
      return { ...(present.secondFactor ?? none), totp }
    })
  }

  async beginPasskey(owner: FactorOwner) {
    const user = await this.#proven(owner)
    const { passkeys } = user.secondFactor ?? none
    if (passkeys.length >= maxPasskeys) throw new Conflict(`Maximum of ${maxPasskeys} passkeys per user reached`)
    const publicKey = await this.#passkeys.creationOptions(user, passkeys, fullNameOf(user))
    const about = { user: user.id, stamp: stampOf(user), webauthn: publicKey.challenge }
    return { enrolment: await this.#challenges.issue('passkey enrolment', about), publicKey }
  }

  async addPasskey(
    owner: FactorOwner,
    enrolment: string,
    registration: PasskeyRegistration,
    name: string,
  ): Promise<{ id: string; codes: readonly string[] | undefined }> {
    const { user, webauthn = '' } = await this.#begun('passkey enrolment', owner, enrolment)
    const registered = await this.#passkeys.registered(registration, webauthn)
    if (!registered) throw new Invalid('The passkey was created for another server, URL or enrolment; start again')
    await this.#useUp(enrolment)
    const id = idOfHash(sha256(registered.credential))
    const passkey: PasskeyRecord = { id, ...registered, name, created: this.#clock.now().toISOString(), lastUsed: null }
    const codes = await this.#add(owner, user, 'passkey-added', present => {
      const factors = present.secondFactor ?? none
      if (factors.passkeys.some(each => each.id === id)) throw new Conflict('This passkey is already registered')
      return { ...factors, passkeys: [...factors.passkeys, passkey] }
    })
    return { id, codes }
  }

  async renamePasskey(owner: FactorOwner, id: string, name: string): Promise<void> {
    await this.#change(await this.#proven(owner), 'passkey-renamed', owner, factors => {
      requirePasskey(factors, id)
      return { ...factors, passkeys: factors.passkeys.map(each => (each.id === id ? { ...each, name } : each)) }
    })
  }

  async removePasskey(owner: FactorOwner, id: string): Promise<void> {
    await this.#change(await this.#proven(owner), 'passkey-removed', owner, factors => {
      requirePasskey(factors, id)
      return { ...factors, passkeys: factors.passkeys.filter(each => each.id !== id) }
    })
  }

  async removeTotp(owner: FactorOwner): Promise<void> {
    await this.#change(await this.#proven(owner), 'totp-removed', owner, factors => {
      if (!factors.totp) throw new Conflict('No authenticator app is enrolled')
      return { ...factors, totp: null }
    })
  }

  /** Creates new recovery codes; the previous ones become invalid. */
  async replaceRecoveryCodes(owner: FactorOwner): Promise<readonly string[]> {
    const user = await this.#proven(owner)
    const { codes, digests } = newRecoveryCodes(user.id)
    await this.#change(user, 'recovery-codes-replaced', owner, factors => ({ ...factors, recoveryCodes: digests }))
    return codes
  }

  /** Removes all factors from an account, and ends its sessions. Having none is not an error. */
  async reset(id: string, actor?: string): Promise<void> {
    const user = await this.#users.get(id)
    if (!user) throw new NotFound('user')
    if (user.secondFactor) await this.#users.change(id, { unset: ['secondFactor'] }, [factorsChanged(id, 'reset', actor)])
    await this.#sessions.revokeAll(id, actor ?? id)
  }

  /**
   * The account, if its owner has authenticated with the strongest available method: a recent second factor, otherwise the password in the
   * request.
   */
  async #proven({ caller, session, address, password }: FactorOwner): Promise<User> {
    const user = await this.#local(caller)
    this.#rules.requireFresh(user, session)
    if (!user.secondFactor && caller.via !== 'basic') {
      if (password === undefined) throw new Invalid('password must be the current password of the account')
      await this.#signIn.withBasic(user.email, password, address).catch(ofPassword)
    }
    return user
  }

  /** The account and its pending enrolment. */
  async #begun(purpose: ChallengePurpose, { caller, session }: FactorOwner, enrolment: string) {
    const user = await this.#local(caller)
    this.#rules.requireFresh(user, session)
    const challenge = await this.#challenges.open(purpose, enrolment)
    if (challenge?.user !== user.id || !isSameDigest(stampOf(user), challenge.stamp ?? '')) throw new Invalid(enrolmentOver)
    return { ...challenge, user }
  }

  async #useUp(enrolment: string): Promise<void> {
    if (!(await this.#challenges.use(enrolment))) throw new Invalid(enrolmentOver)
  }

  async #local({ user: who }: Caller): Promise<User> {
    const user = who && (await this.#users.get(who.id))
    if (!user) throw new NotFound('user')
    if (user.provider !== 'userpass') throw new Forbidden('This account signs in with a provider, which manages its second factor')
    return user
  }

  /** The first factor creates recovery codes, and ends sessions that were opened without a factor. */
  async #add(owner: FactorOwner, user: User, change: SecondFactorChange, how: (user: User) => SecondFactorRecord) {
    const codes = user.secondFactor ? undefined : newRecoveryCodes(user.id)
    await this.#write(user, change, owner, present => {
      const next = how(present)
      return present.secondFactor || !codes ? next : { ...next, recoveryCodes: codes.digests }
    })
    if (!codes) return undefined
    if (owner.session) await this.#sessions.reauthenticated(owner.session, [change === 'totp-enrolled' ? 'totp' : 'passkey'])
    await this.#sessions.revokeAll(user.id, user.id, owner.session?.id)
    return codes.codes
  }

  async #change(user: User, change: SecondFactorChange, owner: FactorOwner, how: (factors: SecondFactorRecord) => SecondFactorRecord) {
    await this.#write(user, change, owner, present => {
      if (!present.secondFactor) throw new Conflict('No second factor is enrolled')
      const next = how(present.secondFactor)
      if (next.totp || next.passkeys.length > 0) return next
      if (this.#rules.isRequiredOf(present)) throw new Conflict('Second factor required: enrol another one first')
      return undefined
    })
  }

  /** Undefined removes the factors. Of two concurrent changes the second is refused. */
  async #write(
    user: User,
    change: SecondFactorChange,
    { caller }: FactorOwner,
    how: (user: User) => SecondFactorRecord | undefined,
  ): Promise<void> {
    const next = how(user)
    const update = next ? { set: { secondFactor: next } } : { unset: ['secondFactor'] }
    try {
      await this.#users.change(user.id, { ...update, where: eq('revision', user.revision) }, [
        factorsChanged(user.id, change, caller.user?.id),
      ])
    } catch (error) {
      throw error instanceof CommitConflict ? new Conflict('The account was changed concurrently; try again', { cause: error }) : error
    }
  }
}
wire(FactorEnrolment, Users, SecondFactors, Passkeys, Challenges, FactorPolicy, AccountSignIn, StoredSessions, Sites, Clock)
