import test from 'ava'
import { DocumentStore, Files, Unavailable } from 'pounce/sdk'
import type { Job } from 'pounce/sdk/kit'
import { advanceClock, bootForTest, type TestServer } from 'pounce/sdk/testing'
import { extractors } from '../../plugins/resources/extractions/collections.ts'
import { EnabledExtractors } from '../../plugins/resources/extractions/enabled-extractors.ts'
import { ExtractionTriggers } from '../../plugins/resources/extractions/extraction-triggers.ts'
import { blockRead } from '../support/blocked-read.ts'
import { extractorInfo } from '../support/extractor-info.ts'
import { FakeBus } from '../support/fake-bus.ts'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, newFolder, ok, refusal, unknownId, upload } from '../support/scene.ts'
import { until } from '../support/until.ts'

let server: TestServer
let ann: Person
let bob: Person
const bus = new FakeBus()

test.before(async () => {
  server = await bootForTest({ also: [bus.plugin] })
  ann = await newPerson(server, 'ann')
  bob = await newPerson(server, 'bob')
})
test.after.always(() => server?.stop())

const admin = (path: string, json?: unknown, method = 'POST') =>
  json === undefined ? server.as(server.admin.key)(path) : server.as(server.admin.key)(path, { method, json })

const enabledNow = async (): Promise<string[]> => (await ok<{ enabled: string[] }>(admin('/api/extractors/enabled'))).enabled

/** Registers on the bus and, by default, enables automatic runs of the extractor everywhere. */
const introduce = async (name: string, process: object, isEnabled = true): Promise<void> => {
  await bus.introduce(extractorInfo(name, { process }))
  if (isEnabled) await ok(admin('/api/extractors/enabled', { enabled: [...(await enabledNow()), name] }))
}

const newSpace = async (person: Person): Promise<string> =>
  (await ok<{ id: string }>(person.call('/api/spaces', { method: 'POST', json: { name: 'a space', description: '' } }))).id

const typed = (dataset: string, type: string, person = ann, query = ''): Promise<string> =>
  upload(person.call, dataset, 'leaf', 'leaf.bin', { type, query })

const common = (job: Job, id: string, datasetId: string, fileSize: string) => ({
  msgid: job.id,
  jobid: job.id,
  id,
  intermediateId: id,
  datasetId,
  fileSize,
  flags: '',
  host: server.url,
  notifies: [ann.email],
})

test.serial('an extractor is triggered by a file uploaded after it was enabled, even if the extractors were being read', async t => {
  await introduce('t.soon', { file: ['image/x-soon'] }, false)
  const dataset = await newDataset(ann.call)
  await server.drained()
  advanceClock(1000)
  const held = blockRead(server.get(DocumentStore), 'find', extractors.name)
  t.teardown(held.release)
  await typed(dataset, 'image/x-soon')
  await held.begun
  await ok(admin('/api/extractors/enabled', { enabled: [...(await enabledNow()), 't.soon'] }))
  const file = await typed(dataset, 'image/x-soon')
  t.truthy(await until('its job', () => bus.to('t.soon').find(({ target }) => target.id === file)))
})

test.serial('a registered extractor is triggered only if enabled, with the message of Clowder 1.x', async t => {
  await introduce('t.first', { file: ['image/x-leaf.raw'] }, false)
  const dataset = await newDataset(ann.call)
  await typed(dataset, 'image/x-leaf.raw')
  await server.drained()
  t.deepEqual(bus.to('t.first'), [])
  await introduce('t.first', { file: ['image/x-leaf.raw'] })
  const file = await typed(dataset, 'image/x-leaf.raw')
  await server.drained()
  const [job, ...more] = bus.to('t.first')
  t.deepEqual(more, [])
  t.deepEqual([job?.target, job?.user, job?.parameters], [{ kind: 'file', id: file }, ann.id, {}])
  const { host, ...message } = job!.message
  t.is(typeof host, 'string')
  const { host: _host, ...expected } = common(job!, file, dataset, '4')
  t.deepEqual(message, {
    ...expected,
    routing_key: 'clowder.file.image.x-leaf_raw',
    activity: 'created',
    filename: 'leaf.bin',
    source: { id: { resourceType: "'file", id: file }, mimeType: 'image/x-leaf.raw', extra: { filename: 'leaf.bin' } },
    target: '{}',
  })
})

test.serial('a file is PROCESSED even if an external extractor has not started yet', async t => {
  await introduce('t.away', { file: ['image/x-away'] })
  const file = await typed(await newDataset(ann.call), 'image/x-away')
  while ((await ok<{ status: string }>(ann.call(`/api/files/${file}/metadata`))).status !== 'PROCESSED') await server.drained(30_000)
  t.like(await ok(ann.call(`/api/extractions/${file}/status`)), { 't.away': 'SUBMITTED', Status: 'Processing' })
  t.deepEqual(await ok(ann.call(`/api/files/${file}/isBeingProcessed`)), { isBeingProcessed: 'true' })
})

