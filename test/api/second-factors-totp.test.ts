import test from 'ava'
import { Mailer, Users } from 'pounce/sdk'
import { bootForTest, FixedClock, MemoryMailer } from 'pounce/sdk/testing'
import { codeAt } from '../support/authenticator.ts'
import { mailsTo } from '../support/mails.ts'
import { basic, byCookie, newKey, newPerson, refusal, signIn } from '../support/people.ts'
import { challengeOf, cookieOf, enrolTotp, finish, json, post, withTotp } from '../support/second-factors.ts'

const plugins = ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users', 'resources.audit']
const clock = new FixedClock()
const mailer = new MemoryMailer()
const server = await bootForTest({
  plugins,
  clock,
  overrides: { [Mailer]: mailer },
  config: { http: { trustedProxies: 1 } },
})
test.after.always(() => server.stop())

let networks = 0
const elsewhere = (): { readonly 'x-forwarded-for': string } => {
  networks += 1
  return { 'x-forwarded-for': `198.51.100.${networks}` }
}
const statusOf = async (answer: Promise<Response>): Promise<number> => (await answer).status
const codeNow = (secret: string, stepsAhead = 0): string => codeAt(secret, new Date(clock.now().getTime() + stepsAhead * 30_000))

// All tests of this file share one clock, so they run serially.
test.serial('an app is enrolled with the current password and its first code, and ten recovery codes are shown once', async t => {
  const person = await newPerson(server, 'ann')
  const cookie = await signIn(server, person.email, person.password)
  const session = byCookie(server, cookie)
  t.is(await statusOf(post(session, '/api/second-factors/totp')), 400)
  t.is(await statusOf(post(session, '/api/second-factors/totp', { password: 'not this one' })), 401)
  const begun = await json<{ enrolment: string; secret: string; uri: string }>(
    post(session, '/api/second-factors/totp', { password: person.password }),
  )
  const uri = new URL(begun.uri)
  t.is(uri.protocol, 'otpauth:')
  t.is(uri.searchParams.get('secret'), begun.secret)
  t.regex(begun.secret, /^[A-Z2-7]{32}$/)
  t.true(decodeURIComponent(uri.pathname).includes(person.email))
  const confirm = (code: string) => post(session, '/api/second-factors/totp/confirm', { enrolment: begun.enrolment, code })
  t.is(await statusOf(confirm(codeNow(begun.secret, 5))), 400)
  t.is(await statusOf(server.as()('/api/login', { method: 'POST', json: { email: person.email, password: person.password } })), 200)
  const { recoveryCodes } = await json<{ recoveryCodes: string[] }>(confirm(codeNow(begun.secret)))
  t.is(new Set(recoveryCodes).size, 10)
  t.is(await statusOf(confirm(codeNow(begun.secret, 1))), 400, 'an enrolment is valid once')
  t.like(await json(session('/api/second-factors')), { isRequired: false, recoveryCodesLeft: 10, passkeys: [] })
  const mail = (await mailsTo(server, mailer, person.email)).at(-1)
  t.is(mail?.subject, '[Pounce] The second factors of your account changed')
  t.regex(mail?.text ?? '', /An authenticator app was enrolled/)
})

test.serial('enrolling the first factor ends all sessions but the one used for it; API keys stay valid', async t => {
  const person = await newPerson(server, 'bob')
  const [other, mine] = [await signIn(server, person.email, person.password), await signIn(server, person.email, person.password)]
  await enrolTotp(byCookie(server, mine), person.password, clock)
  t.is(await statusOf(byCookie(server, other)('/api/me')), 401)
  t.is(await statusOf(byCookie(server, mine)('/api/me')), 200)
  t.is(await statusOf(person.call('/api/me')), 200)
})

test.serial('factors can be enrolled with Basic; afterwards a password alone is refused, an API key accepted', async t => {
  const person = await newPerson(server, 'program')
  const headers = { authorization: basic(person.email, person.password) }
  const call = (path: string, init: RequestInit & { json?: unknown } = {}) => server.as()(path, { ...init, headers })
  await enrolTotp(call, undefined, clock)
  const refused = await refusal(await call('/api/me'))
  t.like(refused, { httpStatus: 401, code: 'second-factor-required' })
  t.regex(String(refused['message']), /API key/)
  t.is(await statusOf(person.call('/api/me')), 200)
  t.is(await statusOf(server.as()('/api/users/keys?name=more', { method: 'POST', headers })), 401)
})

