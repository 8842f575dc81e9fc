import { Installation, Invalid, linkToNext, routesFor, type Stored, s, type UserRecord } from 'pounce/sdk'
import { Directory, isSearchable } from './account-list.ts'
import { People, type Portraits } from './portraits.ts'
import { UserJson } from './user-json.ts'

const route = routesFor('admin', { directory: Directory, people: People, installation: Installation })

const time = (description: string) => s.Union([s.String(), s.Null()], { description })
const Standing = s.Object({
  status: s.String({ description: '`Active`, `Inactive`, `ReadOnly` or `Admin`' }),
  provider: s.String({ description: 'Who vouches for them: `userpass` for local accounts' }),
  created: s.String({ description: 'ISO 8601' }),
  lastLogin: time('ISO 8601; null when they never signed in'),
  termsAccepted: time('ISO 8601; null when they never did'),
})

const shown = (people: Portraits, user: UserRecord & Stored) => {
  const { status, provider, created, lastLogin, termsAccepted } = user
  return { ...people.of(user), status, provider, created, lastLogin, termsAccepted }
}

export const listAccounts = route({
  method: 'GET',
  path: '/api/admin/users',
  summary: 'Accounts with their standing, the oldest first',
  description:
    'An addition to Clowder 1.x, whose list has no standing. `status=Inactive` are those who wait to be approved. Further pages through the `Link` header; a page of found accounts can be shorter than asked for.',
  permission: 'serverAdmin',
  query: s.Object({
    status: s.Optional(s.Union([s.Literal('Active'), s.Literal('Inactive'), s.Literal('ReadOnly'), s.Literal('Admin')])),
    text: s.Optional(
      s.String({
        maxLength: 200,
        description:
          'Anywhere in e-mail address, first or last name, whatever its case; of several words each. One of them has three characters or more',
      }),
    ),
    limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }),
    after: s.Optional(s.String({ maxLength: 200, description: 'From a `Link` header: where the page before this one ended' })),
  }),
  responses: { 200: s.Array(s.Intersect([UserJson, Standing])) },
  throws: [Invalid],
  async handle({ query: { status, text, limit, after }, url }, { directory, people, installation }) {
    if (text && !isSearchable(text)) throw new Invalid('text must have a word of at least three characters')
    if (after !== undefined && !s.isId(after)) throw new Invalid('after is not one that a Link header gave out')
    const search = { ...(status === undefined ? {} : { status }), ...(text ? { text } : {}) }
    const page = await directory.page(search, { limit, ...(after === undefined ? {} : { after: [after] as const }) })
    const body = page.items.map(user => shown(people, user))
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})
