import test from 'ava'
import { Unavailable } from 'pounce/sdk'
import { bootForTest, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { extractorInfo } from '../support/extractor-info.ts'
import { FakeBus } from '../support/fake-bus.ts'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, ok, refusal, unknownId, upload } from '../support/scene.ts'

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
  for (const name of ['m.any', 'm.other']) await bus.introduce(extractorInfo(name))
})
test.after.always(() => server?.stop())

interface Run {
  readonly id: string
  readonly job_id: string
  readonly extractor_id: string
  readonly status: string
  readonly messages: readonly { readonly status: string }[]
}
const ask = (kind: 'files' | 'datasets', id: string, json: unknown, call = ann.call) =>
  call(`/api/${kind}/${id}/extractions`, { method: 'POST', json })
const requested = async (kind: 'files' | 'datasets', id: string, json: unknown = { extractor: 'm.any' }) => {
  const { job_id } = await ok<{ job_id: string }>(ask(kind, id, json))
  return bus.jobs.find(job => job.id === job_id)!
}
const runsOf = (id: string, kind = 'files') => ok<Run[]>(ann.call(`/api/${kind}/${id}/extractions`))
const statusOf = (id: string) => ok<Record<string, string>>(ann.call(`/api/extractions/${id}/status`))
const newFile = async () => upload(ann.call, await newDataset(ann.call), 'words', 'w.txt')

test('a job for a file has its parameters as an object', async t => {
  const dataset = await newDataset(ann.call)
  const file = await upload(ann.call, dataset, 'words', 'w.txt')
  const parameters = { depth: 3, deep: { list: [1, null] } }
  const job = await requested('files', file, { extractor: 'm.any', parameters })
  t.deepEqual([job.queue, job.target, job.user, job.parameters], ['m.any', { kind: 'file', id: file }, ann.id, parameters])
  const { host, ...message } = job.message
  t.regex(String(host), /^http:\/\/[^/]+$/)
  t.deepEqual(message, {
    ...{ msgid: job.id, jobid: job.id, id: file, intermediateId: file, datasetId: dataset, fileSize: '5', flags: '' },
    ...{ notifies: [ann.email], routing_key: 'extractors.m.any', activity: 'submitted', filename: 'w.txt', parameters },
    action: 'manual-submission',
    source: { id: { resourceType: "'file", id: file }, mimeType: 'text/plain', extra: { filename: 'w.txt' } },
    target: '{}',
  })
})

test('parameters that are null are none', async t => {
  const job = await requested('files', await newFile(), { extractor: 'm.any', parameters: null })
  t.deepEqual(job.message['parameters'], {})
})

test('a job for a dataset has its parameters as a string', async t => {
  const dataset = await newDataset(ann.call, { name: 'Leaves' })
  const { message, target } = await requested('datasets', dataset, { extractor: 'm.any', parameters: { depth: 3 } })
  t.deepEqual(target, { kind: 'dataset', id: dataset })
  t.like(message, { id: dataset, intermediateId: dataset, datasetId: dataset, fileSize: '0', datasetname: 'Leaves', activity: 'submitted' })
  t.like(message, { parameters: '{"depth":3}', target: '{}', routing_key: 'extractors.m.any', action: 'manual-submission' })
  t.deepEqual(message['source'], { id: { resourceType: "'dataset", id: dataset }, extra: {} })
  t.like(await refusal(ask('datasets', dataset, {})), { status: 400 })
  t.like(await refusal(ask('datasets', dataset, { extractor: 'm.any' }, bob.call)), { status: 403 })
  t.like(await refusal(ask('datasets', unknownId, { extractor: 'm.any' })), { status: 404 })
})

test('an extraction of a file that is not ready gets 409 with the message of v1', async t => {
  await bus.introduce(extractorInfo('m.any'))
  const file = await newFile()
  await ok(admin(`/api/files/${file}/archive?superAdmin=true`, { method: 'POST' }))
  const answer = await ask('files', file, { extractor: 'm.any' })
  t.is(answer.status, 409)
  t.like(await answer.json(), { status: 'error', msg: 'File is not ready. Please wait and try again.' })
})

