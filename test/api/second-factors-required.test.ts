import test from 'ava'
import { Commands, Mailer, Users } from 'pounce/sdk'
import { bootForTest, FixedClock, MemoryMailer, type TestServer } from 'pounce/sdk/testing'
import { codeAt } from '../support/authenticator.ts'
import { mailsTo } from '../support/mails.ts'
import { basic, byCookie, newPerson, type Person, refusal, signIn } from '../support/people.ts'
import { challengeOf, cookieOf, enrolTotp, finish, json, post, withTotp } from '../support/second-factors.ts'

const plugins = ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users', 'resources.admin', 'resources.audit']
const pending = { httpStatus: 403, code: 'second-factor-enrolment-required' }
const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
const statusOf = async (answer: Promise<Response>): Promise<number> => (await answer).status

const boot = async (t: Parameters<typeof bootForTest>[0], requireSecondFactor: string) => {
  const [clock, mailer] = [new FixedClock(), new MemoryMailer()]
  const server = await bootForTest({
    ...t,
    plugins,
    clock,
    overrides: { [Mailer]: mailer },
    config: { resources: { users: { requireSecondFactor } } },
  })
  return { server, clock, mailer }
}

const makeAdmin = (server: TestServer, { id }: Person) => server.get(Users).change(id, { set: { status: 'Admin' } }, [])

test('an admin without a required second factor can only enrol one, and then has full access', async t => {
  const { server, clock } = await boot({ t }, 'admins')
  const { email, password } = server.admin
  const session = byCookie(server, await signIn(server, email, password))
  for (const path of ['/api/users', '/api/sessions', '/api/users/keys', '/api/roles', '/api/admin/users'])
    t.like(await refusal(await session(path)), pending, path)
  const headers = { authorization: basic(email, password) }
  t.like(await refusal(await server.as()('/api/sessions', { headers })), pending)
  t.like(await refusal(await server.as()('/api/users/keys?name=more', { method: 'POST', headers })), pending)
  t.is(await statusOf(session('/api/me')), 200)
  t.is(await statusOf(session('/api/configuration')), 200)
  t.like(await json(session('/api/second-factors')), { isRequired: true, totp: null })
  await enrolTotp(session, password, clock)
  for (const path of ['/api/users', '/api/sessions', '/api/users/keys']) t.is(await statusOf(session(path)), 200, path)
  t.is(await statusOf(session('/api/logout', { method: 'POST' })), 200)
})

test('keys of such an admin are accepted, except for administration, superadmin mode and new keys', async t => {
  const { server, clock } = await boot({ t }, 'admins')
  const key = server.as(server.admin.key)
  t.is(await statusOf(key('/api/me')), 200)
  t.is(await statusOf(key('/api/users/keys')), 200)
  t.like(await refusal(await key('/api/admin/users')), pending)
  t.like(await refusal(await key('/api/users', { method: 'POST', json: {} })), pending)
  t.like(await refusal(await key('/api/sessions?superAdmin=true')), pending)
  t.like(await refusal(await key('/api/users/keys?name=more', { method: 'POST' })), pending)
  await enrolTotp(byCookie(server, await signIn(server, server.admin.email, server.admin.password)), server.admin.password, clock)
  t.is(await statusOf(key('/api/admin/users')), 200)
  t.is(await statusOf(key('/api/users/keys?name=more', { method: 'POST' })), 200)
})

