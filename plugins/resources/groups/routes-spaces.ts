import {
  afterParameter,
  type Caller,
  Forbidden,
  Installation,
  Invalid,
  isServerAdmin,
  linkToNext,
  NotFound,
  Policy,
  ref,
  routesFor,
  s,
  Users,
} from 'pounce/sdk'
import { StoredGroups } from './stored-groups.ts'

const route = routesFor('spaces', { groups: StoredGroups, users: Users, policy: Policy })
const params = s.Object({ id: s.id(), group: s.id() })

/** On a private server nobody gets to see people by letting a group of strangers into a space of their own. */
const requireAcquaintance = async (
  caller: Caller,
  { space, group }: { readonly space: string; readonly group: string },
  { groups, users }: { readonly groups: StoredGroups; readonly users: Users },
): Promise<void> => {
  if (isServerAdmin(caller)) return
  // The account first: a group that is deleted meanwhile is gone before its members leave it.
  const own = caller.user && (await users.get(caller.user.id))
  const found = await groups.get(group)
  if (!found || own?.groups?.includes(group) || found.memberships.some(held => held.space === space)) return
  throw new Forbidden(`You are not a member of the group ${found.name}: one of its members or a server admin can add it to the space`)
}

export const setSpaceGroup = route({
  method: 'PUT',
  path: '/api/spaces/:id/groups/:group',
  summary: 'Set the role of a group in a space',
  description:
    'An addition to Clowder 1.x: each member of the group then has the role, in addition to their own. On a private server only a member of the group or a server admin may add it, because members of a space can see each other.',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  params,
  body: s.Object({ role: s.String({ default: 'Viewer', maxLength: 100, description: 'Name or id of the role' }) }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, Forbidden],
  async handle({ params: { id, group }, body, caller }, { groups, users, policy }) {
    if (policy.isPrivate) await requireAcquaintance(caller, { space: id, group }, { groups, users })
    const roles = await users.roles()
    const role = roles.find(({ id, name }) => body.role === name || body.role === id)
    if (!role) throw new Invalid(`Unknown role ${body.role}; available: ${roles.map(({ name }) => name).join(', ')}`)
    await groups.setMembership(group, id, role.id, caller.user?.id)
    // The space, or the role, may have gone meanwhile, after those that were there had been seen to.
    const isStill = (await users.roles()).some(one => one.id === role.id)
    if (isStill && (await policy.canOn(caller, 'EditSpace', { kind: 'space', id })) === 'yes')
      return { status: 200, body: { status: 'success' } }
    await groups.setMembership(group, id, undefined)
    throw new NotFound(isStill ? 'space' : 'role')
  },
})

export const removeSpaceGroup = route({
  method: 'DELETE',
  path: '/api/spaces/:id/groups/:group',
  summary: 'Remove a group from a space',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  params,
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
