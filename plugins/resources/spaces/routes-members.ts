import {
  afterParameter,
  Conflict,
  Installation,
  Invalid,
  linkToNext,
  NotFound,
  Policy,
  pageOf,
  ref,
  routesFor,
  s,
  signedIn,
} from 'pounce/sdk'
import { MemberList, SpaceMember } from './member-list.ts'
import { SpaceMembers } from './space-members.ts'

const route = routesFor('spaces', {
  members: SpaceMembers,
  list: MemberList,
  policy: Policy,
  installation: Installation,
})
const params = s.Object({ id: s.id() })

export const updateSpaceUsers = route({
  method: 'POST',
  path: '/api/spaces/:id/updateUsers',
  summary: 'Set the members and roles of a space',
  description:
    'For each named role: unlisted users lose it and leave, listed ones get it. Other roles stay unchanged. New members are users whom the caller may view; others are invited by email. At least one user who can edit the space must remain.',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  params,
  body: s.Object({
    rolesandusers: s.Record(s.String({ maxLength: 100 }), s.String({ maxLength: 500_000 }), {
      description: 'Role name → ids of users, separated by commas: `{"Admin": "id,id", "Viewer": ""}`',
      maxProperties: 100,
    }),
  }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, Conflict],
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
