import test from 'ava'
import { Keys } from 'pounce/sdk'
import type { Job } from 'pounce/sdk/kit'
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

/** Each processes different events; all are enabled. */
const extractors: Readonly<Record<string, object>> = {
  'e.metadata': { metadata: ['added.*', 'removed.*'] },
  'e.echo': { metadata: ['added.file'] },
  'e.files': { dataset: ['files.added'] },
}

test.before(async () => {
  server = await bootForTest({ also: [bus.plugin] })
  admin = server.as(server.admin.key)
  ann = await newPerson(server, 'ann')
  bob = await newPerson(server, 'bob')
  for (const [name, process] of Object.entries(extractors)) await bus.introduce(extractorInfo(name, { process }))
  await ok(admin('/api/extractors/enabled', { method: 'POST', json: { enabled: Object.keys(extractors) } }))
})
test.after.always(() => server?.stop())

const annotate = (kind: string, id: string, content: object, extractor = 'someone') => {
  const agent = { '@type': 'cat:extractor', name: extractor, extractor_id: `https://example.org/extractors/${extractor}/1.0` }
  return ok(ann.call(`/api/${kind}/${id}/metadata.jsonld`, { method: 'POST', json: { '@context': [], agent, content } }))
}

/** The jobs published during `work`. */
const during = async (work: () => Promise<unknown>): Promise<readonly Job[]> => {
  const before = bus.jobs.length
  await work()
  await server.drained()
  return bus.jobs.slice(before)
}
const briefly = (jobs: readonly Job[]): string[] => jobs.map(({ queue, message }) => `${queue} ${message['routing_key']}`).sort()

test.serial('metadata on a file is sent once per dataset that holds it, with its content', async t => {
  const [dataset, other] = [await newDataset(ann.call), await newDataset(ann.call)]
  const file = await upload(ann.call, dataset, 'x')
  await ok(ann.call(`/api/datasets/${other}/files/${file}`, { method: 'POST', json: {} }))
  const jobs = await during(() => annotate('files', file, { width: 3 }))
  t.deepEqual(
    briefly(jobs),
    ['e.echo', 'e.echo', 'e.metadata', 'e.metadata'].map(name => `${name} clowder.metadata.added.file`),
  )
  t.is(new Set(jobs.map(({ id }) => id)).size, 4)
  const [job] = jobs
  t.deepEqual([job?.target, job?.user], [{ kind: 'file', id: file }, ann.id])
  const { host: _host, source, ...message } = job!.message
  t.deepEqual(message, {
    ...{ msgid: job!.id, jobid: job!.id, id: file, intermediateId: file, datasetId: '', fileSize: '0', flags: '', notifies: [ann.email] },
    ...{ routing_key: 'clowder.metadata.added.file', activity: 'added', resourceType: 'file', resourceId: file, metadata: { width: 3 } },
    target: { id: { resourceType: "'file", id: file }, extra: {} },
  })
  t.like(source, { id: { resourceType: "'metadata" }, extra: {} })
})

test.serial('removed metadata is sent without its content, also when the file is deleted', async t => {
  const dataset = await newDataset(ann.call)
  const file = await upload(ann.call, dataset, 'x')
  await during(() => annotate('files', file, { width: 3 }))
  const [job, ...more] = await during(() => ok(ann.call(`/api/files/${file}/metadata.jsonld`, { method: 'DELETE' })))
  t.deepEqual(more, [])
  t.like(job?.message, { routing_key: 'clowder.metadata.removed.file', activity: 'removed', resourceType: 'file', resourceId: file })
  t.false('metadata' in job!.message)
  await during(() => annotate('files', file, { width: 4 }))
  const last = await during(() => ok(ann.call(`/api/files/${file}`, { method: 'DELETE' })))
  t.deepEqual(briefly(last), ['e.metadata clowder.metadata.removed.file'])
})

test.serial('metadata on a dataset is sent with the id of the dataset', async t => {
  const dataset = await newDataset(ann.call)
  const [job, ...more] = await during(() => annotate('datasets', dataset, { a: 1 }))
  t.deepEqual(more, [])
  t.deepEqual(job?.target, { kind: 'dataset', id: dataset })
  t.like(job?.message, { routing_key: 'clowder.metadata.added.dataset', datasetId: dataset, id: dataset, resourceType: 'dataset' })
})

test.serial('metadata on a file in no dataset is not sent', async t => {
  const form = new FormData()
  form.append('File', new Blob(['x']), 'alone.txt')
  const { id } = await ok<{ id: string }>(ann.call('/api/files', { method: 'POST', body: form }))
  t.deepEqual(await during(() => annotate('files', id, { a: 1 })), [])
})

test.serial('an extractor is not triggered by its own metadata, nor by metadata that another one derives from it', async t => {
  const dataset = await newDataset(ann.call)
  const file = await upload(ann.call, dataset, 'x')
  const first = await during(() => annotate('files', file, { a: 1 }, 'e.echo'))
  t.deepEqual(briefly(first), ['e.metadata clowder.metadata.added.file'])
  const second = await during(() => annotate('files', file, { a: 2 }, 'e.metadata'))
  t.deepEqual(briefly(second), [])
  const other = await upload(ann.call, dataset, 'x')
  t.deepEqual(briefly(await during(() => annotate('files', other, { a: 3 }, 'e.metadata'))), ['e.echo clowder.metadata.added.file'])
})

