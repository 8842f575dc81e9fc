import test from 'ava'
import { Mailer, Users } from 'pounce/sdk'
import { bootForTest, MemoryMailer, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { listen, of } from '../support/live-events.ts'
import { byCookie, newKey, newPerson, type Person, signIn } from '../support/people.ts'
import { newDataset, ok, refusal, upload } from '../support/scene.ts'

interface SessionUser {
  readonly id: string
  readonly status: string
  readonly superAdmin: boolean
  readonly via: string
  readonly isLimited: boolean
  readonly termsPending: boolean
  readonly rights: readonly string[]
  readonly storage: object | null
  readonly counts: { readonly invitations?: number; readonly requests?: number; readonly notifications?: number }
}
interface Session {
  readonly time: string
  readonly user: SessionUser | null
  readonly site: Readonly<Record<string, unknown>>
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly preferences: Readonly<Record<string, unknown>>
}

const sessionOf = (call: TestFetch, query = ''): Promise<Session> => ok<Session>(call(`/api/session${query}`))
const put = (call: TestFetch, json: unknown): Promise<Response> => call('/api/me/preferences', { method: 'PUT', json })
const create = ['CreateSpace', 'CreateCollection', 'CreateDataset', 'AddFile', 'CreateSensor', 'CreateVocabulary']

const mailer = new MemoryMailer()
let server: TestServer
let admin: TestFetch
let ann: Person

test.before(async () => {
  server = await bootForTest({ overrides: { [Mailer]: mailer } })
  admin = server.as(server.admin.key)
  ann = await newPerson(server, 'ann')
})
test.after.always(() => server?.stop())

test('live events since the time of the session include what changed after it', async t => {
  const { time } = await sessionOf(ann.call)
  const dataset = await newDataset(ann.call)
  await server.drained()
  const stream = await listen(server.url, ann.key, `?type=dataset.created&since=${time}`)
  t.teardown(stream.close)
  await stream.first('the dataset', of('dataset.created', dataset))
  t.deepEqual(
    stream.events.map(({ subject }) => subject),
    [`dataset/${dataset}`],
  )
})

test('anonymous callers get the site and its features, and no account', async t => {
  const { user, site, capabilities, preferences } = await sessionOf(server.as())
  t.is(user, null)
  t.deepEqual(preferences, {})
  t.like(site, { name: 'Pounce', terms: false, sensor: 'Sensor' })
  const { licenses, ...rest } = capabilities as { licenses: readonly { type: string; text: string }[] }
  t.deepEqual(rest as object, {
    signUp: 'approval',
    mail: false,
    private: false,
    accessOrigin: 'default',
    anonymousDownload: false,
    uploads: { resumable: { path: '/api/uploads', maxBytes: 10_995_116_277_760, maxOpen: 100, expireHours: 168 }, maxUrlBytes: 2 ** 40 },
    trash: { datasets: { clearAfterDays: 0 }, collections: { clearAfterDays: 0 } },
    live: '/api/live',
    geostreams: true,
    search: { maxQueryLength: 10_000, maxPageSize: 1000, maxOffset: 10_000 },
    setupPending: false,
    providers: '/api/login/providers',
  })
  t.deepEqual([licenses.length, licenses[0]?.text, licenses[4]?.text], [8, 'All Rights Reserved', 'Attribution-NonCommercial'])
})

test('users get their account and rights', async t => {
  const cookie = await signIn(server, ann.email, ann.password)
  const { user } = await sessionOf(byCookie(server, cookie))
  const named = { id: ann.id, email: ann.email, firstName: 'ann', status: 'Active', via: 'session' }
  t.like(user, { ...named, superAdmin: false, isLimited: false, termsPending: false, secondFactorPending: false, storage: null })
  t.deepEqual(user?.rights, create)
  t.deepEqual(user?.counts, { invitations: 0, requests: 0, notifications: 0 })
  t.like((await sessionOf(ann.call)).user, { via: 'key' })
  t.like((await sessionOf(admin)).user, { status: 'Admin', superAdmin: false })
  t.like((await sessionOf(admin, '?superAdmin=true')).user, { superAdmin: true })
  t.like((await sessionOf(ann.call, '?superAdmin=true')).user, { superAdmin: false })
})

test('an ended session and an invalid key are anonymous', async t => {
  const { call } = await newPerson(server)
  const gone = byCookie(server, 'pounce_session=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')
  t.is((await sessionOf(gone)).user, null)
  t.is((await sessionOf(server.as('no such key at all'))).user, null)
  t.is((await sessionOf(call)).user?.status, 'Active')
})

test('limited keys get the id of their account and nothing else about it', async t => {
  const { email, password, id, call } = await newPerson(server)
  await ok(put(call, { theme: 'dark' }))
  const reader = await sessionOf(server.as(await newKey(server, email, password, 'name=reader&verbs=read')))
  const extractor = await sessionOf(server.as(await newKey(server, email, password, 'name=extractor&scope=extraction')))
  for (const { user, preferences } of [reader, extractor]) {
    t.like(user, { id, isLimited: true, storage: null })
    t.deepEqual(user?.counts, {})
    t.deepEqual(preferences, {})
  }
  t.deepEqual(reader.user?.rights, [])
  t.false(extractor.user?.rights.includes('CreateSpace'))
})

test('read-only accounts have no rights to create', async t => {
  const { id, call } = await newPerson(server)
  await server.get(Users).change(id, { set: { status: 'ReadOnly' } }, [])
  t.like((await sessionOf(call)).user, { status: 'ReadOnly', rights: [] })
})

test('invitations, requests to join and unread notifications are counted', async t => {
  const [owner, guest] = [await newPerson(server, 'owner'), await newPerson(server, 'guest')]
  const space = (await ok<{ id: string }>(owner.call('/api/spaces', { method: 'POST', json: { name: 'lab', description: '' } }))).id
  await ok(guest.call(`/api/spaces/${space}/request`, { method: 'POST', json: {} }))
  await server.drained()
  t.like((await sessionOf(owner.call)).user?.counts, { invitations: 0, requests: 1, notifications: 1 })
  t.like((await sessionOf(guest.call)).user?.counts, { invitations: 0, requests: 0 })
})

test('storage is returned if quotas are configured', async t => {
  const limited = await bootForTest({ t, config: { resources: { quotas: { maxBytesPerPerson: 1000 } } } })
  const { call } = await newPerson(limited)
  await upload(call, await newDataset(call), 'hello')
  t.deepEqual((await sessionOf(call)).user?.storage, { usedBytes: 5, maxBytes: 1000, usedFiles: 1, maxFiles: 0 })
})

test('capabilities reflect the settings, also on a private server', async t => {
  const closed = await bootForTest({
    t,
    config: {
      access: { private: true, policy: { allowAnonymousDownload: true } },
      auth: { local: { signUp: false } },
      resources: { datasets: { useTrash: false }, collections: { clearTrashAfterDays: 7 } },
    },
  })
  const expected = { private: true, signUp: 'off', anonymousDownload: true, trash: { datasets: null, collections: { clearAfterDays: 7 } } }
  t.like((await sessionOf(closed.as())).capabilities, expected)
})

test('features of plugins that are not loaded are not offered', async t => {
  const small = await bootForTest({ t, plugins: ['documents.sqlite', 'access.policy', 'resources.users'] })
  const { site, capabilities } = await sessionOf(small.as())
  t.like(site, { name: 'Pounce', welcome: '', termsChanged: null })
  const none = { uploads: { resumable: null, maxUrlBytes: null }, trash: { datasets: null, collections: null }, live: null, search: null }
  t.like(capabilities, { signUp: 'off', mail: false, geostreams: false, ...none })
})

test('until the terms are accepted the session has no rights, counts or preferences', async t => {
  const strict = await bootForTest({ t })
  const { call } = await newPerson(strict)
  await ok(put(call, { theme: 'dark' }))
  const terms = { method: 'POST', json: { tosText: 'Be kind.' } }
  await ok(strict.as(strict.admin.key)('/api/admin/configuration', terms))
  const { user, site, preferences } = await sessionOf(call)
  t.like(site, { terms: true })
  t.like(user, { termsPending: true, rights: [], storage: null })
  t.deepEqual([user?.counts, preferences], [{}, {}])
  t.is((await refusal(put(call, {}))).code, 'terms-not-accepted')
})

test('preferences are stored as sent, replaced as a whole, and private', async t => {
  const [one, other] = [await newPerson(server), await newPerson(server)]
  const chosen = {
    language: 'de',
    theme: 'dark',
    density: 'compact',
    columns: { files: ['name', 'size'], 'all-datasets': { width: 12.5 } },
  }
  t.deepEqual(await ok(put(one.call, chosen)), chosen)
  t.deepEqual((await sessionOf(one.call)).preferences, chosen)
  t.deepEqual(await ok(put(one.call, { theme: null, hints: false })), { theme: null, hints: false })
  t.deepEqual((await sessionOf(one.call)).preferences, { theme: null, hints: false })
  t.deepEqual((await sessionOf(other.call)).preferences, {})
  t.is((await put(server.as(), {})).status, 401)
  const limited = await newKey(server, one.email, one.password, 'name=writer&verbs=write')
  t.is((await put(server.as(limited), {})).status, 403)
})

test('invalid preferences are refused with a reason', async t => {
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [{ a: { b: { c: { d: 1 } } } }, /the body\.a\.b\.c is nested too deeply/],
    [{ a: [[1]] }, /the body\.a is a list of lists or objects/],
    [{ a: [{ b: 1 }] }, /the body\.a is a list of lists or objects/],
    [{ 'a.b': 1 }, /"a\.b" in the body is not a name/],
    [{ a: { $set: 1 } }, /"\$set" in the body\.a is not a name/],
    [{ [`a${'b'.repeat(64)}`]: 1 }, /is not a name/],
    [[], /body/],
    ['dark', /body/],
  ]
  for (const [json, message] of cases) {
    const refused = await refusal(put(ann.call, json))
    t.is(refused.status, 400, JSON.stringify(json))
    t.regex(refused.message, message)
  }
  const large = await refusal(put(ann.call, { text: 'x'.repeat(8192) }))
  t.is(large.status, 413)
  t.regex(large.message, /8192/)
  t.deepEqual((await sessionOf(ann.call)).preferences, {})
})

test('concurrent writes of preferences are not mixed', async t => {
  const { call } = await newPerson(server)
  const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => put(call, { n, twice: n * 2 })))
  t.true(answers.every(({ status }) => status === 200))
  const { n, twice } = (await sessionOf(call)).preferences as { n: number; twice: number }
  t.is(twice, n * 2)
})
