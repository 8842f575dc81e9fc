import test from 'ava'
import { Users } from 'pounce/sdk'
import { bootForTest, FixedClock, type TestServer } from 'pounce/sdk/testing'
import { plugin } from './index.ts'
import { ProxyHeaders, signatureOf } from './proxy-headers.ts'

const secret = 'a secret of thirty-two characters or more'
const client = '203.0.113.9'
const plugins = ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users', plugin]

const boot = (trustedProxies: number | string[]): Promise<TestServer> =>
  bootForTest({ plugins, config: { http: { trustedProxies }, example: { 'auth-proxy-headers': { secret } } } })

const server = await boot(['127.0.0.1'])
test.after.always(() => server.stop())

type Sent = Readonly<Record<string, string>>

const seconds = (at = Date.now()): string => String(Math.floor(at / 1000))

/** The headers that the proxy sends for a user. */
const headersOf = (user: string, { timestamp = seconds(), key = secret, address = client, groups = '' } = {}): Sent => {
  const named = {
    ...{ 'x-remote-user': user, 'x-remote-email': `${user}@example.org`, 'x-remote-first-name': 'Ada', 'x-remote-last-name': 'Lovelace' },
    'x-remote-groups': groups,
  }
  const proof = { 'x-remote-timestamp': timestamp, 'x-remote-signature': signatureOf(key, named, timestamp, address) }
  return { ...named, ...proof, 'x-forwarded-for': client }
}

const call = (path: string, headers: Sent = {}, init: RequestInit & { readonly json?: unknown } = {}, on = server) =>
  on.as()(path, { redirect: 'manual', ...init, headers })

const whoIs = async (headers: Sent, on = server) => {
  const answer = await call('/api/session', headers, {}, on)
  const { user } = (await answer.json()) as { user: { email: string; via: string } | null }
  return user && [user.email, user.via]
}

const cookieOf = (answer: Response): string =>
  answer.headers
    .getSetCookie()
    .map(cookie => cookie.split(';')[0])
    .join('; ')

/** Signs in like a browser, and returns the session cookie. */
const signedIn = async (user: string): Promise<string> => {
  const start = await call('/api/login/proxy?returnTo=/datasets', headersOf(user))
  t302(start)
  const back = new URL(start.headers.get('location') ?? '')
  const end = await call(back.pathname, { ...headersOf(user), cookie: cookieOf(start) })
  t302(end)
  return cookieOf(end)
}
const t302 = ({ status }: Response): void => {
  if (status !== 302) throw new Error(`302 expected, got ${status}`)
}

test('a request signed by the proxy is authenticated as the user that it names', async t => {
  t.deepEqual(await whoIs(headersOf('ada')), ['ada@example.org', 'proxy'])
  t.deepEqual(await whoIs(headersOf('ada')), ['ada@example.org', 'proxy'])
  t.is(await whoIs({ 'x-forwarded-for': client }), null)
})

test('headers from an address that is not listed are ignored, even with a valid signature', async t => {
  for (const trustedProxies of [0, 1, [], ['10.9.8.7', '192.0.2.0/24']]) {
    const other = await boot(trustedProxies)
    const address = trustedProxies === 1 ? client : '127.0.0.1'
    t.is(await whoIs(headersOf('ada', { address }), other), null, JSON.stringify(trustedProxies))
    t.is((await call('/api/me', headersOf('ada', { address }), {}, other)).status, 401)
    t.is(await other.get(Users).byEmail('ada@example.org'), undefined)
    await other.stop()
  }
})

test('a list without addresses prevents the start, with a message on the expected value', async t => {
  await t.throwsAsync(boot(['proxy.example.org']), { message: /http\.trustedProxies.*10\.0\.0\.0\/24/ })
})