test('with `admins`, others need no factor until they become admins; with `everybody`, all local accounts need one', async t => {
  const admins = await boot({ t }, 'admins')
  await enrolTotp(
    byCookie(admins.server, await signIn(admins.server, admins.server.admin.email, admins.server.admin.password)),
    admins.server.admin.password,
    admins.clock,
  )
  const ann = await newPerson(admins.server, 'ann')
  const session = byCookie(admins.server, await signIn(admins.server, ann.email, ann.password))
  t.is(await statusOf(session('/api/sessions')), 200)
  await makeAdmin(admins.server, ann)
  t.like(await refusal(await session('/api/sessions')), pending)
  t.like(await json(admins.server.as(ann.key)('/api/second-factors')), { isRequired: true })

  const everybody = await boot({ t }, 'everybody')
  const users = everybody.server.get(Users)
  const account = { firstName: 'B', lastName: 'B', status: 'Active', password: 'a good password' } as const
  const bob = await users.create({ email: 'bob@example.org', ...account })
  const his = byCookie(everybody.server, await signIn(everybody.server, bob.email, account.password))
  t.like(await refusal(await his('/api/sessions')), pending)
  const outside = await users.create({ email: 'outside@example.org', ...account })
  const theirs = byCookie(everybody.server, await signIn(everybody.server, outside.email, account.password))
  await users.change(outside.id, { set: { provider: 'institute' } }, [])
  t.is(await statusOf(theirs('/api/sessions')), 200, 'accounts of other providers have their factors there')
})

test('the last factor cannot be removed while one is required', async t => {
  const { server, clock } = await boot({ t }, 'admins')
  const session = byCookie(server, await signIn(server, server.admin.email, server.admin.password))
  await enrolTotp(session, server.admin.password, clock)
  t.like(await refusal(await session('/api/second-factors/totp', { method: 'DELETE' })), { httpStatus: 409 })
})

test('when an admin resets the factors of a user, their sessions end, they are notified, and the audit log records it', async t => {
  const { server, clock, mailer } = await boot({ t }, 'nobody')
  const person = await withTotp(server, clock, 'lost')
  const admin = server.as(server.admin.key)
  const reset = (call = admin, id = person.id) => call(`/api/users/${id}/second-factors`, { method: 'DELETE' })
  t.is(await statusOf(reset(person.call)), 403)
  t.is(await statusOf(reset(server.as())), 401)
  t.is(await statusOf(reset(admin, 'f'.repeat(24))), 404)
  const { challenge } = await challengeOf(server, person)
  t.is(await statusOf(reset()), 204)
  t.is(await statusOf(person.session('/api/me')), 401)
  t.is(await statusOf(finish(server, challenge, { code: codeAt(person.secret, clock.now()) })), 401)
  t.is(await statusOf(byCookie(server, await signIn(server, person.email, person.password))('/api/me')), 200)
  t.regex((await mailsTo(server, mailer, person.email)).at(-1)?.text ?? '', /has removed all second factors/)
  const audit = await (await admin('/api/admin/audit?limit=100')).text()
  t.regex(audit, /admin\.resetSecondFactors/)
  t.regex(audit, /"change":"reset"/)
  t.is(await statusOf(reset()), 204, 'repeating it is no error')
})

test('the command line resets the factors of the last admin', async t => {
  const { server, clock } = await boot({ t }, 'nobody')
  const { email, password } = server.admin
  const session = byCookie(server, await signIn(server, email, password))
  await enrolTotp(session, password, clock)
  const command = server
    .get(Commands)
    .all()
    .find(({ name }) => name === 'user reset-second-factor')
  t.like(await command?.run({ arguments: { email }, options: {} }, () => undefined), { email })
  t.is(await statusOf(session('/api/me')), 401)
  t.truthy(await signIn(server, email, password))
})

const stepUp = { httpStatus: 403, code: 'step-up-required' }
const hourMs = 3_600_000

