import test from 'ava'
import { credentialsOf } from './authenticate.ts'
import { refuseOtherOrigins, requireSameOrigin } from './origins.ts'
import { requestTarget } from './request-context.ts'
import { TrustedProxies } from './trusted-proxies.ts'

const sessionCookie = 'pounce_session'
const sent = (headers: Record<string, string>, queryKey?: string) =>
  credentialsOf({ headers, query: {}, queryKey, address: '192.0.2.7', sessionCookie }).credentials

test('the address is that of the connection, regardless of headers', t => {
  t.is(
    new TrustedProxies(0).clientOf(
      { 'x-forwarded-for': '203.0.113.9', 'x-real-ip': '203.0.113.9', forwarded: 'for=203.0.113.9' },
      '192.0.2.7',
    ),
    '192.0.2.7',
  )
})

test('behind trusted proxies the address is the one that the outermost of them saw, regardless of what the client sent', t => {
  const from = (text: string, proxies = 1) => new TrustedProxies(proxies).clientOf({ 'x-forwarded-for': text }, '10.0.0.1')
  t.is(from('192.0.2.7'), '192.0.2.7')
  t.is(from('203.0.113.9, 192.0.2.7'), '192.0.2.7')
  t.is(from('203.0.113.9, 192.0.2.7, 10.0.0.2', 2), '192.0.2.7')
  t.is(from('192.0.2.7:50123'), '192.0.2.7')
  t.is(from('[2001:db8::1]:50123'), '2001:db8::1')
  t.is(from('2001:db8::1'), '2001:db8::1')
  for (const text of ['', 'unknown', '_hidden', '999.1.1.1', 'x'.repeat(5000)]) t.is(from(text), '10.0.0.1', text.slice(0, 20))
})

test('listed proxies are skipped as hops, and no other peer may set the address', t => {
  const proxies = new TrustedProxies(['10.0.0.0/24', '192.0.2.80', '2001:db8::/64'])
  const from = (text: string, peer: string) => proxies.clientOf({ 'x-forwarded-for': text }, peer)
  t.is(from('203.0.113.9', '10.0.0.1'), '203.0.113.9')
  t.is(from('203.0.113.9', '::ffff:10.0.0.1'), '203.0.113.9')
  t.is(from('203.0.113.9', '2001:db8::7'), '203.0.113.9')
  t.is(from('203.0.113.9, 198.51.100.1, 192.0.2.80:4711, 10.0.0.2', '10.0.0.1'), '198.51.100.1')
  t.is(from('10.0.0.9, 10.0.0.2', '10.0.0.1'), '10.0.0.9')
  t.is(from('203.0.113.9, unknown', '10.0.0.1'), '10.0.0.1')
  for (const peer of ['10.0.1.1', '192.0.2.81', '2001:db8:0:1::7', '::ffff:10.0.1.1']) t.is(from('203.0.113.9', peer), peer)
  t.is(proxies.clientOf({ 'x-forwarded-for': '203.0.113.9' }, undefined), '')
  t.is(new TrustedProxies([]).clientOf({ 'x-forwarded-for': '203.0.113.9' }, '10.0.0.1'), '10.0.0.1')
})

test('only a list identifies proxy peers, and its entries must be addresses', t => {
  t.true(new TrustedProxies(['10.0.0.1']).lists('10.0.0.1'))
  t.false(new TrustedProxies(['10.0.0.1']).lists('10.0.0.2'))
  t.false(new TrustedProxies(['10.0.0.1']).lists(undefined))
  t.false(new TrustedProxies(1).lists('10.0.0.1'))
  for (const wrong of ['proxy.example.org', '10.0.0.1/33', '10.0.0.1/', '10.0.0.1/x', '2001:db8::/129', '10.0.0'])
    t.throws(() => new TrustedProxies([wrong]), { message: /http\.trustedProxies: .* use for instance 10\.0\.0\.5/ }, wrong)
})

