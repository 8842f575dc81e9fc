import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { definePlugin, ref, routesFor, s } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { roleIds } from '../../plugins/resources/users/roles/stored-roles.ts'
import { callsOf, idOf } from '../support/calls.ts'
import { letIn, newDataset, newSpace, recordPlugins, type Somebody, somebody } from '../support/spaces-and-people.ts'

declare module 'pounce/sdk/kit' {
  interface PluginPermissions {
    AnalyzeSpectrum: true
    ViewSpectrum: true
  }
}

const route = routesFor('spectra', {})
const about = { params: s.Object({ id: s.id() }), responses: { 200: s.success() } }
const done = async () => ({ status: 200, body: { status: 'success' } }) as const

const analyzeSpectrum = route({
  method: 'POST',
  path: '/api/spectra/:id/analysis',
  summary: 'Submit an analysis',
  permission: { right: 'AnalyzeSpectrum', on: ref('dataset', 'id') },
  ...about,
  handle: done,
})
const getSpectrum = route({
  method: 'GET',
  path: '/api/spectra/:id',
  summary: 'Get a spectrum',
  permission: { right: 'ViewSpectrum', on: ref('dataset', 'id') },
  ...about,
  handle: done,
})

const spectra = definePlugin({
  id: 'example.spectra',
  summary: 'For tests.',
  permissions: {
    AnalyzeSpectrum: { description: 'Run analyses of spectra', verb: 'write', roles: ['Editor', 'Admin'] },
    ViewSpectrum: { description: 'Look at spectra', verb: 'read', roles: ['Viewer', 'Editor', 'Admin'], isReading: true },
  },
  routes: { analyzeSpectrum, getSpectrum },
})

const plugins = [...recordPlugins, 'resources.permissions']
const boot = (folder: string, ...also: (typeof spectra)[]): Promise<TestServer> =>
  bootForTest({ folder, plugins: [...plugins, ...also], config: { access: { private: true } } })

const permissionsOf = async (server: TestServer, role: keyof typeof roleIds): Promise<readonly string[]> => {
  const { body } = await callsOf(server.as(server.admin.key)).get(`/api/roles/${roleIds[role]}`)
  return (body as { permissions: readonly string[] }).permissions
}
const given = async (server: TestServer, name = 'AnalyzeSpectrum') => {
  const roles = ['Viewer', 'Editor', 'Admin'] as const
  const held = await Promise.all(roles.map(async role => ((await permissionsOf(server, role)).includes(name) ? [role] : [])))
  return held.flat()
}

const folder = await mkdtemp(join(tmpdir(), 'plugin-permissions-'))
// The roles are stored before the plugin is installed.
const before = await boot(folder)
await before.stop()
const server = await boot(folder, spectra)
const admin = callsOf(server.as(server.admin.key))
const [owner, editor, viewer, stranger] = await Promise.all(['owner', 'editor', 'viewer', 'stranger'].map(name => somebody(server, name)))
const [ann, bob, cid, eve] = [owner, editor, viewer, stranger] as [Somebody, Somebody, Somebody, Somebody]
const lab = await newSpace(ann)
const dataset = await newDataset(ann, { space: [lab] })
await letIn(ann, lab, 'Editor', bob)
await letIn(ann, lab, 'Viewer', cid)
await server.drained()
test.after.always(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

const analysis = `/api/spectra/${dataset}/analysis`

test.serial('stored roles get the permissions of a plugin as declared', async t => {
  t.deepEqual(await given(server), ['Editor', 'Admin'])
  t.deepEqual(await given(server, 'ViewSpectrum'), ['Viewer', 'Editor', 'Admin'])
})

test.serial('a route requires the permission of its plugin', async t => {
  const status = async (who: { post: Somebody['post'] }) => (await who.post(analysis)).status
  t.deepEqual([await status(ann), await status(bob), await status(cid), await status(eve)], [200, 200, 403, 404])
  t.is(await status(callsOf(server.as())), 401)
  t.regex(JSON.stringify((await cid.post(analysis)).body), /AnalyzeSpectrum required/)
  const seen = await Promise.all([bob, cid, eve].map(async who => (await who.get(`/api/spectra/${dataset}`)).status))
  t.deepEqual(seen, [200, 200, 404])
})

test.serial('permissions of plugins are listed, checked and explained like all others', async t => {
  const { body } = await cid.get('/api/permissions')
  t.deepEqual(
    (body as { name: string }[]).filter(({ name }) => name.endsWith('Spectrum')),
    [
      { name: 'AnalyzeSpectrum', description: 'Run analyses of spectra', verb: 'write' },
      { name: 'ViewSpectrum', description: 'Look at spectra', verb: 'read' },
    ] as never,
  )
  const requested = { resources: [{ type: 'dataset', id: dataset }], permissions: ['AnalyzeSpectrum', 'ViewSpectrum'] }
  const held = await Promise.all([bob, cid].map(async who => (await who.post('/api/permissions/check', requested)).body))
  t.deepEqual(
    held.map(body => (body as { permissions: string[] }[])[0]?.permissions),
    [['AnalyzeSpectrum', 'ViewSpectrum'], ['ViewSpectrum']],
  )
  const why = await cid.get(`/api/permissions/explain?permission=AnalyzeSpectrum&type=dataset&id=${dataset}`)
  t.like(why.body, { verdict: 'no', verb: 'write' })
  t.regex(JSON.stringify(why.body), /role Viewer in space \w+ \([^)]+\) does not grant AnalyzeSpectrum/)
})

