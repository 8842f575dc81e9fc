import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { Mailer, Unavailable, Users } from 'pounce/sdk'
import { bootForTest, FixedClock, MemoryMailer, type TestServer, timingDifference } from 'pounce/sdk/testing'
import { lastToken, mailsTo, tokenIn } from '../support/mails.ts'
import { basic } from '../support/people.ts'
import { refusal } from '../support/scene.ts'
import { until } from '../support/until.ts'

const plugins = ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users', 'resources.admin']
const password = 'a good password'
const mailer = new MemoryMailer()
const server = await bootForTest({
  plugins,
  overrides: { [Mailer]: mailer },
  config: {
    auth: { local: { linksPerNetwork: 100_000 } },
    http: { baseUrl: 'https://data.example.org/dm' },
    admins: ['chosen@example.org'],
  },
})
test.after.always(() => server.stop())
const admin = server.as(server.admin.key)
const nobody = server.as()

const post = (path: string, json: unknown, on: TestServer = server, headers: Record<string, string> = {}) =>
  on.as()(path, { method: 'POST', json, headers })
const requested = async (email: string, on = server): Promise<void> => {
  const answer = await post('/api/signup', { email }, on)
  if (answer.status !== 200) throw new Error(await answer.text())
}
const about = (token: string, more: object = {}) => ({ token, firstName: 'Ada', lastName: 'Lovelace', password, ...more })
const signInStatus = async (email: string, on = server) => (await post('/api/login', { email, password }, on)).status

test('a mailed link creates an account that is inactive until an admin activates it', async t => {
  const answer = await post('/api/signup', { email: ' Ada@Example.ORG ' })
  t.deepEqual([answer.status, await answer.json()], [200, { status: 'success' }])
  t.is(await server.get(Users).byEmail('ada@example.org'), undefined)
  const [mail] = await mailsTo(server, mailer, 'ada@example.org')
  t.is(mail?.subject, '[Pounce] Finish your sign-up')
  t.regex(mail?.text ?? '', /^https:\/\/data\.example\.org\/dm\/api\/signup\/finish\?token=[\w-]{67}$/m)
  const token = tokenIn(mail!)
  for (const _ of [1, 2]) {
    const shown = await nobody(`/api/signup/finish?token=${token}`)
    t.is(shown.headers.get('cache-control'), 'no-store')
    t.like(await shown.json(), { email: 'ada@example.org' })
  }
  const made = await post('/api/signup/finish', about(token))
  t.is(made.status, 200)
  const { id, isActive } = (await made.json()) as { id: string; isActive: boolean }
  t.false(isActive)
  t.like(await server.get(Users).get(id), { email: 'ada@example.org', firstName: 'Ada', status: 'Inactive', termsAccepted: null })
  t.is(await signInStatus('ada@example.org'), 401)
  const toAdmin = (await mailsTo(server, mailer, server.admin.email)).find(({ text }) => text.includes(id))
  t.is(toAdmin?.subject, '[Pounce] An account is pending approval')
  t.regex(toAdmin?.text ?? '', /Ada Lovelace \(ada@example\.org\)/)
  const [, json = '{}', method = '', path = ''] = /send (\{.*\}) to (POST) (\S+)\./.exec(toAdmin?.text ?? '') ?? []

  t.is((await admin(path, { method, json: JSON.parse(json) })).status, 200)
  t.is((await mailsTo(server, mailer, 'ada@example.org')).at(-1)?.subject, '[Pounce] Your account is active')
  t.is(await signInStatus('ada@example.org'), 200)
  t.truthy((await server.get(Users).get(id))?.lastLogin)
})

test('a link is valid once; of several concurrent uses, one creates an account', async t => {
  await requested('race@example.org')
  const token = await lastToken(server, mailer, 'race@example.org')
  const answers = await Promise.all(Array.from({ length: 6 }, () => post('/api/signup/finish', about(token))))
  t.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 403, 403, 403, 403, 403])
  t.like(await refusal(post('/api/signup/finish', about(token))), { status: 403, code: 'forbidden' })
  t.is((await nobody(`/api/signup/finish?token=${token}`)).status, 403)
})

test('other links for an address are invalid once the account exists', async t => {
  await requested('twice@example.org')
  const first = await lastToken(server, mailer, 'twice@example.org')
  await requested('twice@example.org')
  const second = await lastToken(server, mailer, 'twice@example.org')
  t.not(first, second)
  t.is((await post('/api/signup/finish', about(second))).status, 200)
  t.is((await post('/api/signup/finish', about(first))).status, 403)
})

test('a sign-up sets only names and password', async t => {
  await requested('smuggler@example.org')
  const token = await lastToken(server, mailer, 'smuggler@example.org')
  const smuggled = {
    status: 'Admin',
    id: 'f'.repeat(24),
    email: 'other@example.org',
    memberships: [{ space: 'x', role: 'y' }],
    superAdmin: true,
  }
  const made = await post('/api/signup/finish', about(token, smuggled))
  t.is(made.status, 200)
  t.is(await server.get(Users).byEmail('other@example.org'), undefined)
  const user = await server.get(Users).byEmail('smuggler@example.org')
  t.like(user, { status: 'Inactive', provider: 'userpass' })
  t.deepEqual(user?.memberships, [])
  t.not(user?.id, 'f'.repeat(24))
})

