import test from 'ava'
import { DocumentStore, event, Files } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { bulkChunks, bulkJobs } from '../../plugins/resources/bulk/collections.ts'
import { callsOf } from '../support/calls.ts'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, newFolder, ok, refusal, upload } from '../support/scene.ts'
import { letIn, newSpace, somebody } from '../support/spaces-and-people.ts'

let server: TestServer
let ann: Person
let bob: Person

test.before(async () => {
  server = await bootForTest({ config: { access: { private: true } } })
  ann = await newPerson(server, 'ann')
  bob = await newPerson(server, 'bob')
})
test.after.always(() => server?.stop())

interface Job {
  readonly id: string
  readonly state: string
  readonly done: number
  readonly failed: number
}

const started = ({ call }: Person, json: object): Promise<Job> =>
  ok<Job>(call('/api/bulk', { method: 'POST', json: { act: 'copy', ...json } }))
const ended = async (person: Person, json: object): Promise<Job> => {
  const { id } = await started(person, json)
  await server.drained()
  return ok<Job>(person.call(`/api/bulk/${id}`))
}
const codeOf = async (person: Person, { id }: Job): Promise<string | undefined> =>
  (await ok<{ code?: string }[]>(person.call(`/api/bulk/${id}/outcomes`)))[0]?.code
const files = (...ids: readonly string[]) => ids.map(id => ({ type: 'file', id }))

interface Listed {
  readonly id: string
  readonly filename: string
  readonly folders?: { readonly name: string }
}
const listed = ({ call }: Person, dataset: string): Promise<readonly Listed[]> => ok(call(`/api/datasets/${dataset}/files`))
const pathsIn = async (person: Person, dataset: string): Promise<readonly string[]> => {
  const found = await Promise.all(
    (await listed(person, dataset)).map(async ({ id, filename }) => {
      const { path } = await ok<{ path: string }>(person.call(`/api/files/${id}/metadata`))
      return `${path === '/' ? '' : path}/${filename}`
    }),
  )
  return found.toSorted()
}
const foldersIn = async ({ call }: Person, dataset: string): Promise<readonly string[]> =>
  (await ok<{ name: string }[]>(call(`/api/datasets/${dataset}/folders`))).map(({ name }) => name).toSorted()

test('a copy has the bytes, names, tags and extractor metadata, belongs to the caller and outlives the original', async t => {
  const [from, to] = [await newDataset(ann.call), await newDataset(ann.call)]
  const goal = await newFolder(ann.call, to, 'goal')
  const file = await upload(ann.call, from, 'green leaves', 'oak.txt', { type: 'text/plain' })
  await ok(ann.call(`/api/files/${file}/tags`, { method: 'POST', json: { tags: ['tree'] } }))
  await ok(ann.call(`/api/files/${file}/updateDescription`, { method: 'PUT', json: { description: 'of 2018' } }))
  for (const kind of ['cat:extractor', 'cat:user'] as const) {
    const about = kind === 'cat:user' ? { user_id: `http://any/api/users/${ann.id}` } : { extractor_id: 'https://any/extractors/x/1.0' }
    const json = { '@context': [{ k: 'http://k' }], agent: { '@type': kind, name: 'x', ...about }, content: { k: kind } }
    await ok(ann.call(`/api/files/${file}/metadata.jsonld`, { method: 'POST', json }))
  }
  t.like(await ended(ann, { to: { dataset: to, folder: goal }, resources: files(file) }), { state: 'finished', done: 1, failed: 0 })
  t.deepEqual(await pathsIn(ann, from), ['/oak.txt'])
  t.deepEqual(await pathsIn(ann, to), ['/goal/oak.txt'])
  const [copy] = await listed(ann, to)
  t.not(copy?.id, file)
  const path = `/api/files/${copy?.id}`
  t.like(await ok(ann.call(`${path}/metadata?view=full`)), {
    description: 'of 2018',
    author: { id: ann.id },
    contentType: 'text/plain',
    status: 'PROCESSED',
  })
  t.like(await ok(ann.call(`${path}/tags`)), { tags: ['tree'] })
  const documents = await ok<{ content: unknown }[]>(ann.call(`${path}/metadata.jsonld`))
  t.deepEqual(
    documents.map(({ content }) => content),
    [{ k: 'cat:extractor' }],
  )
  await ok(ann.call(`/api/files/${file}`, { method: 'DELETE' }))
  await server.drained()
  t.is(await (await ann.call(path)).text(), 'green leaves')
  t.like(await ok(ann.call(`/api/search?query=oak&resource_type=file`)), { results: [{ id: copy?.id }] })
})

