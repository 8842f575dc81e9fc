import {
  type Caller,
  type CredentialRef,
  type CredentialRefs,
  isSuperAdmin,
  type Stored,
  signedIn,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { AccountStatus } from '../accounts/standing.ts'
import { ApiKeys } from '../keys/api-keys.ts'
import { isSameDigest } from '../keys/secrets.ts'
import { reachOf } from './request-callers.ts'
import { StoredSessions, stampOf } from './stored-sessions.ts'

type Reach = Pick<Caller, 'via' | 'scope' | 'keyId' | 'limits'>

/** Looks up what became of the credentials that things were made with. */
export class StoredCredentialRefs implements CredentialRefs {
  readonly #users: Users
  readonly #standing: AccountStatus
  readonly #keys: ApiKeys
  readonly #sessions: StoredSessions

  constructor(users: Users, standing: AccountStatus, keys: ApiKeys, sessions: StoredSessions) {
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

  async #reachOf({ key, session }: CredentialRef, user: UserRecord & Stored): Promise<Reach | undefined> {
    if (key !== undefined) {
      const found = await this.#keys.live(key, user.id)
      return found && { via: 'key', ...reachOf(found) }
    }
    if (session === undefined) return { via: 'basic', scope: 'full' }
    return (await this.#sessions.isOpen(session, user)) ? { via: 'session', scope: 'full' } : undefined
  }
}
wire(StoredCredentialRefs, Users, AccountStatus, ApiKeys, StoredSessions)
