import { type Bytes, Conflict, Forbidden, Invalid, routesFor, s, streamed, TooMany } from 'pounce/sdk'
import { LoginThrottle } from '../sign-in/login-throttle.ts'
import { FirstAdmin } from './first-admin.ts'
import { setUpHeaders, setUpPage } from './setup-page.ts'

const route = routesFor('users', { setUp: FirstAdmin, doors: LoginThrottle })

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
  async handle({ query, address }, { setUp, doors }) {
    await requireOpen(await setUp.isOpen(query.token), doors, address)
    const body: Bytes = {
      open: () => streamed([Buffer.from(setUpPage)]),
      contentType: 'text/html; charset=utf-8',
      inline: true,
      isTrusted: true,
    }
    return { status: 200, body, headers: setUpHeaders }
  },
})

export const setUpFirstAdmin = route({
  method: 'POST',
  path: '/setup',
  summary: 'Create the first server admin',
  description: 'Works once, with the token of the printed link, and only while there is no server admin.',
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
    }),
  ),
  responses: { 200: s.Object({ id: s.id() }) },
  throws: [Invalid, Forbidden, Conflict, TooMany],
  async handle({ body, address }, { setUp, doors }) {
    const { token, ...account } = body
    await requireOpen(await setUp.isOpen(token), doors, address)
    const { id } = await setUp.claim(token, account)
    return { status: 200, body: { id } }
  },
})
