import { type Bytes, Conflict, Forbidden, Invalid, ReadAccess, routesFor, s, TooMany } from 'pounce/sdk'
import { streamed } from 'pounce/sdk/kit'
import { LoginThrottle } from '../sign-in/login-throttle.ts'
import { FirstAdmin } from './first-admin.ts'
import { setUpPage } from './set-up-page.ts'

const route = routesFor('users', { firstAdmin: FirstAdmin, access: ReadAccess, throttle: LoginThrottle })

/** Tokens can be guessed like keys, so wrong ones are throttled like them. */
const requireOpen = async (isOpen: boolean, throttle: LoginThrottle, address: string): Promise<void> => {
  if (isOpen) return
  await throttle.wrongKey(address)
  throw new Forbidden('This setup link is no longer valid: use the one of the server that started last, or restart a server for a new one')
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
  async handle({ query, address }, { firstAdmin, access, throttle }) {
    await requireOpen(await firstAdmin.isOpen(query.token), throttle, address)
    const page = setUpPage(access.origin !== 'configuration')
    const body: Bytes = {
      open: () => streamed([Buffer.from(page.body)]),
      contentType: 'text/html; charset=utf-8',
      inline: true,
      isTrusted: true,
    }
    return { status: 200, body, headers: page.headers }
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
          description: 'The configured `access.private`; null: `POST /api/setup` accepts the choice',
        }),
      }),
      { isOpen: true, private: null },
    ),
  },
  throws: [Forbidden, TooMany],
  async handle({ query, address }, { firstAdmin, access, throttle }) {
    await requireOpen(await firstAdmin.isOpen(query.token), throttle, address)
    const asksForAccess = access.origin !== 'configuration'
    return {
      status: 200,
      body: { isOpen: true, private: asksForAccess ? null : access.isPrivate },
      headers: { 'cache-control': 'no-store' },
    }
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
      private: s.Optional(s.Boolean({ description: 'Whether reading requires sign-in; not allowed if `access.private` is configured' })),
    }),
  ),
  responses: { 200: s.Object({ id: s.id() }) },
  throws: [Invalid, Forbidden, Conflict, TooMany],
  async handle({ body, address }, { firstAdmin, throttle }) {
    const { token, private: isPrivate, ...account } = body
    await requireOpen(await firstAdmin.isOpen(token), throttle, address)
    const { id } = await firstAdmin.claim(token, account, isPrivate)
    return { status: 200, body: { id } }
  },
})
