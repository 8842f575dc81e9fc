import test from 'ava'
import { bootForTest, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, ok, refusal, upload } from '../support/scene.ts'

let server: TestServer
let ann: Person

test.before(async () => {
  server = await bootForTest()
  ann = await newPerson(server, 'ann')
})
test.after.always(() => server?.stop())

const etagOf = async (call: TestFetch, path: string): Promise<string> => (await call(path)).headers.get('etag') ?? ''

/** A change that supports `If-Match`, and the path of the changed resource. */
interface Change {
  readonly read: string
  readonly path: string
  readonly method: 'POST' | 'PUT' | 'DELETE'
  readonly json?: (text: string) => unknown
}

const words = (members: readonly string[]) => (text: string) => Object.fromEntries(members.map(member => [member, text]))

const changesOf = async ({ call }: Person): Promise<Readonly<Record<string, Change>>> => {
  const dataset = await newDataset(call, { name: 'oak', description: 'of 2018' })
  const file = await upload(call, dataset, 'bytes', 'oak.csv', { type: 'text/csv' })
  const named = { name: 'leaves', description: 'of oaks' }
  const { id: collection } = await ok<{ id: string }>(call('/api/collections', { method: 'POST', json: named }))
  const { id: space } = await ok<{ id: string }>(call('/api/spaces', { method: 'POST', json: named }))
  const ofDataset = { read: `/api/datasets/${dataset}` }
  const ofFile = { read: `/api/files/${file}/metadata` }
  const ofCollection = { read: `/api/collections/${collection}` }
  const license = (text: string) => ({
    licenseType: 'license2',
    rightsHolder: text,
    licenseText: '',
    licenseUrl: '',
    allowDownload: 'true',
  })
  return {
    renameDataset: { ...ofDataset, path: `/api/datasets/${dataset}/title`, method: 'PUT', json: words(['name']) },
    describeDataset: { ...ofDataset, path: `/api/datasets/${dataset}/description`, method: 'PUT', json: words(['description']) },
    editDataset: { ...ofDataset, path: `/api/datasets/${dataset}/editing`, method: 'POST', json: words(['name', 'description']) },
    licenseDataset: { ...ofDataset, path: `/api/datasets/${dataset}/license`, method: 'POST', json: license },
    addDatasetCreator: { ...ofDataset, path: `/api/datasets/${dataset}/creator`, method: 'POST', json: words(['creator']) },
    renameFile: { ...ofFile, path: `/api/files/${file}/filename`, method: 'PUT', json: words(['name']) },
    describeFile: { ...ofFile, path: `/api/files/${file}/updateDescription`, method: 'PUT', json: words(['description']) },
    licenseFile: { ...ofFile, path: `/api/files/${file}/license`, method: 'POST', json: license },
    renameCollection: { ...ofCollection, path: `/api/collections/${collection}/title`, method: 'PUT', json: words(['name']) },
    describeCollection: {
      ...ofCollection,
      path: `/api/collections/${collection}/description`,
      method: 'PUT',
      json: words(['description']),
    },
    updateSpace: {
      read: `/api/spaces/${space}`,
      path: `/api/spaces/${space}/update`,
      method: 'POST',
      json: words(['name', 'description']),
    },
  }
}

test('the second of two concurrent edits gets 412 from every route that overwrites user input', async t => {
  const { call } = ann
  for (const [name, { read, path, method, json = () => undefined }] of Object.entries(await changesOf(ann))) {
    const seen = await etagOf(call, `${read}?view=full`)
    await ok(call(path, { method, json: json('first'), headers: { 'if-match': seen } }))
    const now = await ok(call(`${read}?view=full`))
    const refused = await refusal(call(path, { method, json: json('second'), headers: { 'if-match': seen } }))
    t.like(refused, { status: 412, code: 'changed' }, name)
    t.deepEqual(await ok(call(`${read}?view=full`)), now, `${name} changes nothing`)
    await ok(call(path, { method, json: json('second'), headers: { 'if-match': await etagOf(call, read) } }))
    await ok(call(path, { method, json: json('third'), headers: { 'if-match': '*' } }))
    await ok(call(path, { method, json: json('fourth') }))
  }
})

