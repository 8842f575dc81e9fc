import {
  type After,
  type Caller,
  type Contributions,
  type Groups,
  Invalid,
  KnownGroups,
  type Page,
  Policy,
  peopleFor,
  s,
  Users,
  wire,
} from 'pounce/sdk'

const Role = s.Object({ id: s.String(), name: s.String() })

/** A member of a space: a person, or a group of people. */
export const SpaceMember = s.model(
  'SpaceMember',
  s.Object({
    type: s.Union([s.Literal('user'), s.Literal('group')]),
    id: s.id(),
    name: s.String(),
    email: s.Optional(s.String({ description: 'For users, to callers who may view the account' })),
    avatarURL: s.Optional(s.String({ description: 'For users' })),
    role: Role,
  }),
)
type SpaceMember = s.Static<typeof SpaceMember>

type Window = { readonly after?: After; readonly limit: number }
const [groupsFirst, thenPeople] = ['0', '1'] as const

/** Lists the members of spaces: groups, then people, each by id. */
export class MemberList {
  #users: Users
  #groups: Contributions<Groups>
  #policy: Policy

  constructor(users: Users, groups: Contributions<Groups>, policy: Policy) {
    this.#users = users
    this.#groups = groups
    this.#policy = policy
  }

  async page(caller: Caller, space: string, { after, limit }: Window): Promise<Page<SpaceMember>> {
    const [part = groupsFirst, id] = after ?? []
    if (part !== groupsFirst && part !== thenPeople) throw new Invalid('after must be a cursor from a Link header')
    const names = new Map((await this.#users.roles()).map(role => [role.id, role.name]))
    const roleIn = (memberships: readonly { readonly space: string; readonly role: string }[]) => {
      const role = memberships.find(held => held.space === space)?.role ?? ''
      return { id: role, name: names.get(role) ?? '' }
    }
    const from = typeof id === 'string' ? { after: [id] as const } : {}
    const [known] = part === groupsFirst ? this.#groups.all() : []
    const groups = await known?.inSpace(space, { limit, ...from })
    const first = (groups?.items ?? []).map(group => ({
      ...{ type: 'group' as const, id: group.id, name: group.name, role: roleIn(group.memberships) },
    }))
    if (groups?.next) return { items: first, next: [groupsFirst, String(first.at(-1)?.id)] }
    const left = limit - first.length
    if (left === 0) return { items: first, next: [thenPeople, '0'.repeat(24)] }
    const page = await this.#users.membersOf(space, { limit: left, ...(part === thenPeople ? from : {}) })
    const person = await peopleFor(
      this.#users,
      this.#policy,
      caller,
      page.items.map(({ id }) => id),
    )
    const people = page.items.map(user => {
      const { fullName, ...shown } = person(user.id)
      return { ...shown, type: 'user' as const, name: fullName, role: roleIn(user.memberships) }
    })
    const last = page.items.at(-1)
    return { items: [...first, ...people], ...(page.next && last ? { next: [thenPeople, last.id] } : {}) }
  }
}
wire(MemberList, Users, KnownGroups, Policy)
