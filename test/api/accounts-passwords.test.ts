import test from 'ava'
import { Mailer, Users } from 'pounce/sdk'
import { bootForTest, FixedClock, MemoryMailer, timingDifference } from 'pounce/sdk/testing'
import { lastToken, mailsTo } from '../support/mails.ts'
import { basic, byCookie, newKey, newPerson, type Person, signIn } from '../support/people.ts'
import { refusal } from '../support/scene.ts'
import { until } from '../support/until.ts'

const plugins = ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users']
const mailer = new MemoryMailer()
const server = await bootForTest({
  plugins,
  overrides: { [Mailer]: mailer },
  config: { auth: { local: { linksPerNetwork: 100_000 } }, resources: { users: { failuresPerAddress: 100_000 } } },
})
test.after.always(() => server.stop())
const next = 'another good password'

const post = (path: string, json: unknown, on = server) => on.as()(path, { method: 'POST', json })
const reset = (token: string, more: object = {}) => post('/api/password/reset/finish', { token, password: next, ...more })
const linkFor = async ({ email }: Pick<Person, 'email'>): Promise<string> => {
  const answer = await post('/api/password/reset', { email })
  if (answer.status !== 200) throw new Error(await answer.text())
  return lastToken(server, mailer, email)
}
const opens = async (email: string, password: string) => (await post('/api/login', { email, password })).status === 200

test('a mailed link resets the password: sessions end, API keys stay valid, and the owner is notified', async t => {
  const person = await newPerson(server, 'forgetful')
  const session = byCookie(server, await signIn(server, person.email, person.password))
  t.is((await session('/api/me')).status, 200)
  const token = await linkFor(person)
  t.like(await (await server.as()(`/api/password/reset/finish?token=${token}`)).json(), { email: person.email })
  t.deepEqual(await (await reset(token)).json(), { status: 'success' })
  t.is((await session('/api/me')).status, 401)
  t.is((await person.call('/api/me')).status, 200)
  t.false(await opens(person.email, person.password))
  t.true(await opens(person.email, next))
  t.is((await server.as()('/api/me', { headers: { authorization: basic(person.email, person.password) } })).status, 401)
  const mail = (await mailsTo(server, mailer, person.email)).at(-1)
  t.is(mail?.subject, '[Pounce] Your password was changed')
  t.regex(mail?.text ?? '', /Its API keys still work/)
})

test('a reset also revokes API keys on request, including extraction keys', async t => {
  const person = await newPerson(server, 'cautious')
  const extractor = await newKey(server, person.email, person.password, 'name=more&scope=extraction')
  t.is((await reset(await linkFor(person), { revokeKeys: true })).status, 200)
  await server.drained()
  for (const key of [person.key, extractor]) t.is((await server.as(key)('/api/me')).status, 401)
  const fresh = await newKey(server, person.email, next, 'name=fresh')
  t.is((await server.as(fresh)('/api/me')).status, 200)
  t.regex((await mailsTo(server, mailer, person.email)).at(-1)?.text ?? '', /Its API keys were revoked/)
})

test('Basic authentication accepts a password in UTF-8, and in ISO 8859-1 as sent by requests for Python', async t => {
  const person = await newPerson(server, 'umlaut')
  const password = 'größer als sieben'
  t.is((await reset(await linkFor(person), { password })).status, 200)
  const statusWith = async (credentials: Buffer) =>
    (await server.as()('/api/me', { headers: { authorization: `Basic ${credentials.toString('base64')}` } })).status
  for (const encoding of ['utf8', 'latin1'] as const)
    t.is(await statusWith(Buffer.from(`${person.email}:${password}`, encoding)), 200, encoding)
  t.is(await statusWith(Buffer.from(`${person.email}:gräßer als sieben`, 'latin1')), 401)
})

test('a reset link works once; of concurrent uses one succeeds', async t => {
  const person = await newPerson(server, 'raced')
  const token = await linkFor(person)
  const passwords = Array.from({ length: 6 }, (_, at) => `password number ${at}`)
  const statuses = await Promise.all(passwords.map(async password => (await reset(token, { password })).status))
  t.deepEqual(statuses.toSorted(), [200, 403, 403, 403, 403, 403])
  t.true(await opens(person.email, passwords[statuses.indexOf(200)]!))
  t.is((await reset(token)).status, 403)
})

test('any change of the password invalidates all outstanding reset links', async t => {
  const person = await newPerson(server, 'many')
  const links = [await linkFor(person), await linkFor(person), await linkFor(person)] as const
  t.is((await reset(links[1])).status, 200)
  for (const token of [links[0], links[2]]) {
    t.is((await server.as()(`/api/password/reset/finish?token=${token}`)).status, 403)
    t.is((await reset(token)).status, 403)
  }
  const left = await linkFor(person)
  t.is((await person.call('/api/password', { method: 'POST', json: { password: next, newPassword: 'a third password' } })).status, 200)
  t.like(await refusal(reset(left)), { status: 403, code: 'forbidden' })
})

test('a suspended account stays suspended after a password reset', async t => {
  const person = await newPerson(server, 'suspended')
  await server.get(Users).change(person.id, { set: { status: 'Inactive' } }, [])
  t.is((await reset(await linkFor(person))).status, 200)
  t.false(await opens(person.email, next))
  t.is((await server.get(Users).get(person.id))?.status, 'Inactive')
})

test('an account created without a password gets its first one through a reset link', async t => {
  const answer = await server.as(server.admin.key)('/api/users', {
    method: 'POST',
    json: { email: 'bare@example.org', firstName: 'B', lastName: 'A' },
  })
  t.is(answer.status, 200)
  t.is((await reset(await linkFor({ email: 'bare@example.org' }))).status, 200)
  t.true(await opens('bare@example.org', next))
})

