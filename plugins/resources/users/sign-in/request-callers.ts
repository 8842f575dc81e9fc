import {
  anonymous,
  type Caller,
  type Callers,
  type CredentialRefs,
  configPort,
  isSuperAdmin,
  type Problem,
  SecondFactorRequired,
  type Stored,
  signedIn,
  TooMany,
  type UserRecord,
  Users,
  type VerifiedIdentity,
  WrongCredentials,
  wire,
} from 'pounce/sdk'
import { type CredentialRef, type Credentials, isWrongCredential } from 'pounce/sdk/kit'
import { CallerUsers } from '../accounts/caller-users.ts'
import type { KeyRecord, SessionRecord } from '../collections.ts'
import { config, type Settings } from '../config.ts'
import { ApiKeys } from '../keys/api-keys.ts'
import { isSameDigest, sha256 } from '../keys/installation-secret.ts'
import { JobKeys } from '../keys/job-keys.ts'
import { FactorPolicy } from '../second-factor/factor-policy.ts'
import { identityName } from './identity-links.ts'
import { LoginThrottle } from './login-throttle.ts'
import { AccountSignIn, usable } from './sign-in.ts'
import { StoredSessions, stampOf } from './stored-sessions.ts'

type User = UserRecord & Stored

type NamedByProxy = () => Promise<VerifiedIdentity | undefined>

const serviceCaller: Caller = { via: 'service', scope: 'extraction', superAdmin: false }

/** Determines the caller of a request. Account and key are read each time, so changes take effect with the next request. */
export class RequestCallers implements Callers {
  #serviceKeys: readonly string[]
  #users: Users
  #standing: CallerUsers
  #keys: ApiKeys
  #jobKeys: JobKeys
  #sessions: StoredSessions
  #signIn: AccountSignIn
  #throttle: LoginThrottle
  #rules: FactorPolicy

  constructor(
    { commKey, previousCommKeys }: Settings,
    users: Users,
    standing: CallerUsers,
    keys: ApiKeys,
    jobKeys: JobKeys,
    sessions: StoredSessions,
    signIn: AccountSignIn,
    throttle: LoginThrottle,
    rules: FactorPolicy,
  ) {
    this.#rules = rules
    this.#serviceKeys = (commKey === undefined ? [] : [commKey, ...previousCommKeys]).map(sha256)
    this.#users = users
    this.#standing = standing
    this.#keys = keys
    this.#jobKeys = jobKeys
    this.#sessions = sessions
    this.#signIn = signIn
    this.#throttle = throttle
  }