test.serial('adding and removing files triggers dataset extractors, after those for the file type', async t => {
  await introduce('t.files', { file: ['image/x-both'], dataset: ['file.*'] })
  const dataset = await newDataset(ann.call)
  const file = await typed(dataset, 'image/x-both')
  await server.drained()
  const folder = await newFolder(ann.call, dataset, 'gone soon')
  const inFolder = await upload(ann.call, dataset, 'leaf', 'below.bin', { type: 'text/x-none', query: `folder_id=${folder}&extract=false` })
  await ok(ann.call(`/api/files/${file}`, { method: 'DELETE' }))
  await ok(ann.call(`/api/datasets/${dataset}/deleteFolder/${folder}`, { method: 'DELETE' }))
  await server.drained()
  const jobs = bus.to('t.files')
  t.deepEqual(
    jobs.map(({ message }) => message['routing_key']),
    ['clowder.file.image.x-both', ...['added', 'removed', 'removed'].map(what => `clowder.dataset.file.${what}`)],
  )
  const [, added, removed, removedBelow] = jobs
  for (const [job, activity] of [
    [added, 'added'],
    [removed, 'removed'],
  ] as const) {
    t.deepEqual(job?.target, { kind: 'dataset', id: dataset })
    const { host: _host, ...message } = job!.message
    const { host: _expectedHost, ...expected } = common(job!, file, dataset, '4')
    t.deepEqual(message, {
      ...expected,
      routing_key: `clowder.dataset.file.${activity}`,
      activity,
      source: { id: { resourceType: "'file", id: file }, mimeType: 'image/x-both', extra: { filename: 'leaf.bin' } },
      target: { id: { resourceType: "'dataset", id: dataset }, extra: {} },
    })
  }
  t.is(removedBelow?.message['id'], inFolder)
  t.like(await ok(ann.call(`/api/datasets/${dataset}/extractions`)), { length: 3 })
})

test.serial(
  'an upload without extraction, one outside datasets, and the deletion of a dataset with files trigger no extractor',
  async t => {
    await introduce('t.quiet', { file: ['image/x-quiet'], dataset: ['file.*', 'files.added'] })
    const dataset = await newDataset(ann.call)
    await typed(dataset, 'image/x-quiet', ann, 'extract=false')
    const form = new FormData()
    form.append('File', new Blob(['x'], { type: 'image/x-quiet' }), 'alone.bin')
    await ok(ann.call('/api/files', { method: 'POST', body: form }))
    for (let twice = 0; twice < 2; twice++) await ok(ann.call(`/api/datasets/${dataset}`, { method: 'DELETE' }))
    await server.drained()
    t.deepEqual(bus.to('t.quiet'), [])
  },
)

test.serial('spaces enable and disable extractors; enabled in one space overrides disabled in another', async t => {
  await introduce('t.global', { file: ['image/x-space'] })
  await introduce('t.local', { file: ['image/x-space'] }, false)
  await introduce('t.other', { file: ['image/x-else'] }, false)
  const [one, two] = [await newSpace(ann), await newSpace(ann)]
  const choose = (space: string, enabled: string[], disabled: string[]) =>
    ok(ann.call(`/api/spaces/${space}/extractors`, { method: 'PUT', json: { enabled, disabled } }))
  const woken = async (space: string[]): Promise<string[]> => {
    const before = bus.jobs.length
    await typed(await newDataset(ann.call, { space }), 'image/x-space')
    await server.drained()
    return bus.jobs
      .slice(before)
      .map(job => job.queue)
      .filter(queue => queue !== 't.files' && queue !== 't.quiet')
  }
  t.deepEqual(await woken([one]), ['t.global'])
  await choose(one, ['t.local', 't.other'], ['t.global'])
  t.deepEqual(await woken([one]), ['t.local'])
  t.deepEqual(await woken([]), ['t.global'])
  t.deepEqual(await woken([one, two]), ['t.local'])
  await choose(two, ['t.global'], ['t.local'])
  t.deepEqual(await woken([one, two]), ['t.global', 't.local'])
  t.deepEqual(await ok(ann.call(`/api/spaces/${two}/extractors`)), { enabled: ['t.global'], disabled: ['t.local'] })
  await choose(two, [], [])
  t.deepEqual(await woken([two]), ['t.global'])
})

