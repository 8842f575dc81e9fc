import test from 'ava'
import { extractor, JobScene } from '../support/job-scene.ts'
import { ok } from '../support/scene.ts'

let scene: JobScene
let ann: Awaited<ReturnType<JobScene['person']>>

test.before(async () => {
  scene = await JobScene.open({ resources: { extractions: { archiveExtractorId: extractor } } })
  ann = await scene.person()
})
test.after.always(() => scene?.server.stop())

const statusOf = async (file: string): Promise<unknown> =>
  (await ok<{ status: string }>(ann.person.call(`/api/files/${file}/metadata`))).status

test.serial('an archive extractor marks its file as archived and restored with its job key', async t => {
  for (const [verb, request, status] of [
    ['archive', 'sendArchiveRequest', 'ARCHIVED'],
    ['unarchive', 'sendUnarchiveRequest', 'PROCESSED'],
  ] as const) {
    await ok(ann.person.call(`/api/files/${ann.file}/${request}`, { method: 'POST', json: { parameters: {} } }))
    const job = scene.bus.to(extractor).at(-1)
    const key = await scene.keyOf(job!)
    // The request that `ncsa.archival.disk` sends.
    await ok(scene.server.as()(`/api/files/${ann.file}/${verb}?key=${key}`, { method: 'POST', json: {} }))
    t.is(await statusOf(ann.file), status)
    t.is((await scene.by(key).post(`/api/files/${ann.sibling}/${verb}`, {})).status, 403)
    t.is((await scene.by(key).post(`/api/files/${ann.stranger}/${verb}`, {})).status, 404)
    t.is((await scene.by(key).post(`/api/files/${ann.file}/${request}`, {})).status, 403)
  }
})

test.serial('the key of any other job is refused with 403', async t => {
  const by = scene.by(await scene.keyOf(await scene.submit(ann.person, 'files', ann.file)))
  for (const verb of ['archive', 'unarchive']) t.is((await by.post(`/api/files/${ann.file}/${verb}`, {})).status, 403)
  t.is(await statusOf(ann.file), 'PROCESSED')
})
