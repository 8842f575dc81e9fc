import test from 'ava'
import { DocumentStore, event, Users } from 'pounce/sdk'
import { bootForTest, FixedClock, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { BulkJobs } from '../../plugins/resources/bulk/bulk-jobs.ts'
import { bulkChunks, bulkJobs } from '../../plugins/resources/bulk/collections.ts'
import { extractorInfo } from '../support/extractor-info.ts'
import { FakeBus } from '../support/fake-bus.ts'
import { listen } from '../support/live-events.ts'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, newFolder, ok, refusal, unknownId, upload } from '../support/scene.ts'

let server: TestServer
let ann: Person
let bob: Person
const bus = new FakeBus()

test.before(async () => {
  server = await bootForTest({ also: [bus.plugin], config: { access: { private: true } } })
  ann = await newPerson(server, 'ann')
  bob = await newPerson(server, 'bob')
  await bus.introduce(extractorInfo('e.any', {}))
})
test.after.always(() => server?.stop())

interface Job {
  readonly id: string
  readonly act: string
  readonly state: string
  readonly total: number | null
  readonly done: number
  readonly failed: number
  readonly ended: string | null
  readonly message?: string
}
interface Outcome {
  readonly type: string
  readonly id: string
  readonly state: string
  readonly code?: string
  readonly message?: string
}

const start = (json: object, call: TestFetch = ann.call): Promise<Response> => call('/api/bulk', { method: 'POST', json })

/** Starts a job; resolves to it once it has ended. */
const ended = async (json: object, { call }: Person = ann): Promise<Job> => {
  const { id } = await ok<Job>(start(json, call))
  await server.drained()
  return ok<Job>(call(`/api/bulk/${id}`))
}

const outcomesOf = ({ id }: Job, query = '', { call }: Person = ann): Promise<Outcome[]> => ok(call(`/api/bulk/${id}/outcomes${query}`))

const files = (ids: readonly string[]) => ids.map(id => ({ type: 'file', id }))

const several = (dataset: string, count: number, query = 'extract=false'): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => upload(ann.call, dataset, `${n}`, `f${n}.txt`, { query })))

const namesIn = async (dataset: string): Promise<readonly string[]> =>
  (await ok<{ filename: string }[]>(ann.call(`/api/datasets/${dataset}/files`))).map(({ filename }) => filename).toSorted()

const tagsOf = async (kind: string, id: string): Promise<readonly string[]> =>
  (await ok<{ tags: string[] }>(ann.call(`/api/${kind}/${id}/tags`))).tags

test('files are deleted with an outcome each; those the caller may not delete are kept', async t => {
  const dataset = await newDataset(ann.call)
  const ids = await several(dataset, 230)
  const foreign = await upload(bob.call, await newDataset(bob.call))
  const answer = await start({ act: 'delete', resources: [...files([...ids, foreign, unknownId]), ...files(ids.slice(0, 3))] })
  t.is(answer.status, 202)
  const begun = (await answer.json()) as Job
  t.is(answer.headers.get('location'), `/api/bulk/${begun.id}`)
  t.like(begun, { act: 'delete', total: 232, ended: null })
  await server.drained()
  const job = await ok<Job>(ann.call(`/api/bulk/${begun.id}`))
  t.like(job, { state: 'finished', total: 232, done: 230, failed: 2 })
  t.truthy(job.ended)
  t.deepEqual(await namesIn(dataset), [])
  t.is((await bob.call(`/api/files/${foreign}/metadata`)).status, 200)
  const outcomes = await outcomesOf(job)
  t.deepEqual(
    outcomes.map(({ id }) => id),
    [...ids, foreign, unknownId],
  )
  const failed = await outcomesOf(job, '?state=failed')
  t.deepEqual(
    failed.map(({ id, code }) => [id, code]),
    [
      [foreign, 'not-found'],
      [unknownId, 'not-found'],
    ],
  )
})

test('outcomes are paged', async t => {
  const dataset = await newDataset(ann.call)
  const job = await ended({ act: 'tag', tags: ['a'], resources: files(await several(dataset, 130)) })
  const seen: Outcome[] = []
  let path: string | undefined = `/api/bulk/${job.id}/outcomes?limit=50`
  let pages = 0
  while (path) {
    const answer: Response = await ann.call(path)
    seen.push(...((await answer.json()) as Outcome[]))
    const link = /<([^>]+)>/.exec(answer.headers.get('link') ?? '')?.[1]
    path = link && `${new URL(link).pathname}${new URL(link).search}`
    pages += 1
  }
  t.deepEqual([seen.length, new Set(seen.map(({ id }) => id)).size, pages], [130, 130, 3])
  t.is((await ann.call(`/api/bulk/${job.id}/outcomes?after=nonsense`)).status, 400)
})

