import { Invalid, NotFound, one, routesFor, s } from 'pounce/sdk'
import { SpaceMembers } from './members.ts'

const route = routesFor('spaces', { members: SpaceMembers })
const params = s.Object({ id: s.id() })

export const updateSpaceUsers = route({
  method: 'POST',
  path: '/api/spaces/:id/updateUsers',
  summary: 'Say who holds which role in a space',
  description:
    'For each role that is named: users that are not listed lose it and leave, listed ones get it. Roles that are not named are left alone.',
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
  throws: [NotFound, Invalid],
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
  throws: [NotFound, Invalid],
  async handle({ params, query, caller }, { members }) {
    await members.remove(params.id, query.removeUser, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const acceptSpaceRequest = route({
  method: 'POST',
  path: '/api/spaces/:id/acceptRequest',
  summary: 'Let someone in who asked to join a space',
  permission: 'EditSpace',
  of: one('space'),
  params,
  query: s.Object({ user: s.String(), role: s.String({ default: 'Viewer', maxLength: 100 }) }),
  responses: { 200: s.success() },
  throws: [NotFound, Invalid],
  async handle({ params, query, caller }, { members }) {
    await members.settleRequest(params.id, query.user, query.role, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const rejectSpaceRequest = route({
  method: 'POST',
  path: '/api/spaces/:id/rejectRequest',
  summary: 'Turn someone down who asked to join a space',
  permission: 'EditSpace',
  of: one('space'),
  params,
  query: s.Object({ user: s.String() }),
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, query, caller }, { members }) {
    await members.settleRequest(params.id, query.user, undefined, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})
