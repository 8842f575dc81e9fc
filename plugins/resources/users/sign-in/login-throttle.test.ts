import test, { type ExecutionContext } from 'ava'
import { Commands, DocumentStore, type TooMany, Unavailable } from 'pounce/sdk'
import { networkOf } from 'pounce/sdk/kit'
import { bootForTest, FixedClock, type TestServer } from 'pounce/sdk/testing'
import { basic, newPerson } from '../../../../test/support/people.ts'
import { tries as counted } from '../collections.ts'
import { accountName, LoginAttempts, LoginThrottle, SignInBatcher } from './login-throttle.ts'

const plugins = ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users']

const bootWith = (t: ExecutionContext, limits: object) => bootForTest({ t, plugins, config: { resources: { users: limits } } })

const loginStatus = async (server: TestServer, email: string, password: string) =>
  (await server.as()('/api/login', { method: 'POST', json: { email, password } })).status

test('after too many wrong passwords an account is throttled, even for the correct password', async t => {
  const server = await bootWith(t, { failuresPerAccount: 3 })
  const [person, other] = [await newPerson(server, 'target'), await newPerson(server, 'other')]
  for (const _ of [1, 2, 3]) t.is(await loginStatus(server, person.email, 'wrong password'), 401)
  const shut = await server.as()('/api/login', { method: 'POST', json: { email: person.email, password: person.password } })
  t.is(shut.status, 429)
  const seconds = Number(shut.headers.get('retry-after'))
  t.true(seconds > 800 && seconds <= 900, String(seconds))
  t.is(await loginStatus(server, ` ${person.email.toUpperCase()} `, person.password), 429)
  t.is((await server.as()('/api/me', { headers: { authorization: basic(person.email, 'wrong again') } })).status, 429)
  t.is((await person.call('/api/me')).status, 200)
  t.is(await loginStatus(server, other.email, other.password), 200)
})

test('an unknown account is throttled after the same number of attempts', async t => {
  const server = await bootWith(t, { failuresPerAccount: 2 })
  const statuses: number[] = []
  for (const _ of [1, 2, 3]) statuses.push(await loginStatus(server, 'nobody@example.org', 'wrong password'))
  t.deepEqual(statuses, [401, 401, 429])
})

test('concurrent attempts are counted like sequential ones', async t => {
  const server = await bootWith(t, { failuresPerAccount: 5 })
  const person = await newPerson(server, 'stormed')
  const statuses = await Promise.all(Array.from({ length: 30 }, (_, at) => loginStatus(server, person.email, `guess number ${at}`)))
  t.is(statuses.filter(status => status === 401).length, 5)
  t.is(statuses.filter(status => status === 429).length, 25)
})

test('a correct password resets the count', async t => {
  const server = await bootWith(t, { failuresPerAccount: 3 })
  const person = await newPerson(server, 'clumsy')
  for (const _ of [1, 2, 3]) {
    for (const _again of [1, 2]) t.is(await loginStatus(server, person.email, 'wrong password'), 401)
    t.is(await loginStatus(server, person.email, person.password), 200)
  }
})

test('many concurrent requests with the correct password are not throttled', async t => {
  const server = await bootWith(t, { failuresPerAccount: 3, failuresPerAddress: 10 })
  const person = await newPerson(server, 'busy')
  const authorization = basic(person.email, person.password)
  const statuses = await Promise.all(
    Array.from({ length: 40 }, async () => (await server.as()('/api/me', { headers: { authorization } })).status),
  )
  t.deepEqual([...new Set(statuses)], [200])
})

test('attempts from one address on many accounts are throttled', async t => {
  const server = await bootWith(t, { failuresPerAddress: 6 })
  const statuses: number[] = []
  for (let at = 0; at < 8; at += 1) statuses.push(await loginStatus(server, `account${at}@example.org`, 'password1'))
  t.deepEqual(statuses, [401, 401, 401, 401, 401, 401, 429, 429])
})

