import test from 'ava'
import { DocumentStore, eq } from 'pounce/sdk'
import { bootForTest, FixedClock } from 'pounce/sdk/testing'
import { basic, byCookie, newKey, newPerson, signIn } from '../../../../test/support/people.ts'
import { keys } from '../collections.ts'
import { up } from '../migrations/0001-no-person-wide-extraction-keys.ts'
import { ApiKeys } from './api-keys.ts'
import { idOfHash, sha256 } from './installation-secret.ts'

const plugins = ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users']
const commKey = 'a service key of the installation'
const server = await bootForTest({ plugins, config: { resources: { users: { commKey } } } })
test.after.always(() => server.stop())
const unknownId = 'f'.repeat(24)

interface KeyJson {
  readonly name: string
  readonly key: string
  readonly identityId: { readonly userId: string; readonly providerId: string }
}

test('a key is returned in full only when it is created', async t => {
  const person = await newPerson(server, 'keys')
  const made = await person.call('/api/users/keys?name=for%20scripts', { method: 'POST' })
  t.is(made.status, 200)
  const { name, key } = (await made.json()) as KeyJson
  t.is(name, 'for scripts')
  t.regex(key, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  t.is((await server.as(key)('/api/me')).status, 200)
  const listed = (await (await person.call('/api/users/keys')).json()) as KeyJson[]
  t.deepEqual(
    listed.map(held => held.name),
    ['for scripts', 'test'],
  )
  t.like(listed[0], { name, key: `${key.slice(0, 8)}-****`, identityId: { userId: person.email, providerId: 'userpass' } })
  t.like(listed[0], { scope: 'full', verbs: null, spaces: null, expires: null })
  const one = await person.call('/api/users/keys/for%20scripts')
  t.deepEqual(await one.json(), listed[0])
  t.false(JSON.stringify(await server.get(ApiKeys).of(person.id)).includes(key))
})

test('names of keys are unique per user, and _extraction_key is reserved', async t => {
  const [one, other] = [await newPerson(server, 'names'), await newPerson(server, 'names')]
  const create = async (call: typeof one.call, query: string) => (await call(`/api/users/keys?${query}`, { method: 'POST' })).status
  const statuses = await Promise.all(Array.from({ length: 8 }, () => create(one.call, 'name=same')))
  t.deepEqual(statuses.toSorted(), [200, ...Array<number>(7).fill(400)])
  t.is(await create(other.call, 'name=same'), 200)
  for (const query of [
    'name=_extraction_key',
    'name=',
    'name=..',
    'name=.',
    '',
    `name=${'x'.repeat(201)}`,
    'name=a%00b',
    'name=ok&scope=everything',
  ])
    t.is(await create(one.call, query), 400, query)
  const again = await one.call('/api/users/keys?name=same', { method: 'POST' })
  t.is(((await again.json()) as { message: string }).message, 'Key with name same already exists')
})

// The mobile app of Clowder v1 creates such a key at every sign-in.
test('a key may have a name that begins with an underscore', async t => {
  const person = await newPerson(server, 'mobile')
  const json = { name: '_1764348566000' }
  const made = await person.call('/api/users/keys?name=_1764348566000', { method: 'POST', json })
  t.is(made.status, 200)
  const { key } = (await made.json()) as KeyJson
  t.is((await server.as()(`/api/me?key=${key}`)).status, 200)
  t.is((await person.call('/api/users/keys/_1764348566000', { method: 'DELETE' })).status, 204)
})

test('a revoked key is refused as soon as the response is sent', async t => {
  const person = await newPerson(server, 'revoked')
  const key = await newKey(server, person.email, person.password, 'name=second')
  t.is((await server.as(key)('/api/me')).status, 200)
  t.is((await person.call('/api/users/keys/second', { method: 'DELETE' })).status, 204)
  t.is((await server.as(key)('/api/me')).status, 401)
  t.is((await person.call('/api/users/keys/second', { method: 'DELETE' })).status, 404)
  const absent = await person.call('/api/users/keys/second')
  t.is(absent.status, 404)
  t.is(((await absent.json()) as { message: string }).message, 'Key with name second not found')
})

test('keys of other users are not accessible', async t => {
  const [one, other] = [await newPerson(server, 'mine'), await newPerson(server, 'yours')]
  await one.call('/api/users/keys?name=private', { method: 'POST' })
  t.is((await other.call('/api/users/keys/private')).status, 404)
  t.is((await other.call('/api/users/keys/private', { method: 'DELETE' })).status, 404)
  t.is((await server.as()('/api/users/keys')).status, 401)
  t.is((await server.as()('/api/users/keys?name=x', { method: 'POST' })).status, 401)
  t.is((await server.get(ApiKeys).of(one.id)).length, 2)
})

test('a key is accepted in the header and in the query, and a wrong one is refused', async t => {
  const person = await newPerson(server, 'door')
  const open = `/api/users/${person.id}`
  t.is((await server.as()(open)).status, 200)
  t.is((await server.as()(`/api/me?key=${person.key}`)).status, 200)
  const wrong = ['wrong', person.key.toUpperCase().replace(/.$/, 'G'), person.key.slice(0, -1), `${person.key} `.repeat(100), unknownId]
  const statuses = async (query: string, headers: Readonly<Record<string, string>>) =>
    Promise.all([open, '/api/me'].map(async path => (await server.as()(path + query, { headers })).status))
  for (const key of wrong) {
    t.deepEqual(await statuses('', { 'x-api-key': key }), [200, 401])
    t.deepEqual(await statuses(`?key=${encodeURIComponent(key)}`, {}), [200, 401])
  }
  t.deepEqual(await statuses('', { authorization: 'Bearer unknown' }), [200, 401])
  t.deepEqual(await statuses('', { authorization: basic(person.email, 'wrong password') }), [200, 401])
  t.is((await server.as()(open, { headers: { authorization: basic(person.email, person.password) } })).status, 200)
})

test('an extraction key acts for the user but cannot manage keys, accounts or the server', async t => {
  const key = await newKey(server, server.admin.email, server.admin.password, 'name=for-extractor&scope=extraction')
  const call = server.as(key)
  t.is((await call('/api/me')).status, 200)
  for (const path of ['/api/users', '/api/users?superAdmin=true', '/api/users/keys', '/api/users/keys/test'])
    t.is((await call(path)).status, 403, path)
  t.is((await call('/api/users/keys?name=more', { method: 'POST' })).status, 403)
  t.is((await call('/api/users/keys/test', { method: 'DELETE' })).status, 403)
  t.is((await call('/api/admin/users', { method: 'POST', json: {} })).status, 403)
  t.is((await call(`/api/users/${server.admin.id}/updateName?firstName=a&lastName=b`, { method: 'POST' })).status, 403)
  t.is((await server.as(server.admin.key)('/api/users/keys/test')).status, 200)
})

test('an extraction key from before job keys existed is refused, and deleted by the migration', async t => {
  const own = await bootForTest({ t, plugins })
  const documents = own.get(DocumentStore)
  const shown = 'c0ffee00-0000-4000-8000-000000000000'
  const hash = sha256(shown)
  const record = {
    user: own.admin.id,
    name: '_extraction_key',
    scope: 'extraction',
    generation: 'f'.repeat(24),
    hash,
    prefix: 'c0ffee00',
  } as const
  await documents.commit({ insert: { id: idOfHash(hash), ...record, created: '2026-01-01T00:00:00.000Z', lastUsed: null }, into: keys })
  t.is((await own.as(shown)('/api/me')).status, 401)
  for (let twice = 0; twice < 2; twice++) await up(documents)
  t.deepEqual(
    (await own.get(ApiKeys).of(own.admin.id)).map(({ name }) => name),
    ['test'],
  )
})

test('the service key can read and belongs to no account', async t => {
  const person = await newPerson(server, 'served')
  t.is((await server.as(commKey)(`/api/users/${person.id}`)).status, 200)
  t.is((await server.as()(`/api/users/${person.id}?key=${encodeURIComponent(commKey)}`)).status, 200)
  t.is((await server.as(commKey)('/api/me')).status, 403)
  t.is((await server.as(commKey)('/api/users/keys?name=x', { method: 'POST' })).status, 403)
  t.is((await server.as(commKey)('/api/users?superAdmin=true')).status, 403)
})

test('the use of a key is recorded at most once a minute', async t => {
  const clock = new FixedClock()
  const other = await bootForTest({ t, plugins, clock })
  const call = other.as(other.admin.key)
  const key = async () => (await other.get(ApiKeys).named(other.admin.id, 'test'))!
  t.is((await key()).lastUsed, null)
  await Promise.all(Array.from({ length: 10 }, () => call('/api/me')))
  const first = await key()
  t.is(first.lastUsed, clock.now().toISOString())
  clock.advance(59_000)
  await call('/api/me')
  t.is((await key()).revision, first.revision)
  clock.advance(1000)
  await call('/api/me')
  t.is((await key()).lastUsed, clock.now().toISOString())
})

test('a user has at most 1,000 keys, also under concurrent requests, and all of them are revoked with the password', async t => {
  const person = await newPerson(server, 'many')
  const documents = server.get(DocumentStore)
  const ofPerson = { using: 'byUser', where: eq('user', person.id) } as const
  const { id: _id, revision: _revision, ...record } = (await documents.find(keys, { ...ofPerson, limit: 1 })).items[0] ?? t.fail()
  const add = (from: number, count: number) =>
    documents.commitEach(
      Array.from({ length: count }, (_, n) => ({
        change: { insert: { ...record, id: `e${(from + n).toString(16).padStart(23, '0')}`, name: `key ${from + n}` }, into: keys },
      })),
    )
  t.true((await add(0, 996)).every(({ ok }) => ok))
  const created = Array.from({ length: 12 }, (_, n) => person.call(`/api/users/keys?name=more${n}`, { method: 'POST' }))
  const statuses = (await Promise.all(created)).map(({ status }) => status)
  t.deepEqual(statuses.toSorted(), [...Array<number>(3).fill(200), ...Array<number>(9).fill(400)])
  // As earlier versions allowed.
  await add(2000, 250)
  const json = { password: person.password, newPassword: 'a new long password', revokeKeys: true }
  const cookie = await signIn(server, person.email, person.password)
  t.is((await byCookie(server, cookie)('/api/password', { method: 'POST', json })).status, 200)
  await server.drained()
  t.is(await documents.count(keys, { ...ofPerson, upTo: 2000 }), 0)
})
