import test from 'ava'
import { Clock, DocumentStore, eq, Users } from 'pounce/sdk'
import { bootForTest, FixedClock } from 'pounce/sdk/testing'
import { byCookie, newPerson, refusal, signIn } from '../../../../test/support/people.ts'
import { sessions } from '../collections.ts'

const plugins = ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users']
const server = await bootForTest({ plugins })
test.after.always(() => server.stop())
const dayMs = 86_400_000

test('signing in returns the account and an HttpOnly cookie with SameSite=Lax', async t => {
  const person = await newPerson(server, 'login')
  const answer = await server.as()('/api/login', { method: 'POST', json: { email: person.email.toUpperCase(), password: person.password } })
  t.is(answer.status, 200)
  t.is(((await answer.json()) as { id: string }).id, person.id)
  t.is(answer.headers.get('cache-control'), 'no-store')
  const [value, ...attributes] = (answer.headers.get('set-cookie') ?? '').split('; ')
  t.regex(value!, /^pounce_session=[\w-]{43}$/)
  t.deepEqual(attributes.toSorted(), ['HttpOnly', 'Max-Age=2592000', 'Path=/', 'SameSite=Lax'])
  t.is((await byCookie(server, value!)('/api/me')).status, 200)
  t.not((await server.get(Users).get(person.id))?.lastLogin, null)
})

test('a wrong password and an unknown account are refused with the same message', async t => {
  const person = await newPerson(server, 'wrong')
  const login = async (json: object) => refusal(await server.as()('/api/login', { method: 'POST', json }))
  const wrong = await login({ email: person.email, password: 'not the password' })
  t.is(wrong['httpStatus'], 401)
  t.deepEqual(await login({ email: 'unknown@example.org', password: 'not the password' }), wrong)
  t.deepEqual(await login({ email: person.email, password: '' }), wrong)
  t.deepEqual(await login({ email: person.email, password: `${person.password}\u0000` }), wrong)
  t.is((await login({ email: person.email }))['httpStatus'], 400)
  t.is((await login({ email: { $ne: '' }, password: { $ne: '' } }))['httpStatus'], 400)
})

test('signing in again ends the previous session, and a stale cookie does not prevent it', async t => {
  const person = await newPerson(server, 'again')
  const first = await signIn(server, person.email, person.password)
  const second = await signIn(server, person.email, person.password, first)
  t.not(second, first)
  t.is((await byCookie(server, first)('/api/me')).status, 401)
  t.is((await byCookie(server, second)('/api/me')).status, 200)
  t.is((await byCookie(server, await signIn(server, person.email, person.password, first))('/api/me')).status, 200)
})

test('signing out ends only this session', async t => {
  const person = await newPerson(server, 'out')
  const [here, there] = [await signIn(server, person.email, person.password), await signIn(server, person.email, person.password)]
  const answer = await byCookie(server, here)('/api/logout', { method: 'POST' })
  t.is(answer.status, 200)
  t.regex(answer.headers.get('set-cookie') ?? '', /^pounce_session=; Max-Age=0/)
  t.is((await byCookie(server, here)('/api/me')).status, 401)
  t.is((await byCookie(server, there)('/api/me')).status, 200)
  t.is((await byCookie(server, here)('/api/logout', { method: 'POST' })).status, 200)
})

test('an expired session is refused unless the request has other valid credentials', async t => {
  const person = await newPerson(server, 'stale')
  const stale = 'pounce_session=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
  const refused = await byCookie(server, stale)('/api/me')
  t.is(refused.status, 401)
  t.is(((await refused.json()) as { message: string }).message, 'The session has ended; sign in again')
  t.is((await byCookie(server, stale)(`/api/users/${person.id}`)).status, 200, 'public routes are served')
  t.is((await byCookie(server, stale)('/api/me', { headers: { 'x-api-key': person.key } })).status, 200)
  t.is((await byCookie(server, stale)('/api/me', { headers: { 'x-api-key': 'wrong' } })).status, 401)
})

test('a new password, suspension and revocation end sessions immediately', async t => {
  const person = await newPerson(server, 'ended')
  const cookie = await signIn(server, person.email, person.password)
  const users = server.get(Users)
  const { passwordHash } = (await users.get(server.admin.id))!
  await users.change(person.id, { set: { status: 'Inactive' } }, [])
  t.is((await byCookie(server, cookie)('/api/me')).status, 401)
  await users.change(person.id, { set: { status: 'Active' } }, [])
  t.is((await byCookie(server, cookie)('/api/me')).status, 200)
  await users.change(person.id, { set: { passwordHash } }, [])
  t.is((await byCookie(server, cookie)('/api/me')).status, 401)
})

