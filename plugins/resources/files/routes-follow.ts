import { FollowAnswer, follow, NotFound, Policy, Recommenders, ref, routesFor, s, Users, unfollow } from 'pounce/sdk'

const route = routesFor('files', { users: Users, recommenders: Recommenders, policy: Policy })
const params = s.Object({ id: s.id() })
const success = { status: 200, body: { status: 'success' } } as const

export const followFile = route({
  method: 'POST',
  path: '/api/files/:id/follow',
  summary: 'Follow a file',
  permission: 'signedIn',
  alsoRequires: [{ right: 'ViewFile', on: ref('file', 'id') }],
  params,
  responses: { 200: FollowAnswer },
  throws: [NotFound],
  async handle({ params, caller }, needs) {
    return follow(needs, caller, { kind: 'file', id: params.id })
  },
})

export const unfollowFile = route({
  method: 'POST',
  path: '/api/files/:id/unfollow',
  summary: 'Unfollow a file',
  permission: 'signedIn',
  params,
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, caller }, { users, policy }) {
    await unfollow(users, policy, caller, { kind: 'file', id: params.id })
    return success
  },
})