test('a selection contains all matching files of a folder except the excluded ones', async t => {
  const dataset = await newDataset(ann.call)
  const folder = await newFolder(ann.call, dataset, 'a')
  const below = await newFolder(ann.call, dataset, 'b', folder)
  await upload(ann.call, dataset, 'x', 'root.csv')
  const put = (name: string, at: string) => upload(ann.call, dataset, 'x', name, { query: `extract=false&folder_id=${at}` })
  const [one, , three, four] = [
    await put('One.CSV', folder),
    await put('two.txt', folder),
    await put('three.csv', folder),
    await put('four.csv', below),
  ]
  const flat = await ended({ act: 'tag', tags: ['flat'], select: { dataset, folder, filter: '.csv', except: [three] } })
  t.like(flat, { state: 'finished', total: 1, done: 1 })
  t.deepEqual(await tagsOf('files', one), ['flat'])
  const deep = await ended({ act: 'tag', tags: ['deep'], select: { dataset, folder, recursive: true, filter: '.csv' } })
  t.deepEqual((await outcomesOf(deep)).map(({ id }) => id).toSorted(), [one, three, four].toSorted())
  t.like(await ended({ act: 'delete', select: { dataset, filter: 'nothing' } }), { state: 'finished', total: 0, done: 0 })
  t.like(await ended({ act: 'delete', select: { dataset, recursive: true } }), { state: 'finished', total: 5, done: 5 })
  t.deepEqual(await namesIn(dataset), [])
})

test('files and folders are moved', async t => {
  const [dataset, other] = [await newDataset(ann.call), await newDataset(ann.call)]
  const ids = await several(dataset, 5)
  const goal = await newFolder(ann.call, dataset, 'goal')
  const moving = await newFolder(ann.call, dataset, 'moving')
  const resources = [...files(ids), { type: 'folder', id: moving }]
  t.like(await ended({ act: 'move', to: { dataset, folder: goal }, resources }), { done: 6, failed: 0 })
  t.like(await ended({ act: 'move', to: { dataset, folder: goal }, resources }), { done: 6, failed: 0 })
  t.like(await ok(ann.call(`/api/files/${ids[0]}/metadata`)), { path: '/goal' })
  t.like(await ended({ act: 'move', to: { dataset: other }, select: { dataset, folder: goal } }), { done: 5, failed: 0 })
  t.deepEqual([(await namesIn(dataset)).length, (await namesIn(other)).length], [0, 5])
  t.like(await ended({ act: 'move', to: { dataset: await newDataset(bob.call) }, select: { dataset: other } }), { done: 0, failed: 5 })
  t.like(await ended({ act: 'move', to: { dataset: moving, folder: moving }, resources: [{ type: 'folder', id: moving }] }), { failed: 1 })
})

test('files and datasets are tagged, untagged, described, licensed and submitted', async t => {
  const dataset = await newDataset(ann.call)
  const [file = ''] = await several(dataset, 1)
  const resources = [...files([file]), { type: 'dataset', id: dataset }]
  t.like(await ended({ act: 'tag', tags: ['a', 'b'], resources }), { done: 2 })
  t.like(await ended({ act: 'untag', tags: ['a'], resources }), { done: 2 })
  t.deepEqual([await tagsOf('files', file), await tagsOf('datasets', dataset)], [['b'], ['b']])

  // A `tag` is undone: what ann tagged before, and what bob tagged, stays.
  await server.as(server.admin.key)(`/api/files/${file}/tags?superAdmin=true`, { method: 'POST', json: { tags: ['c'] } })
  const { time: addedSince } = await ok<{ time: string }>(ann.call('/api/session'))
  t.like(await ended({ act: 'tag', tags: ['b', 'c', 'd'], resources }), { done: 2 })
  t.like(await ended({ act: 'untag', tags: ['b', 'c', 'd'], addedSince, resources }), { done: 2 })
  t.deepEqual([await tagsOf('files', file), await tagsOf('datasets', dataset)], [['b', 'c'], ['b']])
  t.is((await start({ act: 'untag', tags: ['b'], addedSince: 'yesterday', resources })).status, 400)

  t.like(await ended({ act: 'describe', description: 'words', resources }), { done: 2 })
  t.like(await ok(ann.call(`/api/files/${file}/metadata`)), { filedescription: 'words' })
  t.like(await ok(ann.call(`/api/datasets/${dataset}`)), { description: 'words' })
  const license = { licenseType: 'license2', rightsHolder: 'ann', licenseText: 'by', licenseUrl: '', allowDownload: true }
  t.like(await ended({ act: 'license', license, resources }), { done: 2 })
  const before = bus.jobs.length
  t.like(await ended({ act: 'submit', extractor: 'e.any', parameters: { n: 1 }, resources }), { done: 2 })
  t.deepEqual(
    bus.jobs
      .slice(before)
      .map(({ target }) => target.id)
      .toSorted(),
    [file, dataset].toSorted(),
  )
  t.like(await ended({ act: 'submit', extractor: 'unknown', resources }), { done: 0, failed: 2 })
})

