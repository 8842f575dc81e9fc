import {
  type After,
  and,
  type Caller,
  Clock,
  CommitConflict,
  DocumentStore,
  eq,
  event,
  type Find,
  Ids,
  Installation,
  isIn,
  type Membership,
  type NewEvent,
  NotFound,
  or,
  type Page,
  type RoleRecord,
  type Stored,
  Taken,
  type Update,
  type UserRecord,
  type Users,
  type Where,
  wire,
} from 'pounce/sdk'
import { checkedEmail, type MembershipChange, Passwords, plainEmail } from 'pounce/sdk/kit'
import { users } from '../collections.ts'
import { EffectiveRoles } from '../roles/effective-roles.ts'
import { StoredRoles } from '../roles/stored-roles.ts'
import { CallerUsers } from './caller-users.ts'
import { sortedNames } from './people-directory.ts'
import { StoredMemberships } from './stored-memberships.ts'
import { avatarOf } from './user-json.ts'

type User = UserRecord & Stored

const tries = 20

/** An erased account stays as it is; its name, address and status belong to nobody. */
const isPerson = eq('erasure.done', null)

/** Accounts in the document store. */
export class StoredUsers implements Users {
  #documents: DocumentStore
  #roles: StoredRoles
  #effectiveRoles: EffectiveRoles
  #memberships: StoredMemberships
  #standing: CallerUsers
  #ids: Ids
  #clock: Clock
  #installation: Installation
  #passwords = new Passwords()

  constructor(
    documents: DocumentStore,
    roles: StoredRoles,
    held: EffectiveRoles,
    memberships: StoredMemberships,
    standing: CallerUsers,
    ids: Ids,
    clock: Clock,
    installation: Installation,
  ) {
    this.#documents = documents
    this.#roles = roles
    this.#effectiveRoles = held
    this.#memberships = memberships
    this.#standing = standing
    this.#ids = ids
    this.#clock = clock
    this.#installation = installation
  }

  get(id: string): Promise<User | undefined> {
    return this.#documents.get(users, id)
  }

  getMany(ids: readonly string[]): Promise<ReadonlyMap<string, User>> {
    return this.#documents.getMany(users, ids)
  }

  async byEmail(email: string): Promise<User | undefined> {
    const page = await this.#documents.find(users, { using: 'byEmail', where: eq('email', plainEmail(email)), limit: 1 })
    return page.items[0]
  }

