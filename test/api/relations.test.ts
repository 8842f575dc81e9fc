import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { callsOf } from '../support/calls.ts'
import { newDataset, upload } from '../support/scene.ts'
import { letIn, newCollection, newSpace, recordPlugins, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest()
const [ann, bob, eve] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await somebody(server, 'eve')]
test.after.always(() => server.stop())
const nobody = callsOf(server.as())
const unknownId = 'f'.repeat(24)
const address = 'https://doi.org/10.5555/12345678'
const end = (resourceType: string, id: string) => ({ id, resourceType })
type Made = { readonly status: string; readonly message: string; readonly id?: string }

const relate = async (source: object, target: object, more: object = {}) =>
  (await ann.post('/api/relations', { source, target, ...more })).body as Made
const all = async (by: typeof ann) => ((await by.get('/api/relations')).body as readonly { id: string }[]).map(one => one.id)

test('two resources are related once per type, and found by their source', async t => {
  const dataset = await newDataset(ann.call)
  const file = await upload(ann.call, dataset)
  const made = await relate(end('dataset', dataset), end('file', file))
  t.is(made.status, 'OK')
  t.is(made.message, `Relation '${made.id}' saved.`)
  const shape = { id: made.id, source: end('dataset', dataset), target: end('file', file) }
  t.deepEqual((await ann.get(`/api/relations/${made.id}`)).body, shape)
  t.true((await all(ann)).includes(made.id ?? ''))
  t.deepEqual((await ann.post('/api/relations', { source: shape.source, target: shape.target })).body, {
    status: 'OK',
    message: 'Relation already exists',
  })
  const typed = await relate(shape.source, shape.target, { rdfType: 'http://purl.org/dc/terms/hasPart' })
  t.like((await ann.get(`/api/relations/${typed.id}`)).body, { rdfType: 'http://purl.org/dc/terms/hasPart' })
  const found = (query: string) => ann.get(`/api/relations/search?${query}`)
  t.deepEqual((await found(`sourceId=${dataset}&sourceType=dataset&targetType=file`)).body, [file, file])
  t.deepEqual((await found(`sourceId=${dataset}&sourceType=file&targetType=file`)).body, [])
  t.deepEqual((await found(`sourceId=${dataset}&sourceType=dataset&targetType=dataset`)).body, [])
  t.deepEqual((await ann.remove(`/api/relations/${made.id}`)).body, { status: 'OK' })
  t.is((await ann.get(`/api/relations/${made.id}`)).status, 404)
  t.is((await ann.remove(`/api/relations/${made.id}`)).status, 404)
})

test('null as the type of a relation counts as absent', async t => {
  const dataset = await newDataset(ann.call)
  const { id } = await relate(end('dataset', dataset), end('file', address), { rdfType: null })
  t.deepEqual((await ann.get(`/api/relations/${id}`)).body, { id, source: end('dataset', dataset), target: end('file', address) })
})

test('of many identical concurrent requests, one creates the relation', async t => {
  const dataset = await newDataset(ann.call)
  const made = await Promise.all(Array.from({ length: 20 }, () => relate(end('dataset', dataset), end('file', address))))
  t.is(made.filter(one => one.id !== undefined).length, 1)
})

test('an id can be a URL, but at both ends for server admins only', async t => {
  const collection = await newCollection(ann)
  const { id } = await relate(end('collection', collection), end('dataset', address))
  t.like((await ann.get(`/api/relations/${id}`)).body, { target: end('dataset', address) })
  t.is((await ann.post('/api/relations', { source: end('file', address), target: end('stream', address) })).status, 403)
  const admin = callsOf(server.as(server.admin.key))
  const outside = (await admin.post('/api/relations', { source: end('file', address), target: end('stream', address) })).body as Made
  t.is((await admin.get(`/api/relations/${outside.id}`)).status, 200)
  t.is((await ann.get(`/api/relations/${outside.id}`)).status, 404)
})

test('an id that is neither that of a resource nor a URL is refused like an unknown one', async t => {
  const dataset = await newDataset(ann.call)
  const admin = callsOf(server.as(server.admin.key))
  for (const id of ['xyz', dataset.toUpperCase(), 'javascript:alert(1)', 'doi.org/10.5555/1', 'https://', `${dataset} `, '1'])
    for (const by of [ann, admin]) {
      t.is((await by.post('/api/relations', { source: end('dataset', id), target: end('dataset', dataset) })).status, 404, id)
      t.is((await by.post('/api/relations', { source: end('file', address), target: end('file', id) })).status, 404, id)
    }
})

test('an unknown type is refused with the list of known types', async t => {
  const dataset = await newDataset(ann.call)
  const { status, body } = await ann.post('/api/relations', { source: end('dataset', dataset), target: end('space', unknownId) })
  t.is(status, 400)
  t.regex((body as { message: string }).message, /"space".*dataset, file, collection, user, sensor, stream, folder, metadata/)
  t.is((await ann.get(`/api/relations/search?sourceId=${dataset}&sourceType=thing&targetType=file`)).status, 400)
  t.is((await ann.get(`/api/relations/search?sourceId=${dataset}`)).status, 400)
  for (const json of [
    {},
    { source: end('dataset', dataset) },
    { source: dataset, target: dataset },
    { source: end('dataset', ''), target: end('file', address) },
  ])
    t.is((await ann.post('/api/relations', json)).status, 400)
})