test('an invalid body is rejected with 400 and leaves the link valid', async t => {
  await requested('careful@example.org')
  const token = await lastToken(server, mailer, 'careful@example.org')
  for (const fault of [
    { password: 'short' },
    { firstName: '' },
    { firstName: ' ' },
    { lastName: 'a\u0000' },
    { password: 7 },
    { acceptTerms: 'yes' },
  ])
    t.is((await post('/api/signup/finish', about(token, fault))).status, 400, JSON.stringify(fault))
  t.is((await post('/api/signup/finish', about(token))).status, 200)
})

test('an altered or truncated token is rejected with 403', async t => {
  await requested('exact@example.org')
  const token = await lastToken(server, mailer, 'exact@example.org')
  const wrong = [
    `${token}A`,
    token.slice(0, -1),
    token.toUpperCase(),
    `${'f'.repeat(24)}${token.slice(24)}`,
    token.slice(0, 24),
    'x',
    '__proto__',
    "' or 1=1",
  ]
  for (const each of wrong) t.is((await post('/api/signup/finish', about(each))).status, 403, each)
  // A sign-up link cannot set another password.
  t.is((await post('/api/password/reset/finish', { token, password })).status, 403)
})

test('neither response nor timing reveals whether an address is known', async t => {
  const answer = async (email: string) => {
    const got = await post('/api/signup', { email })
    return [got.status, await got.text(), [...got.headers.keys()].toSorted()]
  }
  t.deepEqual(await answer('stranger@example.org'), await answer(server.admin.email))
  const sender = await bootForTest({
    plugins,
    overrides: { [Mailer]: new MemoryMailer() },
    config: { auth: { local: { linksPerAddress: 1000, linksPerNetwork: 1000 } } },
  })
  t.teardown(() => sender.stop())
  t.is(
    await timingDifference({ known: () => requested(sender.admin.email, sender), unknown: () => requested('unknown@example.org', sender) }),
    undefined,
  )
})

test('an existing account gets a mail with a password reset link', async t => {
  const made = await admin('/api/users', {
    method: 'POST',
    json: { email: 'known@example.org', password: 'the first password', firstName: 'K', lastName: 'N' },
  })
  t.is(made.status, 200)
  await requested('KNOWN@example.org')
  const [mail] = await mailsTo(server, mailer, 'known@example.org')
  t.is(mail?.subject, '[Pounce] You have an account already')
  t.is((await post('/api/signup/finish', about(tokenIn(mail!)))).status, 403)
  t.is((await post('/api/password/reset/finish', { token: tokenIn(mail!), password })).status, 200)
  t.is(await signInStatus('known@example.org'), 200)
})

test('an account of another provider gets a mail without a link', async t => {
  const { id } = await server.get(Users).create({ email: 'ldap@example.org', firstName: 'L', lastName: 'D', status: 'Active' })
  await server.get(Users).change(id, { set: { provider: 'ldap' } }, [])
  for (const path of ['/api/signup', '/api/password/reset']) {
    t.is((await post(path, { email: 'ldap@example.org' })).status, 200)
    const mail = (await mailsTo(server, mailer, 'ldap@example.org')).at(-1)
    t.regex(mail?.text ?? '', /signs in with ldap/)
    t.notRegex(mail?.text ?? '', /token=/)
  }
})

test('a malformed email address is rejected with 400', async t => {
  for (const email of [
    '',
    'x',
    'a@b@c',
    'a b@example.org',
    'a@example.org\r\nBcc: b@example.org',
    'a,b@example.org',
    '<a@example.org>',
    `${'x'.repeat(250)}@example.org`,
    7,
    null,
    ['a@example.org'],
  ])
    t.is((await post('/api/signup', { email })).status, 400, JSON.stringify(email))
})

test('the link uses the configured base URL, whatever host the request names', async t => {
  t.is(
    (
      await post('/api/signup', { email: 'spoofed@example.org' }, server, {
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'http',
        forwarded: 'host=evil.example',
      })
    ).status,
    200,
  )
  const [mail] = await mailsTo(server, mailer, 'spoofed@example.org')
  t.notRegex(mail?.text ?? '', /evil/)
  t.regex(mail?.text ?? '', /^https:\/\/data\.example\.org\/dm\/api\/signup\/finish\?token=/m)
})

test('an address configured as admin becomes an active admin at sign-up', async t => {
  await requested('chosen@example.org')
  const made = await post('/api/signup/finish', about(await lastToken(server, mailer, 'chosen@example.org')))
  t.true(((await made.json()) as { isActive: boolean }).isActive)
  t.is((await server.get(Users).byEmail('chosen@example.org'))?.status, 'Admin')
})