test('neither response nor timing reveals whether an address is known, and unknown addresses get no mail', async t => {
  const shown = async (email: string) => {
    const answer = await post('/api/password/reset', { email })
    return [answer.status, await answer.text(), [...answer.headers.keys()].toSorted()]
  }
  const { email } = await newPerson(server, 'hidden')
  t.deepEqual(await shown('stranger@example.org'), await shown(email))
  t.deepEqual(await mailsTo(server, mailer, 'stranger@example.org'), [])
  const other = await bootForTest({ t, plugins, config: { auth: { local: { linksPerAddress: 1000, linksPerNetwork: 1000 } } } })
  const asks = async (address: string) => t.is((await post('/api/password/reset', { email: address }, other)).status, 200)
  t.is(await timingDifference({ known: () => asks(other.admin.email), unknown: () => asks('unknown@example.org') }), undefined)
})

test('an invalid new password is refused with 400; the link and the old password stay valid', async t => {
  const person = await newPerson(server, 'weak')
  const token = await linkFor(person)
  for (const password of ['short', 'x'.repeat(1001), 7, null]) t.is((await reset(token, { password })).status, 400)
  t.true(await opens(person.email, person.password))
  t.is((await reset(token)).status, 200)
})

test('a reset link expires after 24 hours', async t => {
  const [clock, mails] = [new FixedClock(), new MemoryMailer()]
  const timed = await bootForTest({ t, plugins, clock, overrides: { [Mailer]: mails } })
  t.is((await post('/api/password/reset', { email: timed.admin.email }, timed)).status, 200)
  const token = await lastToken(timed, mails, timed.admin.email)
  clock.advance(24 * 3_600_000)
  t.is((await post('/api/password/reset/finish', { token, password: next }, timed)).status, 403)
})

test('users change their password with the current one, and stay signed in with a new session', async t => {
  const person = await newPerson(server, 'own')
  const cookie = await signIn(server, person.email, person.password)
  const elsewhere = byCookie(server, await signIn(server, person.email, person.password))
  const change = (json: object, call = byCookie(server, cookie)) => call('/api/password', { method: 'POST', json })
  t.like(await refusal(change({ password: 'not this one', newPassword: next })), { status: 401, message: 'Wrong password' })
  t.is((await change({ newPassword: next })).status, 400)
  t.is((await change({ password: person.password, newPassword: 'short' })).status, 400)
  t.true(await opens(person.email, person.password))
  const changed = await change({ password: person.password, newPassword: next })
  t.deepEqual([changed.status, await changed.json()], [200, { status: 'success' }])
  const fresh = changed.headers.get('set-cookie')?.split(';')[0] ?? ''
  t.not(fresh, cookie)
  t.is((await byCookie(server, fresh)('/api/me')).status, 200)
  for (const call of [byCookie(server, cookie), elsewhere]) t.is((await call('/api/me')).status, 401)
  const open = (await (await byCookie(server, fresh)('/api/sessions')).json()) as readonly { readonly isCurrent: boolean }[]
  t.deepEqual(
    open.map(({ isCurrent }) => isCurrent),
    [true],
  )
  t.is((await person.call('/api/me')).status, 200)
  t.is((await mailsTo(server, mailer, person.email)).at(-1)?.subject, '[Pounce] Your password was changed')
  const withKey = await change({ password: next, newPassword: person.password, revokeKeys: true }, person.call)
  t.is(withKey.status, 200)
  t.is(withKey.headers.get('set-cookie'), null)
  await until(
    'the key to be revoked',
    async () => (await person.call('/api/me')).status,
    status => status === 401,
  )
})

test('anonymous callers, limited keys and cross-site pages cannot change a password', async t => {
  const person = await newPerson(server, 'guarded')
  const json = { password: person.password, newPassword: next }
  t.is((await post('/api/password', json)).status, 401)
  const keys = [
    await newKey(server, person.email, person.password, 'name=extractor&scope=extraction'),
    await newKey(server, person.email, person.password, 'name=reader&verbs=read'),
  ]
  for (const key of keys) t.is((await server.as(key)('/api/password', { method: 'POST', json })).status, 403)
  const cookie = await signIn(server, person.email, person.password)
  t.is(
    (
      await server.as()('/api/password', {
        method: 'POST',
        json,
        headers: { cookie, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      })
    ).status,
    403,
  )
  t.true(await opens(person.email, person.password))
})

test('wrong current passwords are throttled like sign-in', async t => {
  const strict = await bootForTest({ t, plugins, config: { resources: { users: { failuresPerAccount: 3 } } } })
  const person = await newPerson(strict, 'guessed')
  const guess = async (password: string) =>
    (await person.call('/api/password', { method: 'POST', json: { password, newPassword: next } })).status
  const seen: number[] = []
  for (const _ of [1, 2, 3, 4]) seen.push(await guess('wrong password'))
  t.deepEqual(seen, [401, 401, 401, 429])
})

test('of two concurrent changes with the right current password one wins', async t => {
  const person = await newPerson(server, 'both')
  const change = async (newPassword: string) =>
    (await person.call('/api/password', { method: 'POST', json: { password: person.password, newPassword } })).status
  const statuses = await Promise.all(['first new password', 'second new password'].map(change))
  t.is(statuses.filter(status => status === 200).length, 1)
  t.true(
    statuses.every(status => status === 200 || status === 409 || status === 401),
    statuses.join(' '),
  )
})

test('the password of an account of an external provider cannot be changed here', async t => {
  const person = await newPerson(server, 'foreign')
  await server.get(Users).change(person.id, { set: { provider: 'ldap' } }, [])
  t.is((await person.call('/api/password', { method: 'POST', json: { password: person.password, newPassword: next } })).status, 403)
})