test('an old session cannot create keys, change the password or administer until it has authenticated again', async t => {
  const { server, clock } = await boot({ t }, 'nobody')
  const { email, password } = server.admin
  const session = byCookie(server, await signIn(server, email, password))
  const makeKey = (name: string) => session(`/api/users/keys?name=${name}`, { method: 'POST' })
  const role = { name: 'Reader', description: '', permissions: ['ViewSpace'] }
  t.is(await statusOf(makeKey('young')), 200)
  clock.advance(15 * 60_000)
  const refused = await refusal(await makeKey('old'))
  t.like(refused, { ...stepUp, methods: ['password'] })
  t.regex(String(refused['message']), /POST \/api\/sessions\/step-up/)
  t.like(await refusal(await post(session, '/api/roles', role)), stepUp)
  t.like(await refusal(await post(session, '/api/admin/users', { active: [] })), stepUp)
  t.like(await refusal(await post(session, '/api/password', { password, newPassword: 'another good password' })), stepUp)
  t.like(await refusal(await session('/api/sessions?superAdmin=true')), stepUp)
  for (const path of ['/api/admin/users', '/api/roles', '/api/users/keys', '/api/me?superAdmin=true'])
    t.is(await statusOf(session(path)), path.includes('superAdmin') ? 403 : 200, path)
  t.is(await statusOf(session('/api/users/keys/young', { method: 'DELETE' })), 204, 'a key can always be revoked')
  t.is(await statusOf(post(session, '/api/sessions/step-up', {})), 400)
  const wrong = await refusal(await post(session, '/api/sessions/step-up', { password: 'not this one' }))
  t.like(wrong, { httpStatus: 401, message: 'Wrong password' })
  t.is(await statusOf(makeKey('old')), 403)
  t.is(await statusOf(post(session, '/api/sessions/step-up?superAdmin=true', { password })), 200)
  t.is(await statusOf(makeKey('old')), 200)
  t.is(await statusOf(post(session, '/api/roles', role)), 200)
})

test('an authentication from before the clock was set back is not recent', async t => {
  const { server, clock } = await boot({ t }, 'nobody')
  const session = byCookie(server, await signIn(server, server.admin.email, server.admin.password))
  clock.advance(-24 * hourMs)
  t.like(await refusal(await session('/api/users/keys?name=young', { method: 'POST' })), stepUp)
})

test('an old session cannot administer on routes that are also for others', async t => {
  const clock = new FixedClock()
  const server = await bootForTest({ t, clock })
  const ann = await newPerson(server, 'ann')
  const session = byCookie(server, await signIn(server, server.admin.email, server.admin.password))
  const definition = { label: 'Depth', uri: 'http://example.org/depth', type: 'string' }
  await json(post(session, '/api/metadata/definitions', definition))
  const definitions = await json<readonly { id: string; json: { label: string } }[]>(session('/api/metadata/definitions'))
  const id = definitions.find(({ json: { label } }) => label === definition.label)?.id
  const context = await json<{ id: string }>(
    post(server.as(ann.key), '/api/contexts', { context_name: 'own', '@context': { depth: 'http://example.org/depth' } }),
  )
  const logo = (path: string) => {
    const body = new FormData()
    body.append('path', path)
    body.append('name', 'logo')
    body.append('image', new Blob([pixel], { type: 'image/png' }), 'logo.png')
    return session('/api/logos', { method: 'POST', body })
  }
  const outside = { source: { id: 'http://a.example/1', resourceType: 'file' }, target: { id: 'http://b.example/2', resourceType: 'file' } }
  const changes: Readonly<Record<string, () => Promise<Response>>> = {
    'logo of the server': () => logo('GLOBAL'),
    'logo of a user': () => logo(`user-${ann.id}`),
    definition: () => session(`/api/metadata/definitions/${id}`, { method: 'PUT', json: { ...definition, label: 'Depth in m' } }),
    name: () => post(session, `/api/users/${ann.id}/updateName?firstName=Ann&lastName=Other`),
    profile: () => session(`/api/users/${ann.id}`, { method: 'PUT', json: { position: 'Lead' } }),
    context: () => session(`/api/contexts/${context.id}`, { method: 'DELETE' }),
    relation: () => post(session, '/api/relations', outside),
  }
  clock.advance(hourMs)
  for (const [name, change] of Object.entries(changes)) t.like(await refusal(await change()), stepUp, name)
  t.is(await statusOf(post(session, `/api/users/${server.admin.id}/updateName?firstName=My&lastName=Own`)), 200)
  t.is(await statusOf(post(session, '/api/sessions/step-up', { password: server.admin.password })), 200)
  for (const [name, change] of Object.entries(changes)) t.true((await change()).ok, name)
})

