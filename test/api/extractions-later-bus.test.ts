import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { extractorInfo } from '../support/extractor-info.ts'
import { FakeBus } from '../support/fake-bus.ts'
import { newDataset, ok, upload } from '../support/scene.ts'

const move = (server: TestServer) => server.runPeriodic('resources.extractions/move-to-bus')

test('jobs submitted while no bus is loaded are moved once to a bus that is loaded later', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-later-bus-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const before = await bootForTest({ t, folder })
  const call = before.as(before.admin.key)
  await ok(call('/api/extractors', { method: 'POST', json: extractorInfo('l.outside') }))
  const file = await upload(call, await newDataset(call), 'words', 'w.txt')
  const ask = async (extractor: string) =>
    (await ok<{ job_id: string }>(call(`/api/files/${file}/extractions`, { method: 'POST', json: { extractor } }))).job_id
  const [first, cancelled, second] = [await ask('l.outside'), await ask('l.outside'), await ask('l.outside')]
  await ok(call(`/api/files/${file}/extractions/${cancelled}`, { method: 'DELETE', json: { extractor: 'l.outside' } }))
  await move(before)
  t.is((await ok<unknown[]>(call(`/api/files/${file}/extractions/pending`))).length, 2)
  await before.stop()

  const bus = new FakeBus()
  const after = await bootForTest({ t, folder, also: [bus.plugin] })
  await move(after)
  t.deepEqual(
    bus.jobs.map(({ id }) => id),
    [first, second],
  )
  t.like(bus.jobs[0], { queue: 'l.outside', target: { kind: 'file', id: file }, user: before.admin.id, message: { jobid: first } })
  await after.restart()
  bus.jobs.length = 0
  await move(after)
  t.deepEqual(bus.jobs, [], 'the bus has them: they are not published again')
})

test('jobs of a built-in extractor stay where they run', async t => {
  const bus = new FakeBus()
  const server = await bootForTest({ t, also: [bus.plugin] })
  const call = server.as(server.admin.key)
  await upload(call, await newDataset(call), 'a,b\n1,2\n', 'a.csv', { type: 'text/csv', query: '' })
  await move(server)
  await server.drained()
  t.deepEqual(bus.jobs, [])
})
