import {
  afterParameter,
  Conflict,
  Installation,
  Invalid,
  linkToNext,
  NotFound,
  one,
  Policy,
  pageOf,
  routesFor,
  s,
  signedIn,
} from 'pounce/sdk'
import { SpaceMember, SpaceMemberList } from './member-list.ts'
import { SpaceMembers } from './members.ts'

const route = routesFor('spaces', {
  members: SpaceMembers,
  list: SpaceMemberList,
  policy: Policy,
  installation: Installation,
})
const params = s.Object({ id: s.id() })

export const updateSpaceUsers = route({
  method: 'POST',
  path: '/api/spaces/:id/updateUsers',
  summary: 'Say who holds which role in a space',
  description:
    'For each role that is named: users that are not listed lose it and leave, listed ones get it. Roles that are not named are left alone. Somebody who can edit the space has to stay.',
  permission: 'EditSpace',
  of: one('space'),
  params,
  body: s.Object({
    rolesandusers: s.Record(s.String({ maxLength: 100 }), s.String({ maxLength: 500_000 }), {
      description: 'Role name → ids of users, joined by commas: `{"Admin": "id,id", "Viewer": ""}`',
      maxProperties: 100,
    }),
  }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, Conflict],
  async handle({ params, body, caller }, { members }) {
    await members.assign(params.id, body.rolesandusers, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const removeSpaceUser = route({
  method: 'POST',
  path: '/api/spaces/:id/removeUser',
  summary: 'Take a member out of a space',
  permission: 'EditSpace',
  of: one('space'),
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
  summary: 'The members of a space, with their roles',
  description: 'An addition to Clowder 1.x: groups first, then people. Who is a member through a group alone is not named.',
  permission: 'ViewSpace',
  of: one('space'),
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
  summary: 'Give somebody a role in a space',
  description: 'An addition to Clowder 1.x. Somebody who can edit the space has to stay.',
  permission: 'EditSpace',
  of: one('space'),
  params: member,
  body: roleBody,
  responses: { 200: s.success() },
  throws: [NotFound, Invalid, Conflict],
  async handle({ params: { id, user }, body, caller }, { members }) {
    await members.setRole(id, user, body.role, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const removeSpaceMember = route({
  method: 'DELETE',
  path: '/api/spaces/:id/members/:user',
  summary: 'Take a member out of a space',
  description: 'As `removeUser` of Clowder 1.x.',
  permission: 'EditSpace',
  of: one('space'),
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
  description: 'An addition to Clowder 1.x. The last who can edit the space cannot leave it.',
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