test.serial('a role may contain permissions of plugins, and a read-only key lacks those with the verb write', async t => {
  const role = await idOf(admin.post('/api/roles', { name: 'Analyst', permissions: ['ViewSpace', 'ViewDataset', 'AnalyzeSpectrum'] }))
  const dan = await somebody(server, 'dan')
  await letIn(ann, lab, 'Analyst', dan)
  t.is((await dan.post(analysis)).status, 200)
  t.is((await admin.put(`/api/roles/${role}`, { permissions: ['ViewSpace', 'ViewDataset'] })).status, 200)
  t.is((await dan.post(analysis)).status, 403)
  t.regex(JSON.stringify((await admin.put(`/api/roles/${role}`, { permissions: ['AnalyseSpectrum'] })).body), /AnalyzeSpectrum/)
  const { body } = await ann.post('/api/users/keys?name=reads&verbs=read')
  const reader = callsOf(server.as((body as { key: string }).key))
  t.is((await reader.get(`/api/spectra/${dataset}`)).status, 200)
  t.is((await reader.post(analysis)).status, 403)
})

test.serial('read permissions of plugins apply to public resources for all callers', async t => {
  const open = await bootForTest({ t, plugins: [...plugins, spectra] })
  const id = await newDataset(await somebody(open))
  const anybody = callsOf(open.as())
  t.is((await anybody.get(`/api/spectra/${id}`)).status, 200)
  t.is((await anybody.post(`/api/spectra/${id}/analysis`)).status, 401)
})

test.serial('permissions that an admin revoked are not granted again; others return with their plugin', async t => {
  const editors = (await permissionsOf(server, 'Editor')).filter(name => name !== 'AnalyzeSpectrum')
  t.is((await admin.put(`/api/roles/${roleIds.Editor}`, { permissions: editors })).status, 200)
  await server.restart()
  t.deepEqual(await given(server), ['Admin'])

  await server.stop()
  const without = await boot(folder)
  t.deepEqual(await given(without), [])
  const admins = await permissionsOf(without, 'Admin')
  const { status } = await callsOf(without.as(without.admin.key)).put(`/api/roles/${roleIds.Admin}`, { permissions: admins.slice(0, -1) })
  t.is(status, 200)
  await without.stop()
  const again = await boot(folder, spectra)
  t.deepEqual(await given(again), ['Admin'])
  t.deepEqual(await given(again, 'ViewSpectrum'), ['Viewer', 'Editor', 'Admin'])
  await again.stop()
})

test.serial('an undeclared permission aborts the start and suggests the closest one', async t => {
  const { permissions: _none, ...rest } = spectra
  await t.throwsAsync(bootForTest({ t, plugins: [...plugins, rest] }), {
    message: /getSpectrum of example\.spectra declares the unknown permission ViewSpectrum/,
  })
  const misspelt = {
    ...getSpectrum,
    declaration: { ...getSpectrum.declaration, permission: { right: 'ViewSpectra', on: ref('dataset', 'id') } },
  }
  await t.throwsAsync(bootForTest({ t, plugins: [...plugins, { ...spectra, routes: { misspelt } }] }), {
    message: /unknown permission ViewSpectra \(did you mean ViewSpectrum\?\)/,
  })
})

test('a misspelt permission does not compile', t => {
  route({
    method: 'GET',
    path: '/api/spectra/:id',
    summary: 'Get a spectrum',
    // @ts-expect-error: the permission is called AnalyzeSpectrum
    permission: { right: 'AnalyseSpectrum', on: ref('dataset', 'id') },
    ...about,
    handle: done,
  })
  const added = { description: 'x', verb: 'write', roles: [] } as const
  // @ts-expect-error: no such permission is declared for the compiler
  definePlugin({ id: 'example.one', summary: 'x', permissions: { AnalyseSpectrum: added } })
  // The compiler does the checking: `tsc` fails if an expected error is absent.
  t.throws(() =>
    // @ts-expect-error: there is no such verb
    definePlugin({ id: 'example.one', summary: 'x', permissions: { AnalyzeSpectrum: { ...added, verb: 'change' } } }),
  )
})
