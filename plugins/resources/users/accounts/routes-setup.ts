import { createHash } from 'node:crypto'
import { type Bytes, Conflict, Forbidden, Invalid, ReadAccess, routesFor, s, TooMany } from 'pounce/sdk'
import { streamed } from 'pounce/sdk/kit'
import { LoginThrottle } from '../sign-in/login-throttle.ts'
import { FirstAdmin } from './first-admin.ts'

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 26rem; margin: 4rem auto; padding: 0 1rem; color: #1b1f24; background: #fff }
label { display: block; margin-top: 1rem }
fieldset { margin-top: 1rem; border: 1px solid #6b7280; border-radius: .25rem }
input:not([type=radio]) { display: block; width: 100%; box-sizing: border-box; font: inherit; padding: .5rem; border: 1px solid #6b7280; border-radius: .25rem }
button { margin-top: 1.5rem; font: inherit; padding: .5rem 1rem }
[role=status] { margin-top: 1rem; font-weight: 600 }
`

const script = `
const form = document.querySelector('form')
const said = document.querySelector('[role=status]')
form.addEventListener('submit', async event => {
  event.preventDefault()
  const body = Object.fromEntries(new FormData(form))
  if ('private' in body) body.private = body.private === 'true'
  body.token = new URLSearchParams(location.search).get('token') ?? ''
  form.querySelector('button').disabled = true
  said.textContent = 'One moment …'
  try {
    const answer = await fetch(location.pathname, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    if (answer.ok) { form.hidden = true; history.replaceState(null, '', location.pathname) }
    said.textContent = answer.ok ? 'Done. You can sign in now.' : (await answer.json()).message
  } catch (error) {
    said.textContent = 'The server is unreachable.'
  }
  form.querySelector('button').disabled = false
})
`

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const question = `<fieldset>
<legend>Who can read what is on this server?</legend>
<label><input type="radio" name="private" value="false" required> Everyone, without an account</label>
<label><input type="radio" name="private" value="true"> Only people with an account, and then what is theirs, in their spaces or made public</label>
</fieldset>
`

/** The page behind the one-time set-up link. Nothing that comes with the request is in it. */
const setUpPage = (isAsked: boolean): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Set up Pounce</title>
<style>${style}</style>
<h1>Set up Pounce</h1>
<p>This creates the first account, a server admin.</p>
<form>
<label>First name <input name="firstName" required maxlength="200" autocomplete="given-name"></label>
<label>Last name <input name="lastName" required maxlength="200" autocomplete="family-name"></label>
<label>E-mail <input name="email" type="email" required maxlength="320" autocomplete="username"></label>
<label>Password, at least 8 characters <input name="password" type="password" required minlength="8" maxlength="1000" autocomplete="new-password"></label>
${isAsked ? question : ''}<button>Make the account</button>
</form>
<p role="status"></p>
<script>${script}</script>
</html>
`

/** Headers of the page: only its own style and script run, it talks to this server only, and its address goes nowhere. */
const setUpHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
}

const route = routesFor('users', { setUp: FirstAdmin, access: ReadAccess, doors: LoginThrottle })

/** Tokens are guessed like keys, so wrong ones are counted like them. */
const requireOpen = async (isOpen: boolean, doors: LoginThrottle, address: string): Promise<void> => {
  if (isOpen) return
  await doors.wrongKey(address)
  throw new Forbidden('This setup link is no longer valid; restart the server for a new one')
}

export const getSetUp = route({
  method: 'GET',
  path: '/setup',
  summary: 'Show the setup page for the first server admin',
  description: 'The link with its token is printed at startup while there is no server admin.',
  permission: 'anyone',
  ignoresCredentials: true,
  query: s.Object({ token: s.String({ maxLength: 200 }) }),
  responses: { 200: s.bytes<Bytes>({ 'text/html': s.bytes() }) },
  throws: [Forbidden, TooMany],
  async handle({ query, address }, { setUp, access, doors }) {
    await requireOpen(await setUp.isOpen(query.token), doors, address)
    const page = setUpPage(access.origin !== 'configuration')
    const body: Bytes = {
      open: () => streamed([Buffer.from(page)]),
      contentType: 'text/html; charset=utf-8',
      inline: true,
      isTrusted: true,
    }
    return { status: 200, body, headers: setUpHeaders }
  },
})

export const checkSetUp = route({
  method: 'GET',
  path: '/api/setup',
  summary: 'Check the token of a setup link',
  description: 'An addition to Clowder 1.x, for web pages that `setUpPage` leads to. Does not use up the link.',
  permission: 'anyone',
  ignoresCredentials: true,
  query: s.Object({ token: s.String({ maxLength: 200 }) }),
  responses: {
    200: s.model(
      'SetUpLink',
      s.Object({
        isOpen: s.Boolean(),
        private: s.Union([s.Boolean(), s.Null()], {
          description: 'The configured `access.private`; null: `POST /api/setup` takes the choice',
        }),
      }),
      { isOpen: true, private: null },
    ),
  },
  throws: [Forbidden, TooMany],
  async handle({ query, address }, { setUp, access, doors }) {
    await requireOpen(await setUp.isOpen(query.token), doors, address)
    const isAsked = access.origin !== 'configuration'
    return { status: 200, body: { isOpen: true, private: isAsked ? null : access.isPrivate }, headers: { 'cache-control': 'no-store' } }
  },
})

export const setUpFirstAdmin = route({
  method: 'POST',
  path: '/setup',
  aliases: [{ path: '/api/setup' }],
  summary: 'Create the first server admin',
  description:
    'Works once, with the token of the printed link, and only while there is no server admin. Without `private`, a new server stays private until an admin chooses.',
  permission: 'anyone',
  ignoresCredentials: true,
  body: s.model(
    'FirstAdmin',
    s.Object({
      token: s.String({ maxLength: 200 }),
      email: s.String({ minLength: 3, maxLength: 320 }),
      password: s.String({ minLength: 8, maxLength: 1000 }),
      firstName: s.line(200),
      lastName: s.line(200),
      private: s.Optional(s.Boolean({ description: 'Reading requires sign-in; not where `access.private` is configured' })),
    }),
  ),
  responses: { 200: s.Object({ id: s.id() }) },
  throws: [Invalid, Forbidden, Conflict, TooMany],
  async handle({ body, address }, { setUp, doors }) {
    const { token, private: isPrivate, ...account } = body
    await requireOpen(await setUp.isOpen(token), doors, address)
    const { id } = await setUp.claim(token, account, isPrivate)
    return { status: 200, body: { id } }
  },
})
