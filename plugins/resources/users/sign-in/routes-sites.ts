import { Forbidden, Installation, Invalid, NotFound, NotSignedIn, routesFor, s, TooMany, Unavailable } from 'pounce/sdk'
import { IdentityLinks } from './identity-links.ts'
import { LoginThrottle } from './login-throttle.ts'
import { AccountSignIn, SealedCookies } from './sign-in.ts'
import { StoredSessions } from './stored-sessions.ts'

/** Number of times a path is decoded, to detect what intermediaries may turn it into. */
const decodings = 4

const isPlain = (path: string): boolean => /^\/(?![/\\])/.test(path) && !/[\p{Cc}\\]/u.test(path)

const staysHere = (path: string): boolean => {
  let now = path
  for (let time = 0; time < decodings; time += 1) {
    if (!isPlain(now)) return false
    try {
      now = decodeURIComponent(now)
    } catch (error) {
      if (error instanceof URIError) return false
      throw error
    }
  }
  return true
}

/**
 * A path of this server, with query and fragment, as allowed in a header; throws `Invalid` for anything that might lead elsewhere, however
 * encoded. What follows the path is read by our own pages only.
 */
const localPath = (text: string): string => {
  const url = isPlain(text) && !/\s/.test(text) ? URL.parse(`http://here${text}`) : null
  if (!url || !staysHere(text.split(/[?#]/)[0] ?? '') || !isPlain(url.pathname))
    throw new Invalid('returnTo must be a path of this server, such as /datasets')
  return url.pathname + url.search + url.hash
}

const route = routesFor('users', {
  signIn: AccountSignIn,
  sealedCookies: SealedCookies,
  sessions: StoredSessions,
  throttle: LoginThrottle,
  installation: Installation,
  links: IdentityLinks,
})

const params = s.Object({ provider: s.String({ minLength: 1, maxLength: 64 }) })

const callbackOf = (baseUrl: string, site: string): string => `${baseUrl}/api/login/${site}/callback`

export const listSignInProviders = route({
  method: 'GET',
  path: '/api/login/providers',
  summary: 'List sign-in providers',
  description:
    'Of kind `password`: POST the email address and the password to `url`. Of kind `site`: redirect the browser to `url`, with the return path as `returnTo`.',
  permission: 'anyone',
  ignoresCredentials: true,
  responses: {
    200: s.Array(
      s.model(
        'SignInProvider',
        s.Object({ id: s.String(), label: s.String(), kind: s.Union([s.Literal('password'), s.Literal('site')]), url: s.String() }),
      ),
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
  summary: 'Redirect to a sign-in provider',
  description:
    'The cookie `pounce_sign_in` binds the sign-in to the browser for ten minutes. Afterwards the browser is redirected to `returnTo`, a path of this server.',
  permission: 'anyone',
  ignoresCredentials: true,
  params,
  query: s.Object({ returnTo: s.String({ default: '/', maxLength: 1500 }) }),
  responses: { 302: s.empty() },
  throws: [NotFound, Invalid, Unavailable],
  async handle({ params, query }, { signIn, sealedCookies, installation }) {
    const returnTo = localPath(query.returnTo)
    const site = signIn.site(params.provider)
    const { url, kept } = await site.redirect(callbackOf(installation.baseUrl, site.id))
    const cookie = await sealedCookies.cookie({ site: site.id, kept, returnTo })
    return { status: 302, body: undefined, headers: { location: url, 'set-cookie': cookie, 'cache-control': 'no-store' } }
  },
})

export const finishSignIn = route({
  method: 'GET',
  path: '/api/login/:provider/callback',
  summary: 'Complete sign-in with a provider',
  description:
    'Only for the redirected browser, once, within ten minutes. The first sign-in creates an account, unless the settings disallow it; if the email address has an account already, its owner is asked to confirm by email, if the settings allow it.',
  permission: 'anyone',
  ignoresCredentials: true,
  effects: 'opens a session',
  params,
  responses: { 302: s.empty() },
  throws: [NotFound, NotSignedIn, TooMany, Unavailable],
  async handle({ params, headers, address, isProxied, url }, { signIn, sealedCookies, sessions, throttle, installation: { baseUrl } }) {
    const site = signIn.site(params.provider)
    const note = await sealedCookies.noteIn(headers.cookie)
    if (note?.site !== site.id) {
      await throttle.wrongKey(address)
      throw new NotSignedIn('The sign-in has expired or was started in another browser; start again')
    }
    const by = { headers, address, isProxied }
    const { user, identity } = await signIn.withReturn(site, new URL(callbackOf(baseUrl, site.id) + url.search), note, by)
    const cookie = await sessions.begin(user, by, ['provider'], identity)
    await signIn.note(user, address)
    return {
      status: 302,
      body: undefined,
      headers: { location: baseUrl + note.returnTo, 'set-cookie': cookie, 'cache-control': 'no-store' },
    }
  },
})

const token = s.String({ minLength: 1, maxLength: 200, description: 'Token of the emailed link' })

export const getIdentityLink = route({
  method: 'GET',
  path: '/api/login/link',
  summary: 'Get a pending link between a provider and an account',
  description: 'Does not use up the link.',
  permission: 'anyone',
  ignoresCredentials: true,
  query: s.Object({ token }),
  responses: {
    200: s.model(
      'IdentityLink',
      s.Object({
        email: s.String(),
        provider: s.String(),
        label: s.String({ description: 'Name of the provider' }),
        expires: s.String({ description: 'ISO 8601, UTC' }),
      }),
    ),
  },
  throws: [Forbidden, TooMany],
  async handle({ query, address }, { links }) {
    const { link, user, label } = await links.open(query.token, address)
    return {
      status: 200,
      body: { email: user.email, provider: link.provider, label, expires: link.expires },
      headers: { 'cache-control': 'no-store' },
    }
  },
})

export const confirmIdentityLink = route({
  method: 'POST',
  path: '/api/login/link',
  summary: "Link a provider's identity to an account",
  description:
    'Requires the token of the email that was sent to the owner of the account when a user signed in at the provider with its email address (`resources.users.linksByEmail`). Works once; from then on that identity can sign in to the account. Never for server admins.',
  permission: 'anyone',
  ignoresCredentials: true,
  body: s.Object({ token }),
  responses: { 200: s.success() },
  throws: [Forbidden, TooMany],
  async handle({ body, address }, { links }) {
    await links.confirm(body.token, address)
    return { status: 200, body: { status: 'success' } }
  },
})
