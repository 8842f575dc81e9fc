import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { bootForTest, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { extractorInfo } from '../support/extractor-info.ts'
import { FakeBus } from '../support/fake-bus.ts'
import { newPerson, type Person } from '../support/people.ts'
import { ok, refusal } from '../support/scene.ts'

let server: TestServer
let admin: TestFetch
let ann: Person
let bob: Person
const bus = new FakeBus()

test.before(async () => {
  server = await bootForTest({ also: [bus.plugin] })
  admin = server.as(server.admin.key)
  ann = await newPerson(server, 'ann')
  bob = await newPerson(server, 'bob')
})
test.after.always(() => server?.stop())

const shown = (call: TestFetch, path: string) => ok<Record<string, unknown>>(call(`/api/extractors/${path}`))
const names = async (call: TestFetch, query = ''): Promise<string[]> =>
  (await ok<{ name: string }[]>(call(`/api/extractors${query}`))).map(({ name }) => name).filter(name => name.startsWith('r.'))
const register = (call: TestFetch, json: unknown, query = '') => call(`/api/extractors${query}`, { method: 'POST', json })

test('a heartbeat registers an extractor with its values and defaults for the rest', async t => {
  const process = { file: ['image/*'], dataset: 'not a list', metadata: ['added.file'] }
  await bus.introduce(
    extractorInfo('r.whole', { process, labels: ['Kind/Leaves', 'Plain'], maturity: 'Staging', bibtex: 7, parameters: { schema: {} } }),
  )
  const { id, updated, ...rest } = await shown(ann.call, 'r.whole')
  t.regex(String(id), /^[0-9a-f]{24}$/)
  t.regex(String(updated), /^\d{4}-\d\d-\d\dT/)
  t.deepEqual(rest, {
    ...extractorInfo('r.whole'),
    contributors: [],
    external_services: [],
    libraries: [],
    bibtex: [],
    maturity: 'Staging',
    defaultLabels: ['Kind/Leaves', 'Plain'],
    process: { file: ['image/*'], dataset: [], metadata: ['added.file'] },
    categories: ['EXTRACT'],
    parameters: { schema: {} },
    permissions: [],
  })
  const labels = await ok<{ name: string; category: string; extractors: string[] }[]>(ann.call('/api/extractors/labels'))
  const own = labels.filter(({ extractors }) => extractors.includes('r.whole')).map(({ name, category }) => [category, name])
  t.deepEqual(own, [
    ['Kind', 'Leaves'],
    ['Other', 'Plain'],
  ])
})

test('a later heartbeat replaces a public extractor only when its version differs', async t => {
  await bus.introduce(extractorInfo('r.versions'))
  const { id } = await shown(ann.call, 'r.versions')
  await bus.introduce(extractorInfo('r.versions', { description: 'changed' }))
  t.like(await shown(ann.call, 'r.versions'), { id, description: 'Counts leaves' })
  await bus.introduce(extractorInfo('r.versions', { version: '1.1', description: 'changed' }))
  t.like(await shown(ann.call, 'r.versions'), { id, description: 'changed', version: '1.1' })
})

test('an unchanged heartbeat writes nothing, even after another extractor was registered', async t => {
  const info = extractorInfo('r.unchanged')
  await bus.introduce(info)
  const { updated } = await shown(ann.call, 'r.unchanged')
  await pause(5)
  await bus.introduce(info)
  await bus.introduce(extractorInfo('r.other'))
  await bus.introduce(info)
  t.is((await shown(ann.call, 'r.unchanged'))['updated'], updated)
})

test('an invalid heartbeat, or one that claims the name of another extractor, changes nothing', async t => {
  const image = await shown(ann.call, 'pounce.image')
  const broken: Record<string, unknown>[] = [
    { name: 'r.broken' },
    extractorInfo('r.broken', { version: 1 }),
    extractorInfo('r.broken', { repository: 'none' }),
    extractorInfo('private.k.r.broken'),
    extractorInfo('r.bro\nken'),
    extractorInfo('r.broken', { unique_key: 'k' }),
    extractorInfo('r.broken', { contexts: [JSON.parse('{"__proto__":{"x":1}}')] }),
    extractorInfo('r.broken', { description: 'x'.repeat(300_000) }),
    extractorInfo('pounce.image', { version: '99' }),
  ]
  for (const info of broken) await bus.introduce(info)
  await bus.introduce(extractorInfo('r.broken', { unique_key: 'k' }), 'nobody@example.org')
  await bus.introduce('text' as unknown as Record<string, unknown>)
  const all = await ok<{ name: string }[]>(admin('/api/extractors'))
  t.deepEqual(
    all.map(({ name }) => name).filter(name => /bro|text|private/.test(name) && name !== 'pounce.text'),
    [],
  )
  t.deepEqual(await shown(ann.call, 'pounce.image'), image)
})

test('a heartbeat is accepted after a malformed or identical one of the same name and version', async t => {
  await bus.introduce(extractorInfo('r.corrected', { repository: 'none' }))
  t.is((await ann.call('/api/extractors/r.corrected')).status, 404)
  await bus.introduce(extractorInfo('r.corrected'))
  t.like(await shown(ann.call, 'r.corrected'), { version: '1.0' })
  const info = extractorInfo('r.repeated', { unique_key: 'k1' })
  for (let n = 0; n < 2; n += 1) await bus.introduce(info, ann.email)
  await bus.introduce({ ...info, description: 'changed' }, ann.email)
  t.like(await shown(ann.call, 'r.repeated?extractor_key=k1'), { description: 'changed' })
})

test('only the owner can list, read and change a private extractor', async t => {
  const info = extractorInfo('r.secret', { unique_key: 'k1' })
  await bus.introduce(info, ann.email)
  t.deepEqual(await names(ann.call).then(all => all.filter(name => name === 'r.secret')), ['r.secret'])
  t.false((await names(bob.call)).includes('r.secret'))
  t.false((await names(admin)).includes('r.secret'))
  const own = await shown(ann.call, 'r.secret?extractor_key=k1')
  t.like(own, { unique_key: 'k1', permissions: [{ resourceType: "'user", id: ann.id }] })
  for (const [call, path] of [
    [ann.call, 'r.secret'],
    [ann.call, 'r.secret?extractor_key=k2'],
    [bob.call, 'r.secret?extractor_key=k1'],
  ] as const) {
    const answer = await call(`/api/extractors/${path}`)
    t.is(answer.status, 404)
    t.like(await answer.json(), { status: 'KO', message: 'Extractor info not found' })
  }
  await bus.introduce({ ...info, version: '6.6', description: 'taken over' }, bob.email)
  t.like(await shown(ann.call, 'r.secret?extractor_key=k1'), own)
  await bus.introduce({ ...info, version: '1.1', description: 'better' }, ann.email)
  t.like(await shown(ann.call, 'r.secret?extractor_key=k1'), { id: own['id'], description: 'better', permissions: own['permissions'] })
})

test('an empty extractor_key means the public extractor, as if it were absent', async t => {
  t.like(await ok(register(ann.call, extractorInfo('r.unkeyed'), '?extractor_key=&user=')), { status: 'OK' })
  t.like(await shown(ann.call, 'r.unkeyed?extractor_key='), { name: 'r.unkeyed', permissions: [] })
  await ok(admin('/api/extractions/r.unkeyed/delete?extractor_key=', { method: 'DELETE' }))
  t.is((await ann.call('/api/extractors/r.unkeyed')).status, 404)
})

test('over HTTP, callers can register private extractors for themselves only, admins for any user', async t => {
  const info = extractorInfo('r.http')
  const query = (key: string, user?: string) => `?${new URLSearchParams({ extractor_key: key, ...(user && { user }) })}`
  t.like(await ok(register(ann.call, info, query('k', ann.email))), { status: 'OK' })
  t.like(await refusal(register(ann.call, info, query('k2', 'nobody@example.org'))), { status: 400 })
  t.like(await refusal(register(ann.call, info, query('k2'))), { status: 400 })
  t.like(await refusal(register(ann.call, info, query('k2', bob.email))), { status: 400 })
  t.like(await ok(register(admin, info, query('k2', bob.email))), { status: 'OK' })
  t.like(await refusal(register(bob.call, { ...info, version: '2' }, query('k', ann.email))), { status: 400 })
  t.is((await names(ann.call)).filter(name => name === 'r.http').length, 1)
  t.is((await ann.call('/api/extractions/r.http/delete?extractor_key=k', { method: 'DELETE' })).status, 403)
  await ok(admin('/api/extractions/r.http/delete?extractor_key=k', { method: 'DELETE' }))
  t.false((await names(ann.call)).includes('r.http'))
  t.true((await names(bob.call)).includes('r.http'))
})

test('an unchanged registration is accepted from any caller; a change by another caller requires an admin', async t => {
  await bus.introduce(extractorInfo('r.again'))
  t.like(await ok(register(bob.call, extractorInfo('r.again'))), { status: 'OK' })
  t.like(await refusal(register(bob.call, extractorInfo('r.again', { description: 'mine' }))), { status: 403 })
  await ok(register(admin, extractorInfo('r.again', { description: 'better', repository: { repType: 'git', repUrl: 'x' } })))
  t.like(await shown(bob.call, 'r.again'), { description: 'better', repository: [{ repType: 'git', repUrl: 'x' }] })
})

test('all problems are reported at once, in the v1 format', async t => {
  const answer = await register(ann.call, { name: 'r.wrong', version: 2, repository: 'x' })
  t.is(answer.status, 400)
  const missing = [{ msg: 'error.path.missing', args: [] }]
  const { status, message, reason } = (await answer.json()) as Record<string, unknown>
  t.is(status, 'KO')
  t.regex(String(reason), /version, description, author, contexts, repository/)
  t.deepEqual(message, {
    'obj.version': [{ msg: 'error.expected.jsstring', args: [] }],
    'obj.description': missing,
    'obj.author': missing,
    'obj.contexts': missing,
    'obj.repository': [{ msg: 'error.expected.jsarray', args: [] }],
  })
})

test('categories match case-insensitively, and one of those requested is sufficient', async t => {
  await bus.introduce(extractorInfo('r.convert', { categories: ['CONVERT', 'SILENT'] }))
  await bus.introduce(extractorInfo('r.archive', { categories: ['ARCHIVE'] }))
  t.deepEqual((await names(ann.call, '?categories=archive&categories=Silent')).sort(), ['r.archive', 'r.convert'])
  t.deepEqual(await ok(ann.call('/api/extractions/extractors_names?categories=ARCHIVE')), { Extractors: ['r.archive'] })
  t.is((await server.as()('/api/extractions/extractors_names')).status, 401)
})

test('only admins can create, change and delete labels', async t => {
  const path = '/api/extractors/labels'
  const json = { name: 'Trees', category: 'Kind', extractors: ['r.others'] }
  const made = await ok<{ id: string }>(admin(path, { method: 'POST', json }))
  t.deepEqual(made, { id: made.id, ...json })
  t.like(await refusal(admin(path, { method: 'POST', json })), { status: 409 })
  t.like(await refusal(admin(path, { method: 'POST', json: { ...json, name: '' } })), { status: 400 })
  t.like(await refusal(admin(path, { method: 'POST', json: { ...json, name: '  ' } })), { status: 400 })
  t.like(await refusal(ann.call(path, { method: 'POST', json })), { status: 403 })
  const changed = { name: 'Oaks', extractors: [] }
  const bare = { id: made.id, ...changed, category: null }
  t.deepEqual(await ok(admin(`${path}/${made.id}`, { method: 'PUT', json: changed })), bare)
  t.deepEqual(await ok(admin(`${path}/${made.id}`, { method: 'PUT', json: bare })), bare)
  const other = await ok<{ id: string }>(admin(path, { method: 'POST', json }))
  t.like(await refusal(admin(`${path}/${other.id}`, { method: 'PUT', json: changed })), { status: 409 })
  t.like(await refusal(ann.call(`${path}/${made.id}`, { method: 'PUT', json: changed })), { status: 403 })
  t.like(await refusal(ann.call(`${path}/${made.id}`, { method: 'DELETE' })), { status: 403 })
  t.like(await ok(admin(`${path}/${made.id}`, { method: 'DELETE' })), { id: made.id })
  t.like(await refusal(admin(`${path}/${made.id}`, { method: 'DELETE' })), { status: 404 })
  t.like(await refusal(admin(`${path}/${made.id}`, { method: 'PUT', json: changed })), { status: 404 })
  t.is((await server.as()(path)).status, 401)
})

test('a deleted extractor is registered again by its next heartbeat but not enabled', async t => {
  await bus.introduce(extractorInfo('r.returns'))
  await ok(admin('/api/extractions/r.returns/delete', { method: 'DELETE' }))
  t.is((await ann.call('/api/extractors/r.returns')).status, 404)
  await bus.introduce(extractorInfo('r.returns'))
  t.like(await shown(ann.call, 'r.returns'), { name: 'r.returns' })
  t.false((await ok<{ enabled: string[] }>(admin('/api/extractors/enabled'))).enabled.includes('r.returns'))
  t.like(await ok(admin('/api/extractions/no.such/delete', { method: 'DELETE' })), { status: 'success' })
})

test('registration stops at a thousand extractors, and known extractors are kept', async t => {
  const flooded = await bootForTest({ t, also: [flood.plugin] })
  for (let n = 0; n < 1010; n++) await flood.introduce(extractorInfo(`flood.${n}`))
  const all = await ok<{ name: string }[]>(flooded.as(flooded.admin.key)('/api/extractors'))
  t.is(all.length, 1000)
  t.true(all.some(({ name }) => name === 'pounce.image'))
  const late = flooded.as(flooded.admin.key)('/api/extractors', { method: 'POST', json: extractorInfo('late') })
  t.like(await refusal(late), { status: 409 })
})
const flood = new FakeBus()
