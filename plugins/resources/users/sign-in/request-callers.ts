import {
  anonymous,
  type Caller,
  type Callers,
  type Credentials,
  configPort,
  NotSignedIn,
  type Stored,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { type AccountStanding, Standing } from '../accounts/standing.ts'
import type { KeyRecord } from '../collections.ts'
import { config, type Settings } from '../config.ts'
import { type Keyring, KeyStore } from '../keys/keyring.ts'
import { isSameDigest, sha256 } from '../keys/secrets.ts'
import { type AccountSignIn, SignIn, usable } from './sign-in.ts'
import { Sessions, type StoredSessions } from './stored-sessions.ts'
import { Doors, type Throttle } from './throttle.ts'

type User = UserRecord & Stored

const serviceCaller: Caller = { via: 'service', scope: 'extraction', superAdmin: false }

/** Finds out who sends a request. Account and key are read each time, so a change counts at the next request. */
export class RequestCallers implements Callers {
  #serviceKey: string | undefined
  #users: Users
  #standing: AccountStanding
  #keys: Keyring
  #sessions: StoredSessions
  #signIn: AccountSignIn
  #throttle: Throttle

  constructor(
    { commKey }: Settings,
    users: Users,
    standing: AccountStanding,
    keys: Keyring,
    sessions: StoredSessions,
    signIn: AccountSignIn,
    throttle: Throttle,
  ) {
    this.#serviceKey = commKey === undefined ? undefined : sha256(commKey)
    this.#users = users
    this.#standing = standing
    this.#keys = keys
    this.#sessions = sessions
    this.#signIn = signIn
    this.#throttle = throttle
  }

  async identify(sent: Credentials): Promise<Caller> {
    const { session, basic, headerKey, queryKey, bearer, address } = sent
    const bySession = session === undefined ? undefined : await this.#bySession(session, sent)
    if (bySession) return bySession
    if (basic) return this.#callerOf(await this.#signIn.withBasic(basic.email, basic.password, address), 'basic', sent)
    const key = headerKey ?? queryKey
    if (key !== undefined) return this.#byKey(key, sent)
    if (bearer !== undefined) return this.#byBearer(bearer, sent)
    if (session === undefined) return anonymous
    await this.#throttle.wrongSession(address, session)
    throw new NotSignedIn('The session has ended; sign in again')
  }

  /** Undefined for a session that has ended: a program may have sent something better along. */
  async #bySession(token: string, sent: Credentials): Promise<Caller | undefined> {
    const found = await this.#sessions.find(token)
    const user = found && (await this.#users.get(found.user))
    return user && this.#sessions.fits(found, user) ? this.#callerOf(usable(user), 'session', sent) : undefined
  }

  async #byKey(shown: string, sent: Credentials): Promise<Caller> {
    if (this.#serviceKey !== undefined && isSameDigest(sha256(shown), this.#serviceKey)) return serviceCaller
    const key = await this.#keys.find(shown)
    if (key && this.#keys.hasExpired(key)) return this.#refuse(sent.address, shown, 'The API key has expired')
    const user = key && (await this.#users.get(key.user))
    if (!user) return this.#refuse(sent.address, shown, 'The API key is not valid')
    const caller = await this.#callerOf(usable(user), 'key', sent, key)
    await this.#keys.touch(key)
    return caller
  }

  async #byBearer(token: string, sent: Credentials): Promise<Caller> {
    const user = await this.#signIn.withBearer(token)
    return user ? this.#callerOf(user, 'bearer', sent) : this.#refuse(sent.address, token, 'The bearer token is not valid')
  }

  async #refuse(address: string, shown: string, message: string): Promise<never> {
    await this.#throttle.wrongKey(address, shown)
    throw new NotSignedIn(message)
  }

  async #callerOf(user: User, via: Caller['via'], sent: Credentials, key?: KeyRecord & Stored): Promise<Caller> {
    const reach = key ? reachOf(key) : everything
    const superAdmin = sent.wantsSuperAdmin && user.status === 'Admin' && reach.scope === 'full' && reach.limits === undefined
    return { user: await this.#standing.of(user), via, ...reach, superAdmin }
  }
}
wire(RequestCallers, configPort(config), Users, Standing, KeyStore, Sessions, SignIn, Doors)

const everything: Pick<Caller, 'scope' | 'limits'> = { scope: 'full' }

/** What of its user a key stands for. */
const reachOf = ({ id, scope, verbs, spaces }: KeyRecord & Stored): Pick<Caller, 'scope' | 'keyId' | 'limits'> => {
  if (verbs === undefined && spaces === undefined) return { scope, keyId: id }
  return { scope, keyId: id, limits: { ...(verbs && { verbs: new Set(verbs) }), ...(spaces && { spaces: new Set(spaces) }) } }
}
