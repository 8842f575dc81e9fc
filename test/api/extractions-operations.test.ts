import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { Unavailable } from 'pounce/sdk'
import { bootForTest, FixedClock, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { extractorInfo } from '../support/extractor-info.ts'
import { FakeBus } from '../support/fake-bus.ts'
import { listen, of } from '../support/live-events.ts'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, newFolder, ok, refusal, unknownId, upload } from '../support/scene.ts'
import { until } from '../support/until.ts'

let server: TestServer
let admin: TestFetch
let ann: Person
let bob: Person
let outside: Server
const bus = new FakeBus()
const clock = new FixedClock('2026-03-01T12:00:00.000Z')

test.before(async () => {
  outside = createServer((request, response) => {
    if (request.url?.startsWith('/leaf')) response.setHeader('content-type', 'text/csv; charset=utf-8').end('a,b\n1,2\n')
    else response.writeHead(404).end()
  })
  await new Promise<void>(listening => outside.listen(0, '127.0.0.1', listening))
  const config = { resources: { extractions: { archiveExtractorId: 'o.archive' } }, outbound: { allow: ['127.0.0.1'] } }
  server = await bootForTest({ also: [bus.plugin], clock, config })
  admin = server.as(server.admin.key)
  ann = await newPerson(server, 'ann')
  bob = await newPerson(server, 'bob')
  for (const name of ['o.any', 'o.metered']) await bus.introduce(extractorInfo(name))
})
test.after.always(async () => {
  outside?.close()
  await server?.stop()
})

const ask = async (file: string, extractor = 'o.any') => {
  const answer = ann.call(`/api/files/${file}/extractions`, { method: 'POST', json: { extractor } })
  const { job_id } = await ok<{ job_id: string }>(answer)
  return bus.jobs.find(job => job.id === job_id)!
}
const newFile = async () => upload(ann.call, await newDataset(ann.call), 'words', 'w.txt')
const info = (file: string) => ok<Record<string, unknown>>(ann.call(`/api/files/${file}/metadata`))

test.serial('run times and usage of an extractor are measured', async t => {
  const file = await newFile()
  const sendStatus = async (seconds: number) => {
    const job = await ask(file, 'o.metered')
    clock.advance(seconds * 1000)
    await bus.sendStatus(job, 'StatusMessage.done: Done', { at: clock.now() })
  }
  const metrics = (call: TestFetch) => ok<Record<string, unknown>>(call('/api/extractors/o.metered/metrics'))
  t.like(await metrics(ann.call), { extractor: 'o.metered', last_day: { seconds: null, runs: 0 }, jobs_last_month: 0 })
  await sendStatus(100)
  clock.advance(8 * 24 * 3600 * 1000)
  for (const seconds of [2, 4]) await sendStatus(seconds)
  await ask(file, 'o.metered')
  const measured = { last_day: { seconds: 3, runs: 2 }, last_month: { seconds: 35.333, runs: 3 }, jobs_last_7_days: 3, jobs_last_month: 4 }
  const shown = await metrics(ann.call)
  t.deepEqual(shown, { extractor: 'o.metered', ...measured })
  const [user] = (await metrics(admin))['by_user'] as { user_id: string; jobs: number }[]
  t.like(user, { user_id: ann.id, jobs: 4 })
  t.like(await refusal(ann.call('/api/extractors/no.such/metrics')), { status: 404 })
  t.is((await server.as()('/api/extractors/o.metered/metrics')).status, 401)
})

test.serial('admins see recent requests, pending and failed jobs, and the queues', async t => {
  const file = await newFile()
  const [open, failed] = [await ask(file), await ask(file)]
  await bus.sendStatus(failed, 'StatusMessage.error: no luck')
  const idsAt = async (path: string) => (await ok<{ id: string }[]>(admin(path))).map(({ id }) => id)
  t.deepEqual((await idsAt('/api/extractions')).slice(0, 2).sort(), [open.id, failed.id].sort())
  const pending = await idsAt('/api/extractions/pending')
  t.true(pending.includes(open.id) && !pending.includes(failed.id))
  t.deepEqual(await idsAt('/api/extractions/failed'), [failed.id])
  const [newest] = await ok<Record<string, unknown>[]>(admin('/api/extractions/failed'))
  t.like(newest, { file_id: file, resource_type: 'file', extractor_id: 'o.any', status: 'StatusMessage.error: no luck' })
  const queues = await ok<{ queue: string; consumers: number }[]>(admin('/api/extractions/queues'))
  t.like(
    queues.find(({ queue }) => queue === 'o.any'),
    { consumers: 1, dead: 0 },
  )
  t.true(queues.some(({ queue }) => queue === 'pounce.image'))
  const requests = await ok<{ fileid: string }[]>(admin('/api/extractions/requests?superAdmin=true'))
  t.like(
    requests.find(({ fileid }) => fileid === file),
    { filename: 'w.txt', fileType: 'text/plain', filesize: 5, extractors: ['o.any'], endTime: null },
  )
  for (const path of ['', '/pending', '/failed', '/queues', '/requests']) {
    t.is((await ann.call(`/api/extractions${path}`)).status, 403, path)
    t.is((await server.as()(`/api/extractions${path}`)).status, 401, path)
  }
})

