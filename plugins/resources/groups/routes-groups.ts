import {
  type Caller,
  Conflict,
  Forbidden,
  type GroupRecord,
  Installation,
  Invalid,
  isServerAdmin,
  NotFound,
  Policy,
  ref,
  routesFor,
  type Stored,
  s,
  signedIn,
  Users,
} from 'pounce/sdk'
import { afterParameter, linkToNext, localSource, pageOf, peopleFor, readNamedAfter, ShownPerson } from 'pounce/sdk/kit'
import { GroupMembers } from './group-members.ts'
import { StoredGroups } from './stored-groups.ts'

const route = routesFor('groups', { groups: StoredGroups, installation: Installation, members: GroupMembers, users: Users, policy: Policy })

const params = s.Object({ id: s.id() })

const GroupJson = s.model(
  'Group',
  s.Object({
    id: s.id(),
    name: s.String(),
    description: s.String(),
    source: s.String({ description: '`local`, or the provider that determines the members at each sign-in' }),
    created: s.v1Date(),
    external: s.Optional(s.Union([s.String(), s.Null()], { description: 'Name at the provider; visible to server admins only' })),
    spaces: s.Optional(s.Integer({ description: 'Number of spaces it is a member of; visible to server admins only' })),
  }),
)

const shown = ({ id, name, description, source, created, external, memberships }: GroupRecord & Stored, caller: Caller) => ({
  ...{ id, name, description, source, created: s.toV1Date(created) },
  ...(isServerAdmin(caller) ? { external, spaces: memberships.length } : {}),
})