test('two different keys or sessions are invalid', t => {
  t.is(requestTarget('/x?key=a&key=a').key, 'a')
  t.is(requestTarget('/x?key=&key=a').key, 'a')
  t.is(requestTarget('/x?key=a&key=b').key, 'a, b')
  t.is(requestTarget('/x?key=a&key=b&c=d').search, 'c=d')
  t.is(sent({ cookie: 'pounce_session=a; x=y; pounce_session=a' })?.session, 'a')
  t.is(sent({ cookie: 'pounce_session=a; pounce_session=b' })?.session, 'a, b')
  t.is(sent({ cookie: 'pounce_session="a"' })?.session, 'a')
})

test('a cookie with a similar name is not a session', t => {
  for (const cookie of ['pounce_session2=a', 'xpounce_session=a', 'POUNCE_SESSION=a', 'pounce_session', '=a', ';;;'])
    t.is(sent({ cookie })?.session, undefined, cookie)
})

test('an Authorization header that is malformed or of another scheme is invalid, not absent', t => {
  for (const authorization of [
    'Digest x',
    'Basic',
    'Basic ',
    'Basic !!!',
    `Basic ${btoa('no colon')}`,
    `Basic ${btoa(':empty')}`,
    'Bearer',
    'junk junk junk',
  ])
    for (const more of [{}, { 'x-api-key': 'a key' }] as readonly { readonly 'x-api-key'?: string }[]) {
      const { credentials, unreadable } = credentialsOf({
        headers: { authorization, ...more },
        query: {},
        queryKey: undefined,
        address: '',
        sessionCookie,
      })
      t.is(unreadable?.status, 401, authorization)
      t.deepEqual([credentials?.headerKey, credentials?.basic, credentials?.bearer], [more['x-api-key'], undefined, undefined])
    }
  t.deepEqual(sent({ authorization: `bAsIc ${btoa('ann@example.org:a:b')}` })?.basic, { email: 'ann@example.org', password: 'a:b' })
})

const base = 'https://data.example.org/dm'
const own: readonly Record<string, string>[] = [
  { 'sec-fetch-site': 'same-origin' },
  { origin: 'https://data.example.org' },
  { origin: 'https://inside.example:8443', host: 'inside.example:8443' },
  { 'sec-fetch-site': 'none', origin: 'https://data.example.org' },
  { referer: 'https://data.example.org/dm/page?x=1' },
]
const foreign: readonly Record<string, string>[] = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'same-site', origin: 'https://data.example.org' },
  { 'sec-fetch-site': 'none' },
  { 'sec-fetch-site': 'SAME-ORIGIN' },
  { origin: 'null' },
  { origin: 'null', referer: 'https://data.example.org/' },
  { origin: 'https://other.data.example.org' },
  { origin: 'https://example.org' },
  { origin: 'https://data.example.org:8443' },
  { origin: 'http://data.example.org', host: 'data.example.org' },
  { origin: 'https://data.example.org.evil.example' },
  { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' },
  { referer: 'https://evil.example/https://data.example.org/' },
  { origin: 'file://' },
]

test('a change is accepted only if browser headers show that it is from this server', t => {
  for (const headers of own) {
    t.notThrows(() => requireSameOrigin(headers, base), JSON.stringify(headers))
    t.notThrows(() => refuseOtherOrigins(headers, base), JSON.stringify(headers))
  }
  for (const headers of foreign) {
    t.throws(() => requireSameOrigin(headers, base), { message: /page of this server/ }, JSON.stringify(headers))
    t.throws(() => refuseOtherOrigins(headers, base), { message: /page of this server/ }, JSON.stringify(headers))
  }
})

test('requests without browser headers may sign in, but not make changes with a cookie', t => {
  t.throws(() => requireSameOrigin({}, base))
  t.notThrows(() => refuseOtherOrigins({ 'user-agent': 'curl/8' }, base))
})

test('over TLS only the cookie with the prefix __Host- is a session', t => {
  const over = (cookie: string) =>
    credentialsOf({ headers: { cookie }, query: {}, queryKey: undefined, address: '', sessionCookie: '__Host-pounce_session' }).credentials
  t.is(over('__Host-pounce_session=a')?.session, 'a')
  t.is(over('pounce_session=planted'), undefined)
  t.is(over('pounce_session=planted; __Host-pounce_session=a')?.session, 'a')
})