test.serial('a dead-lettered job runs again when an admin requests it', async t => {
  const file = await newFile()
  const job = await ask(file)
  const rerun = (id: string, call = admin) => call(`/api/extractions/jobs/${id}/rerun`, { method: 'POST' })
  const status = async () => (await ok<Record<string, string>>(ann.call(`/api/extractions/${file}/status`)))['o.any']
  t.like(await refusal(rerun(job.id)), { status: 409 })
  await bus.sendStatus(job, 'StatusMessage.error: no luck')
  t.like(await refusal(rerun(job.id)), { status: 409 })
  bus.dead.add(job.id)
  t.like(await refusal(rerun(job.id, ann.call)), { status: 403 })
  await server.drained()
  const events = await listen(server.url, ann.key, `?id=${file}&kind=extraction`)
  t.deepEqual(await ok(rerun(job.id)), { status: 'OK', job_id: job.id })
  t.is(await status(), 'SUBMITTED')
  const again = await events.first('the rerun', of('extraction.submitted', job.id))
  t.like(again.data, { target: { kind: 'file', id: file }, extractor: 'o.any', trigger: 'manual' })
  events.close()
  await bus.sendStatus(job, 'StatusMessage.done: Done')
  t.is(await status(), 'DONE')
  t.like(await refusal(rerun(unknownId)), { status: 404 })
})

test.serial('a dead-lettered job of a built-in extractor runs again as well', async t => {
  const file = await upload(ann.call, await newDataset(ann.call), 'this is no picture', 'broken.png', { type: 'image/png', query: '' })
  const failed = (): Promise<{ file_id: string; job_id: string; messages: unknown[] }[]> => ok(admin('/api/extractions/failed'))
  const ofImage = async () => (await failed()).find(run => run.file_id === file)
  const first = await until('the run to fail', ofImage)
  await server.drained()
  await ok(admin(`/api/extractions/jobs/${first?.job_id}/rerun`, { method: 'POST' }))
  const again = await until('the run to fail again', ofImage, run => (run?.messages.length ?? 0) > (first?.messages.length ?? 0))
  t.is(again?.job_id, first?.job_id)
})

test.serial('cancelling a failed extraction deletes its dead-lettered job', async t => {
  const file = await upload(ann.call, await newDataset(ann.call), 'this is no picture', 'broken.png', { type: 'image/png', query: '' })
  type Pending = { job_id: string; state: string }[]
  const pending = (): Promise<Pending> => ok(ann.call(`/api/files/${file}/extractions/pending`))
  const isDead = ({ state }: Pending[number]): boolean => state === 'dead'
  const [dead] = (await until('the dead letter', pending, jobs => jobs.some(isDead))).filter(isDead)
  const cancel = (call: TestFetch) =>
    call(`/api/files/${file}/extractions/${dead?.job_id}`, { method: 'DELETE', json: { extractor: 'pounce.image' } })
  t.like(await refusal(cancel(bob.call)), { status: 403 })
  for (const _ of ['once', 'twice']) t.deepEqual(await ok(cancel(ann.call)), { status: 'OK' })
  t.false((await pending()).some(isDead))
  const runs = await ok<{ job_id: string; state: string }[]>(ann.call(`/api/files/${file}/extractions`))
  t.is(runs.find(run => run.job_id === dead?.job_id)?.state, 'failed')
  t.like(await refusal(admin(`/api/extractions/jobs/${dead?.job_id}/rerun`, { method: 'POST' })), { status: 409 })
})

test.serial('the dead letters of a deleted file are deleted', async t => {
  const file = await upload(ann.call, await newDataset(ann.call), 'this is no picture', 'broken.png', { type: 'image/png', query: '' })
  const deadOfImages = async (): Promise<number> => {
    const queues = await ok<{ queue: string; dead: number }[]>(admin('/api/extractions/queues'))
    return queues.find(({ queue }) => queue === 'pounce.image')?.dead ?? 0
  }
  const before = await deadOfImages()
  await until('the dead letter', deadOfImages, dead => dead > before)
  await ok(ann.call(`/api/files/${file}`, { method: 'DELETE' }))
  await server.drained()
  t.is(await deadOfImages(), before)
})

