import {
  Clock,
  Conflict,
  event,
  Forbidden,
  Invalid,
  NotFound,
  NotSignedIn,
  routesFor,
  Sites,
  s,
  signedIn,
  TooMany,
  Users,
} from 'pounce/sdk'
import { OwnPassword } from '../accounts/own-password.ts'
import { People } from '../accounts/portraits.ts'
import { OwnJson } from '../accounts/user-json.ts'
import { SignIn } from './sign-in.ts'
import { Sessions } from './stored-sessions.ts'

const route = routesFor('users', {
  users: Users,
  people: People,
  sessions: Sessions,
  ownPassword: OwnPassword,
  signIn: SignIn,
  clock: Clock,
  sites: Sites,
})

export const login = route({
  method: 'POST',
  path: '/api/login',
  summary: 'Sign in with e-mail and password',
  description: 'Answers with the account and the session cookie `pounce_session`. A session that was open in this browser ends.',
  permission: 'anyone',
  ignoresCredentials: true,
  body: s.Object({ email: s.String({ maxLength: 320 }), password: s.String({ maxLength: 4000 }) }),
  responses: { 200: OwnJson },
  throws: [NotSignedIn, TooMany],
  async handle({ body, headers, address }, { people, sessions, signIn }) {
    const user = await signIn.withPassword(body.email, body.password, address)
    const [cookie, seen] = await Promise.all([sessions.begin(user, { headers, address }), signIn.note(user, address)])
    return { status: 200, body: await people.ownOf(seen), headers: { 'set-cookie': cookie, 'cache-control': 'no-store' } }
  },
})

export const logout = route({
  method: 'POST',
  path: '/api/logout',
  summary: 'End the session of this browser',
  description: 'No error where there is none.',
  permission: 'anyone',
  ignoresCredentials: true,
  responses: { 200: s.success() },
  async handle({ headers }, { sessions }) {
    const token = sessions.tokenIn(headers.cookie)
    if (token !== undefined) await sessions.close(token)
    return { status: 200, body: { status: 'success' }, headers: { 'set-cookie': sessions.cookie(undefined) } }
  },
})

/** Header values are Latin-1 at most; anything beyond ASCII is percent-encoded UTF-8. */
const headerText = (text: string): string => text.replace(/[^\u0020-\u007e]+/gu, encodeURIComponent)

export const getMe = route({
  method: 'GET',
  path: '/api/me',
  summary: 'Who I am',
  description:
    'Also in the headers X-User-ID, X-User-FirstName, X-User-LastName, X-User-FullName and X-User-Email, where characters beyond ASCII are percent-encoded.',
  permission: 'signedIn',
  limitedKeys: 'allowed',
  beforeTerms: true,
  responses: { 200: OwnJson },
  throws: [NotSignedIn],
  async handle({ caller }, { users, people }) {
    const user = await users.get(signedIn(caller).id)
    if (!user) throw new NotFound('user')
    const shown = await people.ownOf(user)
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
    'Until then everything but this, `GET /api/me`, signing out and reading the terms (`GET /api/configuration`) is refused with the code `terms-not-accepted`, for keys as well. Clowder 1.x has this on its web pages only. Again is no error.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  beforeTerms: true,
  body: s.Object({
    tosChanged: s.Optional(
      s.String({
        maxLength: 40,
        description: 'Of the terms that were read, as `GET /api/configuration` has it: other terms are not accepted unread (409)',
      }),
    ),
  }),
  responses: { 200: s.success() },
  throws: [NotSignedIn, Forbidden, Conflict],
  async handle({ body, caller }, { users, clock, sites }) {
    const { id } = signedIn(caller)
    const settings = await sites.all()[0]?.settings()
    if (settings && body.tosChanged !== undefined && body.tosChanged !== settings.tosChanged)
      throw new Conflict('These are not the terms of service any more; read them again')
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
    'Ends all sessions of the account; the one that asks gets a new cookie. Keys stay unless `revokeKeys` is true. A mail tells the owner. Wrong passwords count as when signing in.',
  permission: 'signedIn',
  limitedKeys: 'refused',
  body: s.Object({
    password: s.String({ maxLength: 4000, description: 'The present one' }),
    newPassword: s.String({ maxLength: 4000, description: '8 to 1,000 characters' }),
    revokeKeys: s.Optional(s.Boolean({ description: 'All API keys of the account end as well' })),
  }),
  responses: { 200: s.success() },
  throws: [Invalid, NotSignedIn, Forbidden, Conflict, TooMany],
  async handle({ body, caller, headers, address }, { ownPassword, sessions }) {
    const { password, newPassword, revokeKeys: revokesKeys = false } = body
    const user = await ownPassword.change(signedIn(caller).id, password, newPassword, { revokesKeys, address })
    const success = { status: 200, body: { status: 'success' } } as const
    return caller.via === 'session' ? { ...success, headers: { 'set-cookie': await sessions.begin(user, { headers, address }) } } : success
  },
})
