import test from 'ava'
import { Commands } from 'pounce/sdk'
import { bootForTest, FixedClock, type TestServer } from 'pounce/sdk/testing'
import { basic, newKey, newPerson, refusal } from '../../../../test/support/people.ts'
import { letIn, newSpace, recordPlugins, type Somebody, somebody } from '../../../../test/support/spaces-and-people.ts'
import { ApiKeys } from './api-keys.ts'

let server: TestServer
let ada: Somebody
let space: string
test.before(async () => {
  server = await bootForTest({ plugins: recordPlugins, config: { access: { private: true } } })
  ada = await somebody(server, 'ada')
  space = await newSpace(ada)
})
test.after.always(() => server?.stop())
const dayMs = 86_400_000

interface KeyJson {
  readonly name: string
  readonly scope: string
  readonly verbs: readonly string[] | null
  readonly spaces: readonly string[] | null
  readonly created: string
  readonly lastUsed: string | null
  readonly expires: string | null
}
const make = (query: string) => ada.call(`/api/users/keys?${query}`, { method: 'POST' })
const limited = (query: string) => newKey(server, ada.email, ada.password, query)
const shown = async (name: string) => (await (await ada.call(`/api/users/keys/${name}`)).json()) as KeyJson

test('a key is listed with its scope and limits', async t => {
  t.is((await make(`name=told&scope=extraction&verbs=write,read,read&spaces=${space}&expires=2099-06-30`)).status, 200)
  const { created, ...reach } = await shown('told')
  t.like(reach, { scope: 'extraction', verbs: ['read', 'write'], spaces: [space], expires: '2099-06-30T00:00:00.000Z', lastUsed: null })
  t.true(Math.abs(Date.parse(created) - Date.now()) < dayMs)
  await make('name=plain')
  t.like(await shown('plain'), { scope: 'full', verbs: null, spaces: null, expires: null })
  await make('name=until&expires=2099-06-30T12:00:00%2B02:00')
  t.is((await shown('until')).expires, '2099-06-30T10:00:00.000Z')
})

test('an invalid scope or limit is refused, and no key is created', async t => {
  const wrong = ['verbs=', 'verbs=,', 'verbs=fly', 'verbs=read,fly', 'verbs=READ', 'scope=admin', 'expires=tomorrow', 'expires=2001-01-01']
  wrong.push('expires=2099-02-31x', 'expires=', 'spaces=', 'spaces=,', `spaces=${Array.from({ length: 101 }, () => space).join(',')}`)
  for (const query of wrong) t.is((await make(`name=wrong&${query}`)).status, 400, query.slice(0, 40))
  t.is((await ada.call('/api/users/keys/wrong')).status, 404)
})

test('a key cannot be limited to spaces that its owner may not view', async t => {
  const bob = await somebody(server, 'bob')
  const hidden = await newSpace(bob)
  const answers = await Promise.all(
    [hidden, 'f'.repeat(24), 'nonsense'].map(async id => refusal(await make(`name=far&spaces=${space},${id}`))),
  )
  t.deepEqual(
    answers.map(answer => answer['httpStatus']),
    [404, 404, 404],
  )
  t.deepEqual(answers[1], answers[0])
  t.is((await ada.call('/api/users/keys/far')).status, 404)
  await letIn(bob, hidden, 'Viewer', ada)
  t.is((await make(`name=far&spaces=${space},${hidden}`)).status, 200)
})

test('a limited key cannot manage keys, sessions or the account', async t => {
  const keys = await Promise.all([
    limited('name=l1&verbs=read,write,delete,manage'),
    limited(`name=l2&spaces=${space}`),
    limited('name=l3&verbs=read'),
    limited('name=l4&scope=extraction'),
  ])
  for (const key of keys) {
    const call = server.as(key)
    t.is((await call('/api/me')).status, 200)
    t.is((await call('/api/users/keys')).status, 403)
    t.is((await call('/api/users/keys/l1')).status, 403)
    t.is((await call('/api/users/keys?name=more', { method: 'POST' })).status, 403)
    t.is((await call('/api/users/keys/l1', { method: 'DELETE' })).status, 403)
    t.is((await call('/api/sessions')).status, 403)
    t.is((await call('/api/sessions', { method: 'DELETE' })).status, 403)
    t.is((await call(`/api/sessions/${'f'.repeat(24)}`, { method: 'DELETE' })).status, 403)
  }
  const names = (await server.get(ApiKeys).of(ada.id)).map(({ name }) => name)
  t.true(names.includes('l1'))
  t.false(names.includes('more'))
})

