import { Installation, Invalid, NotSignedIn, Policy, routesFor, s, signedIn, Users } from 'pounce/sdk'
import { afterParameter, linkToNext, peopleFor, ShownPerson } from 'pounce/sdk/kit'
import { FollowedResources, PeopleDirectory } from './people-directory.ts'

const route = routesFor('users', {
  directory: PeopleDirectory,
  followed: FollowedResources,
  users: Users,
  policy: Policy,
  installation: Installation,
})

export const findPeople = route({
  method: 'GET',
  path: '/api/people',
  summary: 'Search people by the beginning of a name',
  description:
    'An addition to Clowder 1.x. People whose account the caller may view: first those whose first name begins with `prefix`, then by last name, then by email address; ignoring case and accents. Suspended accounts and those pending approval are omitted. A page can be short and still have a `Link`.',
  permission: 'signedIn',
  limitedKeys: 'allowed',
  query: s.Object({
    prefix: s.String({ default: '', maxLength: 200, description: 'Default: everyone, by first name' }),
    limit: s.Integer({ default: 20, minimum: 1, maximum: 200 }),
    after: afterParameter(2000),
  }),
  responses: { 200: s.Array(ShownPerson) },
  throws: [Invalid],
  async handle({ query: { prefix, limit, after }, caller, url }, { directory, users, policy, installation }) {
    const { people, next } = await directory.page(caller, prefix, { limit, after })
    const ids = people.map(({ id }) => id)
    const show = await peopleFor(users, policy, caller, ids)
    return { status: 200, body: ids.map(show), ...linkToNext(installation.baseUrl, url, { next }, { dated: false }) }
  },
})

export const listFollowing = route({
  method: 'GET',
  path: '/api/me/following',
  summary: 'List what I follow',
  description:
    'An addition to Clowder 1.x, by type and id. Resources that the caller may no longer view are omitted, so a page can be short and still have a `Link`.',
  permission: 'signedIn',
  limitedKeys: 'allowed',
  query: s.Object({ limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }), after: afterParameter() }),
  responses: {
    200: s.Array(s.model('FollowedResource', s.Object({ type: s.String(), id: s.String(), name: s.String() }))),
  },
  throws: [NotSignedIn],
  async handle({ query: { limit, after }, caller, url }, { followed, installation }) {
    const { items, next } = await followed.page(caller, signedIn(caller).id, { limit, after })
    return { status: 200, body: items, ...linkToNext(installation.baseUrl, url, { next }, { dated: false }) }
  },
})