test('a folder is copied with all folders and files below it, empty ones included', async t => {
  const [from, to] = [await newDataset(ann.call), await newDataset(ann.call)]
  const raw = await newFolder(ann.call, from, 'raw')
  const deep = await newFolder(ann.call, from, 'deep', raw)
  await newFolder(ann.call, from, 'empty', deep)
  await newFolder(ann.call, from, 'other')
  const put = (name: string, folder: string) => upload(ann.call, from, name, name, { query: `extract=false&folder_id=${folder}` })
  await put('one.txt', raw)
  await put('two.txt', deep)
  await upload(ann.call, from, 'x', 'root.txt')
  t.like(await ended(ann, { to: { dataset: to }, select: { dataset: from, folder: raw, recursive: true } }), { done: 4, failed: 0 })
  t.deepEqual(await pathsIn(ann, to), ['/deep/two.txt', '/one.txt'])
  t.deepEqual(await foldersIn(ann, to), ['/deep', '/deep/empty'])
  // A dataset into one of its own folders: the copies are not copied again.
  t.like(await ended(ann, { to: { dataset: from, folder: deep }, select: { dataset: from, recursive: true } }), { failed: 0 })
  t.is((await listed(ann, from)).length, 6)
  t.true((await foldersIn(ann, from)).includes('/raw/deep/raw/deep/empty'))
  // With a filter and without recursion, no subfolders are copied.
  const flat = await newDataset(ann.call)
  t.like(await ended(ann, { to: { dataset: flat }, select: { dataset: from, folder: raw, filter: 'ONE' } }), { done: 1 })
  t.deepEqual(await pathsIn(ann, flat), ['/one.txt'])
})

test('copying requires permission to download the source and to add to the target', async t => {
  const [ann, bob, eve] = [await somebody(server, 'ann2'), await somebody(server, 'bob2'), await somebody(server, 'eve2')]
  const [source, target] = [await newSpace(ann), await newSpace(ann)]
  const [from, to] = [await newDataset(ann.call, { space: source }), await newDataset(ann.call, { space: target })]
  const file = await upload(ann.call, from, 'secret', 'secret.txt')
  const own = await newDataset(bob.call)
  const copy = async (person: typeof bob, dataset: string, folder?: string) => {
    const job = await ended(person as unknown as Person, { to: { dataset, ...(folder ? { folder } : {}) }, resources: files(file) })
    return job.failed === 0 ? 'done' : await codeOf(person as unknown as Person, job)
  }
  t.is(await copy(bob, own), 'not-found', 'a caller who may not view the file')
  await letIn(ann, source, 'Viewer', bob)
  t.is(await copy(bob, own), 'forbidden', 'a viewer who may not download')
  await ok(
    ann.call(`/api/files/${file}/license`, {
      method: 'POST',
      json: { licenseType: 'license2', rightsHolder: '', licenseText: '', licenseUrl: '', allowDownload: 'true' },
    }),
  )
  t.is(await copy(bob, own), 'done', 'a license that lets everyone download')
  t.is(await copy(bob, to), 'not-found', 'a target that the caller may not view')
  await letIn(ann, target, 'Viewer', bob)
  t.is(await copy(bob, to), 'forbidden', 'a target that the caller may only view')
  await letIn(ann, target, 'Editor', bob)
  t.is(await copy(bob, to), 'done')
  t.is(await copy(bob, to, await newFolder(bob.call, own, 'elsewhere')), 'not-found', 'a folder of another dataset')
  t.is(await copy(eve, own), 'not-found')
  const { status } = await callsOf(server.as()).post('/api/bulk', { act: 'copy', to: { dataset: to }, resources: files(file) })
  t.is(status, 401)
  await ok(ann.call(`/api/datasets/${to}`, { method: 'DELETE' }))
  t.is(await copy(ann, to), 'in-trash', 'a target in the trash')
})