test.serial('consumers of the bus and their bindings are listed', async t => {
  bus.listening = [
    { queue: 'o.any', address: '10.0.0.2', count: 2 },
    { queue: 'o.metered', address: '10.0.0.1', count: 1 },
    { queue: 'private.k.o.any', address: '10.0.0.2', count: 1 },
  ]
  bus.inputs = ['text', 'image']
  t.deepEqual(await ok(ann.call('/api/extractions/servers_ips')), { Servers: ['10.0.0.1', '10.0.0.2'] })
  t.deepEqual(await ok(ann.call('/api/extractions/supported_input_types')), { InputTypes: ['image', 'text'] })
  const details = [
    { ip: '10.0.0.2', extractor_name: 'o.any', count: 2 },
    { ip: '10.0.0.1', extractor_name: 'o.metered', count: 1 },
  ]
  t.deepEqual(await ok(ann.call('/api/extractions/extractors_details')), details)
  t.is((await ok<unknown[]>(admin('/api/extractions/extractors_details'))).length, 3)
  for (const path of ['servers_ips', 'supported_input_types', 'extractors_details']) {
    t.is((await server.as()(`/api/extractions/${path}`)).status, 401)
  }
  bus.inputs = []
})

test.serial('tags and previews of a file are grouped by the user or extractor that added them', async t => {
  const file = await newFile()
  await ok(ann.call(`/api/files/${file}/tags`, { method: 'POST', json: { tags: ['oak', 'elm'] } }))
  const { id } = await ok<{ id: string }>(ann.call('/api/previews', { method: 'POST', body: formOf('p', 'p.html', 'text/html') }))
  await ok(ann.call(`/api/files/${file}/previews/${id}`, { method: 'POST', json: { extractor_id: 'acme' } }))
  t.deepEqual(await ok(ann.call(`/api/extractions/${file}/metadata`)), {
    file_id: file,
    filename: 'w.txt',
    Status: 'No Extractor Available. Request is not queued.',
    tags: [{ userId: ann.id, values: ['oak', 'elm'] }],
    previews: [{ extractor_id: 'acme', values: [{ preview_id: id, contentType: 'text/html', url: `${server.url}/api/previews/${id}` }] }],
    'versus descriptors url': `/api/files/${file}/versus_metadata`,
  })
  const { Status: _status, ...found } = await ok<Record<string, unknown>>(ann.call(`/api/extractions/${file}/metadata`))
  t.deepEqual(await ok(ann.call(`/api/files/${file}/extracted_metadata`)), found)
  t.like(await refusal(ann.call(`/api/extractions/${unknownId}/metadata`)), { status: 404 })
  t.like(await refusal(ann.call(`/api/files/${unknownId}/extracted_metadata`)), { status: 404 })
})

const formOf = (bytes: string, name: string, type: string): FormData => {
  const form = new FormData()
  form.append('File', new Blob([bytes], { type }), name)
  return form
}