test('sessions that a suspension ended stay ended when the account is activated again', async t => {
  const person = await newPerson(server, 'resumed')
  const [used, unused] = [await signIn(server, person.email, person.password), await signIn(server, person.email, person.password)]
  const set = async (list: 'inactive' | 'active'): Promise<number> =>
    (await server.as(server.admin.key)('/api/admin/users', { method: 'POST', json: { [list]: [person.id] } })).status
  t.is(await set('inactive'), 200)
  t.is((await byCookie(server, used)('/api/me')).status, 401)
  await server.drained()
  t.is(await set('active'), 200)
  for (const cookie of [used, unused]) t.is((await byCookie(server, cookie)('/api/me')).status, 401)
  const fresh = await signIn(server, person.email, person.password)
  await server.drained()
  t.is((await byCookie(server, fresh)('/api/me')).status, 200)
  const page = (await (await byCookie(server, fresh)('/api/sessions')).json()) as readonly object[]
  t.is(page.length, 1)
})

test('an inactive account cannot sign in, and gets the reason only with the correct password', async t => {
  const person = await newPerson(server, 'inactive')
  await server.get(Users).change(person.id, { set: { status: 'Inactive' } }, [])
  const login = async (password: string) =>
    refusal(await server.as()('/api/login', { method: 'POST', json: { email: person.email, password } }))
  t.is((await login(person.password))['message'], 'Account is not activated')
  t.is((await login('wrong password'))['message'], 'Wrong email address or password')
})

test('a session is extended while it is used, up to a limit, and expired ones are deleted', async t => {
  const clock = new FixedClock()
  const other = await bootForTest({ t, plugins, clock })
  const cookie = await signIn(other, other.admin.email, other.admin.password)
  const idle = await signIn(other, other.admin.email, other.admin.password)
  const status = async (which: string) => (await byCookie(other, which)('/api/me')).status
  t.is(other.get(Clock).now().getTime(), clock.now().getTime())
  for (const days of [10, 10]) {
    clock.advance(days * dayMs)
    t.is(await status(cookie), 200)
  }
  t.is(await status(idle), 401)
  clock.advance(9 * dayMs)
  t.is(await status(cookie), 200)
  clock.advance(1 * dayMs)
  t.is(await status(cookie), 401)
  const fresh = await signIn(other, other.admin.email, other.admin.password)
  await other.runPeriodic('resources.users/sweep-sessions')
  t.is(await status(fresh), 200)
  t.is(await other.get(DocumentStore).count(sessions, { using: 'byExpiry', upTo: 10 }), 1)
})

test('an account has at most 1,000 sessions: signing in ends the oldest', async t => {
  const person = await newPerson(server, 'many')
  const oldest = await signIn(server, person.email, person.password)
  const documents = server.get(DocumentStore)
  const ofPerson = { using: 'byUser', where: eq('user', person.id) } as const
  const { id: first, revision: _revision, ...record } = (await documents.find(sessions, { ...ofPerson, limit: 1 })).items[0] ?? t.fail()
  const before = (ms: number) => new Date(Date.parse(record.created) - ms).toISOString()
  const others = Array.from({ length: 999 }, (_, n) => ({ ...record, id: `d${n.toString(16).padStart(23, '0')}`, created: before(n) }))
  await documents.commitEach(others.map(other => ({ change: { insert: other, into: sessions } })))
  await documents.commit({ update: first, in: sessions, set: { created: before(dayMs) } })
  t.is((await byCookie(server, oldest)('/api/me')).status, 200)
  const newest = [await signIn(server, person.email, person.password), await signIn(server, person.email, person.password)]
  t.is((await byCookie(server, oldest)('/api/me')).status, 401)
  for (const cookie of newest) t.is((await byCookie(server, cookie)('/api/me')).status, 200)
  t.is(await documents.count(sessions, { ...ofPerson, upTo: 2000 }), 1000)
  const left = await documents.getMany(
    sessions,
    others.map(({ id }) => id),
  )
  t.deepEqual(
    others.filter(({ id }) => !left.has(id)),
    others.slice(-1),
  )
})

test('the cookie is secure if the server has an https URL', async t => {
  const other = await bootForTest({ t, plugins, config: { http: { baseUrl: 'https://data.example.org/dm' } } })
  const { email, password } = other.admin
  const answer = await other.as()('/api/login', { method: 'POST', json: { email, password } })
  t.regex(answer.headers.get('set-cookie') ?? '', /; Secure$/)
})