test.serial('the extractor settings of a space are deleted with it', async t => {
  const space = await newSpace(ann)
  await ok(ann.call(`/api/spaces/${space}/extractors`, { method: 'PUT', json: { enabled: ['t.first'], disabled: [] } }))
  await ok(ann.call(`/api/spaces/${space}`, { method: 'DELETE' }))
  await server.drained()
  t.deepEqual(await server.get(EnabledExtractors).ofSpace(space), { enabled: [], disabled: [] })
})

test.serial('queues bound by routing key get jobs, whichever extractors are enabled', async t => {
  bus.bound.set('clowder.file.image.x-bound', ['old.queue'])
  const file = await typed(await newDataset(ann.call), 'image/x-bound')
  await server.drained()
  t.is(bus.to('old.queue')[0]?.target.id, file)
})

test.serial('enabling extractors without permission or with invalid names is refused', async t => {
  const space = await newSpace(ann)
  const path = `/api/spaces/${space}/extractors`
  const none = { enabled: [], disabled: [] }
  t.is((await ann.call('/api/extractors/enabled')).status, 403)
  t.is((await ann.call('/api/extractors/enabled', { method: 'POST', json: { enabled: [] } })).status, 403)
  t.is((await server.as()('/api/extractors/enabled')).status, 401)
  t.like(await refusal(bob.call(path)), { status: 403 })
  t.like(await refusal(bob.call(path, { method: 'PUT', json: none })), { status: 403 })
  t.like(await refusal(ann.call(`/api/spaces/${unknownId}/extractors`)), { status: 404 })
  t.like(await refusal(ann.call(`/api/spaces/${unknownId}/extractors`, { method: 'PUT', json: none })), { status: 404 })
  const both = { enabled: ['t.first'], disabled: ['t.first'] }
  t.like(await refusal(ann.call(path, { method: 'PUT', json: both })), { status: 400 })
  t.like(await refusal(ann.call(path, { method: 'PUT', json: { enabled: ['no.such'], disabled: [] } })), { status: 400 })
  t.like(await refusal(admin('/api/extractors/enabled', { enabled: ['no.such'] })), { status: 400 })
})

test.serial('a repeated event submits no new jobs, even after the run has ended', async t => {
  await introduce('t.once', { file: ['image/x-once'], dataset: ['file.added'] })
  const dataset = await newDataset(ann.call)
  const id = await typed(dataset, 'image/x-once')
  await server.drained()
  const file = await server.get(Files).get(id)
  const jobs = bus.to('t.once')
  const again = async () =>
    (await server.get(ExtractionTriggers).uploaded(file!, dataset, ann.id)).filter(({ queue }) => queue === 't.once')
  t.deepEqual(await again(), jobs)
  await bus.sendStatus(jobs[0]!, 'StatusMessage.done: Done processing.')
  t.deepEqual(await again(), jobs.slice(1))
})

test.serial('an upload that triggers file and dataset extractors reads the settings of the spaces once', async t => {
  await introduce('t.reads', { file: ['image/x-reads'], dataset: ['file.added'] })
  const dataset = await newDataset(ann.call)
  const file = await server.get(Files).get(await typed(dataset, 'image/x-reads'))
  await server.drained()
  const choices = server.get(EnabledExtractors)
  let reads = 0
  choices.ofSpaces = spaces => {
    reads += 1
    return EnabledExtractors.prototype.ofSpaces.call(choices, spaces)
  }
  t.teardown(() => Reflect.deleteProperty(choices, 'ofSpaces'))
  const jobs = await server.get(ExtractionTriggers).uploaded(file!, dataset, ann.id)
  t.is(jobs.filter(({ queue }) => queue === 't.reads').length, 2)
  t.is(reads, 1)
})

test.serial('uploads succeed while the transport is unavailable; their jobs are submitted when it is back', async t => {
  await introduce('t.later', { file: ['image/x-later'] })
  const dataset = await newDataset(ann.call)
  bus.fault = new Unavailable('away')
  const files = [await typed(dataset, 'image/x-later'), await typed(dataset, 'image/x-later')]
  await until('the first attempt to fail', () => bus.failures)
  bus.fault = undefined
  await server.drained(30_000)
  t.deepEqual(
    bus
      .to('t.later')
      .map(({ target }) => target.id)
      .sort(),
    [...files].sort(),
  )
})

test.serial('extractors enabled concurrently are all enabled afterwards', async t => {
  const names = Array.from({ length: 8 }, (_, n) => `t.beside${n}`)
  for (const name of names) await bus.introduce(extractorInfo(name))
  await Promise.all(names.map(name => server.get(EnabledExtractors).enable(name)))
  const enabled = await enabledNow()
  t.deepEqual(
    names.filter(name => !enabled.includes(name)),
    [],
  )
})
