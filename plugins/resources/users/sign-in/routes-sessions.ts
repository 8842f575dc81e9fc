import { Installation, Invalid, linkToNext, NotFound, pageOf, type Request, routesFor, s, signedIn, Users } from 'pounce/sdk'
import { Sessions } from './stored-sessions.ts'

const route = routesFor('sessions', { sessions: Sessions, installation: Installation })
const ofUsers = routesFor('users', { sessions: Sessions, users: Users })
const params = s.Object({ id: s.id() })

const SessionJson = s.Object({
  id: s.id(),
  created: s.String(),
  lastUsed: s.String({ description: 'Accurate to a minute' }),
  expires: s.String(),
  address: s.String({ description: 'The network from which it began: an address without its last part' }),
  userAgent: s.String({ description: 'What the browser said of itself' }),
  isCurrent: s.Boolean({ description: 'True of the session that asks' }),
})

/** The session by whose cookie a request came; undefined for one that came with a key or a password. */
const currentOf = (
  { caller, headers }: Pick<Request<undefined, undefined, undefined>, 'caller' | 'headers'>,
  idIn: (text?: string) => string | undefined,
) => (caller.via === 'session' ? idIn(headers.cookie) : undefined)

export const listSessions = route({
  method: 'GET',
  path: '/api/sessions',
  summary: 'Where I am signed in',
  description: 'An addition to Clowder 1.x. The newest first.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  query: s.Object({
    limit: s.Integer({
      default: 100,
      minimum: 0,
      description: 'At most so many; 0, or more than 1,000, gives 1,000 and a link to the rest',
    }),
    after: s.Optional(s.String({ maxLength: 200, description: 'From a `Link` header: where the page before this one ended' })),
  }),
  responses: { 200: s.Array(SessionJson) },
  throws: [Invalid],
  async handle({ query, url, caller, headers }, { sessions, installation }) {
    const page = await sessions.of(signedIn(caller).id, pageOf(query))
    const current = currentOf({ caller, headers }, text => sessions.idIn(text))
    const body = page.items
      .filter(session => !sessions.isOver(session))
      .map(({ id, created, lastUsed, expires, network, userAgent }) => ({
        id,
        created,
        lastUsed: lastUsed ?? created,
        expires,
        address: network ?? '',
        userAgent: userAgent ?? '',
        isCurrent: id === current,
      }))
    return { status: 200, body, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

export const deleteSession = route({
  method: 'DELETE',
  path: '/api/sessions/:id',
  summary: 'Sign out one of my browsers',
  description: 'An addition to Clowder 1.x. From the answer on its cookie is refused.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  params,
  responses: { 204: s.empty() },
  throws: [NotFound],
  async handle({ params: { id }, caller }, { sessions }) {
    const me = signedIn(caller).id
    if (!(await sessions.revoke(me, id, me))) throw new NotFound('session')
    return { status: 204, body: undefined }
  },
})

export const deleteOtherSessions = route({
  method: 'DELETE',
  path: '/api/sessions',
  summary: 'Sign out all my other browsers',
  description: 'An addition to Clowder 1.x. The session that asks goes on; with a key or a password all end.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  responses: { 204: s.empty() },
  async handle({ caller, headers }, { sessions }) {
    const me = signedIn(caller).id
    await sessions.revokeAll(
      me,
      me,
      currentOf({ caller, headers }, text => sessions.idIn(text)),
    )
    return { status: 204, body: undefined }
  },
})

export const deleteSessionsOfUser = ofUsers({
  method: 'DELETE',
  path: '/api/users/:id/sessions',
  summary: 'Sign out somebody everywhere',
  description: 'An addition to Clowder 1.x. Keys go on: suspend the account to stop these too.',
  permission: 'serverAdmin',
  params,
  responses: { 204: s.empty() },
  throws: [NotFound],
  async handle({ params: { id }, caller }, { sessions, users }) {
    if (!(await users.get(id))) throw new NotFound('user')
    await sessions.revokeAll(id, signedIn(caller).id)
    return { status: 204, body: undefined }
  },
})