test.serial('an extractor is not triggered by what its job adds, whoever its metadata names as author', async t => {
  const named = (agent: object) => ({ '@context': [], agent, content: { a: 1 } })
  const by = (extractor_id: string) => named({ '@type': 'cat:extractor', name: 'x', extractor_id })
  const user = named({ '@type': 'cat:user', user_id: `${server.url}/api/users/${ann.id}` })
  const answers: readonly (readonly [path: string, json: object])[] = [
    ['metadata', { a: 1 }],
    ['metadata.jsonld', user],
    ['metadata.jsonld', by('http://tools.example/mytool')],
    ['metadata.jsonld', by('http://h.example/extractors/dm/extractors/e.metadata/1.0')],
  ]
  const dataset = await newDataset(ann.call)
  for (const [kind, id] of [
    ['datasets', dataset],
    ['files', await upload(ann.call, dataset, 'x')],
  ] as const)
    for (const [path, json] of answers) {
      const jobs = await during(() => annotate(kind, id, { a: 0 }))
      const job = jobs.find(({ queue }) => queue === 'e.metadata')!
      const key = await server.get(Keys).jobKey(job)
      const next = await during(() => ok(server.as(key)(`/api/${kind}/${id}/${path}`, { method: 'POST', json })))
      t.deepEqual([...new Set(next.map(({ queue }) => queue))], kind === 'files' ? ['e.echo'] : [], `${kind} ${JSON.stringify(json)}`)
      // What another extractor derives from it does not trigger it either.
      for (const each of next) {
        const call = server.as(await server.get(Keys).jobKey(each))
        t.deepEqual(await during(() => ok(call(`/api/${kind}/${id}/${path}`, { method: 'POST', json }))), [])
      }
    }
})

test.serial('several files uploaded together make one message, with their names formatted as a Scala List', async t => {
  const dataset = await newDataset(ann.call)
  const files = [await upload(ann.call, dataset, 'abc', 'a.csv'), await upload(ann.call, dataset, 'de', 'b.csv')]
  const elsewhere = await upload(ann.call, await newDataset(ann.call), 'x')
  const path = `/api/datasets/${dataset}/filesetUploadEvent`
  const query = [...files, elsewhere, unknownId, 'nonsense'].map(id => `fileids=${id}`).join('&')
  const post = (at: string, call = ann.call) => call(at, { method: 'POST' })
  const [job, ...more] = await during(async () => t.is(await ok(post(`${path}?${query}`)), 'added new event'))
  t.deepEqual(more, [])
  t.like(job?.message, {
    id: dataset,
    datasetId: dataset,
    fileSize: '5',
    routing_key: 'clowder.dataset.files.added',
    activity: 'added',
    target: '{}',
  })
  t.is(job?.message['filenames'], 'List(a.csv, b.csv)')
  t.false('filename' in job!.message)
  t.deepEqual(job?.message['source'], { id: { resourceType: "'dataset", id: dataset }, extra: { filenames: ['a.csv', 'b.csv'] } })
  t.deepEqual(await during(async () => t.is(await ok(post(path)), 'added new event')), [])
  t.like(await refusal(post(path, bob.call)), { status: 403 })
  t.like(await refusal(post(path.replace(dataset, unknownId))), { status: 404 })
})

test.serial('metadata is sent whichever route added it; metadata on collections and spaces is not sent', async t => {
  const dataset = await newDataset(ann.call)
  const [one, two] = [await upload(ann.call, dataset, 'x'), await upload(ann.call, dataset, 'y')]
  const post = (path: string, json: object) => ok<{ id: string }>(ann.call(path, { method: 'POST', json }))
  const agent = { '@type': 'cat:extractor', name: 'someone', extractor_id: 'https://example.org/extractors/someone/1.0' }
  const received = ['e.echo clowder.metadata.added.file', 'e.metadata clowder.metadata.added.file']
  t.deepEqual(briefly(await during(() => post(`/api/files/${one}/metadata`, { a: 1 }))), received)
  const own = during(() => post('/api/metadata.jsonld', { file_id: one, content: { a: 2 } }))
  t.deepEqual(briefly(await own), received)
  const many = await during(() => post('/api/files/metadata.jsonld', { files: [one, two], metadata: { agent, content: { a: 3 } } }))
  t.deepEqual(briefly(many), [...received, ...received].sort())
  t.deepEqual([...new Set(many.map(({ target }) => target.id))].sort(), [one, two].sort())
  t.deepEqual(briefly(await during(() => post(`/api/datasets/${dataset}/metadata`, { a: 4 }))), [
    'e.metadata clowder.metadata.added.dataset',
  ])
  const [{ id }] = await ok<[{ id: string }]>(ann.call(`/api/files/${two}/metadata.jsonld`))
  const removed = await during(() => ok(ann.call(`/api/metadata.jsonld/${id}`, { method: 'DELETE' })))
  t.deepEqual(briefly(removed), ['e.metadata clowder.metadata.removed.file'])
  const { id: space } = await post('/api/spaces', { name: 'a space', description: '' })
  const { id: collection } = await post('/api/collections', { name: 'a collection' })
  const silent = await during(async () => {
    for (const path of [`spaces/${space}`, `collections/${collection}`]) {
      await post(`/api/${path}/metadata.jsonld`, { agent, content: {} })
      await ok(ann.call(`/api/${path}/metadata.jsonld`, { method: 'DELETE' }))
    }
  })
  t.deepEqual(silent, [])
})
