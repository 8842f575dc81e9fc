import {
  Clock,
  Conflict,
  event,
  Forbidden,
  Installation,
  Invalid,
  NotFound,
  NotSignedIn,
  type Request,
  routesFor,
  SecondFactorRequired,
  Sites,
  s,
  signedIn,
  TooMany,
  Users,
} from 'pounce/sdk'
import { linkToNext, pageOf } from 'pounce/sdk/kit'
import { PasswordChange } from '../accounts/profile-edits.ts'
import { OwnJson, UserViews } from '../accounts/user-json.ts'
import { FactorSignIn } from '../second-factor/factor-sign-in.ts'
import { AccountSignIn } from './sign-in.ts'
import { StoredSessions } from './stored-sessions.ts'

const route = routesFor('users', {
  users: Users,
  userViews: UserViews,
  sessions: StoredSessions,
  passwordChange: PasswordChange,
  signIn: AccountSignIn,
  factorSignIn: FactorSignIn,
  clock: Clock,
  sites: Sites,
})

export const login = route({
  method: 'POST',
  path: '/api/login',
  summary: 'Sign in with email and password',
  description:
    'Returns the account and sets the session cookie `pounce_session`. An existing session of this browser ends. For an account with a second factor the response is 401 with the code `second-factor-required`: continue with `POST /api/login/second-factor`.',
  permission: 'anyone',
  ignoresCredentials: true,
  body: s.Object({ email: s.String({ maxLength: 320 }), password: s.String({ maxLength: 4000 }) }),
  responses: { 200: OwnJson },
  throws: [NotSignedIn, SecondFactorRequired, TooMany],
  async handle({ body, headers, address }, { userViews, sessions, signIn, factorSignIn }) {
    const user = await signIn.withPassword(body.email, body.password, address)
    const unfinished = await factorSignIn.challengeFor(user)
    if (unfinished) throw unfinished
    const [cookie, seen] = await Promise.all([sessions.begin(user, { headers, address }, ['password']), signIn.note(user, address)])
    return { status: 200, body: await userViews.ownOf(seen), headers: { 'set-cookie': cookie, 'cache-control': 'no-store' } }
  },
})

export const logout = route({
  method: 'POST',
  path: '/api/logout',
  summary: 'Sign out',
  description: 'No error without a session.',
  permission: 'anyone',
  ignoresCredentials: true,
  responses: { 200: s.success() },
  async handle({ headers }, { sessions }) {
    const token = sessions.tokenIn(headers.cookie)
    if (token !== undefined) await sessions.close(token)
    return { status: 200, body: { status: 'success' }, headers: { 'set-cookie': sessions.cookie(undefined) } }
  },
})

/** Header values are Latin-1 at most; non-ASCII characters are percent-encoded UTF-8. */
const headerText = (text: string): string => text.replace(/[^\u0020-\u007e]+/gu, encodeURIComponent)

export const getMe = route({
  method: 'GET',
  path: '/api/me',
  summary: 'Get my account',
  description:
    'Also in the headers X-User-ID, X-User-FirstName, X-User-LastName, X-User-FullName and X-User-Email, where non-ASCII characters are percent-encoded.',
  permission: 'signedIn',
  limitedKeys: 'allowed',
  beforeTerms: true,
  responses: { 200: OwnJson },
  throws: [NotSignedIn],
  async handle({ caller }, { users, userViews }) {
    const user = await users.get(signedIn(caller).id)
    if (!user) throw new NotFound('user')
    const shown = await userViews.ownOf(user)
    const headers = {
      'x-user-id': shown.id,
      'x-user-firstname': headerText(shown.firstName),
      'x-user-lastname': headerText(shown.lastName),
      'x-user-fullname': headerText(shown.fullName),
      'x-user-email': headerText(user.email),
    }
    return { status: 200, body: shown, headers }
  },
})