test('datasets are moved to the trash; those already there are not purged', async t => {
  const ids = [await newDataset(ann.call), await newDataset(ann.call)]
  const resources = ids.map(id => ({ type: 'dataset', id }))
  t.like(await ended({ act: 'delete', resources }), { done: 2 })
  t.like(await ended({ act: 'delete', resources }), { done: 0, failed: 2 })
  const trash = await ok<{ id: string }[]>(ann.call('/api/datasets/listTrash?limit=100'))
  for (const id of ids) t.true(trash.some(one => one.id === id))
})

test('a job is visible only to its creator', async t => {
  const dataset = await newDataset(ann.call)
  const job = await ended({ act: 'tag', tags: ['a'], resources: [{ type: 'dataset', id: dataset }] })
  t.true((await ok<Job[]>(ann.call('/api/bulk'))).some(({ id }) => id === job.id))
  for (const path of [`/api/bulk/${job.id}`, `/api/bulk/${job.id}/outcomes`]) {
    t.is((await bob.call(path)).status, 404)
    t.is((await server.as()(path)).status, 401)
  }
  t.deepEqual(await ok(bob.call('/api/bulk?limit=1')), [])
  t.is((await ann.call(`/api/bulk/${unknownId}`)).status, 404)
  t.is((await start({ act: 'delete', select: { dataset } }, server.as())).status, 401)
})

test('a request that cannot be executed is refused and changes nothing', async t => {
  const dataset = await newDataset(ann.call)
  const [file = ''] = await several(dataset, 1)
  const resources = files([file])
  const refusals: readonly (readonly [object, number, RegExp])[] = [
    [{ act: 'burn', resources }, 400, /act/],
    [{ act: 'delete' }, 400, /either resources or select/],
    [{ act: 'delete', resources, select: { dataset } }, 400, /either resources or select/],
    [{ act: 'delete', resources: [] }, 400, /resources/],
    [{ act: 'delete', resources: Array.from({ length: 10_001 }, () => ({ type: 'file', id: file })) }, 400, /resources/],
    [{ act: 'move', resources }, 400, /to is missing/],
    [{ act: 'tag', resources }, 400, /tags is missing/],
    [{ act: 'describe', resources }, 400, /description is missing/],
    [{ act: 'license', resources }, 400, /license is missing/],
    [{ act: 'submit', resources }, 400, /extractor is missing/],
    [
      { act: 'move', to: { dataset }, resources: [{ type: 'dataset', id: dataset }] },
      400,
      /move is not possible for resources of the type dataset/,
    ],
    [{ act: 'delete', select: { dataset: unknownId } }, 404, /./],
    [{ act: 'delete', select: { dataset: await newDataset(bob.call) } }, 404, /./],
    [{ act: 'delete', select: { dataset, folder: unknownId } }, 404, /./],
  ]
  for (const [json, status, says] of refusals) {
    const refused = await refusal(start(json))
    t.is(refused.status, status, refused.message)
    t.regex(refused.message, says)
  }
  await server.drained()
  t.deepEqual(await namesIn(dataset), ['f0.txt'])
})

