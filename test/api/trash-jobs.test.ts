import test from 'ava'
import { InTrash } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { extracted } from '../support/extracted.ts'
import { extractor, JobScene } from '../support/job-scene.ts'
import { newPerson } from '../support/people.ts'
import { newDataset, ok, upload } from '../support/scene.ts'
import { letIn, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

const document = {
  content: { words: 2 },
  agent: { '@type': 'cat:extractor', extractor_id: `https://example.org/extractors/${extractor}/1.0` },
}
const inTrash = { status: 409, body: { code: 'in-trash' } }

test('a late extractor gets 409 in-trash for a trashed resource, and continues after a restore', async t => {
  const scene = await JobScene.open()
  t.teardown(() => scene.server.stop())
  const { person: ann, space, dataset, file } = await scene.person()
  const bob = await somebody(scene.server, 'bob')
  await letIn(ann, space, 'Editor', bob)
  const keys = {
    ann: scene.by(await scene.keyOf(await scene.submit(ann, 'files', file))),
    bob: scene.by(await scene.keyOf(await scene.submit(bob, 'files', file))),
    onDataset: scene.by(await scene.keyOf(await scene.submit(bob, 'datasets', dataset))),
  }
  await ann.remove(`/api/datasets/${dataset}`)
  for (const by of [keys.ann, keys.bob]) {
    t.like(await by.post(`/api/files/${file}/metadata.jsonld`, document), inTrash)
    t.like(await by.post(`/api/files/${file}/tags`, { tags: ['late'], extractor_id: extractor }), inTrash)
    t.like(await by.post(`/api/sections`, { file_id: file, area: { x: 0, y: 0, w: 1, h: 1 } }), inTrash)
  }
  t.like(await keys.onDataset.post(`/api/datasets/${dataset}/metadata.jsonld`, document), inTrash)
  t.is((await keys.ann.get(`/api/files/${file}/metadata`)).status, 200)
  t.is((await keys.bob.get(`/api/files/${file}/metadata`)).status, 404)
  await ann.put(`/api/datasets/restore/${dataset}`)
  for (const by of [keys.ann, keys.bob]) t.is((await by.post(`/api/files/${file}/metadata.jsonld`, document)).status, 200)
})

test('a built-in extractor adds nothing to a trashed file, and a failed job can be rerun only after a restore', async t => {
  const scene = await JobScene.open()
  t.teardown(() => scene.server.stop())
  const { person: ann, dataset, file } = await scene.person()
  const job = await scene.submit(ann, 'files', file)
  const before = (await ann.get(`/api/files/${file}/tags`)).body
  await ann.remove(`/api/datasets/${dataset}`)
  await t.throwsAsync(scene.bus.input(job), { instanceOf: InTrash })
  const info = { name: extractor, version: '1.0', contexts: [] } as never
  await t.throwsAsync(scene.bus.result({ job, info, output: { tags: ['late'] }, outputFolder: '' }), { instanceOf: InTrash })
  t.deepEqual((await ann.get(`/api/files/${file}/tags`)).body, before)
  const rerun = () => ann.asAdmin(`/api/extractions/jobs/${job.id}/rerun`, { method: 'POST' })
  t.is(((await (await rerun()).json()) as { code: string }).code, 'in-trash')
  await ann.put(`/api/datasets/restore/${dataset}`)
  t.truthy(await scene.bus.input(job))
  t.is(((await (await rerun()).json()) as { code: string }).code, 'conflict')
})

test('a run of a built-in extractor on a trashed file waits until the file is restored', async t => {
  const server = await bootForTest({ t, config: { transport: { queue: { retryDelayMs: 50, pollMs: 50 } } } })
  const { call, asAdmin } = await newPerson(server)
  const set = (enabled: boolean) => ok(asAdmin('/api/admin/plugins/extractors.csv', { method: 'PUT', json: { enabled } }))
  await set(false)
  const dataset = await newDataset(call)
  const file = await upload(call, dataset, 'a,b\n1,2\n', 'a.csv', { type: 'text/csv', query: '' })
  await server.drained()
  await ok(call(`/api/datasets/${dataset}`, { method: 'DELETE' }))
  await set(true)
  const status = async () => (await ok<Record<string, string>>(call(`/api/extractions/${file}/status`)))['pounce.csv'] ?? ''
  await until('the run to wait', async () => /^StatusMessage\.retry: .* in the trash/.test(await status()))
  await ok(call(`/api/datasets/restore/${dataset}`, { method: 'PUT' }))
  t.is((await extracted(call, file))['pounce.csv'], 'DONE')
  t.like(await ok(call(`/api/files/${file}/metadata.jsonld?extractor=pounce.csv`)), { length: 1 })
})
