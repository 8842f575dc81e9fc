import { Installation, Invalid, linkToNext, routesFor, type Stored, s, type UserRecord } from 'pounce/sdk'
import { AccountDirectory, isSearchable } from './account-list.ts'
import { UserJson } from './user-json.ts'
import { UserViews } from './user-views.ts'

const route = routesFor('admin', { directory: AccountDirectory, people: UserViews, installation: Installation })

const time = (description: string) => s.Union([s.String(), s.Null()], { description })
const Standing = s.Object({
  status: s.String({ description: '`Active`, `Inactive`, `ReadOnly` or `Admin`' }),
  provider: s.String({ description: 'Identity provider: `userpass` for local accounts' }),
  created: s.String({ description: 'ISO 8601' }),
  lastLogin: time('ISO 8601; null when they never signed in'),
  termsAccepted: time('ISO 8601; null when they never did'),
  hasSecondFactor: s.Boolean(),
})

const shown = (people: UserViews, user: UserRecord & Stored) => {
  const { status, provider, created, lastLogin, termsAccepted } = user
  const hasSecondFactor = user.secondFactor !== undefined
  return { ...people.of(user), status, provider, created, lastLogin, termsAccepted, hasSecondFactor }
}

export const listAccounts = route({
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
          'Search text in email address, first or last name, ignoring case; with several words each must match. One of them has three characters or more',
      }),
    ),
    limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }),
    after: s.Optional(s.String({ maxLength: 200, description: 'Cursor from a `Link` header: the end of the previous page' })),
  }),
  responses: { 200: s.Array(s.Intersect([UserJson, Standing])) },
  throws: [Invalid],
  async handle({ query: { status, text, limit, after }, url }, { directory, people, installation }) {
    if (text && !isSearchable(text)) throw new Invalid('text must have a word of at least three characters')
    if (after !== undefined && !s.isId(after)) throw new Invalid('after must be a cursor from a Link header')
    const search = { ...(status === undefined ? {} : { status }), ...(text ? { text } : {}) }
    const page = await directory.page(search, { limit, ...(after === undefined ? {} : { after: [after] as const }) })
    const body = page.items.map(user => shown(people, user))
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})
