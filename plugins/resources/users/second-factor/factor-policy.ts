import { type Caller, Clock, configPort, StepUpRequired, type Stored, type UserRecord, wire } from 'pounce/sdk'
import type { StepUp } from 'pounce/sdk/kit'
import type { SessionRecord, SignInMethod } from '../collections.ts'
import { config, type Settings } from '../config.ts'

type User = UserRecord & Stored
type Rules = Pick<Settings, 'requireSecondFactor' | 'stepUpMinutes' | 'stepUpForKeys'>
/** Changing factors always requires an authentication of at most this age, regardless of the settings. */
const maxAgeForFactorsMs = 15 * 60_000

/** The second factors of an account, and `password` if it has none. */
export const methodsOf = ({ secondFactor }: UserRecord): readonly SignInMethod[] => {
  if (!secondFactor) return ['password']
  return [
    ...(secondFactor.totp ? (['totp'] as const) : []),
    ...(secondFactor.passkeys.length > 0 ? (['passkey'] as const) : []),
    ...(secondFactor.recoveryCodes.length > 0 ? (['recovery-code'] as const) : []),
  ]
}

/** Decides which accounts need a second factor, and whether an authentication is recent and strong enough. */
export class FactorPolicy {
  readonly #rules: Rules
  readonly #clock: Clock

  constructor(rules: Rules, clock: Clock) {
    this.#rules = rules
    this.#clock = clock
  }

  /** Accounts of other providers have their factors there. */
  isRequiredOf({ provider, status }: User): boolean {
    const { requireSecondFactor } = this.#rules
    if (provider !== 'userpass' || requireSecondFactor === 'nobody') return false
    return requireSecondFactor === 'everybody' || status === 'Admin'
  }

  isPending(user: User): boolean {
    return user.secondFactor === undefined && this.isRequiredOf(user)
  }

  /** What a caller has to do before it may use routes with `stepUp`; undefined when nothing. */
  stepUpOf(user: User, via: Caller['via'], session: SessionRecord | undefined): StepUp | undefined {
    const { stepUpMinutes, stepUpForKeys } = this.#rules
    // Basic authentication sends the password with each request.
    if (stepUpMinutes === 0 || via === 'basic') return undefined
    if (via !== 'session' && via !== 'proxy')
      return stepUpForKeys === 'refused'
        ? { methods: [], message: 'This server does not let API keys and tokens do this: sign in, and do it with the session' }
        : undefined
    return session && this.#isFresh(user, session, stepUpMinutes * 60_000) ? undefined : this.#stepUp(user, session)
  }

  /** Throws `StepUpRequired` unless the session has used a factor recently enough to change the factors of an account that has one. */
  requireFresh(user: User, session: SessionRecord | undefined): void {
    const { stepUpMinutes } = this.#rules
    const limitMs = stepUpMinutes === 0 ? maxAgeForFactorsMs : Math.min(stepUpMinutes * 60_000, maxAgeForFactorsMs)
    if (!user.secondFactor || (session && this.#isFresh(user, session, limitMs))) return
    const { message, methods } = this.#stepUp(user, session)
    throw new StepUpRequired(message, { details: { methods } })
  }

  #isFresh(user: User, { authenticated, created, methods = ['password'] }: SessionRecord, limitMs: number): boolean {
    const isStrong = user.secondFactor === undefined || methods.some(method => method !== 'password')
    // A time ahead is from before the clock was set back.
    return isStrong && Math.abs(this.#clock.now().getTime() - Date.parse(authenticated ?? created)) < limitMs
  }

  #stepUp(user: User, session: SessionRecord | undefined): StepUp {
    const isOutside = session?.methods?.includes('provider') ?? user.provider !== 'userpass'
    const methods = isOutside && user.provider !== 'userpass' ? [] : methodsOf(user)
    const how = [
      ...(methods.length > 0 ? ['authenticate again with POST /api/sessions/step-up'] : []),
      ...(isOutside ? ['sign in again through the provider'] : []),
      ...(session ? [] : ['sign in, and do it with the session']),
    ]
    return { methods: isOutside ? [...methods, 'provider'] : methods, message: `Recent authentication required: ${how.join(', or ')}` }
  }
}
wire(FactorPolicy, configPort(config), Clock)
