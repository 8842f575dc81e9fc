import {
  afterParameter,
  Forbidden,
  Installation,
  Invalid,
  isServerAdmin,
  linkToNext,
  NotFound,
  Policy,
  peopleFor,
  routesFor,
  ShownPerson,
  s,
  signedIn,
  Users,
} from 'pounce/sdk'
import { GroupMembers } from './group-members.ts'
import { StoredGroups } from './stored-groups.ts'

const route = routesFor('groups', {
  groups: StoredGroups,
  members: GroupMembers,
  users: Users,
  policy: Policy,
  installation: Installation,
})
const params = s.Object({ id: s.id() })

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
    if ((await users.getMany(wanted)).size < wanted.length) throw new NotFound('user')
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
