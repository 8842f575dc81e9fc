import test from 'ava'
import { anonymousUserId, definePlugin, type EventSink, EventSinks, event, Files, type NewEvent, provide, Unavailable } from 'pounce/sdk'
import type { SinkRecord } from 'pounce/sdk/kit'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { signIn } from '../../../test/support/people.ts'
import { newFolder, ok, upload } from '../../../test/support/scene.ts'
import { newDataset, recordPlugins, type Somebody, somebody } from '../../../test/support/spaces-and-people.ts'
import { until } from '../../../test/support/until.ts'

const published: SinkRecord[] = []
let absences = 0

class Kept implements EventSink {
  async publish(records: readonly SinkRecord[]): Promise<void> {
    if (absences > 0) {
      absences -= 1
      throw new Unavailable('the sink')
    }
    published.push(...records)
  }
}
const sink = definePlugin({ id: 'test.sink', summary: 'Keeps what is published.', provides: [provide(EventSinks, Kept)] })
const server: TestServer = await bootForTest({ plugins: [...recordPlugins, 'resources.event-sink'], also: [sink] })
test.after.always(() => server.stop())

const person = async (name: string): Promise<Somebody & { readonly as: { user_id: string; user_name: string } }> => {
  const somebodyNew = await somebody(server, name)
  const { fullName } = await ok<{ fullName: string }>(somebodyNew.call('/api/me'))
  return { ...somebodyNew, as: { user_id: somebodyNew.id, user_name: fullName } }
}

/**
 * The records published during `work`, without the time, which is checked. Waits for `atLeast` records: downloads are recorded after their
 * last byte.
 */
const publishedBy = async (work: () => Promise<unknown>, atLeast = 0) => {
  await server.drained()
  const before = published.length
  const since = Date.now()
  await work()
  await until(
    `${atLeast} records to be published`,
    () => server.drained().then(() => published.length),
    count => count >= before + atLeast,
  )
  return published.slice(before).map(({ created, ...record }) => {
    if (!Number.isInteger(created) || created < since - 1000 || created > Date.now()) throw new Error(`created is ${created}`)
    return record
  })
}
const get = (who: Somebody, path: string, headers: Record<string, string> = {}) =>
  who.call(path, { headers }).then(answer => answer.arrayBuffer())

test.serial('creating an account and signing in are user activity', async t => {
  const made = await publishedBy(() => somebody(server, 'ann'))
  t.like(made, [{ category: 'user_activity', type: 'signup' }])
  const ann = await person('ann')
  t.deepEqual(await publishedBy(() => signIn(server, ann.email, ann.password)), [{ category: 'user_activity', type: 'login', ...ann.as }])
  t.deepEqual(await publishedBy(async () => ann.get('/api/me')), [], 'using a key is not a sign-in')
})

test.serial('an upload names its dataset and the owner of the dataset', async t => {
  const [ann, bob] = [await person('ann'), await person('bob')]
  const dataset = await newDataset(ann, { name: 'Plots', access: 'PUBLIC' })
  const own = { dataset_id: dataset, dataset_name: 'Plots', author_id: ann.id, author_name: ann.as.user_name }
  const record = { category: 'upload', resource_name: 'a.txt', size: 5, ...own }
  t.deepEqual(await publishedBy(() => upload(ann.call, dataset, '12345', 'a.txt')), [{ ...record, ...ann.as }])
  const alone = { name: 'alone.bin', contentType: 'text/plain', blob: 'b', sizeBytes: 3, sha256: '', author: bob.id, extract: false }
  t.deepEqual(await publishedBy(() => server.get(Files).create(alone)), [
    { category: 'upload', ...bob.as, resource_name: 'alone.bin', size: 3 },
  ])
})