test('forged, old, early and foreign signatures are refused, and counted', async t => {
  const own = await bootForTest({
    plugins,
    config: {
      http: { trustedProxies: ['127.0.0.1'] },
      ...{ example: { 'auth-proxy-headers': { secret } }, resources: { users: { wrongKeysPerAddress: 8 } } },
    },
  })
  const good = headersOf('eve')
  const wrong: Sent[] = [
    { ...good, 'x-remote-user': 'admin' },
    { ...good, 'x-remote-groups': 'admins' },
    { ...good, 'x-remote-signature': '' },
    { ...good, 'x-forwarded-for': '198.51.100.4' },
    headersOf('eve', { key: 'another secret of thirty-two characters' }),
    headersOf('eve', { timestamp: seconds(Date.now() - 3_600_000) }),
    headersOf('eve', { timestamp: seconds(Date.now() + 3_600_000) }),
    headersOf('eve', { timestamp: 'now' }),
  ]
  for (const headers of wrong) t.is((await call('/api/me', headers, {}, own)).status, 401, JSON.stringify(headers))
  t.is(await own.get(Users).byEmail('eve@example.org'), undefined)
  const [, , unsigned = {}] = wrong
  const statuses = [await call('/api/me', unsigned, {}, own), await call('/api/me', unsigned, {}, own)].map(({ status }) => status)
  t.is(statuses.at(-1), 429)
  await own.stop()
})

test('headers are valid only within the time window', async t => {
  const clock = new FixedClock('2026-05-01T12:00:00Z')
  const provider = new ProxyHeaders({ secret, label: 'x', maxAgeSeconds: 60 }, clock)
  const headers = headersOf('ada', { timestamp: seconds(clock.now().getTime()) })
  t.is((await provider.request(headers, client))?.subject, 'ada')
  clock.advance(60_000)
  t.is((await provider.request(headers, client))?.subject, 'ada')
  clock.advance(1000)
  await t.throwsAsync(provider.request(headers, client), { message: /too old/ })
  t.is(await provider.request({}, client), undefined)
})

test('the sign-in button opens a session, which continues without the proxy', async t => {
  const ways = (await (await call('/api/login/providers')).json()) as { id: string; kind: string; label: string }[]
  t.like(
    ways.find(({ id }) => id === 'proxy'),
    { kind: 'site', label: 'Institution' },
  )
  const cookie = await signedIn('grace')
  t.deepEqual(await whoIs({ cookie }), ['grace@example.org', 'session'])
  t.deepEqual(await whoIs({ cookie, ...headersOf('grace') }), ['grace@example.org', 'session'])
  t.is((await call('/api/logout', { cookie, origin: server.url }, { method: 'POST' })).status, 200)
  t.is(await whoIs({ cookie }), null)
})

test('without the proxy the sign-in button opens no session', async t => {
  const start = await call('/api/login/proxy', headersOf('ada'))
  const { pathname } = new URL(start.headers.get('location') ?? '')
  t.is((await call(pathname, { cookie: cookieOf(start) })).status, 401)
  t.is((await call(pathname, headersOf('ada'))).status, 401, 'a browser that did not start here')
})

test('a session ends when the proxy names someone else', async t => {
  const cookie = await signedIn('joan')
  t.deepEqual(await whoIs({ cookie, ...headersOf('mary') }), ['mary@example.org', 'proxy'])
  t.is(await whoIs({ cookie }), null)
})

test('pages of other sites cannot act as the user that the proxy names', async t => {
  const put = async (headers: Sent) => (await call('/api/me/preferences', headers, { method: 'PUT', json: { theme: 'dark' } })).status
  t.is(await put({ ...headersOf('ada'), 'sec-fetch-site': 'cross-site' }), 403)
  t.is(await put(headersOf('ada')), 403)
  t.is(await put({ ...headersOf('ada'), 'sec-fetch-site': 'same-origin' }), 200)
})

test('a proxy cannot make anyone a server admin or take over a local account by its address', async t => {
  t.is((await call('/api/me', { ...headersOf('admin') })).status, 401)
  const [name = ''] = server.admin.email.split('@')
  t.is(name, 'admin')
})