test('rights are checked on execution: a job of an account suspended meanwhile changes nothing', async t => {
  const cay = await newPerson(server, 'cay')
  const file = await upload(cay.call, await newDataset(cay.call))
  const users = server.get(Users)
  const user = await users.get(cay.id)
  if (!user) throw new Error('no account')
  const caller = await users.callerOf(user)
  await users.change(cay.id, { set: { status: 'Inactive' } }, [])
  const { id } = await server.get(BulkJobs).create(caller, { act: 'delete', parameters: {}, of: [{ kind: 'file', id: file }] })
  await server.drained()
  await users.change(cay.id, { set: { status: 'Active' } }, [])
  t.like(await ok(cay.call(`/api/bulk/${id}`)), { state: 'finished', done: 0, failed: 1 })
  t.like(await outcomesOf({ id } as Job, '', cay), [{ code: 'not-signed-in' }])
  t.is((await cay.call(`/api/files/${file}/metadata`)).status, 200)
})

test('ended jobs and their outcomes are deleted after a week', async t => {
  const clock = new FixedClock(new Date().toISOString())
  const later = await bootForTest({ t, clock })
  const call = later.as(later.admin.key)
  const dataset = await newDataset(call)
  const { id } = await ok<Job>(start({ act: 'tag', tags: ['a'], resources: [{ type: 'dataset', id: dataset }] }, call))
  await later.drained()
  await later.runPeriodic('resources.bulk/forget')
  t.is((await call(`/api/bulk/${id}`)).status, 200)
  clock.advance(8 * 24 * 60 * 60 * 1000)
  await later.runPeriodic('resources.bulk/forget')
  t.is((await call(`/api/bulk/${id}`)).status, 404)
  const left = later.get(DocumentStore).walk(bulkChunks)
  for await (const chunk of left) t.fail(chunk.id)
})

test('the live stream reports the progress of a job only to its creator', async t => {
  const dataset = await newDataset(ann.call)
  const [own, other] = [await listen(server.url, ann.key), await listen(server.url, bob.key)]
  const job = await ended({ act: 'tag', tags: ['live'], resources: files(await several(dataset, 120)) })
  const finished = await own.first('the end of the job', ({ type, data }) => type === 'bulk.finished' && data['id'] === job.id)
  t.like(finished.data, { done: 120, total: 120, unit: 'resources', message: 'tag' })
  t.false(other.events.some(({ type }) => type.startsWith('bulk.')))
  for (const stream of [own, other]) stream.close()
})

test('cancelling a job skips the remaining resources; only its creator can cancel it', async t => {
  const dataset = await newDataset(ann.call)
  const ids = await several(dataset, 150)
  const { id } = await ok<Job>(start({ act: 'tag', tags: ['late'], resources: files(ids) }))
  const cancel = (call: TestFetch, job = id) => call(`/api/bulk/${job}`, { method: 'DELETE' })
  t.is((await cancel(bob.call)).status, 404)
  t.is((await cancel(ann.call, unknownId)).status, 404)
  const answer = await ok<Job>(cancel(ann.call))
  t.truthy(answer.ended)
  await server.drained()
  const job = await ok<Job>(ann.call(`/api/bulk/${id}`))
  const outcomes = await outcomesOf(job)
  const tagged = outcomes.filter(({ state }) => state === 'done')
  t.is(outcomes.length, 150)
  t.is(job.done, tagged.length)
  if (job.state === 'cancelled') t.true(tagged.length < 150)
  for (const one of outcomes.slice(-3)) t.deepEqual(await tagsOf('files', one.id), one.state === 'done' ? ['late'] : [])
  t.like(await ok<Job>(cancel(ann.call)), { state: job.state, done: job.done })
})

test('a cancelled job processes no further chunks', async t => {
  const dataset = await newDataset(ann.call)
  const ids = await several(dataset, 3)
  const { id } = await ok<Job>(start({ act: 'tag', tags: ['x'], resources: files(ids) }))
  await server.drained()
  const documents = server.get(DocumentStore)
  const chunk = {
    job: id,
    number: 1,
    items: ids.map(file => ({ type: 'file' as const, id: file, state: 'waiting' as const })),
    begun: 0,
    isDone: false,
  } as const
  await documents.commit({ insert: { id: `${id}-1`, ...chunk }, into: bulkChunks })
  await documents.commit({ update: id, in: bulkJobs, set: { state: 'cancelled', ended: null } }, [
    event('bulk.advanced', { kind: 'user', id: ann.id }, { job: id }, ann.id),
  ])
  await server.drained()
  t.like(await ok<Job>(ann.call(`/api/bulk/${id}`)), { state: 'cancelled', done: 3 })
  t.like(await documents.get(bulkChunks, `${id}-1`), { begun: 0, isDone: false })
})
