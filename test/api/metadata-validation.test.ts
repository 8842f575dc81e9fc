import test, { type ExecutionContext } from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { byExtractor, byUser, documentsOf } from '../support/annotated.ts'
import { callsOf } from '../support/calls.ts'
import { formWith, upload } from '../support/scene.ts'
import { letIn, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

let server: TestServer
let lax: TestServer
let ann: Somebody

test.before(async () => {
  server = await bootForTest()
  lax = await bootForTest({ config: { resources: { 'metadata-definitions': { validate: 'off' } } } })
  ann = await somebody(server, 'ann')
})
test.after.always(() => Promise.all([server?.stop(), lax?.stop()]))

const define = async (space: string, label: string, type: string, more: object = {}): Promise<void> => {
  const { status, body } = await ann.post(`/api/spaces/${space}/metadata`, { label, type, ...more })
  if (status !== 200) throw new Error(JSON.stringify(body))
}
const say = (dataset: string, content: unknown) => ann.post('/api/metadata.jsonld', { dataset_id: dataset, content })
const refusedWith = async (t: ExecutionContext, answer: ReturnType<typeof say>, ...parts: readonly RegExp[]): Promise<void> => {
  const { status, body } = await answer
  t.is(status, 400, JSON.stringify(body))
  for (const part of parts) t.regex((body as { message: string }).message, part)
}

test('metadata of users must match the definition of the field, and a refusal describes the mismatch', async t => {
  const space = await newSpace(ann)
  const dataset = await newDataset(ann, { space: [space] })
  const types = ['string', 'number', 'datetime', 'wkt', 'scientific_variable', 'listgeocode', 'annotation', 'unheard_of']
  for (const type of types) await define(space, `a ${type}`, type)
  await refusedWith(t, say(dataset, { 'a string': 7 }), /a string must be text/, /such as "/)
  await refusedWith(t, say(dataset, { 'a number': 'seven' }), /a number must be a number/, /such as 12\.5/, /type number/)
  await refusedWith(t, say(dataset, { 'a datetime': 'yesterday' }), /a datetime must be a date/, /2018-06-20T11:40:25Z/)
  await refusedWith(t, say(dataset, { 'a wkt': 'somewhere' }), /geometry/, /POINT \(-88\.24 40\.12\)/)
  await refusedWith(t, say(dataset, { 'a scientific_variable': 7 }), /variable/, /Unit/)
  await refusedWith(t, say(dataset, { 'a scientific_variable': 'wind', Unit: 7 }), /variable/)
  await refusedWith(t, say(dataset, { 'a listgeocode': 'Champaign', Latitude: '91', Longitude: '0' }), /Latitude/)
  await refusedWith(t, say(dataset, [{ free: 1 }, { 'a number': {} }]), /a number/)
  t.deepEqual(await documentsOf(ann.call, `/api/datasets/${dataset}`), [])
  const right = {
    ...{
      'a string': 'x',
      'a number': '7',
      'a datetime': '2018-06-20 11:40',
      'a wkt': 'POINT (1 2)',
      'a scientific_variable': 'wind',
      Unit: 'm/s',
    },
    ...{
      'a listgeocode': 'Champaign',
      Latitude: '40.12',
      Longitude: '-88.24',
      'a annotation': 'x',
      'a unheard_of': [{}],
      free: { a: [null] },
    },
  }
  t.is((await say(dataset, right)).status, 200)
  t.deepEqual((await documentsOf(ann.call, `/api/datasets/${dataset}`))[0]?.content, right)
})

test('a field accepts the current terms of a standard vocabulary; with an external list, any text', async t => {
  const space = await newSpace(ann)
  const dataset = await newDataset(ann, { space: [space] })
  const { id, url } = (await ann.post('/api/standardvocab', ['oak', 'ash'])).body as { id: string; url: string }
  await define(space, 'tree', 'list', { definitions_url: url })
  await define(space, 'bird', 'listjquery', { definitions_url: 'https://birds.example.org/list' })
  await refusedWith(t, say(dataset, { tree: 'elm' }), /tree must be one of the 2 terms/, /"oak" or "ash"/)
  await refusedWith(t, say(dataset, { tree: ['oak', 'elm'] }), /tree/)
  await refusedWith(t, say(dataset, { bird: 7 }), /bird/)
  t.is((await say(dataset, { tree: ['oak', 'ash'], bird: 'wren' })).status, 200)
  await ann.put(`/api/standardvocab/${id}`, ['elm'])
  t.is((await say(dataset, { tree: 'elm' })).status, 200)
  await ann.remove(`/api/standardvocab/${id}`)
  t.is((await say(dataset, { tree: 'anything' })).status, 200)
})

test('extractors may send any values, users only valid ones, on every route', async t => {
  const space = await newSpace(ann)
  const dataset = await newDataset(ann, { space: [space] })
  const file = await upload(ann.call, dataset)
  await define(space, 'depth', 'number')
  const wrong = { depth: 'deep' }
  for (const path of [`/api/datasets/${dataset}`, `/api/files/${file}`]) {
    t.is((await ann.post(`${path}/metadata.jsonld`, { agent: byExtractor(), content: wrong })).status, 200)
    t.is((await ann.post(`${path}/metadata`, wrong)).status, 200)
    await refusedWith(t, ann.post(`${path}/metadata.jsonld`, { agent: byUser(ann.id), content: wrong }), /depth must be a number/)
  }
  await refusedWith(t, ann.post('/api/metadata.jsonld', { file_id: file, content: wrong }), /depth/)
  await refusedWith(t, ann.post(`/api/spaces/${space}/metadata.jsonld`, { agent: byUser(ann.id), content: wrong }), /depth/)
  t.is((await ann.post('/api/metadata.jsonld', { dataset_id: await newDataset(ann), content: wrong })).status, 200, 'not a defined field')
})

test('definitions of spaces override those of the installation, and matching one space is enough', async t => {
  const [one, two] = [await newSpace(ann), await newSpace(ann)]
  await define(one, 'Date and Time', 'number')
  await define(two, 'Date and Time', 'string')
  const [bare, inOne, inBoth] = [
    await newDataset(ann),
    await newDataset(ann, { space: [one] }),
    await newDataset(ann, { space: [one, two] }),
  ]
  await refusedWith(t, say(bare, { 'Date and Time': 'soon' }), /ISO 8601/)
  t.is((await say(inOne, { 'Date and Time': 7 })).status, 200)
  await refusedWith(t, say(inOne, { 'Date and Time': 'soon' }), /number/)
  t.is((await say(inBoth, { 'Date and Time': 'soon' })).status, 200)
  t.is((await say(inBoth, { 'Date and Time': 7 })).status, 200)
  await refusedWith(t, say(inBoth, { 'Date and Time': true }), /Date and Time/)
})

test('metadata sent with an upload is validated before the file is created', async t => {
  const space = await newSpace(ann)
  const dataset = await newDataset(ann, { space: [space] })
  await define(space, 'depth', 'number')
  const send = (depth: unknown, to = `/api/uploadToDataset/${dataset}?extract=false`) => {
    const form = formWith('bytes', 'a.txt')
    form.append('a.txt', JSON.stringify({ depth }))
    return ann.call(to, { method: 'POST', body: form })
  }
  const refused = await send('deep')
  t.is(refused.status, 400)
  t.regex(await refused.text(), /depth must be a number/)
  t.deepEqual((await ann.get(`/api/datasets/${dataset}/files`)).body, [])
  t.is((await send(7)).status, 200)
  t.is(((await ann.get(`/api/datasets/${dataset}/files`)).body as unknown[]).length, 1)
})

test('each of very many fields and objects is validated', async t => {
  const space = await newSpace(ann)
  const dataset = await newDataset(ann, { space: [space] })
  const { url } = (
    await ann.post(
      '/api/standardvocab',
      Array.from({ length: 5000 }, (_, n) => `term ${n}`),
    )
  ).body as { url: string }
  await define(space, 'tree', 'list', { definitions_url: url })
  await define(space, 'depth', 'number')
  const fields = Object.fromEntries(Array.from({ length: 90_000 }, (_, n) => [`f${n}`, n]))
  await refusedWith(t, say(dataset, { ...fields, depth: 'deep' }), /depth must be a number/)
  const objects = Array.from({ length: 45_000 }, () => ({ tree: 'term 7', depth: 1 }))
  await refusedWith(t, say(dataset, [...objects, { tree: 'no term' }]), /tree must be one of the 5000 terms/)
})

test('hostile field names are accepted as ordinary names', async t => {
  const dataset = await newDataset(ann)
  const content = JSON.parse('{"toString":1,"hasOwnProperty":2,"$where":3,"a.b":4,"":5,"valueOf":{"x":1}}') as object
  t.is((await say(dataset, content)).status, 200)
  t.is((await say(dataset, Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`field ${n}`, n])))).status, 200)
})

