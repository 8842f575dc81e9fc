import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import {
  type Bytes,
  Conflict,
  event,
  Installation,
  Invalid,
  NotFound,
  Policy,
  Recommenders,
  ref,
  routesFor,
  type Stored,
  s,
  signedIn,
  type UserRecord,
  Users,
} from 'pounce/sdk'
import { FollowAnswer, follow, linkToNext, pageOf, requireRecentAuthentication, unfollow } from 'pounce/sdk/kit'
import { AccountAdministration, AccountDirectory, AccountList, isSearchable } from './account-administration.ts'
import { ProfileChange, ProfileEdits } from './profile-edits.ts'
import { drawAvatar, UserJson, UserViews } from './user-json.ts'

const route = routesFor('users', {
  users: Users,
  recommenders: Recommenders,
  userViews: UserViews,
  accounts: AccountAdministration,
  profiles: ProfileEdits,
  installation: Installation,
  policy: Policy,
})

const params = s.Object({ id: s.id() })

export const listUsers = route({
  method: 'GET',
  path: '/api/users',
  summary: 'List accounts, oldest first',
  permission: 'serverAdmin',
  query: s.Object({
    limit: s.Integer({
      default: 100,
      minimum: 0,
      description: 'Page size; 0, or values above 1,000, mean 1,000 and a link to the next page',
    }),
    after: s.Optional(s.String({ maxLength: 200, description: 'Cursor from a `Link` header: the end of the previous page' })),
  }),
  responses: { 200: s.Array(UserJson) },
  throws: [Invalid],
  async handle({ query, url }, { accounts, userViews, installation }) {
    const page = await accounts.page(pageOf(query))
    const body = page.items.map(user => userViews.of(user))
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

export const createUser = route({
  method: 'POST',
  path: '/api/users',
  summary: 'Create an account',
  description: 'An addition to Clowder 1.x. Without a password the account cannot sign in until `pounce user passwd` sets one.',
  permission: 'serverAdmin',
  body: s.model(
    'NewUser',
    s.Object({
      email: s.String({ minLength: 3, maxLength: 320 }),
      password: s.Optional(s.String({ maxLength: 4000, description: '8 to 1,000 characters' })),
      firstName: s.line(200),
      lastName: s.line(200),
    }),
  ),
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
  summary: 'Get an account',
  permission: { right: 'ViewUser', on: ref('user', 'id') },
  params,
  responses: { 200: UserJson },
  throws: [NotFound],
  async handle({ params }, { users, userViews }) {
    const user = await users.get(params.id)
    if (!user) throw new NotFound('user')
    return { status: 200, body: userViews.of(user) }
  },
})

export const getUserByEmail = route({
  method: 'GET',
  path: '/api/users/email/:email',
  summary: 'Get an account by email address',
  description: 'Only users whom the caller may view; an unknown address gets the same response.',
  permission: { right: 'ViewUser', unscoped: 'The path names an address; the handler checks ViewUser on the user who has it.' },
  params: s.Object({ email: s.String({ minLength: 3, maxLength: 320 }) }),
  responses: { 200: UserJson },
  throws: [NotFound],
  async handle({ params, caller }, { users, userViews, policy }) {
    const user = await users.byEmail(params.email)
    if (!user || (await policy.canOn(caller, 'ViewUser', { kind: 'user', id: user.id })) !== 'yes') throw new NotFound('user')
    return { status: 200, body: userViews.of(user) }
  },
})

export const renameUser = route({
  method: 'POST',
  path: '/api/users/:id/updateName',
  summary: 'Update the name of an account',
  description:
    'For the user and for server admins. Names are looked up when shown, so the new name appears everywhere at once, except in metadata, which keeps the name under which it was added; search is updated shortly afterwards.',
  permission: { right: 'EditUser', on: ref('user', 'id') },
  params,
  query: s.Object({ firstName: s.line(200), lastName: s.line(200) }),
  responses: { 200: s.success() },
  throws: [Invalid, NotFound],
  async handle({ params, query, caller }, { users }) {
    if (params.id !== caller.user?.id) requireRecentAuthentication(caller)
    const set = { firstName: query.firstName.trim(), lastName: query.lastName.trim() }
    const renamed = event('user.updated', { kind: 'user', id: params.id }, { fields: ['firstName', 'lastName'] }, caller.user?.id)
    await users.change(params.id, { set }, [renamed])
    return { status: 200, body: { status: 'success' } }
  },
})

export const updateUser = route({
  method: 'PUT',
  path: '/api/users/:id',
  summary: 'Update a user profile',
  description:
    'An addition to Clowder 1.x, which has this on web pages only. For the user and for server admins. Absent members stay unchanged; institution and projects are names from the lists.',
  permission: { right: 'EditUser', on: ref('user', 'id') },
  params,
  body: ProfileChange,
  responses: { 200: UserJson },
  throws: [Invalid, NotFound],
  async handle({ params, body, caller }, { profiles, userViews }) {
    if (params.id !== caller.user?.id) requireRecentAuthentication(caller)
    return { status: 200, body: userViews.of(await profiles.change(params.id, body, caller.user?.id)) }
  },
})

const followee = s.Object({ followeeUUID: s.id() })

const followed = ({ followeeUUID }: { followeeUUID: string }) => ({ kind: 'user', id: followeeUUID }) as const

export const followUser = route({
  method: 'POST',
  path: '/api/users/follow',
  summary: 'Follow a user',
  permission: 'signedIn',
  alsoRequires: [{ right: 'ViewUser', on: followed }],
  query: followee,
  responses: { 200: FollowAnswer },
  throws: [Invalid, NotFound],
  async handle({ query, caller }, needs) {
    if (query.followeeUUID === caller.user?.id) throw new Invalid('Users cannot follow themselves')
    return follow(needs, caller, followed(query))
  },
})

export const unfollowUser = route({
  method: 'POST',
  path: '/api/users/unfollow',
  summary: 'Unfollow a user',
  permission: 'signedIn',
  query: followee,
  responses: { 200: s.success() },
  async handle({ query, caller }, { users, policy }) {
    await unfollow(users, policy, caller, followed(query))
    return { status: 200, body: { status: 'success' } }
  },
})

export const setStatuses = route({
  method: 'POST',
  path: '/api/admin/users',
  summary: 'Update the status of accounts',
  description:
    'Takes effect on active sessions and keys at once; each changed account is notified by email. Nothing changes if one of the ids is unknown or repeated, or if the caller would lose the admin status.',
  permission: 'serverAdmin',
  body: AccountList,
  responses: { 200: s.success() },
  throws: [Invalid, NotFound, Conflict],
  async handle({ body, caller }, { accounts }) {
    await accounts.setStatuses(body, signedIn(caller).id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const getAvatar = route({
  method: 'GET',
  path: '/api/avatars/:picture',
  summary: 'Get an avatar with initials',
  description:
    'An addition to Clowder 1.x that replaces Gravatar: `avatar` of users without an image links here. It is drawn from the URL, without looking up a user.',
  permission: 'anyone',
  ignoresCredentials: true,
  params: s.Object({
    picture: s.String({ maxLength: 20, description: 'Up to two letters or digits, a dash, and the number of a colour' }),
  }),
  responses: { 200: s.bytes<Bytes>({ 'image/svg+xml': s.bytes() }) },
  throws: [NotFound],
  async handle({ params }) {
    const svg = drawAvatar(params.picture)
    if (svg === undefined) throw new NotFound('picture')
    const bytes = Buffer.from(svg)
    const body: Bytes = {
      contentType: 'image/svg+xml',
      sizeBytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      isTrusted: true,
      open: range => Readable.from([range ? bytes.subarray(range.start, range.end + 1) : bytes]),
    }
    const headers = { 'cache-control': 'public, max-age=86400', 'content-security-policy': "sandbox; default-src 'none'" }
    return { status: 200, body, headers }
  },
})

const adminRoute = routesFor('admin', { directory: AccountDirectory, userViews: UserViews, installation: Installation })

const time = (description: string) => s.Union([s.String(), s.Null()], { description })

const Standing = s.Object({
  status: s.String({ description: '`Active`, `Inactive`, `ReadOnly` or `Admin`' }),
  provider: s.String({ description: 'Identity provider: `userpass` for local accounts' }),
  created: s.String({ description: 'ISO 8601' }),
  lastLogin: time('ISO 8601; null if the user has never signed in'),
  termsAccepted: time('ISO 8601; null if never accepted'),
  hasSecondFactor: s.Boolean(),
})

const shown = (userViews: UserViews, user: UserRecord & Stored) => {
  const { status, provider, created, lastLogin, termsAccepted } = user
  const hasSecondFactor = user.secondFactor !== undefined
  return { ...userViews.of(user), status, provider, created, lastLogin, termsAccepted, hasSecondFactor }
}

export const listAccounts = adminRoute({
  method: 'GET',
  path: '/api/admin/users',
  summary: 'List accounts with their status, oldest first',
  description:
    'An addition to Clowder 1.x, whose list has no status. `status=Inactive` lists accounts pending approval. Paginated by the `Link` header; a page of search results can be shorter than `limit`.',
  permission: 'serverAdmin',
  query: s.Object({
    status: s.Optional(s.Union([s.Literal('Active'), s.Literal('Inactive'), s.Literal('ReadOnly'), s.Literal('Admin')])),
    text: s.Optional(
      s.String({
        maxLength: 200,
        description:
          'Search text in email address, first or last name, ignoring case; with several words each must match. At least one of them must have three characters',
      }),
    ),
    limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }),
    after: s.Optional(s.String({ maxLength: 200, description: 'Cursor from a `Link` header: the end of the previous page' })),
  }),
  responses: { 200: s.Array(s.Intersect([UserJson, Standing])) },
  throws: [Invalid],
  async handle({ query: { status, text, limit, after }, url }, { directory, userViews, installation }) {
    if (text && !isSearchable(text)) throw new Invalid('text must have a word of at least three characters')
    if (after !== undefined && !s.isId(after)) throw new Invalid('after must be a cursor from a Link header')
    const search = { ...(status === undefined ? {} : { status }), ...(text ? { text } : {}) }
    const page = await directory.page(search, { limit, ...(after === undefined ? {} : { after: [after] as const }) })
    const body = page.items.map(user => shown(userViews, user))
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})