test('one request submits several files of a dataset, skipping those that are not ready or not in it', async t => {
  const dataset = await newDataset(ann.call)
  const files = await Promise.all(['a.txt', 'b.txt', 'c.txt'].map(name => upload(ann.call, dataset, 'x', name)))
  await ok(admin(`/api/files/${files[2]}/archive?superAdmin=true`, { method: 'POST' }))
  const path = `/api/selected/submit/${dataset}/${[...files, await newFile(), unknownId, 'nonsense'].join(',')}`
  const json = { extractor: 'm.other', parameters: { a: 1 } }
  const { status, jobs } = await ok<{ status: string; jobs: Record<string, string> }>(ann.call(path, { method: 'POST', json }))
  t.is(status, 'success')
  t.deepEqual(Object.keys(jobs).sort(), files.slice(0, 2).sort())
  for (const [file, id] of Object.entries(jobs))
    t.like(
      bus.jobs.find(job => job.id === id),
      { target: { kind: 'file', id: file }, parameters: { a: 1 } },
    )
  t.like(await refusal(ann.call(path, { method: 'POST', json: {} })), { status: 400 })
  t.like(await refusal(bob.call(path, { method: 'POST', json })), { status: 403 })
  t.like(await refusal(ann.call(path.replace(dataset, unknownId), { method: 'POST', json })), { status: 404 })
})

test('a private extractor is available to its owner only, under the name of its queue', async t => {
  await bus.introduce(extractorInfo('m.secret', { unique_key: 'k1', process: { file: ['*/*'] } }), ann.email)
  const file = await newFile()
  const job = await requested('files', file, { extractor: 'private.k1.m.secret' })
  const shown = await Promise.all(
    ['', '/pending'].map(more => ann.call(`/api/files/${file}/extractions${more}`).then(answer => answer.text())),
  )
  t.false(shown.join().includes('k1'), 'the key is hidden from viewers of the file')
  t.true(shown.every(text => text.includes('m.secret')))
  t.like(job, { queue: 'private.k1.m.secret', message: { routing_key: 'extractors.private.k1.m.secret' } })
  await bus.sendStatus(job, 'StatusMessage.done: Done processing.', { extractor: 'm.secret' })
  t.deepEqual(await statusOf(file), { 'm.secret': 'DONE', Status: 'Done' })
  const dataset = await newDataset(bob.call)
  const other = await upload(bob.call, dataset, 'x')
  for (const extractor of ['private.k1.m.secret', 'm.secret', 'private.k2.m.secret']) {
    t.like(await refusal(ask('files', other, { extractor }, bob.call)), { status: 400 })
  }
  await upload(ann.call, await newDataset(ann.call), 'x', 'x.txt', { query: '' })
  await server.drained()
  t.is(bus.to('private.k1.m.secret').length, 1)
})

test('a run goes from SUBMITTED through the statuses of the extractor to DONE', async t => {
  const file = await newFile()
  const job = await requested('files', file)
  t.deepEqual(await statusOf(file), { 'm.any': 'SUBMITTED', Status: 'Processing' })
  await bus.sendStatus(job, 'StatusMessage.start: Started processing.')
  t.like(await statusOf(file), { 'm.any': 'StatusMessage.start: Started processing.' })
  await bus.sendStatus(job, 'StatusMessage.retry: (#1) 503 url: http://x?key=0123', { targetId: unknownId })
  t.deepEqual(await statusOf(file), { 'm.any': 'StatusMessage.retry: (#1) 503 url: http://x?key=secretKey', Status: 'Processing' })
  await bus.sendStatus(job, 'StatusMessage.done: Done processing.')
  await bus.sendStatus(job, 'StatusMessage.processing: late')
  const [run] = await runsOf(file)
  t.like(run, { id: job.id, job_id: job.id, extractor_id: 'm.any', status: 'DONE', user_id: ann.id })
  t.deepEqual(
    run?.messages.map(({ status }) => status.split(':')[0]),
    ['SUBMITTED', 'StatusMessage.start', 'StatusMessage.retry', 'DONE'],
  )
  t.deepEqual(await ok(ann.call(`/api/files/${file}/isBeingProcessed`)), { isBeingProcessed: 'false' })
})

test('concurrent, duplicate and reordered status messages yield each line once and one final status', async t => {
  const file = await newFile()
  const job = await requested('files', file)
  const second = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, n))
  const numbers = Array.from({ length: 20 }, (_, n) => n)
  const statuses = [...numbers, ...numbers.toReversed()].map(n => bus.sendStatus(job, `StatusMessage.processing: ${n}`, { at: second(n) }))
  await Promise.all([...statuses, bus.sendStatus(job, 'StatusMessage.error: no luck', { at: second(30) })])
  const [run] = await runsOf(file)
  t.is(run?.status, 'StatusMessage.error: no luck')
  t.deepEqual(
    run?.messages.map(({ status }) => status.slice(-2).trim()),
    ['ED', ...numbers.map(String), 'ck'],
  )
})