test('attempts on many accounts do not lock out users who have signed in from the same address before', async t => {
  const server = await bootWith(t, { failuresPerAccount: 3, failuresPerAddress: 6 })
  const known = await newPerson(server, 'known')
  t.is(await loginStatus(server, known.email, known.password), 200)
  for (let at = 0; at < 6; at += 1) t.is(await loginStatus(server, `account${at}@example.org`, 'password1'), 401)
  t.is(await loginStatus(server, known.email, known.password), 200)
  t.is(await loginStatus(server, 'account6@example.org', 'password1'), 429)
  for (const _ of [1, 2, 3]) t.is(await loginStatus(server, known.email, 'wrong password'), 401)
  t.is(await loginStatus(server, known.email, known.password), 429, 'the account has its own count')
})

test('wrong keys are throttled without affecting valid ones', async t => {
  const server = await bootWith(t, { wrongKeysPerAddress: 4 })
  const statuses: number[] = []
  for (let at = 0; at < 6; at += 1) statuses.push((await server.as(`wrong key ${at}`)('/api/me')).status)
  t.deepEqual(statuses, [401, 401, 401, 401, 429, 429])
  t.is((await server.as(server.admin.key)('/api/me')).status, 200)
  t.is(await loginStatus(server, server.admin.email, server.admin.password), 200)
})

test('requests with a valid key and a wrong password are served, and the password is counted as an attempt', async t => {
  const server = await bootWith(t, { failuresPerAccount: 3 })
  const person = await newPerson(server, 'beside')
  const authorization = basic(person.email, 'wrong password')
  const statuses: number[] = []
  for (const _ of [1, 2, 3, 4, 5]) statuses.push((await person.call('/api/me', { headers: { authorization } })).status)
  t.deepEqual(new Set(statuses), new Set([200]))
  t.is(await loginStatus(server, person.email, person.password), 429)
})

test('while throttled, public routes are served and all others return 429', async t => {
  const server = await bootWith(t, { failuresPerAccount: 2, wrongKeysPerAddress: 2 })
  const open = `/api/users/${(await newPerson(server, 'seen')).id}`
  const statuses = async (ask: (path: string, at: number) => Promise<Response>) => {
    const found: string[] = []
    for (const at of [1, 2, 3]) found.push(`${(await ask(open, at)).status} ${(await ask('/api/me', at)).status}`)
    return found
  }
  const none = basic('None', 'None')
  t.deepEqual(await statuses(path => server.as()(path, { headers: { authorization: none } })), ['200 401', '200 429', '200 429'])
  t.deepEqual(await statuses((path, at) => server.as(`wrong ${at}`)(path)), ['200 401', '200 401', '200 429'])
})

test('a repeated invalid key or session gets 401 each time and is counted once', async t => {
  const server = await bootWith(t, { wrongKeysPerAddress: 4, failuresPerAddress: 4 })
  const refused = (ask: () => Promise<Response>) => Promise.all(Array.from({ length: 30 }, async () => (await ask()).status))
  t.deepEqual(new Set(await refused(() => server.as('a key of the past')('/api/me'))), new Set([401]))
  t.deepEqual(new Set(await refused(() => server.as()('/api/me', { headers: { cookie: 'pounce_session=of-the-past' } }))), new Set([401]))
  const others = [1, 2, 3, 4].map(number => `another key ${number}`)
  t.deepEqual(await Promise.all(others.slice(0, 3).map(async key => (await server.as(key)('/api/me')).status)), [401, 401, 401])
  t.is((await server.as(others[3])('/api/me')).status, 429)
  t.is((await server.as('a key of the past')('/api/me')).status, 401)
})

test('changing the password invalidates a cached verification', async t => {
  const server = await bootWith(t, {})
  const person = await newPerson(server, 'changed')
  const status = async (password: string) =>
    (await server.as()('/api/me', { headers: { authorization: basic(person.email, password) } })).status
  t.is(await status(person.password), 200)
  const passwd = server
    .get(Commands)
    .all()
    .find(({ name }) => name === 'user passwd')!
  const { password } = (await passwd.run({ arguments: { email: person.email }, options: {} }, () => undefined)) as { password: string }
  t.is(await status(person.password), 401)
  t.is(await status(password), 200)
})