  async named(firstName: string, lastName: string): Promise<readonly User[]> {
    const where = and(eq('lastName', lastName), eq('firstName', firstName))
    return (await this.#documents.find(users, { using: 'byName', where, limit: 20 })).items
  }

  async admins(): Promise<readonly User[]> {
    return (await this.#documents.find(users, { using: 'byStatus', where: eq('status', 'Admin'), limit: 100 })).items
  }

  membersOf(space: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<User>> {
    return this.#documents.find(users, { using: 'bySpace', where: eq('memberships.space', space), ...page })
  }

  async peopleOf(space: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<User>> {
    return this.#documents.find(users, { ...(await this.#inSpace(space)), ...page })
  }

  async countPeople(space: string, upTo: number): Promise<number> {
    return this.#documents.count(users, { ...(await this.#inSpace(space)), upTo })
  }

  /** Directly, or through one of the groups that are members. */
  async #inSpace(space: string): Promise<Pick<Find, 'using' | 'where'>> {
    const own = eq('memberships.space', space)
    const groups = await this.#effectiveRoles.groupsIn(space)
    if (groups.length === 0) return { using: 'bySpace', where: own }
    return { using: ['bySpace', 'byGroup'], where: or(own, isIn('groups', groups)) }
  }

  inGroup(group: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<User>> {
    return this.#documents.find(users, { using: 'byGroup', where: eq('groups', group), ...page })
  }

  membershipsOf(user: Pick<UserRecord, 'memberships' | 'groups'>): Promise<readonly Membership[]> {
    return this.#effectiveRoles.of(user)
  }

  async followersOf(thing: string, limit: number): Promise<readonly User[]> {
    return (await this.#documents.find(users, { using: 'byFollowed', where: eq('followed.id', thing), limit })).items
  }

  roles(): Promise<readonly (RoleRecord & Stored)[]> {
    return this.#roles.all()
  }

  async create(user: Parameters<Users['create']>[0]): Promise<User> {
    const email = checkedEmail(user.email)
    const isNamedAdmin = this.#installation.admins.some(admin => plainEmail(admin.email) === email)
    const id = this.#ids.next()
    const created = this.#clock.now().toISOString()
    const record: UserRecord = {
      email,
      firstName: user.firstName.trim(),
      lastName: user.lastName.trim(),
      ...sortedNames({ firstName: user.firstName.trim(), lastName: user.lastName.trim() }),
      provider: 'userpass',
      passwordHash: user.password === undefined ? null : await this.#passwords.hash(user.password),
      status: isNamedAdmin ? 'Admin' : user.status,
      created,
      lastLogin: null,
      profile: {},
      memberships: [],
      followed: [],
      termsAccepted: user.acceptsTerms ? created : null,
    }
    try {
      return await this.#documents.commit({ insert: { id, ...record }, into: users }, [
        event('user.created', { kind: 'user', id }, {}, user.actor),
      ])
    } catch (error) {
      throw error instanceof Taken ? new Taken(error.index, `An account for ${email} already exists`) : error
    }
  }

  async change(id: string, update: Update & { readonly where?: Where }, events: readonly NewEvent[]): Promise<User> {
    const email = update.set?.['email']
    const checked = typeof email === 'string' ? { ...update, set: { ...update.set, email: checkedEmail(email) } } : update
    const { firstName, lastName } = update.set ?? {}
    if (typeof firstName === 'string' || typeof lastName === 'string') return this.#rename(id, checked, events)
    return this.#commit(id, checked, events)
  }

  /** Updates the search keys as well; repeats after a concurrent change of the account. */
  async #rename(id: string, update: Update & { readonly where?: Where }, events: readonly NewEvent[]): Promise<User> {
    for (let left = tries; ; left--) {
      const now = await this.get(id)
      if (!now) throw new NotFound('user')
      const set = { ...update.set, ...sortedNames({ ...now, ...(update.set as Partial<UserRecord>) }) }
      const unchanged = eq('revision', now.revision)
      const where = update.where ? and(update.where, unchanged) : unchanged
      try {
        return await this.#commit(id, { ...update, where, set }, events)
      } catch (error) {
        const isRace = error instanceof CommitConflict && left > 0 && (await this.get(id))?.revision !== now.revision
        if (!isRace) throw error
      }
    }
  }

  async #commit(id: string, update: Update & { readonly where?: Where }, events: readonly NewEvent[]): Promise<User> {
    const where = update.where ? and(update.where, isPerson) : isPerson
    try {
      return await this.#documents.commit({ update: id, in: users, ...update, where }, events)
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
      const isGone = error.reason === 'absent' || (error.reason === 'guard' && (await this.get(id))?.erasure?.done)
      throw isGone ? new NotFound('user', { cause: error }) : error
    }
  }

  async callerOf(user: User): Promise<Caller> {
    return { user: await this.#standing.of(user), via: 'session', scope: 'full', superAdmin: false }
  }

  avatarOf(user: UserRecord | undefined): string {
    return avatarOf(user, this.#installation.baseUrl)
  }

  setMembership(id: string, space: string, role: string | undefined, by: MembershipChange = {}): ReturnType<Users['setMembership']> {
    return this.#memberships.set(id, space, role, by)
  }
}
wire(StoredUsers, DocumentStore, StoredRoles, EffectiveRoles, StoredMemberships, CallerUsers, Ids, Clock, Installation)
