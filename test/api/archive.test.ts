import test from 'ava'
import { definePlugin, type EventSink, EventSinks, Files, provide } from 'pounce/sdk'
import type { SinkRecord } from 'pounce/sdk/kit'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { extractorInfo } from '../support/extractor-info.ts'
import { FakeBus } from '../support/fake-bus.ts'
import { newFolder, ok, refusal, unknownId, upload } from '../support/scene.ts'
import { letIn, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

const published: SinkRecord[] = []
class Kept implements EventSink {
  async publish(records: readonly SinkRecord[]): Promise<void> {
    published.push(...records)
  }
}
const sink = definePlugin({ id: 'test.sink', summary: 'Keeps what is published.', provides: [provide(EventSinks, Kept)] })
const bus = new FakeBus()
const archivist = 'o.archive'

let server: TestServer
let ann: Somebody
let [editor, admin, stranger]: Somebody[] = []
let space: string

test.before(async () => {
  const resources = { extractions: { archiveExtractorId: archivist } }
  server = await bootForTest({ also: [bus.plugin, 'resources.event-sink', sink], config: { access: { private: true }, resources } })
  ann = await somebody(server, 'ann')
  ;[editor, admin, stranger] = [await somebody(server, 'editor'), await somebody(server, 'admin'), await somebody(server, 'stranger')]
  space = await newSpace(ann)
  await letIn(ann, space, 'Editor', editor as Somebody)
  await letIn(ann, space, 'Admin', admin as Somebody, ann)
  await bus.introduce(extractorInfo(archivist, { categories: ['ARCHIVE'] }))
})
test.after.always(() => server?.stop())

const verbs = ['archive', 'unarchive', 'sendArchiveRequest', 'sendUnarchiveRequest'] as const
const post = (who: Somebody | undefined, path: string, json: unknown = {}) => (who?.call ?? server.as())(path, { method: 'POST', json })
const scene = async () => {
  const dataset = await newDataset(ann, { space: [space] })
  return { dataset, file: await upload(ann.call, dataset, 'words', 'w.txt') }
}
const about = (file: string) => ok<Record<string, string>>(ann.call(`/api/files/${file}/metadata`))
const jobsOf = async (work: () => Promise<unknown>) => {
  await server.drained()
  const before = published.length
  await work()
  await server.drained()
  return published.slice(before).map(({ category, type, resource_id, user_id, size }) => [category, type, resource_id, user_id, size])
}

test.serial('archiving and restoring a file updates its status and last download and is published to the sink', async t => {
  const { file } = await scene()
  t.deepEqual(await jobsOf(() => ok(post(ann, `/api/files/${file}/archive`))), [['archive', 'file', file, ann.id, 5]])
  t.is((await about(file))['status'], 'ARCHIVED')
  const before = await server.get(Files).get(file)
  t.is(before?.statistics.lastDownloaded, null)
  t.deepEqual(await jobsOf(() => ok(post(ann, `/api/files/${file}/unarchive`))), [['unarchive', 'file', file, ann.id, 5]])
  const { status, downloads } = await about(file)
  t.deepEqual([status, downloads], ['PROCESSED', '0'])
  t.regex((await server.get(Files).get(file))?.statistics.lastDownloaded ?? '', /^\d{4}-/)
})

test.serial('an archived file is listed, found and streamed while its bytes exist', async t => {
  const { dataset, file } = await scene()
  await ok(post(ann, `/api/files/${file}/archive`))
  t.is(await (await ann.call(`/api/files/${file}`)).text(), 'words')
  t.is((await ann.get(`/api/files/${file}/blob`)).body, 'words')
  t.deepEqual(
    (await ok<{ id: string }[]>(ann.call(`/api/datasets/${dataset}/files`))).map(({ id }) => id),
    [file],
  )
  t.is((await ann.call(`/api/datasets/${dataset}/download`)).status, 200)
})

test.serial('archiving is allowed to admins of a space and authors, not to editors', async t => {
  const { dataset, file } = await scene()
  const paths = [...verbs.map(verb => `/api/files/${file}/${verb}`), `/api/datasets/${dataset}/queueArchival`]
  for (const path of [...paths, `/api/datasets/${dataset}/queueUnarchival`]) {
    t.is((await post(undefined, path)).status, 401, path)
    t.is((await refusal(post(stranger, path))).status, 404, path)
    t.is((await refusal(post(editor, path))).status, 403, path)
    t.is((await post(admin, path)).status, 200, path)
  }
})

test.serial('unknown and malformed ids get 404, invalid bodies 400, and neither submits a job', async t => {
  const { dataset, file } = await scene()
  await server.drained()
  const before = bus.to(archivist).length
  for (const id of [unknownId, 'x', dataset]) {
    for (const verb of verbs) t.is((await refusal(post(ann, `/api/files/${id}/${verb}`))).status, 404, verb)
  }
  for (const id of [unknownId, 'x', file]) {
    for (const verb of ['queueArchival', 'queueUnarchival'])
      t.is((await refusal(post(ann, `/api/datasets/${id}/${verb}`))).status, 404, verb)
  }
  for (const path of [`/api/files/${file}/sendArchiveRequest`, `/api/datasets/${dataset}/queueArchival`]) {
    for (const json of [{ parameters: 'tape' }, { parameters: [1] }, [], 'x', null])
      t.is((await refusal(post(ann, path, json))).status, 400)
    const headers = { 'content-type': 'application/json' }
    t.is((await ann.call(path, { method: 'POST', headers, body: '{"parameters":' })).status, 400)
  }
  await server.drained()
  t.is(bus.to(archivist).length, before)
})

test.serial('a file can be archived in any status, with the parameters of the caller', async t => {
  const { dataset, file } = await scene()
  const requested = bus.to(archivist).length
  await ok(post(ann, `/api/files/${file}/sendArchiveRequest`, { parameters: { tape: 3, operation: 'nothing' } }))
  await ok(post(ann, `/api/files/${file}/archive`))
  await ok(post(ann, `/api/files/${file}/sendArchiveRequest`))
  await ok(post(ann, `/api/files/${file}/sendUnarchiveRequest`, { parameters: { tape: 3 } }))
  const jobs = bus.to(archivist).slice(requested)
  t.deepEqual(
    jobs.map(({ parameters }) => parameters),
    [{ tape: 3, operation: 'archive' }, { operation: 'archive' }, { tape: 3, operation: 'unarchive' }],
  )
  for (const job of jobs) t.like(job, { target: { kind: 'file', id: file }, message: { datasetId: dataset }, user: ann.id })
  t.is((await about(file))['status'], 'ARCHIVED')
})

test.serial('a file of others in one’s own dataset is archived neither by name nor with the dataset', async t => {
  const { file } = await scene()
  const own = await newDataset(editor as Somebody)
  const mine = await upload((editor as Somebody).call, own, 'words', 'm.txt')
  await ok(post(editor, `/api/datasets/${own}/files/${file}`))
  for (const verb of verbs) t.is((await refusal(post(editor, `/api/files/${file}/${verb}`))).status, 403, verb)
  const before = bus.to(archivist).length
  t.deepEqual(await jobsOf(() => ok(post(editor, `/api/datasets/${own}/queueArchival`))), [['archive', 'dataset', own, editor?.id, 1]])
  const jobs = bus.to(archivist).slice(before)
  t.deepEqual(
    jobs.map(({ target }) => target.id),
    [mine],
  )
})

test.serial('archiving a dataset submits a job per file, including those in folders, and publishes one record to the sink', async t => {
  const dataset = await newDataset(ann, { space: [space] })
  const [outer, empty] = [await newFolder(ann.call, dataset, 'outer'), await newDataset(ann, { space: [space] })]
  const inner = await newFolder(ann.call, dataset, 'inner', outer)
  const files = [
    await upload(ann.call, dataset, '1', 'a.txt'),
    await upload(ann.call, dataset, '2', 'b.txt', { query: `extract=false&folder_id=${outer}` }),
    await upload(ann.call, dataset, '3', 'c.txt', { query: `extract=false&folder_id=${inner}` }),
  ]
  for (const [verb, operation] of [
    ['queueArchival', 'archive'],
    ['queueUnarchival', 'unarchive'],
  ] as const) {
    const before = bus.to(archivist).length
    const recordedJobs = await jobsOf(() => ok(post(admin, `/api/datasets/${dataset}/${verb}`, { parameters: { tape: 1 } })))
    t.deepEqual(recordedJobs, [[operation, 'dataset', dataset, admin?.id, 3]])
    const jobs = bus.to(archivist).slice(before)
    t.deepEqual(jobs.map(({ target }) => target.id).toSorted(), files.toSorted())
    for (const { parameters } of jobs) t.deepEqual(parameters, { tape: 1, operation })
    t.deepEqual(await jobsOf(() => ok(post(ann, `/api/datasets/${empty}/${verb}`))), [[operation, 'dataset', empty, ann.id, 0]])
  }
})
