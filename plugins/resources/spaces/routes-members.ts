import {
  type After,
  type Caller,
  Conflict,
  type Contributions,
  type Groups,
  Installation,
  Invalid,
  KnownGroups,
  NotFound,
  type Page,
  Policy,
  ref,
  routesFor,
  s,
  signedIn,
  TooMany,
  Users,
  wire,
} from 'pounce/sdk'
import { afterParameter, linkToNext, pageOf, peopleFor, readAfter, ShownPerson } from 'pounce/sdk/kit'
import { JoinRequests } from './join-requests.ts'
import { SpaceMembers } from './space-members.ts'

const Role = s.Object({ id: s.String(), name: s.String() })

/** A member of a space: a user or a group. */
const SpaceMember = s.model(
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

/** Lists the members of spaces: groups, then users, each by id. */
class MemberList {
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

const route = routesFor('spaces', {
  members: SpaceMembers,
  list: MemberList,
  policy: Policy,
  installation: Installation,
  requests: JoinRequests,
  users: Users,
})

const params = s.Object({ id: s.id() })

export const updateSpaceUsers = route({
  method: 'POST',
  path: '/api/spaces/:id/updateUsers',
  summary: 'Set the members and roles of a space',
  description:
    'For each named role: unlisted users lose it and leave, listed ones get it. Other roles stay unchanged. New members whom the caller may not view count as invitations (`invitationsPerHour`). At least one user who can edit the space must remain.',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  params,
  body: s.Object({
    rolesandusers: s.Record(s.String({ maxLength: 100 }), s.String({ maxLength: 500_000 }), {
      description: 'Role name → ids of users, separated by commas: `{"Admin": "id,id", "Viewer": ""}`',
      maxProperties: 100,
    }),
  }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, Conflict, TooMany],
  async handle({ params, body, caller }, { members }) {
    await members.assign(params.id, body.rolesandusers, caller)
    return { status: 200, body: { status: 'success' } }
  },
})

export const removeSpaceUser = route({
  method: 'POST',
  path: '/api/spaces/:id/removeUser',
  summary: 'Remove a member from a space',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  params,
  query: s.Object({ removeUser: s.String({ description: "The user's id" }) }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, Conflict],
  async handle({ params, query, caller }, { members }) {
    await members.remove(params.id, query.removeUser, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

const roleBody = s.Object({ role: s.String({ maxLength: 100, description: 'Name or id of the role' }) })

const member = s.Object({ id: s.id(), user: s.id() })

export const listSpaceMembers = route({
  method: 'GET',
  path: '/api/spaces/:id/members',
  summary: 'List the members of a space with their roles',
  description: 'An addition to Clowder 1.x: groups first, then users. Members through a group only are not listed.',
  permission: { right: 'ViewSpace', on: ref('space', 'id') },
  params,
  query: s.Object({ limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }), after: afterParameter() }),
  responses: { 200: s.Array(SpaceMember) },
  throws: [NotFound, Invalid],
  async handle({ params, query, caller, url }, { list, installation }) {
    const page = await list.page(caller, params.id, pageOf(query))
    return { status: 200, body: [...page.items], ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

export const setSpaceMember = route({
  method: 'PUT',
  path: '/api/spaces/:id/members/:user',
  summary: 'Set the role of a member of a space',
  description:
    'An addition to Clowder 1.x. New members are users whom the caller may view; others are invited by email. At least one user who can edit the space must remain.',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  params: member,
  body: roleBody,
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, Conflict],
  async handle({ params: { id, user }, body, caller }, { members }) {
    await members.setRole(id, user, body.role, caller)
    return { status: 200, body: { status: 'success' } }
  },
})

export const removeSpaceMember = route({
  method: 'DELETE',
  path: '/api/spaces/:id/members/:user',
  summary: 'Remove a member from a space',
  description: 'Like `removeUser` of Clowder 1.x.',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  params: member,
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, Conflict],
  async handle({ params: { id, user }, caller }, { members }) {
    await members.remove(id, user, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const leaveSpace = route({
  method: 'POST',
  path: '/api/spaces/:id/leave',
  summary: 'Leave a space',
  description: 'An addition to Clowder 1.x. The last user who can edit the space cannot leave it.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  params,
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, Conflict],
  async handle({ params: { id }, caller }, { members, policy }) {
    const user = signedIn(caller).id
    if (!(await members.has(id, user)) && (await policy.canOn(caller, 'ViewSpace', { kind: 'space', id })) !== 'yes')
      throw new NotFound('space')
    await members.remove(id, user, user)
    return { status: 200, body: { status: 'success' } }
  },
})

export const askToJoinSpace = route({
  method: 'POST',
  path: '/api/spaces/:id/request',
  summary: 'Request to join a space',
  description:
    'In Clowder 1.x this is on a web page only. Users who can edit the space are notified by email. Repeating a request is no error.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  alsoRequires: [{ right: 'ViewSpace', on: ref('space', 'id') }],
  params,
  body: s.Object({ message: s.Optional(s.prose(2000)) }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, Conflict, TooMany],
  async handle({ params, body, caller }, { requests }) {
    await requests.ask(params.id, signedIn(caller).id, body.message)
    return { status: 200, body: { status: 'success' } }
  },
})

export const withdrawSpaceRequest = route({
  method: 'DELETE',
  path: '/api/spaces/:id/request',
  summary: 'Withdraw a request to join a space',
  permission: 'signedIn',
  limitedKeys: 'refused',
  params: s.Object({ id: s.id('request to join') }),
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { requests }) {
    await requests.withdraw(params.id, signedIn(caller).id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const listSpaceRequests = route({
  method: 'GET',
  path: '/api/spaces/:id/requests',
  summary: 'List the join requests of a space, oldest first',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  params,
  query: s.Object({ limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }), after: afterParameter() }),
  responses: {
    200: s.Array(s.model('SpaceRequest', s.Object({ user: ShownPerson, created: s.v1Date(), message: s.Optional(s.String()) }))),
  },
  throws: [NotFound, Invalid],
  async handle({ params, query: { limit, after }, caller, url }, { requests, users, policy, installation }) {
    const from = after === undefined ? '' : readAfter(after).join('_')
    const all = [...(await requests.of(params.id))].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
    const rest = all.filter(each => keyOf(each) > from)
    const shown = rest.slice(0, limit)
    const person = await peopleFor(
      users,
      policy,
      caller,
      shown.map(({ user }) => user),
    )
    const body = shown.map(({ user, at, message }) => ({ user: person(user), created: s.toV1Date(at), ...(message ? { message } : {}) }))
    const last = shown.at(-1)
    const next = last && rest.length > limit ? keyOf(last) : undefined
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, { next }, { dated: false }) }
  },
})

const keyOf = ({ at, user }: { readonly at: string; readonly user: string }): string => `${at}_${user}`

export const acceptSpaceRequest = route({
  method: 'POST',
  path: '/api/spaces/:id/acceptRequest',
  summary: 'Accept a request to join a space',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  params,
  query: s.Object({ user: s.String(), role: s.String({ default: 'Viewer', maxLength: 100 }) }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params, query, caller }, { requests }) {
    await requests.accept(params.id, query.user, query.role, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const rejectSpaceRequest = route({
  method: 'POST',
  path: '/api/spaces/:id/rejectRequest',
  summary: 'Reject a request to join a space',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  params,
  query: s.Object({ user: s.String() }),
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, query, caller }, { requests }) {
    await requests.reject(params.id, query.user, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})