test('with validation off, metadata is stored as sent', async t => {
  const zoe = await somebody(lax, 'zoe')
  const dataset = await newDataset(zoe)
  t.is((await zoe.post('/api/metadata.jsonld', { dataset_id: dataset, content: { 'Date and Time': 'soon' } })).status, 200)
  t.is((await callsOf(lax.as()).get('/api/metadata/definitions')).status, 200)
})

test('definitions of a space that the caller cannot view apply, but a refusal does not quote them', async t => {
  const closed = await bootForTest({ t, config: { access: { private: true } } })
  const [carol, alice] = [await somebody(closed, 'carol'), await somebody(closed, 'alice')]
  const [space, open] = [await newSpace(carol), await newSpace(alice)]
  await letIn(carol, space, 'Editor', alice)
  const { url } = (await carol.post('/api/standardvocab', ['canary', 'linnet'])).body as { url: string }
  await carol.post(`/api/spaces/${space}/metadata`, { label: 'bird', type: 'list', uri: 'http://example.org/canary', definitions_url: url })
  const dataset = await newDataset(alice, { space: [space] })
  const file = await upload(alice.call, dataset)
  const say = async () => {
    const content = { bird: 'x' }
    const answers = [
      await alice.post('/api/metadata.jsonld', { dataset_id: dataset, content }),
      await alice.post('/api/files/metadata.jsonld', { files: [file], metadata: { content, agent: byUser(alice.id) } }),
      await alice.post(`/api/datasets/${dataset}/metadata.jsonld`, { content, agent: byUser(alice.id) }),
    ]
    return answers.map(({ status, body }) => ({ status, message: (body as { message: string }).message }))
  }
  for (const { status, message } of await say()) {
    t.is(status, 400)
    t.regex(message, /bird must be one of the 2 terms.*"canary"/)
  }
  t.is((await carol.post(`/api/spaces/${space}/removeUser?removeUser=${alice.id}`)).status, 200)
  for (const { status, message } of await say()) {
    t.is(status, 400)
    t.is(message, 'bird must match the metadata definition of a space that you cannot view')
  }
  await alice.post(`/api/spaces/${open}/metadata`, { label: 'bird', type: 'number', uri: 'http://example.org/number' })
  t.is((await alice.post(`/api/spaces/${open}/addDatasetToSpace/${dataset}`)).status, 200)
  for (const { message } of await say()) t.regex(message, /^bird must be a number.*example\.org\/number/)
})