test.serial('the response to a password is a challenge, and to the challenge with a code a session', async t => {
  const person = await withTotp(server, clock, 'carl')
  const refused = await challengeOf(server, person)
  t.is(refused.code, 'second-factor-required')
  t.deepEqual(refused.methods, ['totp', 'recovery-code'])
  t.is(await statusOf(finish(server, refused.challenge, {})), 400)
  t.is(await statusOf(finish(server, refused.challenge, { code: codeNow(person.secret), recoveryCode: 'x' })), 400)
  t.is(await statusOf(finish(server, 'forged', { code: codeNow(person.secret) })), 401)
  const done = await finish(server, refused.challenge, { code: codeNow(person.secret) })
  t.is(done.status, 200)
  t.like(await done.json(), { id: person.id })
  t.is(await statusOf(byCookie(server, cookieOf(done))('/api/me')), 200)
})

test.serial('a code is accepted one step early or late, but not two', async t => {
  const person = await withTotp(server, clock, 'drift')
  for (const [steps, status] of [
    [-2, 401],
    [2, 401],
    [-1, 200],
    [1, 200],
  ] as const) {
    const { challenge } = await challengeOf(server, person)
    t.is(await statusOf(finish(server, challenge, { code: codeNow(person.secret, steps) })), status, `${steps} steps`)
  }
})

test.serial('a code is accepted once, even if used concurrently, and earlier codes are then refused', async t => {
  const person = await withTotp(server, clock, 'replay')
  const code = codeNow(person.secret)
  const challenges = await Promise.all(Array.from({ length: 5 }, () => challengeOf(server, person)))
  const statuses = await Promise.all(challenges.map(({ challenge }) => statusOf(finish(server, challenge, { code }))))
  t.deepEqual(statuses.toSorted(), [200, 401, 401, 401, 401])
  const { challenge } = await challengeOf(server, person)
  t.is(await statusOf(finish(server, challenge, { code })), 401)
  t.is(await statusOf(finish(server, challenge, { code: codeNow(person.secret, -1) })), 401)
})

test.serial('the code that enrolled the app cannot be used to sign in', async t => {
  const person = await newPerson(server, 'first')
  const session = byCookie(server, await signIn(server, person.email, person.password))
  const { secret } = await enrolTotp(session, person.password, clock)
  const { challenge } = await challengeOf(server, person)
  t.is(await statusOf(finish(server, challenge, { code: codeNow(secret) })), 401)
})

test.serial('a challenge is valid once in any encoding, for five minutes, and until the password changes', async t => {
  const person = await withTotp(server, clock, 'challenge')
  const { challenge } = await challengeOf(server, person)
  t.is(await statusOf(finish(server, challenge, { code: codeNow(person.secret) })), 200)
  clock.advance(60_000)
  const spellings = [challenge, challenge.replaceAll('-', '+').replaceAll('_', '/'), `${challenge}=`, ` ${challenge}`]
  for (const each of spellings) {
    t.is(await statusOf(finish(server, each, { code: codeNow(person.secret) })), 401)
    clock.advance(60_000)
  }
  const late = await challengeOf(server, person)
  clock.advance(5 * 60_000)
  t.is(await statusOf(finish(server, late.challenge, { code: codeNow(person.secret) })), 401)
  const before = await challengeOf(server, person)
  const user = await server.get(Users).get(person.id)
  await server.get(Users).change(person.id, { set: { passwordHash: `${user?.passwordHash} other` } }, [])
  t.is(await statusOf(finish(server, before.challenge, { code: codeNow(person.secret) })), 401)
})

test.serial('recovery codes are valid once each, however they are typed, and the owner is notified; new ones replace the old', async t => {
  const person = await withTotp(server, clock, 'lost')
  const [first = '', second = '', third = ''] = person.recoveryCodes
  const use = async (recoveryCode: string) => finish(server, (await challengeOf(server, person)).challenge, { recoveryCode })
  t.is((await use(first)).status, 200)
  t.is((await use(first)).status, 401)
  const done = await use(second.toUpperCase().replaceAll('-', ' '))
  t.is(done.status, 200)
  t.regex((await mailsTo(server, mailer, person.email)).at(-1)?.text ?? '', /Recovery codes left: 8/)
  const session = byCookie(server, cookieOf(done))
  const { recoveryCodes } = await json<{ recoveryCodes: string[] }>(post(session, '/api/second-factors/recovery-codes'))
  t.is(recoveryCodes.length, 10)
  t.is((await use(third)).status, 401)
  t.is((await use(recoveryCodes[0] ?? '')).status, 200)
})

test.serial('of many concurrent uses of one recovery code, one succeeds', async t => {
  const person = await withTotp(server, clock, 'raced')
  const challenges = await Promise.all(Array.from({ length: 5 }, () => challengeOf(server, person)))
  const recoveryCode = person.recoveryCodes[0]
  const statuses = await Promise.all(challenges.map(({ challenge }) => statusOf(finish(server, challenge, { recoveryCode }))))
  t.deepEqual(statuses.toSorted(), [200, 401, 401, 401, 401])
})

