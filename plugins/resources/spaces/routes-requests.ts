import {
  afterParameter,
  Conflict,
  Installation,
  Invalid,
  linkToNext,
  NotFound,
  Policy,
  peopleFor,
  readAfter,
  ref,
  routesFor,
  ShownPerson,
  s,
  signedIn,
  TooMany,
  Users,
} from 'pounce/sdk'
import { JoinRequests } from './join-requests.ts'

const route = routesFor('spaces', { requests: JoinRequests, users: Users, policy: Policy, installation: Installation })
const params = s.Object({ id: s.id() })

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
  params,
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
