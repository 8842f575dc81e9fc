import { Installation, Invalid, linkToNext, NotFound, pageOf, type Request, routesFor, s, signedIn, Users } from 'pounce/sdk'
import { StoredSessions } from './stored-sessions.ts'

const route = routesFor('sessions', { sessions: StoredSessions, installation: Installation })
const ofUsers = routesFor('users', { sessions: StoredSessions, users: Users })
const params = s.Object({ id: s.id() })

const SessionJson = s.model(
  'Session',
  s.Object({
    id: s.id(),
    created: s.String(),
    lastUsed: s.String({ description: 'Accurate to a minute' }),
    expires: s.String(),
    address: s.String({ description: 'Network of the session: the address without its last part' }),
    userAgent: s.String({ description: 'User agent of the browser' }),
    isCurrent: s.Boolean({ description: "True for the caller's session" }),
  }),
)

/** The session by whose cookie a request came; undefined for one that came with a key or a password. */
const currentOf = (
  { caller, headers }: Pick<Request<undefined, undefined, undefined>, 'caller' | 'headers'>,
  idIn: (text?: string) => string | undefined,
) => (caller.via === 'session' ? idIn(headers.cookie) : undefined)

export const listSessions = route({
  method: 'GET',
  path: '/api/sessions',
  summary: 'List my sessions',
  description: 'An addition to Clowder 1.x. Newest first.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  query: s.Object({
    limit: s.Integer({
      default: 100,
      minimum: 0,
      description: 'Page size; 0, or values above 1,000, mean 1,000 and a link to the next page',
    }),
    after: s.Optional(s.String({ maxLength: 200, description: 'Cursor from a `Link` header: the end of the previous page' })),
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
  summary: 'End one of my sessions',
  description: 'An addition to Clowder 1.x. Takes effect at once.',
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
  summary: 'End all my other sessions',
  description: "An addition to Clowder 1.x. The caller's session continues; with a key or a password all sessions end.",
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
  summary: 'End all sessions of a user',
  description: 'An addition to Clowder 1.x. API keys stay valid: suspend the account to stop these too.',
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