test('nothing is copied from the trash, named or selected', async t => {
  const [from, to] = [await newDataset(ann.call), await newDataset(ann.call)]
  const folder = await newFolder(ann.call, from, 'a')
  const file = await upload(ann.call, from, 'x', 'x.txt')
  await upload(ann.call, from, 'y', 'y.txt', { query: `extract=false&folder_id=${folder}` })
  await ok(ann.call(`/api/datasets/${from}`, { method: 'DELETE' }))
  for (const which of [{ resources: files(file) }, { select: { dataset: from, recursive: true } }]) {
    const job = await ended(ann, { to: { dataset: to }, ...which })
    t.like(job, { state: 'finished', done: 0 })
    const outcomes = await ok<{ code?: string }[]>(ann.call(`/api/bulk/${job.id}/outcomes`))
    t.deepEqual([...new Set(outcomes.map(({ code }) => code))], ['in-trash'])
  }
  t.deepEqual([await pathsIn(ann, to), await foldersIn(ann, to)], [[], []])
})

test('an invalid request is refused at once', async t => {
  const dataset = await newDataset(bob.call)
  const folder = await newFolder(bob.call, dataset, 'a')
  const start = (json: object) => refusal(bob.call('/api/bulk', { method: 'POST', json: { act: 'copy', ...json } }))
  t.like(await start({ resources: files(folder) }), { status: 400, code: 'invalid' })
  t.like(await start({ to: { dataset }, resources: [{ type: 'folder', id: folder }] }), { status: 400, code: 'invalid' })
  t.like(await start({ to: { dataset }, resources: [{ type: 'dataset', id: dataset }] }), { status: 400, code: 'invalid' })
})

test('a repeated step creates no second copy and counts nothing twice', async t => {
  const [from, to] = [await newDataset(ann.call), await newDataset(ann.call)]
  const ids = await Promise.all(
    Array.from({ length: 5 }, (_, n) => upload(ann.call, from, `${n}`, `f${n}.txt`, { query: 'extract=false' })),
  )
  await server.drained()
  const job = await ended(ann, { to: { dataset: to }, resources: files(...ids) })
  const made = (await listed(ann, to)).map(({ id }) => id).toSorted()
  t.is(made.length, 5)
  // The state after a kill: the outcomes of the step were not committed.
  const documents = server.get(DocumentStore)
  const items = ids.map(id => ({ type: 'file' as const, id, state: 'waiting' as const }))
  await documents.commit({ update: `${job.id}-0`, in: bulkChunks, set: { items, isDone: false } })
  await documents.commit(
    { update: job.id, in: bulkJobs, set: { state: 'running', next: 0, done: 0, failed: 0, ended: null, expires: null } },
    [event('bulk.advanced', { kind: 'user', id: ann.id }, { job: job.id }, ann.id)],
  )
  await server.drained()
  t.like(await ok(ann.call(`/api/bulk/${job.id}`)), { state: 'finished', done: 5, failed: 0 })
  t.deepEqual((await listed(ann, to)).map(({ id }) => id).toSorted(), made)
  t.like(await ok(ann.call(`/api/datasets/${to}?view=full`)), { counts: { files: 5 } })
  t.truthy(await server.get(Files).get(made[0] ?? ''))
})

test('a cancelled job copies no more files', async t => {
  const [from, to] = [await newDataset(ann.call), await newDataset(ann.call)]
  const ids = await Promise.all(
    Array.from({ length: 120 }, (_, n) => upload(ann.call, from, `${n}`, `f${n}.txt`, { query: 'extract=false' })),
  )
  const { id } = await started(ann, { to: { dataset: to }, resources: files(...ids) })
  await ok(ann.call(`/api/bulk/${id}`, { method: 'DELETE' }))
  await server.drained()
  const { state, done } = await ok<Job>(ann.call(`/api/bulk/${id}`))
  t.true(state === 'cancelled' || done === 120)
  t.true((await listed(ann, to)).length <= 120)
})
