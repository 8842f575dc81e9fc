import test from 'ava'
import { Datasets } from 'pounce/sdk'
import { bootForTest, FixedClock, type TestServer } from 'pounce/sdk/testing'
import { extractorInfo } from '../support/extractor-info.ts'
import { FakeBus } from '../support/fake-bus.ts'
import { newPerson, type Person } from '../support/people.ts'
import { formWith, newDataset, newFolder, ok, refusal } from '../support/scene.ts'

let server: TestServer
let ann: Person
const bus = new FakeBus()
/** The periodic task of the server, which uses it, completes no batch while a slow machine is still uploading. */
const clock = new FixedClock(new Date().toISOString())
const batchQuietSeconds = 10

test.before(async () => {
  server = await bootForTest({ clock, also: [bus.plugin], config: { resources: { files: { batchQuietSeconds } } } })
  ann = await newPerson(server, 'ann')
  await bus.introduce(extractorInfo('e.files', { process: { dataset: ['files.added'] } }))
  await bus.introduce(extractorInfo('e.text', { process: { file: ['text/*'] } }))
  const admin = server.as(server.admin.key)
  await ok(admin('/api/extractors/enabled', { method: 'POST', json: { enabled: ['e.files', 'e.text'] } }))
})
test.after.always(() => server?.stop())

interface Sent {
  readonly path: string
  readonly batch: string
  readonly extract?: boolean
  readonly text?: string
  readonly by?: Person
  readonly folder?: string
}

const send = (dataset: string, { path, batch, extract = true, text = 'abc', by = ann, folder }: Sent): Promise<Response> => {
  const query = new URLSearchParams({ path, batch, extract: String(extract), ...(folder === undefined ? {} : { folder_id: folder }) })
  const body = formWith(text, path.split('/').at(-1) ?? '')
  return by.call(`/api/uploadToDataset/${dataset}?${query}`, { method: 'POST', body })
}

const sentFile = async (dataset: string, sent: Sent): Promise<string> => (await ok<{ id: string }>(send(dataset, sent))).id

const namesIn = async (dataset: string): Promise<readonly string[]> =>
  (await ok<{ filename: string }[]>(ann.call(`/api/datasets/${dataset}/files`))).map(({ filename }) => filename).sort()

const sendTus = (dataset: string, { path, batch }: Sent): Promise<Response> => {
  const about = Object.entries({ dataset, path, batch }).map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
  const headers = {
    ...{ 'tus-resumable': '1.0.0', 'upload-length': '3', 'upload-metadata': about.join(',') },
    'content-type': 'application/offset+octet-stream',
  }
  return ann.call('/api/uploads', { method: 'POST', headers, body: 'abc' })
}

const settle = async (): Promise<void> => {
  await server.drained()
  clock.advance((batchQuietSeconds + 1) * 1000)
  await server.runPeriodic('resources.files/complete-batches')
  await server.drained()
}

const linesOn = async (dataset: string): Promise<readonly string[]> => {
  const lines = await ok<{ event_type: string; object_id: string }[]>(ann.call('/api/events?limit=200'))
  return lines.filter(({ object_id }) => object_id === dataset).map(({ event_type }) => event_type)
}

const filesets = (dataset: string): readonly string[] =>
  bus.jobs.filter(({ target }) => target.id === dataset).map(({ message }) => String(message['filenames']))

test.serial('uploads of a batch produce one feed entry and one file set for extractors', async t => {
  const dataset = await newDataset(ann.call)
  const sent = Array.from({ length: 30 }, (_, n) => ({ path: `a/b${n % 4}/f${n}.txt`, batch: 'first' }))
  const answers = await Promise.all(sent.map((each, n) => (n % 3 === 0 ? sendTus(dataset, each) : send(dataset, each))))
  t.true(answers.every(({ ok }) => ok))
  await server.drained()
  t.deepEqual(await linesOn(dataset), ['create_dataset'])
  await settle()
  await settle()
  t.deepEqual(await linesOn(dataset), ['add_file_folder_30', 'create_dataset'])
  const [names, ...more] = filesets(dataset)
  t.deepEqual(more, [])
  t.is(new Set(names?.match(/f\d+\.txt/g)).size, 30)
})

test.serial('later additions to a batch extend its feed entry and do not trigger extractors again', async t => {
  const dataset = await newDataset(ann.call)
  for (const path of ['a.txt', 'b/c.txt']) {
    t.is((await send(dataset, { path, batch: 'growing' })).status, 200)
    await settle()
  }
  t.deepEqual(await linesOn(dataset), ['add_file_2', 'create_dataset'])
  t.deepEqual(filesets(dataset), ['List(a.txt)'])
})