test('requests for links are limited per address and per network', async t => {
  const strict = await bootForTest({ t, plugins, config: { auth: { local: { linksPerAddress: 2, linksPerNetwork: 6 } } } })
  const statuses = async (emails: readonly string[]) => {
    const seen: number[] = []
    for (const email of emails) seen.push((await post('/api/signup', { email }, strict)).status)
    return seen
  }
  t.deepEqual(await statuses(['a@example.org', 'A@example.org', ' a@EXAMPLE.org ']), [200, 200, 429])
  t.deepEqual(await statuses(Array(3).fill(strict.admin.email)), [200, 200, 429])
  t.deepEqual(await statuses(['b@example.org']), [429])
  const shut = await post('/api/password/reset', { email: 'c@example.org' }, strict)
  t.is(shut.status, 429)
  t.true(Number(shut.headers.get('retry-after')) > 0)
  const guesses = await Promise.all(Array.from({ length: 8 }, () => post('/api/signup/finish', about('f'.repeat(67)), strict)))
  t.deepEqual(guesses.map(({ status }) => status).toSorted(), [403, 403, 403, 403, 403, 403, 429, 429])
})

test('with sign-up disabled no links are sent, and earlier links are invalid', async t => {
  const mails = new MemoryMailer()
  const folder = await mkdtemp(join(tmpdir(), 'pounce-test-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const open = await bootForTest({ plugins, folder, overrides: { [Mailer]: mails } })
  await requested('late@example.org', open)
  const token = await lastToken(open, mails, 'late@example.org')
  t.is((await open.as()(`/api/signup/finish?token=${token}`)).status, 200)
  await open.stop()
  const closed = await bootForTest({ plugins, folder, config: { auth: { local: { signUp: false } } } })
  t.teardown(() => closed.stop())
  t.is((await post('/api/signup', { email: 'x@example.org' }, closed)).status, 403)
  for (const each of [token, 'f'.repeat(67)]) {
    t.is((await closed.as()(`/api/signup/finish?token=${each}`)).status, 403)
    t.is((await post('/api/signup/finish', about(each), closed)).status, 403)
  }
})

test('an account is active at once if no approval is required', async t => {
  const mails = new MemoryMailer()
  const free = await bootForTest({
    t,
    plugins,
    overrides: { [Mailer]: mails },
    config: { auth: { local: { registerThroughAdmins: false } } },
  })
  await requested('free@example.org', free)
  const made = await post('/api/signup/finish', about(await lastToken(free, mails, 'free@example.org')), free)
  t.true(((await made.json()) as { isActive: boolean }).isActive)
  t.is(await signInStatus('free@example.org', free), 200)
  t.is((await mailsTo(free, mails, free.admin.email)).length, 0)
  t.is((await free.as()('/api/me', { headers: { authorization: basic('free@example.org', password) } })).status, 200)
})

test('a link is valid for the configured time, and then deleted', async t => {
  const [clock, mails] = [new FixedClock(), new MemoryMailer()]
  const timed = await bootForTest({ t, plugins, clock, overrides: { [Mailer]: mails }, config: { auth: { local: { linkHours: 2 } } } })
  await requested('slow@example.org', timed)
  const token = await lastToken(timed, mails, 'slow@example.org')
  t.regex(mails.sent[0]?.text ?? '', /for 2 hours/)
  clock.advance(2 * 3_600_000 - 1)
  t.is((await timed.as()(`/api/signup/finish?token=${token}`)).status, 200)
  clock.advance(1)
  t.is((await timed.as()(`/api/signup/finish?token=${token}`)).status, 403)
  t.is((await post('/api/signup/finish', about(token), timed)).status, 403)
  await timed.runPeriodic('auth.local/forget-links')
  t.is((await post('/api/signup/finish', about(token), timed)).status, 403)
  t.is(await timed.get(Users).byEmail('slow@example.org'), undefined)
})

test('a mail is retried while the mail server is unavailable; of two links sent by a retry, either can be used', async t => {
  const mails = new MemoryMailer()
  let tries = 0
  const shaky = {
    async send(mail: Parameters<MemoryMailer['send']>[0]) {
      tries += 1
      if (tries === 1) throw new Unavailable('the mail server is unavailable')
      await mails.send(mail)
      // The server accepted the mail but disconnected before replying.
      if (tries === 2) throw new Unavailable('the mail server is unavailable')
    },
  }
  const away = await bootForTest({ t, plugins, overrides: { [Mailer]: shaky } })
  await requested('patient@example.org', away)
  await until(
    'the mail to be sent',
    () => mails.sent.length,
    sent => sent === 2,
  )
  const [first, second] = mails.sent.map(tokenIn)
  t.not(first, second)
  for (const token of [first, second]) t.is((await away.as()(`/api/signup/finish?token=${token}`)).status, 200)
  t.is((await post('/api/signup/finish', about(first!), away)).status, 200)
  t.is((await post('/api/signup/finish', about(second!), away)).status, 403)
})
