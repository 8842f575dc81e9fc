import {
  type After,
  type Caller,
  Conflict,
  configPort,
  Invalid,
  NotFound,
  Policy,
  type RoleRecord,
  Spaces,
  type Stored,
  s,
  signedIn,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { KeyedMutex, type MembershipChange } from 'pounce/sdk/kit'
import { config, type Settings } from './config.ts'
import { InvitationRateLimit } from './invitation-rate-limit.ts'

type Role = RoleRecord & Stored
type User = UserRecord & Stored

const maxNamed = 10_000
const lastAdmin = 'The space would have no user left who can edit it; give another user the role Admin first'

/** A user who can manage a space: an active member, not only through a group, whose role includes editing it. */
const rules = (user: User, role: string | undefined, ruling: ReadonlySet<string>): boolean =>
  role !== undefined && ruling.has(role) && (user.status === 'Active' || user.status === 'Admin')

const roleIn = (user: UserRecord | undefined, space: string): string | undefined =>
  user?.memberships.find(held => held.space === space)?.role

/** The members of a space and their roles. A space that has had a user who can edit it always has one. */
export class SpaceMembers {
  #perHour: number
  #users: Users
  #spaces: Spaces
  #policy: Policy
  #rateLimit: InvitationRateLimit
  readonly #mutex = new KeyedMutex()

  constructor({ invitationsPerHour }: Settings, users: Users, spaces: Spaces, policy: Policy, rateLimit: InvitationRateLimit) {
    this.#perHour = invitationsPerHour
    this.#users = users
    this.#spaces = spaces
    this.#policy = policy
    this.#rateLimit = rateLimit
  }

  /**
   * Sets the holders of each given role (`{Admin: 'id,id', Viewer: ''}`): users who are not listed lose it and leave; holders of other
   * roles stay. Throws `Invalid` for anything unknown, before anything is changed, and `TooMany` for too many users whom the caller may not
   * view.
   */
  async assign(space: string, wanted: Readonly<Record<string, string>>, caller: Caller): Promise<void> {
    const roles = await this.#rolesNamed(Object.keys(wanted))
    const roleOf = new Map<string, string>()
    for (const [name, list] of Object.entries(wanted)) {
      for (const user of listed(list)) {
        if (roleOf.has(user)) throw new Invalid(`The user ${user} is listed twice; a member has one role`)
        roleOf.set(user, (roles.get(name) as Role).id)
      }
    }
    const people = await this.#known(caller, space, [...roleOf.keys()])
    const named = new Set([...roles.values()].map(role => role.id))
    const next = new Map<User, string | undefined>(people.map(user => [user, roleOf.get(user.id)]))
    for await (const member of this.#members(space)) {
      const currentRole = roleIn(member, space)
      if (currentRole !== undefined && named.has(currentRole) && !roleOf.has(member.id)) next.set(member, undefined)
    }
    await this.#change(space, next, caller.user?.id)
  }

  /**
   * Adds a member, or changes a member's role. Throws `NotFound` for a user who is missing or hidden from the caller, `Invalid` for an
   * unknown role, `Conflict` for the last admin.
   */
  async setRole(space: string, user: string, role: string, caller: Caller): Promise<void> {
    const { id } = await this.roleOf(role)
    const record = (await this.#seen(caller, space, await this.#users.getMany([user]))).get(user)
    if (!record) throw new NotFound('user')
    await this.#change(space, new Map([[record, id]]), caller.user?.id)
  }

  /** Throws `Invalid` for a user who is not a member, `Conflict` for the last one who can edit the space. */
  async remove(space: string, user: string, actor: string | undefined): Promise<void> {
    const record = s.isId(user) ? await this.#users.get(user) : undefined
    if (!record || roleIn(record, space) === undefined) throw new Invalid('This user is not a member of the space')
    await this.#change(space, new Map([[record, undefined]]), actor)
  }

  /** True for a direct member. */
  async has(space: string, user: string): Promise<boolean> {
    const record = await this.#users.get(user)
    return record !== undefined && roleIn(record, space) !== undefined
  }

  /** Ends all memberships of a deleted space. */
  async release(space: string, withSpace?: MembershipChange['withSpace']): Promise<void> {
    for (;;) {
      const { items } = await this.#users.membersOf(space, { limit: 200 })
      if (items.length === 0) return
      for (const { id } of items) await this.#users.setMembership(id, space, undefined, { withSpace })
    }
  }

  /** Called after a user became a member: throws `NotFound` when the space was deleted concurrently, and ends its memberships. */
  async settle(space: string): Promise<void> {
    if (await this.#spaces.get(space)) return
    await this.release(space)
    throw new NotFound('space')
  }

  /** A role by its name or id. Throws `Invalid` listing the existing ones. */
  async roleOf(nameOrId: string): Promise<Role> {
    const roles = await this.#users.roles()
    const role = roles.find(({ name }) => nameOrId === name) ?? roles.find(({ id }) => nameOrId === id)
    if (!role) throw new Invalid(`Unknown role ${nameOrId}; available: ${roles.map(({ name }) => name).join(', ')}`)
    return role
  }

  /**
   * Serialized within this kernel, so that one of two admins who leave at once is refused before anyone is notified; against other kernels it
   * checks again afterwards.
   */
  #change(space: string, next: ReadonlyMap<User, string | undefined>, actor: string | undefined): Promise<void> {
    return this.#mutex.use(space, () => this.#changeInTurn(space, next, actor))
  }

  /** Grants roles before it revokes others, so that there is an admin at any time. */
  async #changeInTurn(space: string, next: ReadonlyMap<User, string | undefined>, actor: string | undefined): Promise<void> {
    const ruling = new Set((await this.#users.roles()).filter(role => role.permissions.includes('EditSpace')).map(({ id }) => id))
    const losing = [...next].filter(([user, role]) => rules(user, roleIn(user, space), ruling) && !rules(user, role, ruling))
    const isRuled = async (but: readonly string[]): Promise<boolean> => {
      for await (const member of this.#members(space))
        if (!but.includes(member.id) && rules(member, roleIn(member, space), ruling)) return true
      return false
    }
    const gains = [...next].some(([user, role]) => rules(user, role, ruling))
    const leaving = losing.map(([{ id }]) => id)
    if (losing.length > 0 && !gains && !(await isRuled(leaving))) throw new Conflict(lastAdmin)
    const inOrder = [...next].sort(([, one], [, other]) => Number(one === undefined) - Number(other === undefined))
    for (const [{ id }, role] of inOrder) await this.#users.setMembership(id, space, role, { actor })
    await this.settle(space)
    if (losing.length === 0 || (await isRuled([]))) return
    for (const [user] of losing) await this.#users.setMembership(user.id, space, roleIn(user, space), { onlyNew: false })
    throw new Conflict(lastAdmin)
  }

  async *#members(space: string): AsyncIterable<User> {
    let after: After | undefined
    do {
      const page = await this.#users.membersOf(space, { limit: 200, ...(after ? { after } : {}) })
      yield* page.items
      after = page.next
    } while (after)
  }

  async #rolesNamed(names: readonly string[]): Promise<ReadonlyMap<string, Role>> {
    const roles = new Map((await this.#users.roles()).map(role => [role.name, role]))
    const unknown = names.filter(name => !roles.has(name))
    if (unknown.length > 0) throw new Invalid(`Unknown role ${unknown.join(', ')}; available: ${[...roles.keys()].join(', ')}`)
    return new Map([...roles].filter(([name]) => names.includes(name)))
  }

  /** The members of the space among these accounts, and those that the caller may view. */
  async #seen(caller: Caller, space: string, found: ReadonlyMap<string, User>): Promise<ReadonlyMap<string, User>> {
    const nonMembers = [...found.values()].filter(user => roleIn(user, space) === undefined).map(({ id }) => id)
    const seen = await this.#policy.allowed(caller, 'ViewUser', 'user', nonMembers)
    return new Map([...found].filter(([id, user]) => seen.has(id) || roleIn(user, space) !== undefined))
  }

  /**
   * Users whom the caller may not view count as invitations: members become visible, so guessed ids could be used to list the accounts of a
   * private server.
   */
  async #known(caller: Caller, space: string, ids: readonly string[]): Promise<readonly User[]> {
    if (ids.length > maxNamed) throw new Invalid(`At most ${maxNamed} users per request`)
    const known: User[] = []
    let unseen = 0
    for (let at = 0; at < ids.length; at += 1000) {
      const some = ids.slice(at, at + 1000)
      const found = await this.#users.getMany(some.filter(s.isId))
      if (found.size < some.length || [...found.values()].some(({ erasure }) => erasure))
        throw new Invalid('One of the users does not exist')
      unseen += found.size - (await this.#seen(caller, space, found)).size
      known.push(...found.values())
    }
    if (unseen > 0) await this.#rateLimit.take('invite', signedIn(caller).id, unseen, this.#perHour)
    return known
  }
}
wire(SpaceMembers, configPort(config), Users, Spaces, Policy, InvitationRateLimit)
const listed = (list: string): readonly string[] => [
  ...new Set(
    list
      .split(',')
      .map(id => id.trim())
      .filter(id => id !== ''),
  ),
]