test.serial('equal batch ids in two datasets are separate, and a batch without extraction triggers no extractor', async t => {
  const [one, other] = [await newDataset(ann.call), await newDataset(ann.call)]
  t.is((await send(one, { path: 'a.txt', batch: 'same' })).status, 200)
  for (const path of ['a.txt', 'b.txt']) t.is((await send(other, { path, batch: 'same', extract: false })).status, 200)
  await settle()
  t.deepEqual(
    [await linesOn(one), await linesOn(other)].map(([newest]) => newest),
    ['add_file_1', 'add_file_2'],
  )
  t.deepEqual([filesets(one), filesets(other)], [['List(a.txt)'], []])
})

test.serial('deleting the dataset of an open batch causes no error', async t => {
  const dataset = await newDataset(ann.call)
  t.is((await send(dataset, { path: 'a.txt', batch: 'gone' })).status, 200)
  await server.get(Datasets).remove(dataset)
  await settle()
  t.deepEqual(filesets(dataset), [])
})

test.serial('an invalid batch id is refused with 400, and nothing is stored', async t => {
  const dataset = await newDataset(ann.call)
  for (const batch of ['a b', '../x', 'x'.repeat(101), 'ä']) {
    for (const answer of [send(dataset, { path: 'a.txt', batch }), sendTus(dataset, { path: 'a.txt', batch })]) {
      const { status, message } = await refusal(answer)
      t.is(status, 400)
      t.regex(message, /batch/)
    }
  }
  t.deepEqual(await ok(ann.call(`/api/datasets/${dataset}/files`)), [])
})

test.serial('a file sent again with the same batch, path and content is stored once, even concurrently', async t => {
  const dataset = await newDataset(ann.call)
  const first = { path: 'a/b.txt', batch: 'repeated' }
  const id = await sentFile(dataset, first)
  const again = await Promise.all(Array.from({ length: 8 }, () => sentFile(dataset, first)))
  t.deepEqual(again, Array(8).fill(id))
  const twin = { path: 'b.txt', batch: 'repeated' }
  t.is(new Set(await Promise.all(Array.from({ length: 8 }, () => sentFile(dataset, twin)))).size, 1)
  t.deepEqual(await namesIn(dataset), ['b.txt', 'b.txt'])
  await settle()
  t.regex((await linesOn(dataset))[0] ?? '', /^add_file.*_2$/)
  t.is(await (await ann.call(`/api/files/${id}`)).text(), 'abc')
})

test.serial('a different content, path, folder, batch, dataset or user creates another file', async t => {
  const [dataset, elsewhere] = [await newDataset(ann.call), await newDataset(ann.call)]
  const folder = await newFolder(ann.call, dataset, 'above')
  const admin: Person = { ...ann, call: (path, init) => server.as(server.admin.key)(`${path}&superAdmin=true`, init) }
  const sent = { path: 'a.txt', batch: 'one' }
  const others = [{}, { text: 'abd' }, { path: 'b.txt' }, { batch: 'two' }, { folder }, { by: admin }]
  const ids = [await sentFile(elsewhere, sent)]
  for (const other of others) ids.push(await sentFile(dataset, { ...sent, ...other }))
  t.is(new Set(ids).size, 7)
  t.is((await namesIn(dataset)).length, 6)
})

test.serial('without a batch or a path, the same content creates another file each time', async t => {
  const dataset = await newDataset(ann.call)
  for (const query of ['path=a.txt', 'batch=alone'])
    for (const _ of [1, 2])
      await ok(ann.call(`/api/uploadToDataset/${dataset}?${query}`, { method: 'POST', body: formWith('abc', 'a.txt') }))
  t.deepEqual(await namesIn(dataset), Array(4).fill('a.txt'))
})

test.serial('a deleted file of a batch sent again is another file, which is found and extracted, and stored once', async t => {
  const dataset = await newDataset(ann.call)
  const sent = { path: 'quercus.txt', batch: 'deleted' }
  const ids: string[] = []
  for (let times = 0; times < 3; times++) {
    const [id = '', ...others] = await Promise.all(Array.from({ length: 4 }, () => sentFile(dataset, sent)))
    t.deepEqual(others, Array(3).fill(id))
    await server.drained()
    t.deepEqual(await namesIn(dataset), ['quercus.txt'])
    t.is(await (await ann.call(`/api/files/${id}`)).text(), 'abc')
    const { results } = await ok<{ results: { id: string }[] }>(ann.call('/api/search?query=quercus'))
    t.deepEqual(
      results.map(hit => hit.id),
      [id],
    )
    t.is(bus.jobs.filter(({ target }) => target.id === id).length, 1)
    ids.push(id)
    await ok(ann.call(`/api/files/${id}`, { method: 'DELETE' }))
    if (times > 0) await server.drained()
  }
  t.is(new Set(ids).size, 3)
})
