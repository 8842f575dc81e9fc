import test from 'ava'
import { extractor, JobScene } from '../support/job-scene.ts'
import { letIn, somebody } from '../support/spaces-and-people.ts'

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
  t.is(await scene.bus.input(job), undefined)
  await scene.bus.result({
    job,
    info: { name: extractor, version: '1.0', contexts: [] } as never,
    output: { tags: ['late'] },
    outputFolder: '',
  })
  t.deepEqual((await ann.get(`/api/files/${file}/tags`)).body, before)
  const rerun = () => ann.asAdmin(`/api/extractions/jobs/${job.id}/rerun`, { method: 'POST' })
  t.is(((await (await rerun()).json()) as { code: string }).code, 'in-trash')
  await ann.put(`/api/datasets/restore/${dataset}`)
  t.truthy(await scene.bus.input(job))
  t.is(((await (await rerun()).json()) as { code: string }).code, 'conflict')
})