test('addresses of the same network are counted together', t => {
  t.is(networkOf('192.0.2.7'), '192.0.2.7')
  t.is(networkOf('::ffff:192.0.2.7'), '192.0.2.7')
  t.is(networkOf('2001:db8:0:1::1'), '2001:db8:0:1::/64')
  t.is(networkOf('2001:0DB8:0000:0001:ffff:ffff:ffff:ffff'), networkOf('2001:db8:0:1::1'))
  t.is(networkOf('::1'), '0:0:0:0::/64')
  t.is(networkOf('fe80::1%eth0'), 'fe80:0:0:0::/64')
  t.is(networkOf('::ffff:c000:207'), '192.0.2.7')
  t.is(networkOf('0:0:0:0:0:FFFF:192.0.2.7'), '192.0.2.7')
  t.is(networkOf(''), '')
})

test('spellings of an email address that a directory may treat as equal are counted together', t => {
  for (const spelling of [
    'ADA@Example.org',
    ' ada@example.org ',
    'ａda@example.org',
    'a\u200bda@example.org',
    'ada@example.org\u0000',
    'àda@example.org',
  ])
    t.is(accountName(spelling), 'ada@example.org', spelling)
  t.is(accountName('Stra\u00dfe@example.org'), accountName('stra\u00dfe@example.org'))
  t.not(accountName('ada@example.org'), accountName('ida@example.org'))
})

test('attempts from one network do not lock out others, and attempts from many networks do not lock out known ones', async t => {
  let now = new Date('2026-03-01T10:00:00.000Z')
  const limits = { failuresPerAccount: 2, failuresPerAccountAnywhere: 5, failuresPerAddress: 100 }
  const server = await bootForTest({ t, plugins, clock: { now: () => now }, config: { resources: { users: limits } } })
  const throttle = server.get(LoginThrottle)
  const email = 'owner@example.org'
  const attempt = (address: string, isRight = false, who = email) => throttle.tryPassword(who, address, async () => isRight || undefined)
  const refused = (address: string) => t.throwsAsync<TooMany>(attempt(address, true), { message: /try again in 15 minutes/ })
  t.true(await attempt('192.0.2.1', true))
  for (const _ of [1, 2]) t.is(await attempt('198.51.100.1'), undefined)
  t.is((await refused('198.51.100.1'))?.retryAfterSeconds, 900)
  for (const last of [2, 3, 4]) await attempt(`198.51.100.${last}`)
  await refused('198.51.100.5')
  for (const _ of [1, 2]) await attempt('192.0.2.1')
  await refused('192.0.2.1')
  t.true(await attempt('198.51.100.5', true, 'somebody-else@example.org'))
  now = new Date('2026-04-15T10:00:00.000Z')
  for (const last of [1, 2, 3, 4, 5]) await attempt(`198.51.100.${last}`)
  await refused('192.0.2.1')
})

test('a password that could not be verified is not counted', async t => {
  const server = await bootWith(t, { failuresPerAccount: 1, failuresPerAddress: 1 })
  const throttle = server.get(LoginThrottle)
  const away = () => Promise.reject(new Unavailable('The directory is unavailable'))
  for (const _ of [1, 2, 3]) await t.throwsAsync(throttle.tryPassword('ada@example.org', '192.0.2.1', away), { instanceOf: Unavailable })
  t.true(await throttle.tryPassword('ada@example.org', '192.0.2.1', async () => true))
})

test('a correct password costs no write from a known network', async t => {
  const server = await bootWith(t, {})
  const throttle = server.get(LoginThrottle)
  const attempt = () => throttle.tryPassword('ada@example.org', '192.0.2.1', async () => true)
  const stored = async () => (await server.get(DocumentStore).find(counted, { using: 'byEnd', limit: 10 })).items
  await attempt()
  const before = await stored()
  t.is(before.length, 1, 'the record that the network is known')
  for (const _ of [1, 2, 3]) await attempt()
  t.deepEqual(await stored(), before)
})

