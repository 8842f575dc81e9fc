import test from 'ava'
import { bootForTest, FixedClock, type TestServer } from 'pounce/sdk/testing'
import { byCookie, newPerson, type Person, refusal, signIn } from '../../../../test/support/people.ts'

const plugins = ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users']
const server = await bootForTest({ plugins, config: { http: { trustedProxies: 1 } } })
test.after.always(() => server.stop())
const unknownId = 'f'.repeat(24)

interface SessionJson {
  readonly id: string
  readonly created: string
  readonly lastUsed: string
  readonly expires: string
  readonly address: string
  readonly userAgent: string
  readonly isCurrent: boolean
}
const signInFrom = async (person: Person, headers: Record<string, string> = {}, on: TestServer = server): Promise<string> => {
  const { email, password } = person
  const answer = await on.as()('/api/login', { method: 'POST', json: { email, password }, headers })
  return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
}
const listed = async (cookie: string, on = server) => (await (await byCookie(on, cookie)('/api/sessions')).json()) as readonly SessionJson[]
const status = async (cookie: string, on = server) => (await byCookie(on, cookie)('/api/me')).status

test('users see their sessions, without secrets', async t => {
  const person = await newPerson(server, 'seen')
  await signInFrom(person, { 'user-agent': 'Browser\tOne ü', 'x-forwarded-for': '192.0.2.77' })
  const here = await signInFrom(person, { 'user-agent': 'x'.repeat(5000), 'x-forwarded-for': '2001:db8:1:2:3::4' })
  const [second, first, ...others] = await listed(here)
  t.deepEqual(others, [])
  t.like(first, { address: '192.0.2.0/24', userAgent: 'Browser?One ?', isCurrent: false })
  t.like(second, { address: '2001:db8:1:2::/64', userAgent: 'x'.repeat(200), isCurrent: true })
  t.deepEqual(Object.keys(first ?? {}).toSorted(), ['address', 'created', 'expires', 'id', 'isCurrent', 'lastUsed', 'userAgent'])
  t.false(JSON.stringify([first, second]).includes(here.slice('pounce_session='.length)))
  const byKey = (await (await person.call('/api/sessions')).json()) as readonly SessionJson[]
  t.deepEqual(
    byKey.map(({ isCurrent }) => isCurrent),
    [false, false],
  )
  t.is((await server.as()('/api/sessions')).status, 401)
})

test('a session can be ended only by its owner', async t => {
  const [person, other] = [await newPerson(server, 'owner'), await newPerson(server, 'other')]
  const [here, there] = [await signInFrom(person), await signInFrom(person)]
  const id = (await listed(here)).find(({ isCurrent }) => !isCurrent)?.id ?? ''
  const tries = [id, unknownId, 'nonsense'].map(async one => refusal(await other.call(`/api/sessions/${one}`, { method: 'DELETE' })))
  const [foreign, unknown, malformed] = await Promise.all(tries)
  t.is(foreign?.['httpStatus'], 404)
  t.deepEqual(unknown, foreign)
  t.deepEqual(malformed, foreign)
  t.is((await server.as()(`/api/sessions/${id}`, { method: 'DELETE' })).status, 401)
  t.is(await status(there), 200)
  t.is((await byCookie(server, here)(`/api/sessions/${id}`, { method: 'DELETE' })).status, 204)
  t.is(await status(there), 401)
  t.is(await status(here), 200)
  t.is((await byCookie(server, here)(`/api/sessions/${id}`, { method: 'DELETE' })).status, 404)
})

test('all other sessions can be ended at once; a request with a key ends all of them', async t => {
  const person = await newPerson(server, 'all')
  const cookies = [await signInFrom(person), await signInFrom(person), await signInFrom(person)] as const
  const foreign = await signInFrom(await newPerson(server, 'untouched'))
  t.is((await byCookie(server, cookies[2])('/api/sessions', { method: 'DELETE' })).status, 204)
  t.deepEqual(await Promise.all(cookies.map(cookie => status(cookie))), [401, 401, 200])
  t.is((await person.call('/api/sessions', { method: 'DELETE' })).status, 204)
  t.is(await status(cookies[2]), 401)
  t.is(await status(foreign), 200)
  t.is((await server.as()('/api/sessions', { method: 'DELETE' })).status, 401)
})

test('a server admin can end all sessions of a user', async t => {
  const person = await newPerson(server, 'sent-away')
  const cookie = await signInFrom(person)
  const end = (by: string | undefined, id = person.id) => server.as(by)(`/api/users/${id}/sessions`, { method: 'DELETE' })
  t.is((await end(undefined)).status, 401)
  t.is((await end(person.key)).status, 403)
  t.is(await status(cookie), 200)
  t.is((await end(server.admin.key)).status, 204)
  t.is(await status(cookie), 401)
  t.is((await person.call('/api/me')).status, 200)
  for (const id of [unknownId, 'nonsense']) t.is((await end(server.admin.key, id)).status, 404)
})

test('the list of sessions is paginated, and omits expired ones', async t => {
  const clock = new FixedClock()
  const other = await bootForTest({ t, plugins, clock })
  const person = await newPerson(other, 'many')
  await signInFrom(person, {}, other)
  clock.advance(15 * 86_400_000)
  const cookies: string[] = []
  for (let n = 0; n < 3; n += 1) {
    clock.advance(1000)
    cookies.push(await signIn(other, person.email, person.password))
  }
  const seen: string[] = []
  for (let path: string | undefined = '/api/sessions?limit=2'; path; ) {
    const answer: Response = await byCookie(other, cookies[2] ?? '')(path)
    seen.push(...((await answer.json()) as readonly SessionJson[]).map(({ id }) => id))
    path = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1]?.slice(other.url.length)
  }
  t.is(seen.length, 3)
  t.is(new Set(seen).size, 3)
  t.is((await person.call('/api/sessions?after=junk')).status, 400)
})

test('the use of a session is recorded at most once a minute', async t => {
  const clock = new FixedClock()
  const other = await bootForTest({ t, plugins, clock })
  const cookie = await signIn(other, other.admin.email, other.admin.password)
  const used = async () => (await listed(cookie, other)).find(({ isCurrent }) => isCurrent)?.lastUsed
  const first = clock.now().toISOString()
  clock.advance(59_000)
  t.is(await used(), first)
  clock.advance(1000)
  await Promise.all(Array.from({ length: 5 }, () => status(cookie, other)))
  t.is(await used(), clock.now().toISOString())
})

test('a token chosen by the client is never adopted, and every sign-in creates a new one', async t => {
  const person = await newPerson(server, 'fixed')
  const invented = `pounce_session=${'A'.repeat(43)}`
  const first = await signIn(server, person.email, person.password, invented)
  t.not(first, invented)
  t.is(await status(invented), 401)
  const second = await signIn(server, person.email, person.password, first)
  t.not(second, first)
  t.deepEqual([await status(first), await status(second)], [401, 200])
})
