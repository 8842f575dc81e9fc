import test from 'ava'
import { Users } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { basic, newPerson, refusal } from '../support/people.ts'

const server = await bootForTest({ plugins: ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users'] })
test.after.always(() => server.stop())
const admin = server.as(server.admin.key)
const nobody = server.as()
const unknownId = 'f'.repeat(24)
const account = (email: string, more: object = {}) => ({
  email,
  password: 'a good password',
  firstName: 'New',
  lastName: 'Person',
  ...more,
})

test('a server admin creates an account that can sign in at once', async t => {
  const made = await admin('/api/users', { method: 'POST', json: account('  Fresh@Example.ORG ') })
  t.is(made.status, 200)
  const { id } = (await made.json()) as { id: string }
  const me = await nobody('/api/me', { headers: { authorization: basic('fresh@example.org', 'a good password') } })
  t.is(me.status, 200)
  const shown = (await me.json()) as Record<string, unknown>
  t.is(shown['id'], id)
  t.is(shown['email'], 'fresh@example.org')
  t.is(shown['fullName'], 'New Person')
  t.is(shown['identityProvider'], 'New Person (fresh@example.org) [Local Account]')
  t.regex(String(shown['avatar']).replace(server.url, ''), /^\/api\/avatars\/NP-\d+$/)
  t.deepEqual(shown['profile'], {})
  t.false(JSON.stringify(shown).includes('argon2'))
})

test('only server admins create accounts', async t => {
  const somebody = await newPerson(server)
  t.is((await nobody('/api/users', { method: 'POST', json: account('no1@example.org') })).status, 401)
  t.is((await somebody.call('/api/users', { method: 'POST', json: account('no2@example.org') })).status, 403)
  t.is(await server.get(Users).byEmail('no1@example.org'), undefined)
  t.is(await server.get(Users).byEmail('no2@example.org'), undefined)
})

test('an account with invalid properties is refused and not created', async t => {
  const wrong: readonly object[] = [
    { email: 'no at sign' },
    { email: 'two@at@signs' },
    { email: 'colon:in@example.org' },
    { email: `${'x'.repeat(320)}@example.org` },
    { password: 'short' },
    { password: 'x'.repeat(1001) },
    { firstName: '' },
    { firstName: '  ' },
    { lastName: '\u00a0 ' },
    { lastName: 'with\u0000control' },
    { firstName: 7 },
    { email: null },
  ]
  for (const fault of wrong) {
    const answer = await admin('/api/users', { method: 'POST', json: { ...account('wrong@example.org'), ...fault } })
    t.is(answer.status, 400, JSON.stringify(fault))
  }
  t.is(await server.get(Users).byEmail('wrong@example.org'), undefined)
})

test('status, id, password hash and memberships of an account cannot be set by a request', async t => {
  const smuggled = { status: 'Admin', id: unknownId, passwordHash: 'x', memberships: [{ space: unknownId, role: unknownId }] }
  await admin('/api/users', { method: 'POST', json: account('smuggler@example.org', smuggled) })
  const made = await server.get(Users).byEmail('smuggler@example.org')
  if (made) {
    t.is(made.status, 'Active')
    t.not(made.id, unknownId)
    t.deepEqual(made.memberships, [])
  }
  t.is(await server.get(Users).get(unknownId), undefined)
})

test('of many concurrent requests for one email address, one succeeds', async t => {
  const tries = Array.from({ length: 12 }, (_, at) => account(at % 2 ? 'Wanted@example.org' : 'wanted@EXAMPLE.org'))
  const statuses = await Promise.all(tries.map(async json => (await admin('/api/users', { method: 'POST', json })).status))
  t.deepEqual(statuses.toSorted(), [200, ...Array<number>(11).fill(409)])
})

test('/api/me also returns the caller in headers, with names of any script encoded', async t => {
  const person = await newPerson(server, 'me')
  const renamed = await person.call(
    `/api/users/${person.id}/updateName?firstName=${encodeURIComponent('Zoë')}&lastName=${encodeURIComponent('観測')}`,
    { method: 'POST' },
  )
  t.deepEqual(await renamed.json(), { status: 'success' })
  const me = await person.call('/api/me')
  t.is(me.headers.get('x-user-id'), person.id)
  t.is(me.headers.get('x-user-email'), person.email)
  t.is(me.headers.get('x-user-firstname'), 'Zo%C3%AB')
  t.is(decodeURIComponent(me.headers.get('x-user-fullname') ?? ''), 'Zoë 観測')
  t.is(((await me.json()) as { fullName: string }).fullName, 'Zoë 観測')
  t.is((await nobody('/api/me')).status, 401)
})

test('only server admins list accounts, whose pages are linked', async t => {
  for (const name of ['list', 'list', 'list']) await newPerson(server, name)
  t.is((await nobody('/api/users')).status, 401)
  t.is((await (await newPerson(server)).call('/api/users')).status, 403)
  const seen: string[] = []
  for (let path: string | undefined = '/api/users?limit=2'; path; ) {
    const answer: Response = await admin(path)
    t.is(answer.status, 200)
    const page = (await answer.json()) as { id: string }[]
    t.true(page.length <= 2)
    seen.push(...page.map(({ id }) => id))
    const next = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1]
    path = next === undefined ? undefined : next.slice(server.url.length)
  }
  t.is(new Set(seen).size, seen.length)
  t.true(seen.includes(server.admin.id))
  t.is((await admin('/api/users?after=junk')).status, 400)
  t.is((await admin('/api/users?limit=-1')).status, 400)
})

test('an account is found by id and by email, on a public server also anonymously', async t => {
  const person = await newPerson(server, 'found')
  for (const path of [`/api/users/${person.id}`, `/api/users/email/${person.email.toUpperCase()}`]) {
    const answer = await nobody(path)
    t.is(answer.status, 200)
    t.is(((await answer.json()) as { id: string }).id, person.id)
  }
})

test('malformed and unknown account ids get the same response', async t => {
  const answers = await Promise.all([unknownId, 'zzz', `${'0'.repeat(500)}`].map(async id => refusal(await admin(`/api/users/${id}`))))
  t.is(answers[0]!['httpStatus'], 404)
  t.deepEqual(answers[1], answers[0]!)
  t.deepEqual(answers[2], answers[0]!)
  t.is((await admin('/api/users/email/unknown@example.org')).status, 404)
})

test('a name is changed only by its owner and by a server admin', async t => {
  const [person, other] = [await newPerson(server, 'named'), await newPerson(server, 'other')]
  const rename = `/api/users/${person.id}/updateName?firstName=Grace&lastName=Hopper`
  t.is((await nobody(rename, { method: 'POST' })).status, 401)
  t.is((await other.call(rename, { method: 'POST' })).status, 403)
  t.is((await server.get(Users).get(person.id))?.firstName, 'named')
  t.is((await admin(rename, { method: 'POST' })).status, 200)
  t.is((await server.get(Users).get(person.id))?.lastName, 'Hopper')
  t.is((await person.call(`/api/users/${person.id}/updateName?firstName=&lastName=x`, { method: 'POST' })).status, 400)
  t.is((await person.call(`/api/users/${person.id}/updateName?firstName=%20&lastName=x`, { method: 'POST' })).status, 400)
  t.is((await person.call(`/api/users/${person.id}/updateName?firstName=x`, { method: 'POST' })).status, 400)
  t.is((await admin(`/api/users/${unknownId}/updateName?firstName=a&lastName=b`, { method: 'POST' })).status, 404)
})

test('being admin of a space gives no right over its members’ accounts', async t => {
  const [boss, person] = [await newPerson(server, 'boss'), await newPerson(server, 'led')]
  const users = server.get(Users)
  const roles = await users.roles()
  const role = roles.find(({ name }) => name === 'Admin')!.id
  await users.setMembership(boss.id, unknownId, role)
  await users.setMembership(person.id, unknownId, role)
  t.is((await boss.call(`/api/users/${person.id}/updateName?firstName=a&lastName=b`, { method: 'POST' })).status, 403)
})

test('following a user is stored once and can be ended', async t => {
  const [fan, star] = [await newPerson(server, 'fan'), await newPerson(server, 'star')]
  const followed = async () => (await server.get(Users).get(fan.id))?.followed
  for (const _ of [1, 2])
    t.deepEqual(await (await fan.call(`/api/users/follow?followeeUUID=${star.id}`, { method: 'POST' })).json(), { status: 'success' })
  t.deepEqual(await followed(), [{ kind: 'user', id: star.id }])
  for (const _ of [1, 2]) t.is((await fan.call(`/api/users/unfollow?followeeUUID=${star.id}`, { method: 'POST' })).status, 200)
  t.deepEqual(await followed(), [])
  t.is((await fan.call(`/api/users/follow?followeeUUID=${unknownId}`, { method: 'POST' })).status, 404)
  t.is((await fan.call(`/api/users/follow?followeeUUID=${fan.id}`, { method: 'POST' })).status, 400)
  t.is((await nobody(`/api/users/follow?followeeUUID=${star.id}`, { method: 'POST' })).status, 401)
})

test('a server admin suspends, restores and promotes accounts with immediate effect', async t => {
  const person = await newPerson(server, 'standing')
  const set = async (json: object) => (await admin('/api/admin/users', { method: 'POST', json })).status
  t.is(await set({ inactive: [person.id] }), 200)
  const suspended = await person.call('/api/me')
  t.is(suspended.status, 401)
  t.is(((await suspended.json()) as { message: string }).message, 'Account is not activated')
  t.is(await set({ readonly: [person.id] }), 200)
  t.is((await person.call('/api/me')).status, 200)
  t.is((await person.call(`/api/users/${person.id}/updateName?firstName=a&lastName=b`, { method: 'POST' })).status, 403)
  t.is(await set({ active: [person.id] }), 200)
  t.is((await person.call('/api/users')).status, 403)
  t.is(await set({ admin: [person.id] }), 200)
  t.is((await person.call('/api/users')).status, 200)
})

test('a list of account states with an error changes no account', async t => {
  const person = await newPerson(server, 'kept')
  const set = async (json: object) => (await admin('/api/admin/users', { method: 'POST', json })).status
  t.is(await set({ inactive: [person.id, unknownId] }), 404)
  t.is(await set({ inactive: [person.id], readonly: [person.id] }), 400)
  t.is(await set({ inactive: ['nonsense'] }), 400)
  t.is(await set({ readonly: [server.admin.id], inactive: [person.id] }), 400)
  t.is((await server.get(Users).get(person.id))?.status, 'Active')
  t.is((await person.call('/api/admin/users', { method: 'POST', json: { admin: [person.id] } })).status, 403)
  t.is((await nobody('/api/admin/users', { method: 'POST', json: { admin: [person.id] } })).status, 401)
})

test('superadmin mode is for admins only', async t => {
  const person = await newPerson(server, 'plain')
  t.is(
    (await person.call(`/api/users/${server.admin.id}/updateName?firstName=a&lastName=b&superAdmin=true`, { method: 'POST' })).status,
    403,
  )
})

test('all signed-in callers may read the roles', async t => {
  const person = await newPerson(server)
  const roles = (await (await person.call('/api/roles')).json()) as { id: string; name: string; permissions: string[] }[]
  t.deepEqual(
    roles.map(({ name }) => name),
    ['Admin', 'Editor', 'Viewer'],
  )
  const holds = (name: string, permission: string) => roles.find(role => role.name === name)?.permissions.includes(permission)
  t.true(holds('Admin', 'ArchiveFile'))
  t.false(holds('Editor', 'ArchiveFile'))
  t.false(holds('Viewer', 'DownloadFiles'))
  t.is((await nobody('/api/roles')).status, 401)
})