test('attempts for other purposes are counted by purpose and subject', async t => {
  const server = await bootForTest({ t, plugins })
  const throttle = server.get(LoginThrottle)
  for (const _ of [1, 2]) await throttle.take('sign-up', networkOf('192.0.2.7'), 2)
  const refusal = await t.throwsAsync<TooMany>(throttle.take('sign-up', networkOf('192.0.2.7'), 2))
  t.is(refusal?.status, 429)
  await t.notThrowsAsync(throttle.take('reset', networkOf('192.0.2.7'), 2))
  await t.notThrowsAsync(throttle.take('sign-up', networkOf('192.0.2.8'), 2))
})

test('throttling ends with its window, and expired counts are deleted', async t => {
  let now = new Date('2026-03-01T10:00:00.000Z')
  const server = await bootForTest({ t, plugins, clock: { now: () => now } })
  const [tries, documents] = [server.get(LoginAttempts), server.get(DocumentStore)]
  await tries.take('a key', 2)
  now = new Date('2026-03-01T10:14:00.000Z')
  await tries.take('a key', 2)
  const refusal = await t.throwsAsync<TooMany>(tries.take('a key', 2))
  t.is(refusal?.status, 429)
  t.is(refusal?.retryAfterSeconds, 60)
  now = new Date('2026-03-01T10:15:00.000Z')
  for (const _ of [1, 2]) await t.notThrowsAsync(tries.take('a key', 2))
  await t.throwsAsync(tries.take('a key', 2))
  await tries.forget('a key')
  await t.notThrowsAsync(tries.take('a key', 2))
  await server.runPeriodic('resources.users/sweep-sessions')
  t.is((await documents.find(counted, { using: 'byEnd', limit: 10 })).items.length, 1)
  now = new Date('2026-03-01T10:30:00.000Z')
  await server.runPeriodic('resources.users/sweep-sessions')
  t.deepEqual((await documents.find(counted, { using: 'byEnd', limit: 10 })).items, [])
})

test('a throttled attempt costs no writes', async t => {
  const server = await bootForTest({ t, plugins })
  const tries = server.get(LoginAttempts)
  const taken = await Promise.allSettled(Array.from({ length: 50 }, () => tries.take('stormed', 5)))
  t.is(taken.filter(({ status }) => status === 'fulfilled').length, 5)
  const [stored] = (await server.get(DocumentStore).find(counted, { using: 'byEnd', limit: 10 })).items
  t.like(stored, { count: 5, revision: 5 })
})

test('the first few sign-ins pass immediately, and waiting ones pass together', async t => {
  const gathering = new SignInBatcher(3, 50)
  const passed: number[] = []
  const all = Array.from({ length: 10 }, async (_, at) => {
    await gathering.pass()
    passed.push(at)
  })
  await Promise.all(all.slice(0, 3))
  t.deepEqual(passed, [0, 1, 2])
  t.is(gathering.pass(), gathering.pass(), 'waiting callers share one promise')
  await Promise.all(all)
  t.deepEqual(passed, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('waiting groups pass one after another, at the configured rate', async t => {
  const gathering = new SignInBatcher(1, 5)
  await gathering.pass()
  const startedAt = performance.now()
  for (let group = 0; group < 3; group += 1) await Promise.all([gathering.pass(), gathering.pass(), gathering.pass()])
  // 600 ms at this rate. Timers count from the start of a turn of the event loop, so each may fire early by a long turn of another test.
  t.true(performance.now() - startedAt > 300)
})

test('attempts counted before the clock was set back do not throttle', async t => {
  const clock = new FixedClock()
  const server = await bootForTest({ t, plugins, clock })
  const attempts = server.get(LoginAttempts)
  const key = 'account ada@example.org'
  for (const _ of [1, 2]) await attempts.take(key, 2)
  await t.throwsAsync(attempts.take(key, 2), { message: /try again in 15 minutes/ })
  clock.advance(-365 * 24 * 3_600_000)
  t.is((await attempts.look([key])).size, 0)
  for (const _ of [1, 2]) await attempts.take(key, 2)
  await t.throwsAsync(attempts.take(key, 2), { message: /try again in 15 minutes/ })
})