test.serial('a complete tracked download creates two records, one that is only complete or only tracked creates one', async t => {
  const ann = await person('ann')
  const dataset = await newDataset(ann, { name: 'Read' })
  const file = await upload(ann.call, dataset, '12345', 'read.txt')
  const own = { author_id: ann.id, author_name: ann.as.user_name, ...ann.as }
  const record = { category: 'download', type: 'file', resource_id: file, resource_name: 'read.txt', size: 5, ...own }
  const path = `/api/files/${file}`
  t.deepEqual(await publishedBy(() => get(ann, path), 2), [record, record])
  t.deepEqual(await publishedBy(() => get(ann, `${path}?tracking=false`), 1), [record])
  t.deepEqual(await publishedBy(() => get(ann, path, { range: 'bytes=0-1' }), 1), [record])
  t.deepEqual(await publishedBy(() => get(ann, path, { range: 'bytes=2-3' })), [])
  t.deepEqual(await publishedBy(() => get(ann, `${path}?tracking=false`, { range: 'bytes=0-1' })), [])
  t.deepEqual(await publishedBy(() => ann.call(path, { method: 'HEAD' })), [])
  t.is((await server.get(Files).get(file))?.statistics.downloads, 2)
})

test.serial('the record of a dataset download has the number of its files and folders as its size', async t => {
  const ann = await person('ann')
  const dataset = await newDataset(ann, { name: 'Zip' })
  const folder = await newFolder(ann.call, dataset, 'raw')
  await upload(ann.call, dataset)
  await upload(ann.call, dataset, 'x', 'x.txt', { query: `extract=false&folder_id=${folder}` })
  const [record, ...others] = await publishedBy(() => get(ann, `/api/datasets/${dataset}/download`), 1)
  t.deepEqual(others, [])
  t.like(record, { category: 'download', type: 'dataset', resource_id: dataset, resource_name: 'Zip', size: 3, author_id: ann.id })
})

test.serial('extractions requested by users, archiving and unarchiving are recorded', async t => {
  const ann = await person('ann')
  const dataset = await newDataset(ann, { name: 'Old' })
  const file = await upload(ann.call, dataset, '12345', 'run.txt')
  const stated = async (...events: readonly NewEvent[]) => {
    const stored = await server.get(Files).get(file)
    if (!stored) throw new Error('the file is gone')
    return server.get(Files).change(file, { set: { description: 'x' } }, events)
  }
  const target = { kind: 'file', id: file } as const
  const run = (trigger: 'upload' | 'manual', actor?: string) =>
    event('extraction.submitted', { kind: 'job', id: 'a'.repeat(24) }, { target, extractor: 'wordcount', trigger }, actor)
  const own = { resource_id: file, resource_name: 'run.txt', author_id: ann.id, author_name: ann.as.user_name }
  const nobody = { user_id: anonymousUserId, user_name: 'Anonymous User' }
  t.deepEqual(await publishedBy(() => stated(run('manual', ann.id), run('manual'), run('upload', ann.id))), [
    { category: 'extraction', type: 'file', extractor_name: 'wordcount', ...own, ...ann.as },
    { category: 'extraction', type: 'file', extractor_name: 'wordcount', ...own, ...nobody },
  ])
  const moved = [event('file.archived', target, { sizeBytes: 5 }, ann.id), event('file.unarchived', target, { sizeBytes: 5 }, ann.id)]
  t.deepEqual(await publishedBy(() => stated(...moved)), [
    { category: 'archive', type: 'file', ...own, ...ann.as, size: 5 },
    { category: 'unarchive', type: 'file', ...own, ...ann.as, size: 5 },
  ])
  const queued = event('dataset.archival-queued', { kind: 'dataset', id: dataset }, { operation: 'archive', files: 7 }, ann.id)
  const whole = { ...own, resource_id: dataset, resource_name: 'Old' }
  t.deepEqual(await publishedBy(() => stated(queued)), [{ category: 'archive', type: 'dataset', ...whole, ...ann.as, size: 7 }])
})

test.serial('events during an outage of the sink are sent afterwards', async t => {
  const ann = await person('ann')
  const dataset = await newDataset(ann)
  await server.drained()
  absences = 2
  const records = await publishedBy(() => upload(ann.call, dataset, 'late', 'late.txt'))
  t.is(absences, 0)
  t.like(records, [{ category: 'upload', resource_name: 'late.txt' }])
})

test('without a sink an untracked download writes nothing', async t => {
  const other = await bootForTest({ t, plugins: [...recordPlugins, 'resources.event-sink'] })
  const ann = await somebody(other, 'ann')
  const file = await upload(ann.call, await newDataset(ann))
  await other.drained()
  const before = await other.get(Files).get(file)
  await get(ann, `/api/files/${file}?tracking=false`)
  t.is((await other.get(Files).get(file))?.revision, before?.revision)
})