test('views, tags and uploads cause no conflicts', async t => {
  const { call } = ann
  const dataset = await newDataset(call, { name: 'ash' })
  const seen = await etagOf(call, `/api/datasets/${dataset}`)
  await upload(call, dataset, 'bytes', 'ash.csv', { type: 'text/csv' })
  await ok(call(`/api/datasets/${dataset}/tags`, { method: 'POST', json: { tags: ['tree'] } }))
  await ok(call(`/api/datasets/${dataset}/title`, { method: 'PUT', json: { name: 'ashes' }, headers: { 'if-match': seen } }))
  t.like(await ok(call(`/api/datasets/${dataset}?view=full`)), { name: 'ashes' })
})

test('of many concurrent edits of the same version, one succeeds', async t => {
  const { call } = ann
  const dataset = await newDataset(call, { name: 'elm' })
  const seen = await etagOf(call, `/api/datasets/${dataset}`)
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      call(`/api/datasets/${dataset}/title`, { method: 'PUT', json: { name: `elm ${n}` }, headers: { 'if-match': seen } }),
    ),
  )
  const won = answers.flatMap(({ status }, n) => (status === 200 ? [n] : []))
  t.is(won.length, 1)
  t.like(await ok(call(`/api/datasets/${dataset}?view=full`)), { name: `elm ${won[0]}` })
  t.true(answers.every(({ status }) => status === 200 || status === 412))
})

test('If-Match accepts strong ETags and lists, and refuses empty, unknown and overlong ones with 412', async t => {
  const { call } = ann
  const dataset = await newDataset(call, { name: 'yew' })
  const path = `/api/datasets/${dataset}/title`
  const seen = await etagOf(call, `/api/datasets/${dataset}`)
  const rename = (ifMatch: string) => call(path, { method: 'PUT', json: { name: 'yew' }, headers: { 'if-match': ifMatch } })
  t.is((await rename(`"other", ${seen}`)).status, 200)
  t.is((await rename(seen.replace(/^W\//, ''))).status, 200)
  for (const none of ['', 'nonsense', '"other"', `${'"x",'.repeat(2000)}${seen}`]) t.is((await rename(none)).status, 412, none.slice(0, 20))
})

test('If-None-Match with the current ETag of a resource or a list gets 304 without a body', async t => {
  const { call } = ann
  const dataset = await newDataset(call, { name: 'fir' })
  for (const path of [
    `/api/datasets/${dataset}`,
    `/api/datasets/${dataset}?view=full`,
    '/api/datasets?title=fir',
    `/api/datasets/${dataset}/files`,
  ]) {
    const first = await call(path)
    const etag = first.headers.get('etag') ?? ''
    t.regex(etag, /^W\/"[\w.-]+"$/, path)
    const again = await call(path, { headers: { 'if-none-match': etag } })
    t.is(again.status, 304, path)
    t.is(again.headers.get('etag'), etag)
    t.is(await again.text(), '')
  }
  const listed = await etagOf(call, '/api/datasets?title=fir')
  const { name } = await ok<{ name: string }>(call(`/api/datasets/${dataset}`))
  await ok(call(`/api/datasets/${dataset}/title`, { method: 'PUT', json: { name: `${name} tree` } }))
  t.is((await call('/api/datasets?title=fir', { headers: { 'if-none-match': listed } })).status, 200)
})

test('304 requires the right to read', async t => {
  const own = await bootForTest({ config: { access: { private: true } } })
  t.teardown(() => own.stop())
  const [eve, joe] = [await newPerson(own, 'eve'), await newPerson(own, 'joe')]
  const dataset = await newDataset(eve.call, { name: 'hidden' })
  const etag = await etagOf(eve.call, `/api/datasets/${dataset}`)
  const headers = { 'if-none-match': etag, 'if-match': etag }
  t.is((await joe.call(`/api/datasets/${dataset}`, { headers })).status, 404)
  t.is((await joe.call(`/api/datasets/${dataset}/title`, { method: 'PUT', json: { name: 'x' }, headers })).status, 404)
})
