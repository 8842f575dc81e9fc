import { Installation, Invalid, NotFound, NotSignedIn, routesFor, s, TooMany, Unavailable } from 'pounce/sdk'
import { localPath } from './local-path.ts'
import { SignIn } from './sign-in.ts'
import { Notes } from './sign-in-notes.ts'
import { Sessions } from './stored-sessions.ts'
import { Doors } from './throttle.ts'

const route = routesFor('users', { signIn: SignIn, notes: Notes, sessions: Sessions, doors: Doors, installation: Installation })
const params = s.Object({ provider: s.String({ minLength: 1, maxLength: 64 }) })
const callbackOf = (baseUrl: string, site: string): string => `${baseUrl}/api/login/${site}/callback`

export const listSignInProviders = route({
  method: 'GET',
  path: '/api/login/providers',
  summary: 'Ways to sign in',
  description:
    'Of kind `password`: POST the e-mail address and the password to `url`. Of kind `site`: send the browser to `url`, with the path to come back to as `returnTo`.',
  permission: 'anyone',
  ignoresCredentials: true,
  responses: {
    200: s.Array(
      s.Object({ id: s.String(), label: s.String(), kind: s.Union([s.Literal('password'), s.Literal('site')]), url: s.String() }),
    ),
  },
  async handle(_request, { signIn, installation: { baseUrl } }) {
    const passwords = signIn
      .passwordProviders()
      .map(({ id, label = id }) => ({ id, label, kind: 'password' as const, url: `${baseUrl}/api/login` }))
    const sites = signIn.sites().map(({ id, label }) => ({ id, label, kind: 'site' as const, url: `${baseUrl}/api/login/${id}` }))
    return { status: 200, body: [...passwords, ...sites] }
  },
})

export const startSignIn = route({
  method: 'GET',
  path: '/api/login/:provider',
  summary: 'Send the browser to a provider to sign in there',
  description:
    'The cookie `pounce_sign_in` remembers for ten minutes which browser was sent where. Afterwards the browser is sent to `returnTo`, a path of this server.',
  permission: 'anyone',
  ignoresCredentials: true,
  params,
  query: s.Object({ returnTo: s.String({ default: '/', maxLength: 1500 }) }),
  responses: { 302: s.empty() },
  throws: [NotFound, Invalid, Unavailable],
  async handle({ params, query }, { signIn, notes, installation }) {
    const returnTo = localPath(query.returnTo)
    const site = signIn.site(params.provider)
    const { url, kept } = await site.redirect(callbackOf(installation.baseUrl, site.id))
    const cookie = await notes.cookie({ site: site.id, kept, returnTo })
    return { status: 302, body: undefined, headers: { location: url, 'set-cookie': cookie, 'cache-control': 'no-store' } }
  },
})

export const finishSignIn = route({
  method: 'GET',
  path: '/api/login/:provider/callback',
  summary: 'Come back from a provider and be signed in',
  description:
    'Only for the browser that was sent there, once, within ten minutes. At the first sign-in there is a new account, unless the settings say otherwise; an account that has the e-mail address already is linked when the provider has verified the address.',
  permission: 'anyone',
  ignoresCredentials: true,
  effects: 'opens a session',
  params,
  responses: { 302: s.empty() },
  throws: [NotFound, NotSignedIn, TooMany, Unavailable],
  async handle({ params, headers, address, url }, { signIn, notes, sessions, doors, installation: { baseUrl } }) {
    const site = signIn.site(params.provider)
    const note = await notes.noteIn(headers.cookie)
    if (note?.site !== site.id) {
      await doors.wrongKey(address)
      throw new NotSignedIn('Signing in took too long, or began in another browser; begin again')
    }
    const user = await signIn.withReturn(site, new URL(callbackOf(baseUrl, site.id) + url.search), note, address)
    const cookie = await sessions.begin(user, { headers, address })
    await signIn.note(user, address)
    return {
      status: 302,
      body: undefined,
      headers: { location: baseUrl + note.returnTo, 'set-cookie': cookie, 'cache-control': 'no-store' },
    }
  },
})
