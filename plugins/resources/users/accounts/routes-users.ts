import {
  Conflict,
  event,
  FollowAnswer,
  follow,
  Installation,
  Invalid,
  linkToNext,
  NotFound,
  one,
  Policy,
  pageOf,
  Recommenders,
  routesFor,
  s,
  signedIn,
  Users,
  unfollow,
} from 'pounce/sdk'
import { AccountList, Accounts } from './accounts.ts'
import { People } from './portraits.ts'
import { ProfileChange, ProfileDesk } from './profiles.ts'
import { UserJson } from './user-json.ts'

const route = routesFor('users', {
  users: Users,
  recommenders: Recommenders,
  people: People,
  accounts: Accounts,
  profiles: ProfileDesk,
  installation: Installation,
  policy: Policy,
})
const params = s.Object({ id: s.id() })

export const listUsers = route({
  method: 'GET',
  path: '/api/users',
  summary: 'All accounts, the oldest first',
  permission: 'serverAdmin',
  query: s.Object({
    limit: s.Integer({
      default: 100,
      minimum: 0,
      description: 'At most so many; 0, or more than 1,000, gives 1,000 and a link to the rest',
    }),
    after: s.Optional(s.String({ maxLength: 200, description: 'From a `Link` header: where the page before this one ended' })),
  }),
  responses: { 200: s.Array(UserJson) },
  throws: [Invalid],
  async handle({ query, url }, { accounts, people, installation }) {
    const page = await accounts.page(pageOf(query))
    const body = page.items.map(user => people.of(user))
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

export const createUser = route({
  method: 'POST',
  path: '/api/users',
  summary: 'Make an account',
  description: 'An addition to Clowder 1.x. Without a password the account cannot sign in until `pounce user passwd` gives it one.',
  permission: 'serverAdmin',
  body: s.Object({
    email: s.String({ minLength: 3, maxLength: 320 }),
    password: s.Optional(s.String({ maxLength: 4000, description: '8 to 1,000 characters' })),
    firstName: s.line(200),
    lastName: s.line(200),
  }),
  responses: { 200: s.Object({ id: s.id() }) },
  throws: [Invalid, Conflict],
  async handle({ body, caller }, { users }) {
    const { email, firstName, lastName, password } = body
    const given = { email, firstName, lastName, status: 'Active', actor: signedIn(caller).id } as const
    const { id } = await users.create(password === undefined ? given : { ...given, password })
    return { status: 200, body: { id } }
  },
})

export const getUser = route({
  method: 'GET',
  path: '/api/users/:id',
  summary: 'One account',
  permission: 'ViewUser',
  of: one('user'),
  params,
  responses: { 200: UserJson },
  throws: [NotFound],
  async handle({ params }, { users, people }) {
    const user = await users.get(params.id)
    if (!user) throw new NotFound('user')
    return { status: 200, body: people.of(user) }
  },
})

export const getUserByEmail = route({
  method: 'GET',
  path: '/api/users/email/:email',
  summary: 'The account with an e-mail address',
  description: 'Only of people whom the caller may look at; an address that nobody has is answered alike.',
  permission: 'ViewUser',
  params: s.Object({ email: s.String({ minLength: 3, maxLength: 320 }) }),
  responses: { 200: UserJson },
  throws: [NotFound],
  async handle({ params, caller }, { users, people, policy }) {
    const user = await users.byEmail(params.email)
    if (!user || (await policy.canOn(caller, 'ViewUser', { kind: 'user', id: user.id })) !== 'yes') throw new NotFound('user')
    return { status: 200, body: people.of(user) }
  },
})

export const renameUser = route({
  method: 'POST',
  path: '/api/users/:id/updateName',
  summary: 'Change the name of an account',
  description:
    'One may do this to oneself, a server admin to everybody. Names are looked up when shown, so everything shows the new one at once, but for metadata, which keep the name under which they were added; search has it a moment later.',
  permission: 'EditUser',
  of: one('user'),
  params,
  query: s.Object({ firstName: s.line(200), lastName: s.line(200) }),
  responses: { 200: s.success() },
  throws: [Invalid, NotFound],
  async handle({ params, query, caller }, { users }) {
    const set = { firstName: query.firstName.trim(), lastName: query.lastName.trim() }
    const renamed = event('user.updated', { kind: 'user', id: params.id }, { fields: ['firstName', 'lastName'] }, caller.user?.id)
    await users.change(params.id, { set }, [renamed])
    return { status: 200, body: { status: 'success' } }
  },
})

export const updateUser = route({
  method: 'PUT',
  path: '/api/users/:id',
  summary: 'Change what somebody says of themselves',
  description:
    'An addition to Clowder 1.x, which has this on its web pages only. One may do this to oneself, a server admin to everybody. What is absent stays; institution and projects are names that were added to the lists.',
  permission: 'EditUser',
  of: one('user'),
  params,
  body: ProfileChange,
  responses: { 200: UserJson },
  throws: [Invalid, NotFound],
  async handle({ params, body, caller }, { profiles, people }) {
    return { status: 200, body: people.of(await profiles.change(params.id, body, caller.user?.id)) }
  },
})

const followee = s.Object({ followeeUUID: s.id() })
const followed = ({ followeeUUID }: { followeeUUID: string }) => ({ kind: 'user', id: followeeUUID }) as const

export const followUser = route({
  method: 'POST',
  path: '/api/users/follow',
  summary: 'Follow what somebody does',
  permission: 'signedIn',
  also: [{ permission: 'ViewUser', of: followed }],
  query: followee,
  responses: { 200: FollowAnswer },
  throws: [Invalid, NotFound],
  async handle({ query, caller }, needs) {
    if (query.followeeUUID === caller.user?.id) throw new Invalid('Nobody can follow themselves')
    return follow(needs, caller, followed(query))
  },
})

export const unfollowUser = route({
  method: 'POST',
  path: '/api/users/unfollow',
  summary: 'Follow somebody no longer',
  permission: 'signedIn',
  query: followee,
  responses: { 200: s.success() },
  async handle({ query, caller }, { users, policy }) {
    await unfollow(users, policy, caller, followed(query), 'ViewUser')
    return { status: 200, body: { status: 'success' } }
  },
})

export const setStatuses = route({
  method: 'POST',
  path: '/api/admin/users',
  summary: 'Activate, suspend or promote accounts',
  description:
    'Acts on running sessions and keys at once; each account that changes is told by mail. Nothing is changed when one of the ids is unknown or named twice, or when the caller would lose the rank of admin.',
  permission: 'serverAdmin',
  body: AccountList,
  responses: { 200: s.success() },
  throws: [Invalid, NotFound, Conflict],
  async handle({ body, caller }, { accounts }) {
    await accounts.setStatuses(body, signedIn(caller).id)
    return { status: 200, body: { status: 'success' } }
  },
})