  async identify(sent: Credentials): Promise<Caller> {
    const { session, basic, headerKey, queryKey, bearer, proxied } = sent
    // Once per request, because invalid headers are counted.
    let lookup: Promise<VerifiedIdentity | undefined> | undefined
    const named = async () => (lookup ??= proxied && this.#signIn.namedByProxy(proxied, sent.address))
    const ways = [
      session !== undefined && (() => this.#bySession(session, sent, named)),
      basic && (() => this.#byBasic(basic, sent)),
      headerKey !== undefined && (() => this.#byKey(headerKey, sent)),
      queryKey !== undefined && (() => this.#byKey(queryKey, sent)),
      bearer !== undefined && (() => this.#byBearer(bearer, sent)),
      proxied && (() => this.#byProxy(sent, named)),
    ].filter(way => way !== false && way !== undefined)
    let refusal: Problem | undefined
    for (const way of ways) {
      try {
        const caller = await way()
        if (caller) return caller
      } catch (error) {
        if (!isWrongCredential(error)) throw error
        // The time to wait is more useful than which of several credentials was wrong.
        if (refusal === undefined || error instanceof TooMany) refusal = error
      }
    }
    if (refusal) throw refusal
    return anonymous
  }

  async #bySession(token: string, sent: Credentials, named: NamedByProxy): Promise<Caller> {
    const found = await this.#sessions.find(token)
    // Another user may be using the browser by now, which the proxy indicates.
    const other = found?.identity === undefined ? undefined : await named()
    if (other && identityName(other) !== found?.identity) {
      await this.#sessions.close(token)
      throw new WrongCredentials('The session belongs to another user; sign in again')
    }
    const user = found && (await this.#users.get(found.user))
    if (!user || !this.#sessions.fits(found, user)) {
      await this.#throttle.wrongSession(sent.address, token)
      throw new WrongCredentials('The session has ended; sign in again')
    }
    return { ...(await this.#callerOf(usable(user), 'session', sent, { session: found })), sessionId: found.id }
  }

  async #byBasic({ email, password }: NonNullable<Credentials['basic']>, sent: Credentials): Promise<Caller> {
    const user = await this.#signIn.withBasic(email, password, sent.address)
    if (user.secondFactor)
      throw new SecondFactorRequired('The account has a second factor, so a password alone is not accepted: use an API key')
    return this.#callerOf(user, 'basic', sent)
  }

  async #byKey(shown: string, sent: Credentials): Promise<Caller> {
    if (this.#serviceKeys.some(digest => isSameDigest(sha256(shown), digest))) return serviceCaller
    if (this.#jobKeys.isOne(shown)) return this.#byJobKey(shown, sent.address)
    const key = await this.#keys.find(shown)
    if (key && this.#keys.hasExpired(key)) return this.#refuse(sent.address, shown, 'The API key has expired')
    const user = key && (await this.#users.get(key.user))
    if (!user) return this.#refuse(sent.address, shown, 'The API key is not valid')
    const caller = await this.#callerOf(usable(user), 'key', sent, { key })
    await this.#keys.touch(key)
    return caller
  }

  /** A genuine key that is refused is not a guess: late extractors are not counted. */
  async #byJobKey(shown: string, address: string): Promise<Caller> {
    const found = await this.#jobKeys.verify(shown)
    if ('refused' in found) {
      if (found.isForged) await this.#throttle.wrongKey(address, shown)
      throw new WrongCredentials(found.refused)
    }
    const limits = { job: found.job }
    if (found.user === null) return { ...serviceCaller, limits }
    return { user: await this.#standing.of(usable(found.user)), via: 'key', scope: 'extraction', limits, superAdmin: false }
  }

  async #byBearer(token: string, sent: Credentials): Promise<Caller> {
    const user = await this.#signIn.withBearer(token)
    return user ? this.#callerOf(user, 'bearer', sent) : this.#refuse(sent.address, token, 'The bearer token is not valid')
  }

  /** Undefined when the proxy names no user. */
  async #byProxy(sent: Credentials, named: NamedByProxy): Promise<Caller | undefined> {
    const identity = await named()
    const user = identity && (await this.#signIn.withIdentity(identity))
    return user && this.#callerOf(user, 'proxy', sent)
  }

  async #refuse(address: string, shown: string, message: string): Promise<never> {
    await this.#throttle.wrongKey(address, shown)
    throw new WrongCredentials(message)
  }

  async #callerOf(
    user: User,
    via: Caller['via'],
    sent: Credentials,
    { key, session }: { readonly key?: KeyRecord & Stored; readonly session?: SessionRecord } = {},
  ): Promise<Caller> {
    const reach = key ? reachOf(key) : everything
    const superAdmin = sent.wantsSuperAdmin && user.status === 'Admin' && reach.scope === 'full' && reach.limits === undefined
    const standing = await this.#standing.of(user)
    const stepUp = this.#rules.stepUpOf(user, via, session)
    return {
      user: this.#rules.isPending(user) ? { ...standing, secondFactorPending: true } : standing,
      ...{ via, ...reach, superAdmin },
      ...(stepUp ? { stepUp } : {}),
    }
  }
}
wire(RequestCallers, configPort(config), Users, CallerUsers, ApiKeys, JobKeys, StoredSessions, AccountSignIn, LoginThrottle, FactorPolicy)

const everything: Pick<Caller, 'scope' | 'limits'> = { scope: 'full' }

/** The part of its user's rights that a key has. */
const reachOf = ({ id, scope, verbs, spaces }: KeyRecord & Stored): Pick<Caller, 'scope' | 'keyId' | 'limits'> => {
  if (verbs === undefined && spaces === undefined) return { scope, keyId: id }
  return { scope, keyId: id, limits: { ...(verbs && { verbs: new Set(verbs) }), ...(spaces && { spaces: new Set(spaces) }) } }
}

type KeyReach = Pick<Caller, 'via' | 'scope' | 'keyId' | 'limits'>

/** Reads the current state of the credentials with which resources were created. */
export class StoredCredentialRefs implements CredentialRefs {
  readonly #users: Users
  readonly #standing: CallerUsers
  readonly #keys: ApiKeys
  readonly #sessions: StoredSessions

  constructor(users: Users, standing: CallerUsers, keys: ApiKeys, sessions: StoredSessions) {
    this.#users = users
    this.#standing = standing
    this.#keys = keys
    this.#sessions = sessions
  }

  async of(caller: Caller): Promise<CredentialRef> {
    const { id } = signedIn(caller)
    const user = await this.#users.get(id)
    return {
      user: id,
      stamp: user ? stampOf(user) : '',
      superAdmin: isSuperAdmin(caller),
      ...(caller.keyId === undefined ? {} : { key: caller.keyId }),
      ...(caller.sessionId === undefined ? {} : { session: caller.sessionId }),
    }
  }

  async callerOf(ref: CredentialRef): Promise<Caller | undefined> {
    const user = await this.#users.get(ref.user)
    if (!user || user.status === 'Inactive' || !isSameDigest(ref.stamp, stampOf(user))) return undefined
    const reach = await this.#reachOf(ref, user)
    if (!reach) return undefined
    const superAdmin = ref.superAdmin && user.status === 'Admin' && reach.scope === 'full' && reach.limits === undefined
    return { user: await this.#standing.of(user), ...reach, superAdmin }
  }

  async #reachOf({ key, session }: CredentialRef, user: UserRecord & Stored): Promise<KeyReach | undefined> {
    if (key !== undefined) {
      const found = await this.#keys.live(key, user.id)
      return found && { via: 'key', ...reachOf(found) }
    }
    if (session === undefined) return { via: 'basic', scope: 'full' }
    return (await this.#sessions.isOpen(session, user)) ? { via: 'session', scope: 'full' } : undefined
  }
}
wire(StoredCredentialRefs, Users, CallerUsers, ApiKeys, StoredSessions)