test('a relation requires current rights on one of its ends', async t => {
  const space = await newSpace(ann)
  const [one, two, hidden] = [await newDataset(ann.call, { space: [space] }), await newDataset(ann.call), await newDataset(eve.call)]
  const { id = '' } = await relate(end('dataset', one), end('dataset', two))
  const path = `/api/relations/${id}`
  for (const by of [bob, eve]) {
    t.is((await by.get(path)).status, 404)
    t.is((await by.remove(path)).status, 404)
    t.false((await all(by)).includes(id))
    t.deepEqual((await by.get(`/api/relations/search?sourceId=${one}&sourceType=dataset&targetType=dataset`)).body, [])
    t.is((await by.post('/api/relations', { source: end('dataset', one), target: end('file', address) })).status, 403)
  }
  t.is((await nobody.get(path)).status, 404)
  for (const call of [nobody.get('/api/relations'), nobody.post('/api/relations', {})]) t.is((await call).status, 401)
  await letIn(ann, space, 'Editor', bob)
  t.is((await bob.get(path)).status, 200)
  t.true((await all(bob)).includes(id))
  t.deepEqual((await bob.get(`/api/relations/search?sourceId=${one}&sourceType=dataset&targetType=dataset`)).body, [two])
  t.is((await bob.post('/api/relations', { source: end('dataset', two), target: end('dataset', one) })).status, 200)
  t.is((await bob.remove(path)).status, 200)
  for (const wrong of [unknownId])
    t.is((await ann.post('/api/relations', { source: end('dataset', one), target: end('file', wrong) })).status, 404)
  t.is((await ann.post('/api/relations', { source: end('dataset', one), target: end('dataset', hidden) })).status, 200)
})

test('sensors and streams are resources of this server, identified by their numbers', async t => {
  const feature = { type: 'Feature', geometry: { type: 'Point', coordinates: [1, 2, 3] }, properties: {} }
  const numberOf = async (by: typeof ann, path: string, more: object) => {
    const { body } = await by.post(`/api/geostreams/${path}`, { ...feature, name: 'gauge', ...more })
    return String((body as { id: number }).id)
  }
  const sensor = await numberOf(ann, 'sensors', {})
  const stream = await numberOf(ann, 'streams', { sensor_id: sensor })
  const other = await numberOf(eve, 'sensors', {})
  const dataset = await newDataset(ann.call)
  const ends = { source: end('sensor', sensor), target: end('stream', stream) }
  t.is((await bob.post('/api/relations', ends)).status, 403)
  const { id: inside = '' } = await relate(ends.source, ends.target)
  const { id: mixed = '' } = await relate(end('dataset', dataset), end('sensor', other))
  t.deepEqual((await eve.get(`/api/relations/${mixed}`)).status, 200)
  t.is((await bob.get(`/api/relations/${mixed}`)).status, 404)
  for (const unknown of [
    '424242',
    '0',
    '9'.repeat(30),
    `0${sensor}`,
    `${sensor}.0`,
    `+${sensor}`,
    `${sensor}e0`,
    `${sensor} `,
    'a'.repeat(24),
  ])
    for (const kind of ['sensor', 'stream'])
      t.is((await ann.post('/api/relations', { source: end('dataset', dataset), target: end(kind, unknown) })).status, 404, kind + unknown)
  t.is((await ann.remove(`/api/geostreams/streams/${stream}`)).status, 200)
  await server.drained(60_000)
  t.is((await ann.get(`/api/relations/${inside}`)).status, 404)
  t.is((await ann.get(`/api/relations/${mixed}`)).status, 200)
  t.is((await eve.remove(`/api/geostreams/sensors/${other}`)).status, 200)
  await server.drained(60_000)
  t.is((await ann.get(`/api/relations/${mixed}`)).status, 404)
})

test('without geostreams, no sensor or stream is found', async t => {
  const apart = await bootForTest({ t, plugins: [...recordPlugins, 'resources.relations'] })
  const cid = await somebody(apart, 'cid')
  const source = end('dataset', await newDataset(cid.call))
  t.is((await cid.post('/api/relations', { source, target: end('sensor', '1') })).status, 404)
})

test('relations are deleted with the resources that they join', async t => {
  const [one, two] = [await newDataset(ann.call), await newDataset(ann.call)]
  const file = await upload(ann.call, one)
  const ids = [await relate(end('dataset', one), end('dataset', two)), await relate(end('file', address), end('file', file))].map(
    made => made.id ?? '',
  )
  await ann.remove(`/api/files/${file}`)
  await ann.remove(`/api/datasets/${two}`)
  await ann.remove(`/api/datasets/${two}`)
  await server.drained(60_000)
  for (const id of ids) t.is((await ann.get(`/api/relations/${id}`)).status, 404)
  const left = await all(ann)
  for (const id of ids) t.false(left.includes(id))
})