test('a status without a job id from an old extractor is assigned to its newest open run on the resource', async t => {
  const file = await newFile()
  const [first, second] = [await requested('files', file), await requested('files', file)]
  await bus.sendOldStatus(second, 'StatusMessage.done: Done')
  await bus.sendOldStatus(first, 'StatusMessage.error: no luck')
  const states = new Map((await runsOf(file)).map(run => [run.id, run.status]))
  t.deepEqual([...states.values()].sort(), ['DONE', 'StatusMessage.error: no luck'])
  await bus.sendOldStatus(first, 'StatusMessage.start: of nothing')
  await bus.sendStatus({ ...first, id: unknownId }, 'StatusMessage.start: of nothing')
  t.deepEqual(new Map((await runsOf(file)).map(run => [run.id, run.status])), states)
})

test('a dataset is being processed while a file in it is', async t => {
  const dataset = await newDataset(ann.call)
  const file = await upload(ann.call, dataset, 'x')
  const busy = () => ok(ann.call(`/api/datasets/${dataset}/isBeingProcessed`))
  t.deepEqual(await busy(), { isBeingProcessed: 'false' })
  const job = await requested('files', file)
  t.deepEqual(await busy(), { isBeingProcessed: 'true' })
  await bus.sendStatus(job, 'StatusMessage.error: no luck')
  t.deepEqual(await busy(), { isBeingProcessed: 'false' })
})

test('the status of a file without runs shows whether an extractor exists', async t => {
  const file = await upload(ann.call, await newDataset(ann.call), 'x', 'x.bin', { type: 'chemical/x-pdb' })
  t.deepEqual(await statusOf(file), { Status: 'No Extractor Available. Request is not queued.' })
  bus.inputs = ['chemical']
  const busy = 'Required Extractor is either busy or is not currently running. Try after some time.'
  t.deepEqual(await statusOf(file), { Status: busy })
  bus.inputs = []
  const none = await ann.call(`/api/extractions/${unknownId}/status`)
  t.deepEqual([none.status, none.headers.get('content-type'), await none.text()], [200, 'text/plain; charset=utf-8', 'no file'])
  t.is((await ann.call('/api/extractions/nonsense/status')).status, 404)
})

test('a cancelled run is reported as such; a run that has started cannot be cancelled', async t => {
  const file = await newFile()
  const cancel = (id: string, json: unknown = { extractor: 'm.any' }, call = ann.call) =>
    call(`/api/files/${file}/extractions/${id}`, { method: 'DELETE', json })
  const [waiting, begun] = [await requested('files', file), await requested('files', file)]
  const states = async () => new Map((await runsOf(file)).map(run => [run.id, run.messages.map(({ status }) => status)]))
  t.deepEqual(await ok(cancel(waiting.id)), { status: 'OK' })
  t.deepEqual((await states()).get(waiting.id), ['SUBMITTED', 'Cancel Requested', 'Cancel Success'])
  bus.outcome = 'running'
  t.deepEqual(await ok(cancel(begun.id)), { status: 'OK' })
  bus.outcome = 'cancelled'
  t.deepEqual((await states()).get(begun.id), ['SUBMITTED', 'Cancel Requested', 'Cancel Failed'])
  await bus.sendStatus(begun, 'StatusMessage.done: Done')
  t.is((await runsOf(file)).find(run => run.id === begun.id)?.status, 'DONE')
  const missing = await cancel(begun.id, {})
  t.is(missing.status, 400)
  t.like(await missing.json(), { request: 'extractor field not found' })
  t.like(await refusal(cancel(begun.id, { extractor: 'm.other' })), { status: 400 })
  t.like(await refusal(cancel(begun.id, { extractor: 'm.any' }, bob.call)), { status: 403 })
  t.like(await refusal(cancel(unknownId)), { status: 404 })
  const dataset = await newDataset(ann.call)
  const job = await requested('datasets', dataset)
  const path = `/api/datasets/${dataset}/extractions/${job.id}`
  t.deepEqual(await ok(ann.call(path, { method: 'DELETE', json: { extractor: 'm.any' } })), { status: 'OK' })
  t.is((await runsOf(dataset, 'datasets'))[0]?.status, 'Cancel Success')
  t.like(await refusal(ann.call(path.replace(dataset, file), { method: 'DELETE', json: { extractor: 'm.any' } })), { status: 404 })
})

test.serial('a cancelled run does not hide that an earlier run of the same extractor is still waiting', async t => {
  const file = await newFile()
  await requested('files', file)
  const later = await requested('files', file)
  await ok(ann.call(`/api/files/${file}/extractions/${later.id}`, { method: 'DELETE', json: { extractor: 'm.any' } }))
  t.like(await statusOf(file), { 'm.any': 'Cancel Success', Status: 'Processing' })
  t.deepEqual(await ok(ann.call(`/api/files/${file}/isBeingProcessed`)), { isBeingProcessed: 'true' })
})