test.serial('a file outside datasets is uploaded as multipart or fetched from a URL', async t => {
  const sent = await ok<{ id: string }>(
    ann.call('/api/extractions/upload_file?extract=true', { method: 'POST', body: formOf('x', 'x.txt', 'text/plain') }),
  )
  t.like(await info(sent.id), { filename: 'x.txt', status: 'PROCESSED' })
  t.like(await refusal(ann.call('/api/extractions/upload_file', { method: 'POST', body: new FormData() })), { status: 400 })
  t.is((await server.as()('/api/extractions/upload_file', { method: 'POST', body: formOf('x', 'x.txt', 'text/plain') })).status, 401)
  const by = (fileurl: unknown, call = ann.call) => call('/api/extractions/upload_url', { method: 'POST', json: { fileurl } })
  const url = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`
  const { id } = await ok<{ id: string }>(by(`${url}/leaf%2F%20one.csv?x=1`))
  t.like(await info(id), { filename: 'leaf_ one.csv', 'content-type': 'text/csv', size: '8' })
  for (const wrong of ['file:///etc/passwd', 'nonsense']) t.like(await refusal(by(wrong)), { status: 400 }, wrong)
  for (const away of [`${url}/none`, 'http://127.0.0.1:1/x'])
    t.like(await refusal(by(away)), { status: 422, code: 'unreachable-source' }, away)
  t.like(await refusal(by('http://10.0.0.1/x')), { status: 403 })
  t.is((await by(`${url}/leaf`, server.as())).status, 401)
})

const asAdmin = (path: string, json?: unknown) =>
  admin(`${path}?superAdmin=true`, { method: 'POST', ...(json === undefined ? {} : { json }) })

test.serial('a file is archived and restored when the archive extractor reports it', async t => {
  const file = await newFile()
  t.deepEqual(await ok(ann.call(`/api/files/${file}/archive`, { method: 'POST', json: {} })), { status: 'success' })
  t.like(await info(file), { status: 'ARCHIVED' })
  t.is(await (await ann.call(`/api/files/${file}/blob?tracking=false`)).text(), 'words')
  t.deepEqual(await ok(ann.call(`/api/files/${file}/unarchive`, { method: 'POST', json: {} })), { status: 'success' })
  t.like(await info(file), { status: 'PROCESSED' })
  for (const verb of ['archive', 'unarchive', 'sendArchiveRequest', 'sendUnarchiveRequest']) {
    t.like(await refusal(bob.call(`/api/files/${file}/${verb}`, { method: 'POST', json: {} })), { status: 403 }, verb)
    t.like(await refusal(asAdmin(`/api/files/${unknownId}/${verb}`, {})), { status: 404 }, verb)
  }
})

test.serial('archiving a file or all files of a dataset submits jobs to the archive extractor', async t => {
  const dataset = await newDataset(ann.call)
  const folder = await newFolder(ann.call, dataset, 'below')
  const files = [
    await upload(ann.call, dataset, 'x', 'a.txt'),
    await upload(ann.call, dataset, 'x', 'b.txt', { query: `folder_id=${folder}&extract=false` }),
  ]
  const post = (path: string, json: unknown = {}, call = ann.call) => call(path, { method: 'POST', json })
  const one = `/api/files/${files[0]}/sendArchiveRequest`
  t.like(await refusal(post(one)), { status: 409 })
  t.like(await refusal(post(`/api/datasets/${dataset}/queueArchival`)), { status: 409 })
  await bus.introduce(extractorInfo('o.archive', { categories: ['ARCHIVE'] }))
  await ok(post(`/api/files/${files[0]}/archive`))
  t.deepEqual(await ok(post(one, { parameters: { tape: 3 } })), { status: 'success' })
  const [job] = bus.to('o.archive')
  t.like(job?.message, {
    routing_key: 'extractors.o.archive',
    parameters: { tape: 3, operation: 'archive' },
    datasetId: dataset,
    id: files[0],
  })
  t.deepEqual(await ok(post(`/api/files/${files[0]}/sendUnarchiveRequest`)), { status: 'success' })
  t.deepEqual(bus.to('o.archive')[1]?.parameters, { operation: 'unarchive' })
  for (const [verb, operation] of [
    ['queueArchival', 'archive'],
    ['queueUnarchival', 'unarchive'],
  ] as const) {
    const before = bus.to('o.archive').length
    t.deepEqual(await ok(post(`/api/datasets/${dataset}/${verb}`, { parameters: { tape: 4 } })), { status: 'success' })
    await server.drained()
    const jobs = bus.to('o.archive').slice(before)
    t.deepEqual(jobs.map(({ target }) => target.id).sort(), [...files].sort())
    for (const { parameters, user } of jobs) t.deepEqual([parameters, user], [{ tape: 4, operation }, ann.id])
    t.like(await refusal(post(`/api/datasets/${dataset}/${verb}`, {}, bob.call)), { status: 403 })
    t.like(await refusal(asAdmin(`/api/datasets/${unknownId}/${verb}`, {})), { status: 404 })
  }
})

test.serial('a dataset is archived even if the transport is unavailable at first', async t => {
  const dataset = await newDataset(ann.call)
  const files = [await upload(ann.call, dataset, 'x', 'a.txt'), await upload(ann.call, dataset, 'x', 'b.txt')]
  const before = bus.to('o.archive').length
  bus.fault = new Unavailable('away')
  await ok(ann.call(`/api/datasets/${dataset}/queueArchival`, { method: 'POST', json: {} }))
  await until('the first attempt to fail', () => bus.failures)
  bus.fault = undefined
  const requested = () => bus.to('o.archive').length - before
  await until(
    'both files to be submitted',
    () => {
      // The next attempt is due only when this clock has advanced.
      clock.advance(60_000)
      return requested()
    },
    count => count === 2,
  )
  await server.drained(30_000)
  const jobs = bus.to('o.archive').slice(before)
  t.deepEqual(jobs.map(({ target }) => target.id).sort(), [...files].sort())
})