test('a missing right is 403 forbidden, not step-up-required', async t => {
  const { server, clock } = await boot({ t }, 'nobody')
  const ann = await newPerson(server, 'ann')
  const session = byCookie(server, await signIn(server, ann.email, ann.password))
  clock.advance(hourMs)
  t.like(await refusal(await post(session, '/api/admin/users', {})), { httpStatus: 403, code: 'forbidden' })
})

test('keys and Basic authentication require no step-up, unless stepUpForKeys refuses them', async t => {
  const { server, clock } = await boot({ t }, 'nobody')
  clock.advance(hourMs)
  const headers = { authorization: basic(server.admin.email, server.admin.password) }
  t.is(await statusOf(server.as(server.admin.key)('/api/users/keys?name=a', { method: 'POST' })), 200)
  t.is(await statusOf(server.as()('/api/users/keys?name=b', { method: 'POST', headers })), 200)
  const strict = await bootForTest({ t, plugins, config: { resources: { users: { stepUpForKeys: 'refused' } } } })
  const key = strict.as(strict.admin.key)
  t.like(await refusal(await key('/api/users/keys?name=a', { method: 'POST' })), { ...stepUp, methods: [] })
  t.like(await refusal(await post(key, '/api/admin/users', {})), stepUp)
  t.is(await statusOf(key('/api/admin/users')), 200)
  t.is(await statusOf(post(key, '/api/sessions/step-up', { password: strict.admin.password })), 403)
})

test('a password is not enough to step up if a second factor is enrolled', async t => {
  const { server, clock } = await boot({ t }, 'nobody')
  const person = await withTotp(server, clock, 'ann')
  clock.advance(hourMs)
  const removal = () => person.session('/api/second-factors/totp', { method: 'DELETE' })
  t.like(await refusal(await removal()), { ...stepUp, methods: ['totp', 'recovery-code'] })
  t.is(await statusOf(post(person.session, '/api/sessions/step-up', { password: person.password })), 400)
  t.is(await statusOf(removal()), 403)
  const code = codeAt(person.secret, clock.now())
  t.is(await statusOf(post(person.session, '/api/sessions/step-up', { code })), 200)
  t.is(await statusOf(post(person.session, '/api/sessions/step-up', { code })), 401, 'a code is accepted once here as well')
  t.is(await statusOf(removal()), 200)
})

test('a change of the password keeps the authentication level of the session', async t => {
  const { server, clock } = await boot({ t }, 'nobody')
  const person = await withTotp(server, clock, 'ann')
  const next = 'another good password'
  const changed = await post(person.session, '/api/password', { password: person.password, newPassword: next })
  t.is(changed.status, 200)
  t.is(await statusOf(byCookie(server, cookieOf(changed))('/api/second-factors/totp', { method: 'DELETE' })), 200)
})

test('with stepUpMinutes 0, only changes of factors require a recent authentication', async t => {
  const clock = new FixedClock()
  const server = await bootForTest({ t, plugins, clock, config: { resources: { users: { stepUpMinutes: 0 } } } })
  const person = await withTotp(server, clock, 'ann')
  clock.advance(hourMs)
  t.is(await statusOf(person.session('/api/users/keys?name=old', { method: 'POST' })), 200)
  t.like(await refusal(await person.session('/api/second-factors/totp', { method: 'DELETE' })), stepUp)
})

test('the OpenAPI document marks routes that require a step-up and routes allowed before enrolment', async t => {
  const { server } = await boot({ t }, 'nobody')
  const { paths } = await json<{ paths: Record<string, Record<string, object>> }>(server.as()('/openapi.json'))
  t.like(paths['/api/users/keys']?.['post'], { 'x-step-up': true })
  t.like(paths['/api/admin/users']?.['post'], { 'x-step-up': true })
  t.false('x-step-up' in (paths['/api/admin/users']?.['get'] ?? {}))
  t.like(paths['/api/second-factors/totp']?.['post'], { 'x-before-enrolment': true })
})
