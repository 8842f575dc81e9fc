import {
  type AccessDecision,
  type AccountStatus,
  anonymous,
  type Caller,
  type Callers,
  type Permission,
  type Policy,
  type Ref,
  WrongCredentials,
} from 'pounce/sdk'
import { type Credentials, readingPermissions } from 'pounce/sdk/kit'

/** Ids known to the policy of these tests. */
export const seenId = '5f9d88b4e4b0c0a5d0a5b001'
export const hiddenId = '5f9d88b4e4b0c0a5d0a5b002'
export const ownId = '5f9d88b4e4b0c0a5d0a5b003'

const user = (status: AccountStatus, more: Partial<Caller> = {}): Caller => ({
  user: { id: ownId, email: 'ann@example.org', fullName: 'Ann Other', status, memberships: [] },
  via: 'key',
  scope: 'full',
  superAdmin: false,
  ...more,
})

const pending = (status: AccountStatus): Caller => ({
  ...user(status),
  user: { id: ownId, email: 'new@example.org', fullName: 'New Comer', status, memberships: [], termsPending: true },
})

const accounts = new Map<string, Caller>([
  ['ann', user('Active')],
  ['admin', user('Admin')],
  ['inactive', user('Inactive')],
  ['newcomer', pending('Active')],
  ['admin in waiting', pending('Admin')],
  ['extractor', user('Admin', { scope: 'extraction' })],
  ['service', { via: 'service', scope: 'extraction', superAdmin: false }],
])

/** Credentials in these tests: keys and tokens are names, all passwords are `secret`, the session `fresh` is Ann's. */
export const callers: Callers = {
  async identify({ headerKey, queryKey, bearer, basic, session, wantsSuperAdmin }: Credentials) {
    const name = headerKey ?? queryKey ?? bearer ?? (basic?.password === 'secret' ? basic.email : undefined)
    const found = session === 'fresh' ? user('Active', { via: 'session' }) : accounts.get(name ?? '')
    if (!found) throw new WrongCredentials()
    return { ...found, superAdmin: wantsSuperAdmin && found.user?.status === 'Admin' }
  },
}

/** Ann has all rights on her own resources and may view `seenId`; so may anonymous callers on a public server. */
export class TestPolicy implements Pick<Policy, 'can' | 'canOn' | 'isPrivate'> {
  readonly isPrivate: boolean
  readonly requested: (Ref & { readonly permission: Permission })[] = []

  constructor(isPrivate = false) {
    this.isPrivate = isPrivate
  }

  can(caller: Caller, permission: Permission): AccessDecision {
    if (caller.via !== anonymous.via) return caller.user?.status === 'Inactive' ? 'no' : 'yes'
    return !this.isPrivate && readingPermissions.has(permission) ? 'yes' : 'no'
  }

  async canOn(caller: Caller, permission: Permission, ref: Ref): Promise<AccessDecision> {
    this.requested.push({ ...ref, permission })
    if (caller.superAdmin) return 'yes'
    const isReading = readingPermissions.has(permission)
    if (caller.via === anonymous.via && this.isPrivate) return 'unseen'
    if (ref.id === ownId && caller.user) return 'yes'
    if (ref.id !== seenId && ref.id !== ownId) return 'unseen'
    return isReading ? 'yes' : 'no'
  }
}