export const listGroups = route({
  method: 'GET',
  path: '/api/groups',
  summary: 'List groups by name',
  description: 'An addition to Clowder 1.x. Any user may list groups, but not their members or spaces.',
  permission: 'signedIn',
  query: s.Object({ limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }), after: afterParameter(1000) }),
  responses: { 200: s.Array(GroupJson) },
  throws: [Invalid],
  async handle({ query, caller, url }, { groups, installation }) {
    const page = await groups.page(pageOf(query, readNamedAfter))
    const body = page.items.map(group => shown(group, caller))
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

export const getGroup = route({
  method: 'GET',
  path: '/api/groups/:id',
  summary: 'Get a group',
  permission: 'signedIn',
  params,
  responses: { 200: GroupJson },
  throws: [NotFound],
  async handle({ params, caller }, { groups }) {
    const group = await groups.get(params.id)
    if (!group) throw new NotFound('group')
    return { status: 200, body: shown(group, caller) }
  },
})

export const createGroup = route({
  method: 'POST',
  path: '/api/groups',
  summary: 'Create a group',
  description: 'With `source` and `external` it is a group of a directory or identity provider: members are updated at each sign-in there.',
  permission: 'serverAdmin',
  body: s.model(
    'NewGroup',
    s.Object({
      name: s.line(200),
      description: s.Optional(s.prose(2000)),
      source: s.Optional(
        s.String({ pattern: '^[a-z0-9][a-z0-9-]{0,63}$', description: '`local`, or the id of a provider such as `ldap`' }),
      ),
      external: s.Optional(s.line(1000)),
    }),
  ),
  responses: { 200: s.Object({ id: s.id() }) },
  throws: [Invalid, Conflict],
  async handle({ body: { name, description = '', source = localSource, external = null }, caller }, { groups }) {
    const { id } = await groups.create({ name, description, source, external, author: signedIn(caller).id })
    return { status: 200, body: { id } }
  },
})

export const updateGroup = route({
  method: 'PUT',
  path: '/api/groups/:id',
  summary: 'Update the name and description of a group',
  description: 'Absent members stay unchanged.',
  permission: 'serverAdmin',
  params,
  body: s.Object({ name: s.Optional(s.line(200)), description: s.Optional(s.prose(2000)) }),
  responses: { 200: s.success() },
  throws: [Invalid, NotFound, Conflict],
  async handle({ params, body, caller }, { groups }) {
    await groups.describe(params.id, body, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const deleteGroup = route({
  method: 'DELETE',
  path: '/api/groups/:id',
  summary: 'Delete a group',
  description: 'Its members lose the rights they have through it.',
  permission: 'serverAdmin',
  params,
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { groups }) {
    await groups.remove(params.id, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const listGroupMembers = route({
  method: 'GET',
  path: '/api/groups/:id/members',
  summary: 'List the members of a group',
  description: 'For server admins and members of the group.',
  permission: 'signedIn',
  params,
  query: s.Object({ limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }), after: afterParameter() }),
  responses: { 200: s.Array(ShownPerson) },
  throws: [NotFound, Forbidden, Invalid],
  async handle({ params: { id }, query: { limit, after }, caller, url }, { groups, users, policy, installation }) {
    if (!(await groups.get(id))) throw new NotFound('group')
    const me = await users.get(signedIn(caller).id)
    if (!isServerAdmin(caller) && !me?.groups?.includes(id))
      throw new Forbidden('Only server admins and members may list the members of a group')
    if (after !== undefined && !s.isId(after)) throw new Invalid('after must be a cursor from a Link header')
    const page = await users.inGroup(id, { limit, ...(after === undefined ? {} : { after: [after] }) })
    const ids = page.items.map(user => user.id)
    const person = await peopleFor(users, policy, caller, ids)
    return { status: 200, body: ids.map(person), ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

export const addGroupMembers = route({
  method: 'POST',
  path: '/api/groups/:id/members',
  summary: 'Add members to a local group',
  description: 'If one of the users does not exist, nothing changes. Existing members are kept.',
  permission: 'serverAdmin',
  params,
  body: s.Object({ users: s.Array(s.id(), { minItems: 1, maxItems: 1000 }) }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params, body, caller }, { members, users }) {
    const wanted = [...new Set(body.users)]
    const found = await users.getMany(wanted)
    if (found.size < wanted.length || [...found.values()].some(({ erasure }) => erasure)) throw new NotFound('user')
    for (const user of wanted) await members.add(params.id, user, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const removeGroupMember = route({
  method: 'DELETE',
  path: '/api/groups/:id/members/:user',
  summary: 'Remove a member from a local group',
  permission: 'serverAdmin',
  params: s.Object({ id: s.id(), user: s.id() }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params: { id, user }, caller }, { members }) {
    await members.remove(id, user, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

const spacesRoute = routesFor('spaces', { groups: StoredGroups, users: Users, policy: Policy })

const spaceParams = s.Object({ id: s.id(), group: s.id() })

/** On a private server users must not become visible by adding a group of strangers to one's own space. */
const requireAcquaintance = async (
  caller: Caller,
  { space, group }: { readonly space: string; readonly group: string },
  { groups, users }: { readonly groups: StoredGroups; readonly users: Users },
): Promise<void> => {
  if (isServerAdmin(caller)) return
  // Read the account first: a group that is deleted meanwhile is deleted before its members are removed.
  const own = caller.user && (await users.get(caller.user.id))
  const found = await groups.get(group)
  if (!found || own?.groups?.includes(group) || found.memberships.some(held => held.space === space)) return
  throw new Forbidden(`You are not a member of the group ${found.name}: one of its members or a server admin can add it to the space`)
}

export const setSpaceGroup = spacesRoute({
  method: 'PUT',
  path: '/api/spaces/:id/groups/:group',
  summary: 'Set the role of a group in a space',
  description:
    'An addition to Clowder 1.x: each member of the group then has the role, in addition to their own. On a private server only a member of the group or a server admin may add it, because members of a space can see each other.',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  params: spaceParams,
  body: s.Object({ role: s.String({ default: 'Viewer', maxLength: 100, description: 'Name or id of the role' }) }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, Forbidden],
  async handle({ params: { id, group }, body, caller }, { groups, users, policy }) {
    if (policy.isPrivate) await requireAcquaintance(caller, { space: id, group }, { groups, users })
    const roles = await users.roles()
    const role = roles.find(({ id, name }) => body.role === name || body.role === id)
    if (!role) throw new Invalid(`Unknown role ${body.role}; available: ${roles.map(({ name }) => name).join(', ')}`)
    await groups.setMembership(group, id, role.id, caller.user?.id)
    // The space or the role may have been deleted meanwhile, after its cascade has run.
    const isStill = (await users.roles()).some(one => one.id === role.id)
    if (isStill && (await policy.canOn(caller, 'EditSpace', { kind: 'space', id })) === 'yes')
      return { status: 200, body: { status: 'success' } }
    await groups.setMembership(group, id, undefined)
    throw new NotFound(isStill ? 'space' : 'role')
  },
})

export const removeSpaceGroup = spacesRoute({
  method: 'DELETE',
  path: '/api/spaces/:id/groups/:group',
  summary: 'Remove a group from a space',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  params: spaceParams,
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params: { id, group }, caller }, { groups }) {
    const found = await groups.get(group)
    if (!found) throw new NotFound('group')
    if (!found.memberships.some(({ space }) => space === id)) throw new Invalid('This group is not a member of the space')
    await groups.setMembership(group, id, undefined, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

const listing = routesFor('groups', { groups: StoredGroups, users: Users, installation: Installation })

export const listGroupSpaces = listing({
  method: 'GET',
  path: '/api/groups/:id/spaces',
  summary: 'List the spaces and roles of a group',
  permission: 'serverAdmin',
  params: s.Object({ id: s.id() }),
  query: s.Object({ limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }), after: afterParameter() }),
  responses: { 200: s.Array(s.Object({ space: s.id(), role: s.Object({ id: s.String(), name: s.String() }) })) },
  throws: [NotFound],
  async handle({ params, query: { limit, after = '' }, url }, { groups, users, installation }) {
    const group = await groups.get(params.id)
    if (!group) throw new NotFound('group')
    const names = new Map((await users.roles()).map(({ id, name }) => [id, name]))
    const rest = group.memberships.filter(({ space }) => space > after).sort((one, other) => (one.space < other.space ? -1 : 1))
    const body = rest.slice(0, limit).map(({ space, role }) => ({ space, role: { id: role, name: names.get(role) ?? '' } }))
    const next = rest.length > limit ? body.at(-1)?.space : undefined
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, { next }, { dated: false }) }
  },
})
