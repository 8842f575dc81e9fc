import { Forbidden, Invalid, NotSignedIn, type Stored, type UserRecord, Users, wire } from 'pounce/sdk'
import type { SessionRecord, SignInMethod } from '../collections.ts'
import { isSameDigest } from '../keys/installation-secret.ts'
import { AccountSignIn, ofPassword } from '../sign-in/sign-in.ts'
import { StoredSessions, stampOf } from '../sign-in/stored-sessions.ts'
import { Challenges, FactorSignIn } from './factor-sign-in.ts'
import { Passkeys } from './passkeys.ts'
import { type Proof, SecondFactors } from './second-factors.ts'

type User = UserRecord & Stored

/** The proof that a session sends to step up: the strongest that the account has. */
export interface FreshProof extends Proof {
  readonly password?: string
  readonly challenge?: string
}

/** Lets the owner of a session reauthenticate. */
export class StepUps {
  readonly #users: Users
  readonly #factors: SecondFactors
  readonly #secondStep: FactorSignIn
  readonly #passkeys: Passkeys
  readonly #challenges: Challenges
  readonly #signIn: AccountSignIn
  readonly #sessions: StoredSessions

  constructor(
    users: Users,
    factors: SecondFactors,
    secondStep: FactorSignIn,
    passkeys: Passkeys,
    challenges: Challenges,
    signIn: AccountSignIn,
    sessions: StoredSessions,
  ) {
    this.#users = users
    this.#factors = factors
    this.#secondStep = secondStep
    this.#passkeys = passkeys
    this.#challenges = challenges
    this.#signIn = signIn
    this.#sessions = sessions
  }

  /** The time of the session's reauthentication. */
  async stepUp(id: string, session: (SessionRecord & Stored) | undefined, proof: FreshProof, address: string): Promise<string> {
    if (!session) throw new Forbidden('Only a session can reauthenticate: keys, tokens and passwords authenticate each request')
    const user = await this.#own(id)
    const method = user.secondFactor ? await this.#byFactor(user, proof, address) : await this.#byPassword(user, proof.password, address)
    return this.#sessions.reauthenticated(session, [method])
  }

  async passkeyOptions(id: string) {
    const user = await this.#own(id)
    const known = user.secondFactor?.passkeys ?? []
    if (known.length === 0) throw new Invalid('The account has no passkey')
    const publicKey = await this.#passkeys.requestOptions(known)
    const about = { user: id, stamp: stampOf(user), webauthn: publicKey.challenge }
    return { challenge: await this.#challenges.issue('step-up', about), publicKey }
  }

  async #byPassword(user: User, password: string | undefined, address: string): Promise<SignInMethod> {
    if (password === undefined) throw new Invalid('password must be the current password')
    const known = await this.#signIn.withPassword(user.email, password, address).catch(ofPassword)
    if (known.id !== user.id) throw new NotSignedIn('The password is that of another account')
    return 'password'
  }

  async #byFactor(user: User, { challenge: token, password: _tooWeak, ...proof }: FreshProof, address: string): Promise<SignInMethod> {
    this.#factors.requireOne(proof)
    if (proof.passkey === undefined) return (await this.#secondStep.spend(user, proof, undefined, address)).method
    const challenge = token === undefined ? undefined : await this.#challenges.open('step-up', token)
    if (token === undefined || challenge?.user !== user.id || !isSameDigest(stampOf(user), challenge.stamp ?? ''))
      throw new NotSignedIn('The challenge of the passkey has expired or is missing; start again')
    const { method } = await this.#secondStep.spend(user, proof, challenge.webauthn, address)
    if (!(await this.#challenges.use(token))) throw new NotSignedIn('This challenge was already used; start again')
    return method
  }

  async #own(id: string): Promise<User> {
    const user = await this.#users.get(id)
    if (!user) throw new NotSignedIn()
    return user
  }
}
wire(StepUps, Users, SecondFactors, FactorSignIn, Passkeys, Challenges, AccountSignIn, StoredSessions)