test('account-wide routes require the verb, and a key that is not limited to spaces', async t => {
  const peer = await somebody(server, 'peer')
  await letIn(ada, space, 'Viewer', peer)
  const statuses = async (query: string) => {
    const call = server.as(await limited(query))
    const follow = (what: string) => call(`/api/users/${what}?followeeUUID=${peer.id}`, { method: 'POST' })
    return [(await call('/api/roles')).status, (await follow('follow')).status, (await follow('unfollow')).status]
  }
  t.deepEqual(await statuses('name=r&verbs=read'), [200, 403, 403])
  // The verb is sufficient, but the key can view no user to follow.
  t.deepEqual(await statuses('name=w&verbs=write'), [403, 404, 404])
  t.deepEqual(await statuses('name=rw&verbs=read,write'), [200, 200, 200])
  t.deepEqual(await statuses(`name=s&spaces=${space}`), [403, 403, 403])
  t.deepEqual(await statuses(`name=srw&spaces=${space}&verbs=read,write`), [403, 403, 403])
})

test('a limited key of a server admin has neither admin rights nor superadmin mode', async t => {
  const key = await newKey(server, server.admin.email, server.admin.password, 'name=held&verbs=read,write,delete,manage')
  for (const query of ['', '?superAdmin=true']) {
    t.is((await server.as(key)(`/api/users${query}`)).status, 403)
    t.is((await server.as(key)(`/api/users/${ada.id}/sessions${query}`, { method: 'DELETE' })).status, 403)
  }
  t.is((await server.as(key)('/api/me', { headers: { cookie: 'superAdmin=true' } })).status, 200)
})

test('an expired key is refused with 401 and a message of its own, and deleted a month later', async t => {
  const clock = new FixedClock()
  const plugins = ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users']
  const other = await bootForTest({ t, plugins, clock })
  const person = await newPerson(other, 'brief')
  const expires = new Date(clock.now().getTime() + 2 * dayMs).toISOString()
  const key = await newKey(other, person.email, person.password, `name=brief&expires=${expires}`)
  const me = async () => refusal(await other.as(key)('/api/me'))
  clock.advance(2 * dayMs - 1)
  t.is((await other.as(key)('/api/me')).status, 200)
  clock.advance(1)
  t.like(await me(), { httpStatus: 401, message: 'The API key has expired' })
  t.like(await refusal(await other.as()(`/api/me?key=${key}`)), { httpStatus: 401, message: 'The API key has expired' })
  await other.runPeriodic('resources.users/sweep-sessions')
  t.like(await me(), { message: 'The API key has expired' })
  clock.advance(31 * dayMs)
  await other.runPeriodic('resources.users/sweep-sessions')
  t.like(await me(), { httpStatus: 401, message: 'The API key is not valid' })
  t.is(await other.get(ApiKeys).named(person.id, 'brief'), undefined)
  t.is((await other.as(person.key)('/api/me')).status, 200)
})

test('the command line creates the same keys', async t => {
  const command = (name: string) =>
    server
      .get(Commands)
      .all()
      .find(each => each.name === name)!
  const options = { verbs: 'read', spaces: space, expires: '2099-01-01' }
  const run = (more: object) =>
    command('key create').run({ arguments: { email: ada.email, name: 'manual' }, options: { ...options, ...more } }, () => undefined)
  await t.throwsAsync(run({ verbs: 'all' }), { message: /verbs must be/ })
  await t.throwsAsync(run({ spaces: 'nowhere' }), { message: /spaces must be/ })
  t.like(await run({}), { scope: 'full', verbs: ['read'], spaces: [space], expires: '2099-01-01T00:00:00.000Z' })
  t.like(await shown('manual'), { verbs: ['read'], spaces: [space] })
  const listed = (await command('key list').run(
    { arguments: { email: ada.email }, options: {} },
    () => undefined,
  )) as unknown as readonly KeyJson[]
  t.like(
    listed.find(({ name }) => name === 'manual'),
    { verbs: ['read'], expires: '2099-01-01T00:00:00.000Z' },
  )
})

test('keys can be listed with a password, unlike with a limited key', async t => {
  const headers = { authorization: basic(ada.email, ada.password) }
  t.is((await server.as()('/api/users/keys', { headers })).status, 200)
})