test.serial('wrong codes count like wrong passwords, and the right password in between does not reset the count', async t => {
  const person = await withTotp(server, clock, 'guessed')
  const headers = elsewhere()
  const statuses: number[] = []
  for (let at = 0; at < 20; at += 1) {
    const { challenge } = await challengeOf(server, person, headers)
    statuses.push(await statusOf(finish(server, challenge, { code: String(at).padStart(6, '9') }, headers)))
  }
  t.deepEqual([...new Set(statuses)], [401])
  const shut = (password: string) => server.as()('/api/login', { method: 'POST', json: { email: person.email, password }, headers })
  const [right, wrong] = [await refusal(await shut(person.password)), await refusal(await shut('not this one'))]
  t.is(right['httpStatus'], 429)
  t.deepEqual(right, wrong, 'a throttled caller does not learn whether the password was right')
})

test.serial('guesses from many networks share one limit, and the owner can still sign in from a known network', async t => {
  const person = await withTotp(server, clock, 'botnet')
  const home = elsewhere()
  const { challenge } = await challengeOf(server, person, home)
  t.is(await statusOf(finish(server, challenge, { code: codeNow(person.secret) }, home)), 200)
  clock.advance(60_000)
  const seen: number[] = []
  for (let at = 0; at < 22; at += 1) {
    const headers = elsewhere()
    const next = await challengeOf(server, person, headers)
    seen.push(await statusOf(finish(server, next.challenge, { code: String(at).padStart(6, '9') }, headers)))
  }
  t.deepEqual(seen.slice(20), [429, 429])
  const again = await challengeOf(server, person, home)
  t.is(await statusOf(finish(server, again.challenge, { code: codeNow(person.secret) }, home)), 200)
})

test.serial('factors can be changed by a session that has presented one, never by a key', async t => {
  const person = await withTotp(server, clock, 'key')
  const more = await json<{ key: string }>(person.call('/api/users/keys?name=more', { method: 'POST' }))
  for (const call of [person.call, server.as(more.key)]) {
    t.like(await refusal(await call('/api/second-factors/totp', { method: 'DELETE' })), { httpStatus: 403, code: 'step-up-required' })
    t.is(await statusOf(post(call, '/api/second-factors/recovery-codes')), 403)
    t.is(await statusOf(post(call, '/api/second-factors/passkeys/options', { password: person.password })), 403)
    const change = { password: person.password, newPassword: 'another good password' }
    t.like(await refusal(await post(call, '/api/password', change)), { httpStatus: 403, code: 'step-up-required' })
  }
  t.is(await statusOf(person.session('/api/second-factors/totp', { method: 'DELETE' })), 200)
  t.is(await statusOf(server.as()('/api/login', { method: 'POST', json: { email: person.email, password: person.password } })), 200)
  t.like(await json(person.session('/api/second-factors')), { totp: null, recoveryCodesLeft: 0 })
})

test.serial('an account of another provider cannot enrol a second factor', async t => {
  const person = await newPerson(server, 'outside')
  await server.get(Users).change(person.id, { set: { provider: 'ldap' } }, [])
  t.is(await statusOf(post(person.call, '/api/second-factors/totp', { password: person.password })), 403)
})

test.serial('a limited key can neither read nor change factors', async t => {
  const person = await newPerson(server, 'limited')
  const keys = [
    await newKey(server, person.email, person.password, 'name=e&scope=extraction'),
    await newKey(server, person.email, person.password, 'name=r&verbs=read'),
  ]
  for (const key of keys) {
    t.is(await statusOf(server.as(key)('/api/second-factors')), 403)
    t.is(await statusOf(post(server.as(key), '/api/second-factors/totp', { password: person.password })), 403)
  }
})

test.serial('secrets are encrypted in the store and in no response, audit log entry or event', async t => {
  const person = await withTotp(server, clock, 'secret')
  const { challenge } = await challengeOf(server, person)
  t.is(await statusOf(finish(server, challenge, { recoveryCode: person.recoveryCodes[0] })), 200)
  await server.drained()
  const stored = JSON.stringify(await server.get(Users).get(person.id))
  const admin = server.as(server.admin.key)
  const texts = [
    stored,
    await (await admin('/api/admin/audit?limit=500')).text(),
    await (await admin('/api/admin/users?limit=1000')).text(),
    await (await person.session('/api/me')).text(),
    await (await person.session('/api/second-factors')).text(),
    await (await person.session('/api/sessions')).text(),
    await (await admin(`/api/users/${person.id}`)).text(),
  ]
  for (const text of texts) {
    t.false(text.includes(person.secret))
    for (const code of person.recoveryCodes) t.false(text.includes(code))
  }
  for (const text of texts.slice(1)) t.false(text.includes('sealed'))
  t.regex(texts[1] ?? '', /"change":"totp-enrolled"/)
  t.regex(texts[1] ?? '', /"change":"recovery-code-used"/)
  t.regex(texts[2] ?? '', /"hasSecondFactor":true/)
})