test('of two runs of an extractor, the latest status message determines the status', async t => {
  const file = await newFile()
  const [earlier, later] = [await requested('files', file), await requested('files', file)]
  await bus.sendStatus(earlier, 'StatusMessage.start: Started')
  t.deepEqual(await statusOf(file), { 'm.any': 'StatusMessage.start: Started', Status: 'Processing' })
  await bus.sendStatus(later, 'StatusMessage.done: Done')
  t.deepEqual(await statusOf(file), { 'm.any': 'DONE', Status: 'Done' })
  await bus.sendStatus(earlier, 'StatusMessage.processing: Half of it')
  t.deepEqual(await statusOf(file), { 'm.any': 'StatusMessage.processing: Half of it', Status: 'Processing' })
  t.deepEqual(await ok(ann.call(`/api/files/${file}/isBeingProcessed`)), { isBeingProcessed: 'true' })
  await bus.sendStatus(earlier, 'StatusMessage.done: Done')
  t.deepEqual(await statusOf(file), { 'm.any': 'DONE', Status: 'Done' })
  const waiting = await requested('files', file)
  t.deepEqual(await statusOf(file), { 'm.any': 'SUBMITTED', Status: 'Processing' })
  await bus.sendStatus(waiting, 'StatusMessage.error: Broken')
  t.deepEqual(await statusOf(file), { 'm.any': 'StatusMessage.error: Broken', Status: 'Done' })
})

test('at most 100 runs are listed; unfinished jobs are listed separately', async t => {
  const file = await newFile()
  for (let n = 0; n < 101; n++) await requested('files', file)
  t.is((await runsOf(file)).length, 100)
  const pending = await ok<Run[]>(ann.call(`/api/files/${file}/extractions/pending`))
  t.is(pending.length, 101)
  t.like(pending[0], { job_id: bus.jobs.find(job => job.target.id === file)?.id, extractor_id: 'm.any', state: 'waiting', attempts: 0 })
  t.like(await refusal(ann.call(`/api/datasets/${unknownId}/extractions/pending`)), { status: 404 })
  t.like(await refusal(ann.call(`/api/files/${unknownId}/extractions/pending`)), { status: 404 })
})

test.serial('a run whose job cannot be published fails at once instead of waiting forever', async t => {
  const file = await newFile()
  bus.fault = new Unavailable('The store is unavailable')
  t.like(await refusal(ask('files', file, { extractor: 'm.any' })), { status: 503 })
  bus.fault = undefined
  t.deepEqual(await statusOf(file), { 'm.any': 'StatusMessage.error: The job could not be published.', Status: 'Done' })
})

test('processing and failed files and datasets are listed by the latest run of each extractor', async t => {
  const dataset = await newDataset(ann.call)
  const [working, failed, mended, done] = await Promise.all([1, 2, 3, 4].map(at => upload(ann.call, dataset, `words ${at}`, `${at}.txt`)))
  await server.drained()
  const end = async (kind: 'files' | 'datasets', id: string, status: string, extractor = 'm.any') => {
    await bus.sendStatus(await requested(kind, id, { extractor }), status, { extractor })
  }
  await end('files', failed!, 'StatusMessage.error: no words')
  await end('files', failed!, 'StatusMessage.done: counted', 'm.other')
  await end('files', mended!, 'StatusMessage.error: no words')
  await end('files', mended!, 'StatusMessage.done: counted')
  await end('files', done!, 'StatusMessage.done: counted')
  await end('datasets', dataset, 'StatusMessage.error: too few files')
  await requested('files', working!)
  const states = (ids: readonly (string | undefined)[], call = ann.call) =>
    ok<{ id: string; state: string; extractor: string; message: string }[]>(
      call('/api/extractions/states', { method: 'POST', json: { ids } }),
    )
  const statuses = await states([working, failed, mended, done, dataset, unknownId, failed])
  t.deepEqual(
    new Map(statuses.map(({ id, ...state }) => [id, state])),
    new Map([
      [working!, { state: 'processing', extractor: 'm.any', message: 'SUBMITTED' }],
      [failed!, { state: 'failed', extractor: 'm.any', message: 'StatusMessage.error: no words' }],
      [dataset, { state: 'failed', extractor: 'm.any', message: 'StatusMessage.error: too few files' }],
    ]),
  )
  t.deepEqual(await states([]), [])
  t.is((await refusal(ann.call('/api/extractions/states', { method: 'POST', json: { ids: ['no id'] } }))).status, 400)
  await ok(ann.call(`/api/datasets/${dataset}`, { method: 'DELETE' }))
  t.deepEqual(await states([failed, dataset], bob.call), [])
})