export const acceptTerms = route({
  method: 'POST',
  path: '/api/users/acceptTerms',
  summary: 'Accept the terms of service',
  description:
    'Until then everything but this, `GET /api/me`, signing out and reading the terms (`GET /api/configuration`) is refused with the code `terms-not-accepted`, for API keys too. Clowder 1.x has this on web pages only. Repeating it is no error.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  beforeTerms: true,
  body: s.Object({
    tosChanged: s.Optional(
      s.String({
        maxLength: 40,
        description: 'Date of the terms that were read, from `GET /api/configuration`: other terms are not accepted (409)',
      }),
    ),
  }),
  responses: { 200: s.success() },
  throws: [NotSignedIn, Forbidden, Conflict],
  async handle({ body, caller }, { users, clock, sites }) {
    const { id } = signedIn(caller)
    const settings = await sites.all()[0]?.settings()
    if (settings && body.tosChanged !== undefined && body.tosChanged !== settings.tosChanged)
      throw new Conflict('The terms of service have changed; read them again')
    const accepted = event('user.updated', { kind: 'user', id }, { fields: ['termsAccepted'] }, id)
    await users.change(id, { set: { termsAccepted: clock.now().toISOString() } }, [accepted])
    return { status: 200, body: { status: 'success' } }
  },
})

export const changePassword = route({
  method: 'POST',
  path: '/api/password',
  summary: 'Change my password',
  description:
    "Ends all sessions of the account; the caller's session gets a new cookie. API keys stay valid unless `revokeKeys` is true. The owner is notified by email. Wrong passwords count as at sign-in.",
  permission: 'signedIn',
  limitedKeys: 'refused',
  stepUp: true,
  body: s.model(
    'PasswordChange',
    s.Object({
      password: s.String({ maxLength: 4000, description: 'Current password' }),
      newPassword: s.String({ maxLength: 4000, description: '8 to 1,000 characters' }),
      revokeKeys: s.Optional(s.Boolean({ description: 'Also revoke all API keys of the account' })),
    }),
  ),
  responses: { 200: s.success() },
  throws: [Invalid, NotSignedIn, Forbidden, Conflict, TooMany],
  async handle({ body, caller, headers, address }, { passwordChange, sessions }) {
    const { password, newPassword, revokeKeys: revokesKeys = false } = body
    const session = caller.via === 'session' ? await sessions.current(headers.cookie) : undefined
    const user = await passwordChange.change(signedIn(caller).id, password, newPassword, {
      revokesKeys,
      address,
      isBySession: session !== undefined,
    })
    const success = { status: 200, body: { status: 'success' } } as const
    if (!session) return success
    const cookie = await sessions.begin(user, { headers, address }, session.methods ?? ['password'])
    return { ...success, headers: { 'set-cookie': cookie } }
  },
})

const sessionsRoute = routesFor('sessions', { sessions: StoredSessions, users: Users, installation: Installation })

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

/** The session of a request; undefined for a request with a key or a password. */
const currentOf = (
  { caller, headers }: Pick<Request<undefined, undefined, undefined>, 'caller' | 'headers'>,
  idIn: (text?: string) => string | undefined,
) => (caller.via === 'session' ? idIn(headers.cookie) : undefined)

export const listSessions = sessionsRoute({
  method: 'GET',
  path: '/api/sessions',
  summary: 'List my sessions',
  description: 'An addition to Clowder 1.x. Newest first. A page can be shorter than `limit`.',
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
  throws: [Invalid, NotFound],
  async handle({ query, url, caller, headers }, { sessions, users, installation }) {
    const user = await users.get(signedIn(caller).id)
    if (!user) throw new NotFound('user')
    const page = await sessions.of(user, pageOf(query))
    const current = currentOf({ caller, headers }, text => sessions.idIn(text))
    const body = page.items.map(({ id, created, lastUsed, expires, network, userAgent }) => ({
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

export const deleteSession = sessionsRoute({
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

export const deleteOtherSessions = sessionsRoute({
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
  description: 'An addition to Clowder 1.x. API keys stay valid: suspend the account to block these too.',
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
