import { fileURLToPath } from 'node:url'
import test from 'ava'
import { bootForTest, type TestFetch } from 'pounce/sdk/testing'
import { newPerson } from '../support/people.ts'
import { newDataset, ok, refusal, upload } from '../support/scene.ts'
import { until } from '../support/until.ts'

const spectrum = fileURLToPath(new URL('../../examples/viewer-spectrum/', import.meta.url))
const server = await bootForTest({ also: [spectrum] })
test.after.always(() => server.stop())
const admin = server.as(server.admin.key)

interface Shown {
  readonly id: string
  readonly [name: string]: unknown
}
const list = () => ok<readonly Shown[]>(admin('/api/admin/plugins'))
const set = (id: string, enabled: boolean, call: TestFetch = admin) =>
  call(`/api/admin/plugins/${id}`, { method: 'PUT', json: { enabled } })

test('the list shows the source and state of each plugin and whether it can be switched', async t => {
  const plugins = await list()
  t.like(
    plugins.find(({ id }) => id === 'extractors.csv'),
    { source: 'built-in', switchable: true, enabled: true, state: 'on', restartRequired: false, healthy: true, waitingEvents: 0 },
  )
  t.like(
    plugins.find(({ id }) => id === 'resources.files'),
    { switchable: false, refusal: 'It provides files, which other plugins may need' },
  )
  const example = plugins.find(({ id }) => id === 'example.viewer-spectrum')
  t.is(example?.['source'], spectrum)
  t.true(plugins.every(one => /^\d+\./.test(String(one['version']))))
})

test('only server admins list and switch plugins, and switching is recorded in the audit log', async t => {
  const person = await newPerson(server)
  t.is((await person.call('/api/admin/plugins')).status, 403)
  t.is((await set('extractors.zip', false, person.call)).status, 403)
  t.is((await set('extractors.zip', false, server.as())).status, 401)
  await ok(set('extractors.zip', false))
  await ok(set('extractors.zip', true))
  await server.drained()
  const lines = await ok<{ actor: { id: string }; about: object }[]>(admin('/api/admin/audit?type=plugin.switched'))
  const ours = lines.filter(({ about }) => (about as { plugin?: string }).plugin === 'extractors.zip')
  t.deepEqual(
    ours.map(({ actor, about }) => [actor.id, about]),
    [true, false].map(enabled => [server.admin.id, { plugin: 'extractors.zip', enabled }]),
  )
})

test('switching a plugin off removes its routes and their descriptions; switching it on restores them', async t => {
  const root = '/api/sensorthings/v1.1'
  const described = async () => JSON.stringify(await ok<object>(admin('/openapi.json'))).includes('/sensorthings/')
  t.is((await admin(root)).status, 200)
  t.true(await described())
  t.like(await ok(set('resources.sensorthings', false)), { enabled: false, state: 'off', restartRequired: false })
  t.is((await admin(root)).status, 404)
  t.false(await described())
  t.false(JSON.stringify(await ok<object>(admin('/api/status'))).includes('sensorthings'))
  t.like(await ok(set('resources.sensorthings', true)), { enabled: true, state: 'on' })
  t.is((await admin(root)).status, 200)
  t.true(await described())
})

test('switching a plugin off removes its viewers and their files; switching it on restores them', async t => {
  const shown = async () =>
    (await ok<{ plugin: string; module: string }[]>(admin('/api/web/contributions'))).find(
      ({ plugin }) => plugin === 'example.viewer-spectrum',
    )
  const before = await shown()
  if (!before) throw new Error('The viewer is not listed')
  t.is((await admin(before.module)).status, 200)
  await ok(set('example.viewer-spectrum', false))
  t.is(await shown(), undefined)
  t.is((await admin(before.module)).status, 404)
  await ok(set('example.viewer-spectrum', true))
  t.deepEqual(await shown(), before)
  t.is((await admin(before.module)).status, 200)
})

test('jobs wait while their extractor is switched off', async t => {
  const dataset = await newDataset(admin)
  await ok(set('extractors.digest', false))
  const id = await upload(admin, dataset)
  const submitted = await admin(`/api/files/${id}/extractions`, { method: 'POST', json: { extractor: 'pounce.digest' } })
  t.is(submitted.status, 200)
  const runs = () => ok<{ status: string; extractor_id: string }[]>(admin(`/api/files/${id}/extractions`))
  const ofDigest = async () => (await runs()).filter(run => run.extractor_id === 'pounce.digest').map(({ status }) => status)
  await server.drained()
  t.false((await ofDigest()).includes('DONE'))
  await ok(set('extractors.digest', true))
  await until('the run to end', ofDigest, statuses => statuses.length > 0 && statuses.every(status => status === 'DONE'))
  t.deepEqual(await ofDigest(), ['DONE'])
})

test('a refusal to switch a plugin states the reason and the remedy', async t => {
  t.like(await refusal(set('resources.files', false)), { status: 409, code: 'conflict' })
  t.regex((await refusal(set('resources.files', false))).message, /change "plugins" in the configuration and restart/)
  t.regex((await refusal(set('auth.local', false))).message, /auth\.local cannot be switched because it contributes to/)
  t.regex((await refusal(set('resources.event-sink', true))).message, /not in the configuration.*add it to "plugins" and restart/)
  t.is((await set('test.nothing', true)).status, 404)
  t.like(await refusal(admin('/api/admin/plugins/web', { method: 'PUT', json: { enabled: 'no' } })), { status: 400 })
})

test('a plugin that is not switchable is switched at the next restart', async t => {
  t.like(await ok(set('resources.tree', false)), { switchable: false, enabled: false, state: 'on', restartRequired: true })
  t.like(await ok(set('resources.tree', true)), { enabled: true, state: 'on', restartRequired: false })
})
