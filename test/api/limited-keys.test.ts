import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import type { PluginDefinition, Route } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { placedPermissions } from '../../plugins/access/policy/permission-sets.ts'
import { accessPlugins } from '../support/access-world.ts'
import { allIds, type Calls, callsOf, idsOf } from '../support/calls.ts'
import { newKey } from '../support/people.ts'
import { formWith } from '../support/scene.ts'
import { letIn, newCollection, newDataset, newSpace, publish, type Somebody, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest({
  plugins: [...accessPlugins, 'resources.bags', 'resources.relations'],
  config: { access: { private: true } },
})

/** Calls with a key of the user that has this scope. */
const keyed = async (person: Somebody, reach: string): Promise<Calls & { readonly key: string }> => {
  const key = await newKey(server, person.email, person.password, `name=${encodeURIComponent(reach)}&${reach}`)
  return { ...callsOf(server.as(key)), key }
}
const statusOf = async (answer: Promise<{ readonly status: number }>): Promise<number> => (await answer).status

const ann = await somebody(server, 'ann')
const [inside, outside, open] = [await newSpace(ann, 'inside'), await newSpace(ann, 'outside'), await newSpace(ann, 'open')]
await publish(server, ann, open)
const things = async (space?: string) => ({
  dataset: await newDataset(ann, { name: 'blackcap', ...(space ? { space: [space] } : {}) }),
  collection: await newCollection(ann, { name: 'blackcap', ...(space ? { space } : {}) }),
})
const [here, there, nowhere, shown] = [await things(inside), await things(outside), await things(), await things(open)]
await server.drained()
const held = await keyed(ann, `spaces=${inside}`)
const absent = 'f'.repeat(24)
test.after.always(() => server.stop())

test('a key limited to a space finds nothing else: neither resources of its owner nor public ones', async t => {
  for (const { dataset, collection } of [there, nowhere, shown]) {
    const [unknown, known] = [await held.get(`/api/datasets/${absent}`), await held.get(`/api/datasets/${dataset}`)]
    t.is(known.status, 404)
    t.deepEqual(Object.keys(known.body as object), Object.keys(unknown.body as object))
    t.is(await statusOf(held.get(`/api/collections/${collection}`)), 404)
    t.is(await statusOf(held.put(`/api/datasets/${dataset}/title`, { name: 'changed' })), 404)
    t.is(await statusOf(held.remove(`/api/datasets/${dataset}`)), 404)
  }
  for (const space of [outside, open]) t.is(await statusOf(held.get(`/api/spaces/${space}`)), 404)
  t.is(await statusOf(held.get(`/api/datasets/${here.dataset}`)), 200)
  t.is(await statusOf(held.get(`/api/spaces/${inside}`)), 200)
  t.is(await statusOf(held.put(`/api/collections/${here.collection}/title`, { name: 'blackcap' })), 200)
})

test.serial('lists, tree, search, tags and their counts contain only what is in the space of the key', async t => {
  t.deepEqual(await allIds(held.get, '/api/datasets?limit=2'), [here.dataset])
  t.deepEqual(await allIds(held.get, '/api/collections?limit=2'), [here.collection])
  t.deepEqual(await allIds(held.get, '/api/spaces?limit=2'), [inside])
  t.deepEqual(await allIds(held.get, '/api/spaces/canEdit?limit=2'), [inside])
  t.deepEqual(await allIds(held.get, '/api/datasets/canEdit?limit=2'), [here.dataset])
  t.deepEqual(await idsOf(held.get('/api/collections/allCollections?limit=0')), [here.collection])
  t.deepEqual(await idsOf(held.get('/api/tree/getChildrenOfNode?nodeType=root')), [inside])
  const { body } = await held.get('/api/search?query=blackcap')
  const found = body as { readonly count: number; readonly results: readonly { readonly id: string }[] }
  t.deepEqual(found.results.map(({ id }) => id).sort(), [here.dataset, here.collection].sort())
  t.is(found.count, 2)
  await ann.post(`/api/datasets/${there.dataset}/tags`, { tags: ['secret tag'] })
  await ann.post(`/api/datasets/${here.dataset}/tags`, { tags: ['open tag'] })
  await server.drained()
  const tags = JSON.stringify((await held.get('/api/tags')).body)
  t.true(tags.includes('open tag'))
  t.false(tags.includes('secret tag'))
})

test('a limited key can only create resources in its space', async t => {
  const refused: readonly [path: string, json: unknown][] = [
    ['/api/datasets/createempty', { name: 'adrift' }],
    ['/api/datasets/createempty', { name: 'adrift', collection: [here.collection] }],
    ['/api/collections', { name: 'adrift' }],
    ['/api/spaces', { name: 'adrift', description: '' }],
    ['/api/vocabularies/createVocabularyFromJson', { name: 'adrift', keys: '', description: '', tags: '', terms: [] }],
    [
      '/api/relations',
      { source: { id: 'https://a.example.org', resourceType: 'other' }, target: { id: 'https://b.example.org', resourceType: 'other' } },
    ],
  ]
  for (const [path, json] of refused) t.true([400, 403].includes(await statusOf(held.post(path, json))), path)
  for (const space of [outside, open, absent]) {
    t.is(await statusOf(held.post('/api/datasets/createempty', { name: 'adrift', space: [inside, space] })), 404)
    t.is(await statusOf(held.post('/api/collections', { name: 'adrift', space })), 404)
  }
  const call = server.as(held.key)
  const sent = async (path: string) => (await call(path, { method: 'POST', body: formWith('adrift', 'adrift.txt') })).status
  for (const path of ['/api/files', '/api/previews', '/api/fileThumbnail']) t.is(await sent(path), 403, path)
  t.is(await sent(`/api/uploadToDataset/${there.dataset}?extract=false`), 404)
  t.is(await sent(`/api/files/uploadToDataset?dataset_id=${nowhere.dataset}&extract=false`), 404)
  t.is(await sent(`/api/files/uploadToDataset?dataset_id=${here.dataset}&extract=false`), 200)
  const begun = await call('/api/uploads', {
    method: 'POST',
    headers: { 'tus-resumable': '1.0.0', 'upload-length': '3', 'upload-metadata': `filename ${btoa('adrift.txt')}` },
  })
  t.is(begun.status, 403)
  t.is(await statusOf(held.post('/api/datasets/createempty', { name: 'at home', space: [inside] })), 200)
  t.is(await statusOf(held.post('/api/collections/newCollectionWithParent', { name: 'adrift', parentId: there.collection })), 404)
  t.is(await statusOf(held.post('/api/collections/newCollectionWithParent', { name: 'adrift' })), 403)
  t.deepEqual(await idsOf(ann.get('/api/datasets?title=adrift&limit=0')), [])
  t.deepEqual(await idsOf(ann.get('/api/collections?title=adrift&limit=0')), [])
})

test('a limited key cannot move anything to another space, nor view what it removes from its own', async t => {
  const dataset = await newDataset(ann, { space: [inside] })
  t.is(await statusOf(held.post(`/api/spaces/${outside}/addDatasetToSpace/${dataset}`)), 404)
  t.is(await statusOf(held.post(`/api/datasets/${dataset}/copyDatasetToSpace/${outside}`)), 404)
  t.is(await statusOf(held.post(`/api/spaces/${inside}/addDatasetToSpace/${nowhere.dataset}`)), 404)
  t.is(await statusOf(ann.post(`/api/spaces/${outside}/addDatasetToSpace/${dataset}`)), 200)
  t.is(await statusOf(held.post(`/api/spaces/${outside}/removeDataset/${dataset}`)), 404)
  t.is(await statusOf(held.post(`/api/spaces/${inside}/removeDataset/${dataset}`)), 200)
  t.is(await statusOf(held.get(`/api/datasets/${dataset}`)), 404)
  t.is(await statusOf(ann.get(`/api/datasets/${dataset}`)), 200)
})

test('a limited key sees only the trash of its space', async t => {
  const [away, mine] = [await newCollection(ann, { space: outside }), await newCollection(ann, { space: inside })]
  for (const id of [away, mine]) await ann.remove(`/api/collections/${id}`)
  t.deepEqual(await idsOf(held.get('/api/collections/listTrash?limit=0')), [mine])
  t.is(await statusOf(held.remove('/api/collections/emptyTrash')), 403)
  t.is(await statusOf(held.remove('/api/datasets/emptyTrash')), 403)
  t.deepEqual((await idsOf(ann.get('/api/collections/listTrash?limit=0'))).toSorted(), [away, mine].toSorted())
})

test('a key limited to verbs allows only these', async t => {
  const { dataset } = await things(inside)
  const keys = {
    read: await keyed(ann, 'verbs=read'),
    write: await keyed(ann, 'verbs=write'),
    delete: await keyed(ann, 'verbs=delete'),
    manage: await keyed(ann, 'verbs=manage'),
  }
  const tries: Readonly<Record<keyof typeof keys, (by: Calls) => Promise<{ readonly status: number }>>> = {
    read: by => by.get(`/api/datasets/${dataset}`),
    write: by => by.put(`/api/datasets/${dataset}/title`, { name: 'changed' }),
    delete: by => by.post(`/api/spaces/${inside}/removeDataset/${nowhere.dataset}`),
    manage: by => by.put(`/api/datasets/${dataset}/access?access=PRIVATE`),
  }
  for (const [of, by] of Object.entries(keys)) {
    for (const [verb, attempt] of Object.entries(tries)) {
      const status = await statusOf(attempt(by))
      if (of === verb && verb !== 'delete') t.is(status, 200, verb)
      // Without the verb read nothing is visible, so the response is that for a missing resource.
      else t.true([403, 404].includes(status), `${of} ${verb} ${status}`)
    }
  }
  const cleaner = await keyed(ann, 'verbs=read,delete')
  t.is(await statusOf(cleaner.post(`/api/spaces/${inside}/removeDataset/${dataset}`)), 200)
  t.is(await statusOf(cleaner.remove(`/api/spaces/${inside}`)), 403)
  t.is(await statusOf(cleaner.post('/api/datasets/createempty', { name: 'x' })), 403)
  for (const kind of ['spaces', 'collections', 'datasets']) {
    t.not((await allIds(ann.get, `/api/${kind}/canEdit`)).length, 0)
    for (const path of [`/api/${kind}`, `/api/${kind}/canEdit`]) t.deepEqual(await allIds(keys.write.get, path), [], path)
  }
  t.is(await statusOf(keys.manage.post(`/api/users/${ann.id}/updateName?firstName=a&lastName=b`)), 404)
})

test('a limited key of a server admin has no admin rights, even with superAdmin=true', async t => {
  const made = await server.as(server.admin.key)('/api/users/keys?name=limited&verbs=read,write,delete,manage', { method: 'POST' })
  const { key } = (await made.json()) as { key: string }
  const limited = callsOf(server.as(key))
  t.is(await statusOf(limited.get('/api/users')), 403)
  t.is(await statusOf(limited.get(`/api/datasets/${there.dataset}?superAdmin=true`)), 404)
  t.is(await statusOf(callsOf(server.as(server.admin.key)).get(`/api/datasets/${there.dataset}?superAdmin=true`)), 200)
})

test('a key never has more rights than its owner currently has', async t => {
  const bob = await somebody(server, 'bob')
  await letIn(ann, inside, 'Viewer', bob)
  const bobs = await keyed(bob, `spaces=${inside}`)
  // Other tests create and delete datasets concurrently.
  const before = await allIds(held.get, '/api/datasets?limit=50')
  const seen = await allIds(bobs.get, '/api/datasets?limit=50')
  const after = await allIds(held.get, '/api/datasets?limit=50')
  t.true(seen.length > 0)
  t.deepEqual(
    before.filter(id => after.includes(id) && !seen.includes(id)),
    [],
  )
  t.deepEqual(
    seen.filter(id => !after.includes(id) && !before.includes(id)),
    [],
  )
  t.is(await statusOf(bobs.put(`/api/datasets/${here.dataset}/title`, { name: 'x' })), 403)
  t.is(await statusOf(bobs.post('/api/datasets/createempty', { name: 'x', space: [inside] })), 403)
  await ann.post(`/api/spaces/${inside}/removeUser?removeUser=${bob.id}`)
  t.deepEqual(await allIds(bobs.get, '/api/datasets?limit=50'), [])
})

/** How each route that requires a right without a resource confines a key to its spaces. */
const looksItself: Readonly<Record<string, string>> = {
  'POST /api/sections': 'demands the right on the file of the body',
  'POST /api/relations': 'demands the right on an end, and that both are seen',
  'GET /api/relations': 'asks the policy about each',
  'GET /api/relations/search': 'asks the policy about each',
  'POST /api/previews': 'refuses: it hangs on nothing yet',
  'GET /api/metadata/definition/:id': 'those of a space are shown to whoever may look at it',
  'GET /api/metadata/definitions/:id': 'those of a space are shown to whoever may look at it',
  'GET /api/metadata/definitions': 'those of spaces that the key reaches, and those of the installation',
  'GET /api/metadata/distinctdefinitions': 'the same',
  'POST /api/files/metadata.jsonld': 'demands the right on each file',
  'GET /api/files/metadata.jsonld': 'asks the policy about each',
  'POST /api/metadata.jsonld': 'demands the right on the thing of the body',
  'GET /api/contexts/:id': 'contexts belong to nobody',
  'GET /api/contexts/:name/context.json': 'contexts belong to nobody',
  'POST /api/files': 'refuses: it would lie in no dataset',
  'POST /api/files/uploadToDataset': 'demands the right on the dataset',
  'POST /api/extractions/upload_url': 'refuses: it would lie in no dataset',
  'POST /api/extractions/upload_file': 'refuses: it would lie in no dataset',
  'POST /api/datasets/attachmultiple': 'demands the right on the dataset and each file',
  'POST /api/datasets': 'demands a space',
  'POST /api/datasets/createempty': 'demands a space',
  'POST /api/datasets/createfrombag': 'refuses: a bag names no space',
  'POST /api/collections': 'demands a space',
  'POST /api/collections/newCollectionWithParent': 'demands the right on the parent, whose spaces it joins',
  'GET /api/collections/allCollections': 'visibleTo',
  'GET /api/collections/rootCollections': 'visibleTo',
  'GET /api/collections/topLevelCollections': 'visibleTo',
  'POST /api/uploads': 'demands the right on the dataset',
  'PATCH /api/uploads/:id': 'of the same key',
  'POST /api/uploads/:id': 'of the same key',
  'DELETE /api/uploads/:id': 'of the same key',
  'GET /api/uploads/:id': 'of the same key',
  'GET /api/uploads': 'of the same key',
  'POST /api/geostreams/sensors': 'demands a space',
  'GET /api/geostreams/sensors': 'visibleTo',
  'POST /api/geostreams/streams': 'demands the right on the sensor of the body',
  'GET /api/geostreams/streams': 'visibleTo, then asks the policy about their sensors',
  'GET /api/geostreams/stream': 'the same',
  'GET /api/geostreams/counts': 'counts what the lists hold',
  'GET /api/geostreams/config': 'titles belong to nobody',
  'GET /api/geostreams/sensors/update': 'does nothing',
  'GET /api/geostreams/streams/update': 'does nothing',
  'POST /api/geostreams/datapoints': 'demands the right on the stream of the body',
  'POST /api/geostreams/datapoints/bulk': 'demands the right on each stream',
  'GET /api/geostreams/datapoints': 'those of streams that the key reaches',
  'GET /api/geostreams/datapoints/bin/:time/:depth': 'the same',
  'GET /api/geostreams/datapoints/averages': 'the same',
  'GET /api/geostreams/datapoints/trends': 'the same',
  'GET /api/geostreams/cache': 'answers that the caller would get',
  'GET /api/geostreams/cache/:id': 'the same',
  'GET /api/sensorthings/v1.1': 'names of sets belong to nobody',
  'GET /api/sensorthings/v1.1/:resource*': 'those of sensors and streams that the key reaches',
  'GET /api/sensorthings/v1.1/:entity/:property/$value': 'the same',
  'GET /api/sensorthings/v1.1/:entity/:link/:property/$value': 'the same',
  'GET /api/geostreams/datapoints/:id': 'asks the policy about its stream',
  'DELETE /api/geostreams/datapoints/:id': 'checks the right on its stream',
  'POST /api/uploads/check': 'checks the right on the dataset of the body',
}

const isRoute = (exported: unknown): exported is Route => typeof exported === 'object' && exported !== null && 'declaration' in exported

test('every route without a resource declares how it confines a key to its spaces', async t => {
  const unknown: string[] = []
  for await (const path of glob('plugins/*/*/index.ts', { cwd: join(import.meta.dirname, '../..') })) {
    const { plugin } = (await import(`../../${path}`)) as { plugin: PluginDefinition }
    for (const { declaration } of Object.values(plugin.routes ?? {}).filter(isRoute)) {
      const { method, path: at, permission } = declaration
      const name = `${method} ${at}`
      const unscoped = typeof permission === 'object' && !permission.on ? permission.right : undefined
      if (unscoped && placedPermissions.has(unscoped) && !(name in looksItself)) unknown.push(name)
    }
  }
  t.deepEqual(unknown, [])
})
