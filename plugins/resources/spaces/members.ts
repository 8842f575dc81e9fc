import {
  type After,
  DocumentStore,
  event,
  Invalid,
  NotFound,
  port,
  type RoleRecord,
  rewrite,
  type Stored,
  s,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { spaces } from './collection.ts'

type Role = RoleRecord & Stored
type User = UserRecord & Stored

const mostNamed = 10_000

/** Who belongs to a space, in which role. */
export class Members {
  #documents: DocumentStore
  #users: Users

  constructor(documents: DocumentStore, users: Users) {
    this.#documents = documents
    this.#users = users
  }

  /**
   * Makes exactly the named users the holders of each named role (`{Admin: 'id,id', Viewer: ''}`): others lose it and leave, holders of
   * roles that are not named stay. Anything unknown is `Invalid`, before anything is changed.
   */
  async assign(space: string, wanted: Readonly<Record<string, string>>, actor: string | undefined): Promise<void> {
    const roles = await this.#rolesNamed(Object.keys(wanted))
    const roleOf = new Map<string, string>()
    for (const [name, list] of Object.entries(wanted)) {
      for (const user of listed(list)) {
        if (roleOf.has(user)) throw new Invalid(`The user ${user} is named twice; a member has one role`)
        roleOf.set(user, (roles.get(name) as Role).id)
      }
    }
    await this.#mustExist([...roleOf.keys()])
    const named = new Set([...roles.values()].map(role => role.id))
    const leaving: string[] = []
    for await (const member of this.#members(space)) {
      const held = member.memberships.find(membership => membership.space === space)?.role
      if (held === undefined) continue
      if (roleOf.get(member.id) === held) roleOf.delete(member.id)
      else if (named.has(held) && !roleOf.has(member.id)) leaving.push(member.id)
    }
    for (const user of leaving) await this.#users.setMembership(user, space, undefined, { actor })
    for (const [user, role] of roleOf) await this.#users.setMembership(user, space, role, { actor })
  }

  /** `Invalid` for somebody who is no member. */
  async remove(space: string, user: string, actor: string | undefined): Promise<void> {
    const record = s.isId(user) ? await this.#users.get(user) : undefined
    if (!record?.memberships.some(membership => membership.space === space)) throw new Invalid('This user is no member of the space')
    await this.#users.setMembership(user, space, undefined, { actor })
  }

  /** Ends all memberships of a space that is gone. */
  async release(space: string): Promise<void> {
    for (;;) {
      const { items } = await this.#users.membersOf(space, { limit: 200 })
      if (items.length === 0) return
      for (const { id } of items) await this.#users.setMembership(id, space, undefined)
    }
  }

  /** Takes a request to join away and, with a role, makes the person a member. `NotFound` when they did not ask. */
  async settleRequest(space: string, user: string, roleName: string | undefined, actor: string | undefined): Promise<void> {
    const role = roleName === undefined ? undefined : (await this.#rolesNamed([roleName])).get(roleName)
    const isAsked = (await this.#documents.get(spaces, space))?.requests.some(request => request.user === user)
    if (!isAsked) throw new NotFound('request to join')
    if (role) await this.#users.setMembership(user, space, role.id, { actor, joining: 'accepted', onlyNew: true })
    const subject = { kind: 'space', id: space } as const
    const settled = event('space.updated', subject, { fields: ['requests'] }, actor)
    await rewrite(this.#documents, spaces, subject, now => ({
      set: { requests: now.requests.filter(request => request.user !== user) },
      events: role ? [settled] : [settled, event('space.request-rejected', subject, { user }, actor)],
    }))
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
    if (unknown.length > 0) throw new Invalid(`There is no role ${unknown.join(', ')}; there are ${[...roles.keys()].join(', ')}`)
    return roles.size === names.length ? roles : new Map([...roles].filter(([name]) => names.includes(name)))
  }

  async #mustExist(ids: readonly string[]): Promise<void> {
    if (ids.length > mostNamed) throw new Invalid(`At most ${mostNamed} users can be named at once`)
    for (let at = 0; at < ids.length; at += 1000) {
      const some = ids.slice(at, at + 1000)
      const found = await this.#users.getMany(some.filter(s.isId))
      const unknown = some.find(id => !found.has(id))
      if (unknown !== undefined) throw new Invalid('One of the users that are named does not exist')
    }
  }
}
wire(Members, DocumentStore, Users)

export const SpaceMembers = port<Members>('spaces.members')

const listed = (list: string): readonly string[] => [
  ...new Set(
    list
      .split(',')
      .map(id => id.trim())
      .filter(id => id !== ''),
  ),
]
