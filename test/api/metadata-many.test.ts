import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { byExtractor, byUser, documentsOf, type ReadDocument } from '../support/annotated.ts'
import { callsOf } from '../support/calls.ts'
import { unknownId, upload } from '../support/scene.ts'
import { newDataset, type Somebody, somebody } from '../support/spaces-and-people.ts'

let server: TestServer
let hidden: TestServer
let ann: Somebody
let bob: Somebody

test.before(async () => {
  server = await bootForTest()
  hidden = await bootForTest({ config: { access: { private: true } } })
  ann = await somebody(server, 'ann')
  bob = await somebody(server, 'bob')
})
test.after.always(() => Promise.all([server?.stop(), hidden?.stop()]))

const many = '/api/files/metadata.jsonld'
const metadata = { '@context': ['https://example.org/c', { k: 'http://k' }], agent: byExtractor(), content: { k: 1 } }
const newFile = async (by: Somebody): Promise<string> => upload(by.call, await newDataset(by))
const asQuery = (ids: readonly string[]): string => `${many}?${ids.map(id => `id=${encodeURIComponent(id)}`).join('&')}`
type Report = { added: string[]; refused: { id: string; code: string; message: string }[] }

test('a document is added to many files, once to each, with an event each', async t => {
  const carl = await somebody(server, 'carl')
  const files = [await newFile(carl), await newFile(carl), await newFile(carl)]
  const { status, body } = await carl.post(many, { files: [...files, files[0]], metadata })
  t.deepEqual([status, body], [200, 'Metadata successfully added to db'])
  for (const file of files) {
    const [document, ...more] = await documentsOf(carl.call, `/api/files/${file}`)
    t.deepEqual([document?.content, document?.['@context'], more], [metadata.content, metadata['@context'], []])
  }
  await server.drained()
  const lines = (await carl.get('/api/events?limit=50')).body as { event_type: string }[]
  t.is(lines.filter(line => line.event_type === 'addMetadata_file').length, files.length)
})

test('metadata of many files is grouped by file, without unknown files', async t => {
  const [one, other] = [await newFile(ann), await newFile(ann)]
  await ann.post(many, { files: [one, other], metadata })
  await ann.post(`/api/files/${one}/metadata.jsonld`, { ...metadata, content: { k: 2 } })
  const { status, body } = await bob.get(asQuery([one, other, unknownId, 'not an id', one]))
  t.is(status, 200)
  const found = body as Record<string, ReadDocument[]>
  t.deepEqual(Object.keys(found).sort(), [one, other].sort())
  t.deepEqual(found[one], [...(await documentsOf(ann.call, `/api/files/${one}`))])
  t.deepEqual((await bob.get(asQuery([unknownId]))).body, {})
  t.is((await bob.get(many)).status, 400)
})

test('files that the caller may not add metadata to are reported, and the others get the document', async t => {
  const [own, theirs] = [await newFile(ann), await newFile(bob)]
  const { status, body } = await ann.post(many, { files: [theirs, own, unknownId, 'not an id'], metadata })
  t.is(status, 200)
  const { added, refused } = body as Report
  t.deepEqual(added, [own])
  t.deepEqual(
    refused.map(({ id, code }) => [id, code]),
    [
      [theirs, 'forbidden'],
      [unknownId, 'not-found'],
      ['not an id', 'not-found'],
    ],
  )
  t.deepEqual(await documentsOf(bob.call, `/api/files/${theirs}`), [])
})

test('if no file gets the document, the request is refused with the same report', async t => {
  const theirs = await newFile(bob)
  const forbidden = await ann.post(many, { files: [theirs, unknownId], metadata })
  t.is(forbidden.status, 403)
  t.is((forbidden.body as Report).refused.length, 2)
  t.is((await ann.post(many, { files: [unknownId], metadata })).status, 404)
  t.is((await callsOf(server.as()).post(many, { files: [theirs], metadata })).status, 401)
})

test('violations of metadata definitions are reported per file', async t => {
  const space = await (await ann.post('/api/spaces', { name: 's', description: '' })).body
  const { id } = space as { id: string }
  await ann.post(`/api/spaces/${id}/metadata`, { label: 'depth', type: 'number' })
  const [bound, free] = [await upload(ann.call, await newDataset(ann, { space: [id] })), await newFile(ann)]
  const said = { agent: byUser(ann.id), content: { depth: 'deep' } }
  const { status, body } = await ann.post(many, { files: [bound, free], metadata: said })
  t.is(status, 200)
  t.like(body as object, { added: [free] })
  t.like((body as Report).refused[0], { id: bound, code: 'invalid' })
  const refused = await ann.post(many, { files: [bound], metadata: said })
  t.is(refused.status, 400)
  t.regex((refused.body as { message: string }).message, /depth must be a number/)
})

test('malformed requests are refused before any file is read', async t => {
  const file = await newFile(ann)
  const wrong = [
    {},
    { files: [file] },
    { metadata },
    { files: [], metadata },
    { files: file, metadata },
    { files: [1], metadata },
    { files: [file], metadata: { content: {} } },
    { files: [file], metadata: { ...metadata, agent: { '@type': 'cat:extractor' } } },
    { files: [file], metadata: { ...metadata, content: 'text' } },
    { files: Array(1001).fill(file), metadata },
  ]
  for (const body of wrong) t.is((await ann.post(many, body)).status, 400, JSON.stringify(body).slice(0, 80))
  t.is((await ann.post(many, { files: [file], metadata: { ...metadata, agent: byUser(bob.id) } })).status, 403)
  t.deepEqual(await documentsOf(ann.call, `/api/files/${file}`), [])
})

test('a large document for very many files is refused with 413', async t => {
  const files = Array.from({ length: 1000 }, (_, n) => n.toString(16).padStart(24, '0'))
  t.is((await ann.post(many, { files, metadata: { ...metadata, content: { text: 'x'.repeat(200_000) } } })).status, 413)
})

test('on a private server, files of other users appear not to exist', async t => {
  const [cleo, dan] = [await somebody(hidden, 'cleo'), await somebody(hidden, 'dan')]
  const [hers, his] = [await newFile(cleo), await newFile(dan)]
  await cleo.post(many, { files: [hers], metadata })
  t.deepEqual(Object.keys((await dan.get(asQuery([hers, his]))).body as object), [his])
  const { body } = await dan.post(many, { files: [hers, his], metadata })
  t.like((body as Report).refused[0], { id: hers, code: 'not-found' })
  t.is((await dan.post('/api/metadata.jsonld', { file_id: hers, content: {} })).status, 404)
  t.is((await callsOf(hidden.as()).get(asQuery([hers]))).status, 401)
  const [document] = await documentsOf(cleo.call, `/api/files/${hers}`)
  t.is((await dan.get(`/api/metadata.jsonld/${document?.id}`)).status, 404)
  t.is((await dan.remove(`/api/metadata.jsonld/${document?.id}`)).status, 404)
})
