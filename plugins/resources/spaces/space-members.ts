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
import type { MembershipChange } from 'pounce/sdk/kit'
import { config, type Settings } from './config.ts'
import { InvitationRateLimit } from './invitation-rate-limit.ts'

type Role = RoleRecord & Stored
type User = UserRecord & Stored

const mostNamed = 10_000
const lastAdmin = 'The space would have no user left who can edit it; give another user the role Admin first'

/** Someone who can look after a space: an active member, not only through a group, whose role lets them edit it. */
const rules = (user: User, role: string | undefined, ruling: ReadonlySet<string>): boolean =>
  role !== undefined && ruling.has(role) && (user.status === 'Active' || user.status === 'Admin')

const roleIn = (user: UserRecord | undefined, space: string): string | undefined =>
  user?.memberships.find(held => held.space === space)?.role

/** Who belongs to a space, in which role. There always is someone who can edit it, once there was. */
export class SpaceMembers {
  #perHour: number
  #users: Users
  #spaces: Spaces
  #policy: Policy
  #rateLimit: InvitationRateLimit

  constructor({ invitationsPerHour }: Settings, users: Users, spaces: Spaces, policy: Policy, rateLimit: InvitationRateLimit) {
    this.#perHour = invitationsPerHour
    this.#users = users
    this.#spaces = spaces
    this.#policy = policy
    this.#rateLimit = rateLimit
  }

  /**
   * Makes exactly the named users the holders of each named role (`{Admin: 'id,id', Viewer: ''}`): others lose it and leave, holders of
   * roles that are not named stay. Anything unknown is `Invalid`, before anything is changed; `TooMany` for too many whom the caller may not look at.
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
      const held = roleIn(member, space)
      if (held !== undefined && named.has(held) && !roleOf.has(member.id)) next.set(member, undefined)
    }
    await this.#change(space, next, caller.user?.id)
  }

  /**
   * Adds a member, or gives one another role. `NotFound` for a person who is absent or whom the caller may not look at, `Invalid` for an absent role,
   * `Conflict` for the last admin.
   */
  async setRole(space: string, user: string, role: string, caller: Caller): Promise<void> {
    const { id } = await this.roleOf(role)
    const record = (await this.#seen(caller, space, await this.#users.getMany([user]))).get(user)
    if (!record) throw new NotFound('user')
    await this.#change(space, new Map([[record, id]]), caller.user?.id)
  }

  /** `Invalid` for someone who is no member, `Conflict` for the last who can edit the space. */
  async remove(space: string, user: string, actor: string | undefined): Promise<void> {
    const record = s.isId(user) ? await this.#users.get(user) : undefined
    if (!record || roleIn(record, space) === undefined) throw new Invalid('This user is not a member of the space')
    await this.#change(space, new Map([[record, undefined]]), actor)
  }

  /** True of a member by the account itself. */
  async has(space: string, user: string): Promise<boolean> {
    const record = await this.#users.get(user)
    return record !== undefined && roleIn(record, space) !== undefined
  }

  /** Ends all memberships of a space that is gone. */
  async release(space: string, withSpace?: MembershipChange['withSpace']): Promise<void> {
    for (;;) {
      const { items } = await this.#users.membersOf(space, { limit: 200 })
      if (items.length === 0) return
      for (const { id } of items) await this.#users.setMembership(id, space, undefined, { withSpace })
    }
  }

  /** After someone became a member: `NotFound` when the space went at that moment; then it has no members. */
  async settle(space: string): Promise<void> {
    if (await this.#spaces.get(space)) return
    await this.release(space)
    throw new NotFound('space')
  }

  /** A role by its name or id. `Invalid`, with those that there are, when there is none. */
  async roleOf(nameOrId: string): Promise<Role> {
    const roles = await this.#users.roles()
    const role = roles.find(({ name }) => nameOrId === name) ?? roles.find(({ id }) => nameOrId === id)
    if (!role) throw new Invalid(`Unknown role ${nameOrId}; available: ${roles.map(({ name }) => name).join(', ')}`)
    return role
  }

  /** Gives first and takes then, so that at no moment no one rules; what two do at once is looked at once more afterwards. */
  async #change(space: string, next: ReadonlyMap<User, string | undefined>, actor: string | undefined): Promise<void> {
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

  /** Of these accounts the members of the space, and those whom the caller may look at. */
  async #seen(caller: Caller, space: string, found: ReadonlyMap<string, User>): Promise<ReadonlyMap<string, User>> {
    const strangers = [...found.values()].filter(user => roleIn(user, space) === undefined).map(({ id }) => id)
    const seen = await this.#policy.allowed(caller, 'ViewUser', 'user', strangers)
    return new Map([...found].filter(([id, user]) => seen.has(id) || roleIn(user, space) !== undefined))
  }

  /** Those whom the caller may not look at count as invitations: a member can be looked at, so ids could be guessed to list the accounts of a private server. */
  async #known(caller: Caller, space: string, ids: readonly string[]): Promise<readonly User[]> {
    if (ids.length > mostNamed) throw new Invalid(`At most ${mostNamed} users per request`)
    const known: User[] = []
    let unseen = 0
    for (let at = 0; at < ids.length; at += 1000) {
      const some = ids.slice(at, at + 1000)
      const found = await this.#users.getMany(some.filter(s.isId))
      if (found.size < some.length) throw new Invalid('One of the users does not exist')
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
