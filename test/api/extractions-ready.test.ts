import test from 'ava'
import { Files, Unavailable } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { callsOf } from '../support/calls.ts'
import { extracted } from '../support/extracted.ts'
import { extractorInfo } from '../support/extractor-info.ts'
import { FakeBus } from '../support/fake-bus.ts'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, ok, refusal, upload, uploadData } from '../support/scene.ts'
import { until } from '../support/until.ts'

let server: TestServer
let ann: Person
const bus = new FakeBus()

test.before(async () => {
  server = await bootForTest({ also: [bus.plugin] })
  ann = await newPerson(server, 'ann')
  await bus.introduce(extractorInfo('r.away', { process: { file: ['image/x-away'] } }))
  const { enabled } = await ok<{ enabled: string[] }>(server.as(server.admin.key)('/api/extractors/enabled'))
  const json = { enabled: [...enabled, 'r.away'] }
  await ok(server.as(server.admin.key)('/api/extractors/enabled', { method: 'POST', json }))
})
test.after.always(() => server?.stop())

const statusOf = async (file: string): Promise<string> => (await ok<{ status: string }>(ann.call(`/api/files/${file}/metadata`))).status
const becomesProcessed = (file: string): Promise<string> =>
  until(
    `${file} to be PROCESSED`,
    () => statusOf(file),
    status => status === 'PROCESSED',
  )
const submit = (file: string, extractor: string) => ann.call(`/api/files/${file}/extractions`, { method: 'POST', json: { extractor } })
const inStore = async (file: string) => server.get(Files).get(file)

test.serial('a run can be requested right after an upload, and cancelled', async t => {
  const dataset = await newDataset(ann.call)
  const files = await Promise.all(
    Array.from({ length: 5 }, () => upload(ann.call, dataset, 'leaf', 'leaf.bin', { type: 'image/x-away', query: '' })),
  )
  for (const file of files) {
    const { job_id } = await ok<{ job_id: string }>(submit(file, 'r.away'))
    const json = { extractor: 'r.away' }
    t.deepEqual(await ok(ann.call(`/api/files/${file}/extractions/${job_id}`, { method: 'DELETE', json })), { status: 'OK' })
  }
  const { call } = ann
  const ids = files.join(',')
  const selected = await ok<{ jobs: object }>(
    call(`/api/selected/submit/${dataset}/${ids}`, { method: 'POST', json: { extractor: 'r.away' } }),
  )
  t.is(Object.keys(selected.jobs).length, 5)
})

test.serial('a file is PROCESSED while its extractors run, and Status is Processing', async t => {
  const file = await upload(ann.call, await newDataset(ann.call), 'leaf', 'leaf.bin', { type: 'image/x-away', query: '' })
  await becomesProcessed(file)
  t.like(await ok(ann.call(`/api/extractions/${file}/status`)), { 'r.away': 'SUBMITTED', Status: 'Processing' })
  t.like(await ok(ann.call(`/api/extractions/${file}/metadata`)), { Status: 'Processing' })
  t.deepEqual(await ok(ann.call(`/api/files/${file}/isBeingProcessed`)), { isBeingProcessed: 'true' })
})

test.serial('Status is Processing from the upload until all extractors are DONE', async t => {
  const dataset = await newDataset(ann.call)
  const file = await uploadData(ann.call, dataset, 'notes.md', 'text/markdown')
  t.like(await extracted(ann.call, file), { 'pounce.text': 'DONE', 'pounce.digest': 'DONE', Status: 'Done' })
  t.is(await statusOf(file), 'PROCESSED')
  t.deepEqual(await ok(ann.call(`/api/datasets/${dataset}/isBeingProcessed`)), { isBeingProcessed: 'false' })
})

test.serial('a file becomes PROCESSED while the bus is unavailable, and its job is sent later', async t => {
  bus.fault = new Unavailable('away')
  const failures = bus.failures
  const file = await upload(ann.call, await newDataset(ann.call), 'leaf', 'leaf.bin', { type: 'image/x-away', query: '' })
  await until('the first attempt to fail', () => bus.failures > failures)
  await becomesProcessed(file)
  bus.fault = undefined
  await server.drained(30_000)
  t.true(bus.to('r.away').some(({ target }) => target.id === file))
})

test.serial('a file removed from its dataset before its jobs are sent becomes PROCESSED too', async t => {
  const dataset = await newDataset(ann.call)
  const file = await upload(ann.call, dataset, 'leaf', 'leaf.bin', { type: 'image/x-away', query: '' })
  await callsOf(ann.call).remove(`/api/datasets/${dataset}/${file}`)
  await server.drained(30_000)
  t.is((await inStore(file))?.status ?? 'PROCESSED', 'PROCESSED')
})

test.serial('extraction of an archived file is refused with 409 until it is unarchived', async t => {
  const file = await upload(ann.call, await newDataset(ann.call), 'leaf')
  await ok(ann.call(`/api/files/${file}/archive`, { method: 'POST', json: {} }))
  const { status, message } = await refusal(submit(file, 'r.away'))
  t.deepEqual([status, message], [409, 'File is not ready. Please wait and try again.'])
  await ok(ann.call(`/api/files/${file}/unarchive`, { method: 'POST', json: {} }))
  t.is((await submit(file, 'r.away')).status, 200)
})

test.serial('jobs of a built-in extractor that is switched off wait for it and are not sent to a bus', async t => {
  const set = (enabled: boolean) => ok(ann.asAdmin('/api/admin/plugins/extractors.csv', { method: 'PUT', json: { enabled } }))
  await set(false)
  const file = await upload(ann.call, await newDataset(ann.call), 'a,b\n1,2\n', 'a.csv', { type: 'text/csv', query: '' })
  await server.drained()
  t.like(await ok(ann.call(`/api/extractions/${file}/status`)), { 'pounce.csv': 'SUBMITTED', Status: 'Processing' })
  t.deepEqual(bus.to('pounce.csv'), [])
  await set(true)
  t.is((await extracted(ann.call, file))['pounce.csv'], 'DONE')
})

test.serial('a built-in extractor submitted for a dataset reports that it processes files only', async t => {
  const dataset = await newDataset(ann.call)
  await ok(ann.call(`/api/datasets/${dataset}/extractions`, { method: 'POST', json: { extractor: 'pounce.digest' } }))
  await until('the run to end', async () => (await (await ann.call(`/api/datasets/${dataset}/extractions`)).text()).includes('DONE'))
  t.regex(await (await ann.call(`/api/datasets/${dataset}/extractions`)).text(), /StatusMessage.skip: This extractor processes files only/)
})
