import test from 'ava'
import { Datasets } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { callsOf, idsOf } from '../support/calls.ts'
import { formWith, newFolder, ok, upload } from '../support/scene.ts'
import { letIn, newCollection, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

let server: TestServer
test.before(async () => {
  server = await bootForTest({ config: { access: { private: true } } })
})
test.after.always(() => server?.stop())

const treeBelow = async (who: Somebody, type: string, id: string): Promise<readonly string[]> =>
  idsOf(who.get(`/api/tree/getChildrenOfNode?nodeType=${type}&nodeId=${id}`))

const found = async (who: Somebody, query: string): Promise<readonly string[]> => {
  await server.drained()
  const { results } = await ok<{ results: { id: string }[] }>(who.call(`/api/search?query=${query}`))
  return results.map(({ id }) => id).toSorted()
}

const counts = async (): Promise<Readonly<Record<string, number>>> => {
  await server.drained()
  return (await ok<{ counts: Record<string, number> }>(server.as(server.admin.key)('/api/status'))).counts
}

test.serial('trashed resources are in no list, search, count, tree or selection until they are restored', async t => {
  const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  const space = await newSpace(ann)
  await letIn(ann, space, 'Editor', bob)
  const collection = await newCollection(ann, { space, name: 'kingfisher shelf' })
  const other = await newCollection(ann, { space, name: 'another' })
  const dataset = await newDataset(ann, { space: [space], collection: [collection], name: 'kingfisher data' })
  const file = await upload(ann.call, dataset, 'x', 'kingfisher.txt')
  for (const who of [ann, bob]) await who.post('/api/selected', { dataset })
  const below = async () => ({
    lists: [
      (await idsOf(bob.get('/api/datasets'))).includes(dataset),
      (await idsOf(bob.get('/api/datasets/canEdit'))).includes(dataset),
      (await idsOf(bob.get(`/api/datasets/listOutsideCollection/${other}`))).includes(dataset),
      (await idsOf(bob.get(`/api/spaces/${space}/datasets`))).includes(dataset),
      (await idsOf(bob.get('/api/collections'))).includes(collection),
      (await idsOf(bob.get('/api/collections/canEdit'))).includes(collection),
      (await idsOf(bob.get('/api/collections/topLevelCollections'))).includes(collection),
      (await idsOf(bob.get('/api/collections/rootCollections'))).includes(collection),
      (await idsOf(bob.get('/api/collections/allCollections'))).includes(collection),
      (await idsOf(bob.get(`/api/collections/possibleParents?currentCollectionId=${other}`))).includes(collection),
      (await idsOf(bob.get(`/api/spaces/${space}/collections`))).includes(collection),
      (await treeBelow(bob, 'space', space)).includes(collection),
      ((await bob.get('/api/selected')).body as readonly string[]).includes(dataset),
      ((await ann.get('/api/selected')).body as readonly string[]).includes(dataset),
    ],
    seen: [
      (await bob.get(`/api/datasets/${dataset}`)).status,
      (await bob.get(`/api/datasets/${dataset}/files`)).status,
      (await bob.get(`/api/datasets/${dataset}/download`)).status,
      (await bob.get(`/api/files/${file}`)).status,
      (await bob.get(`/api/files/${file}/listpreviews`)).status,
      (await bob.get(`/api/datasets/${dataset}/getPreviews`)).status,
      (await bob.get(`/api/collections/${collection}`)).status,
      (await bob.get(`/api/tree/getChildrenOfNode?nodeType=dataset&nodeId=${dataset}`)).status,
    ],
    found: await found(bob, 'kingfisher'),
  })
  const live = await below()
  t.deepEqual(new Set(live.lists), new Set([true]))
  t.deepEqual(new Set(live.seen), new Set([200]))
  t.deepEqual(live.found, [collection, dataset, file].toSorted())
  const before = await counts()

  await ann.remove(`/api/datasets/${dataset}`)
  await ann.remove(`/api/collections/${collection}`)
  const trashed = await below()
  t.deepEqual(new Set(trashed.lists), new Set([false]))
  t.deepEqual(new Set(trashed.seen), new Set([404]))
  t.deepEqual(trashed.found, [])
  const during = await counts()
  t.like(during, { datasets: (before['datasets'] ?? 0) - 1, collections: (before['collections'] ?? 0) - 1 })
  t.deepEqual(await found(ann, 'kingfisher'), [])
  t.deepEqual(await idsOf(bob.get('/api/datasets/listTrash')), [])

  await ann.put(`/api/datasets/restore/${dataset}`)
  await ann.put(`/api/collections/restore/${collection}`)
  t.deepEqual(await below(), live)
  t.deepEqual(await counts(), before)
})

test.serial('nothing can be added to a resource in the trash, nor the resource to others', async t => {
  const ann = await somebody(server, 'ann')
  const space = await newSpace(ann)
  const [bookCollection, other] = [await newCollection(ann), await newCollection(ann)]
  const [dataset, live] = [await newDataset(ann), await newDataset(ann)]
  const folder = await newFolder(ann.call, dataset, 'f')
  const file = await upload(ann.call, live)
  await ann.remove(`/api/datasets/${dataset}`)
  await ann.remove(`/api/collections/${bookCollection}`)
  const body = formWith('x', 'x.txt')
  const refused = [
    (await ann.call(`/api/uploadToDataset/${dataset}`, { method: 'POST', body })).status,
    (await ann.post(`/api/datasets/${dataset}/newFolder`, { name: 'g', parentId: folder, parentType: 'folder' })).status,
    (await ann.post(`/api/datasets/${dataset}/files/${file}`)).status,
    (await ann.post(`/api/datasets/${live}/moveBetweenDatasets/${dataset}/${file}`)).status,
    (await ann.post(`/api/spaces/${space}/addDatasetToSpace/${dataset}`)).status,
    (await ann.post(`/api/collections/${other}/datasets/${dataset}`)).status,
    (await ann.post(`/api/collections/${bookCollection}/addSubCollection/${other}`)).status,
    (await ann.post(`/api/collections/${other}/addSubCollection/${bookCollection}`)).status,
  ]
  t.deepEqual(new Set(refused), new Set([409]))
})

test.serial('a resource restored while the trash is being emptied is kept', async t => {
  const ann = await somebody(server, 'ann')
  const [gone, kept] = [await newDataset(ann), await newDataset(ann)]
  for (const id of [gone, kept]) await ann.remove(`/api/datasets/${id}`)
  const datasets = server.get(Datasets)
  await ann.put(`/api/datasets/restore/${kept}`)
  for (const id of [gone, kept]) await datasets.remove(id, ann.id, { fromTrash: true })
  t.is(await datasets.get(gone), undefined)
  t.is((await datasets.get(kept))?.state, 'live')
})

test.serial('with the trash disabled, a deletion is permanent at once', async t => {
  const resources = { datasets: { useTrash: false }, collections: { useTrash: false } }
  const without = await bootForTest({ t, config: { resources } })
  const ann = await somebody(without, 'ann')
  const [dataset, collection] = [await newDataset(ann), await newCollection(ann)]
  const file = await upload(ann.call, dataset)
  t.is((await ann.remove(`/api/datasets/${dataset}`)).status, 200)
  t.is((await ann.remove(`/api/collections/${collection}`)).status, 200)
  t.is((await ann.get(`/api/files/${file}/metadata`)).status, 404)
  for (const kind of ['datasets', 'collections']) t.deepEqual(await idsOf(ann.get(`/api/${kind}/listTrash`)), [])
  t.is((await ann.put(`/api/datasets/restore/${dataset}`)).status, 404)
  t.is((await ann.put(`/api/collections/restore/${collection}`)).status, 404)
  await without.drained()
  const { counts } = await ok<{ counts: Record<string, number> }>(without.as(without.admin.key)('/api/status'))
  t.like(counts, { datasets: 0, collections: 0, files: 0, bytes: 0 })
})

const dayMs = 86_400_000

test.serial('only resources that have been in the trash for longer than configured are deleted by schedule', async t => {
  let now = Date.parse('2026-01-01T00:00:00Z')
  const clock = { now: () => new Date(now) }
  const resources = { datasets: { clearTrashAfterDays: 30 }, collections: { clearTrashAfterDays: 30 } }
  const scheduled = await bootForTest({ t, clock: clock as never, config: { resources } })
  const ann = await somebody(scheduled, 'ann')
  const made = async () => ({ dataset: await newDataset(ann), collection: await newCollection(ann) })
  const [live, old, fresh] = [await made(), await made(), await made()]
  const file = await upload(ann.call, old.dataset)
  const discard = async ({ dataset, collection }: typeof live) => {
    await ann.remove(`/api/datasets/${dataset}`)
    await ann.remove(`/api/collections/${collection}`)
  }
  await discard(old)
  now += 2 * dayMs
  await discard(fresh)
  now += 29 * dayMs
  for (const kind of ['datasets', 'collections']) await scheduled.runPeriodic(`resources.${kind}/clear-trash`)
  await scheduled.drained()
  t.deepEqual(await idsOf(ann.get('/api/datasets/listTrash')), [fresh.dataset])
  t.deepEqual(await idsOf(ann.get('/api/collections/listTrash')), [fresh.collection])
  t.is((await ann.get(`/api/datasets/${live.dataset}`)).status, 200)
  t.is((await ann.get(`/api/files/${file}/metadata`)).status, 404)
})

test.serial('by default the trash is never cleared', async t => {
  const ann = await somebody(server, 'ann')
  const dataset = await newDataset(ann)
  await ann.remove(`/api/datasets/${dataset}`)
  await server.get(Datasets).change(dataset, { set: { trashedAt: '2001-01-01T00:00:00.000Z' } }, [])
  await server.runPeriodic('resources.datasets/clear-trash')
  t.deepEqual(await idsOf(ann.get('/api/datasets/listTrash')), [dataset])
  const admin = callsOf(server.as(server.admin.key))
  t.is((await admin.remove('/api/datasets/clearOldDatasetsTrash?days=30')).status, 200)
  t.deepEqual(await idsOf(ann.get('/api/datasets/listTrash')), [])
})
