import test from 'ava'
import { BlobStore, Comments, DocumentStore, Files, Folders, MetadataDocuments, Users } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { files as fileRecords } from '../../plugins/resources/files/collection.ts'
import { relations } from '../../plugins/resources/relations/stored-relations.ts'
import { callsOf, idOf, idsOf } from '../support/calls.ts'
import { extracted } from '../support/extracted.ts'
import { newDataset, newFolder, upload } from '../support/scene.ts'
import { letIn, newSpace, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest()
const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
test.after.always(() => server.stop())
// Resolved at each call, because a test restarts the server.
const files = () => server.get(Files)
const removed = async (dataset: string): Promise<void> => {
  for (let n = 0; n < 2; n++) await ann.remove(`/api/datasets/${dataset}`)
  await server.drained(60_000)
}
const target = (dataset: string, resourceType = 'dataset') => ({ id: dataset, resourceType })

test('deleting a dataset deletes everything that belongs to it', async t => {
  const [dataset, other] = [await newDataset(ann.call, { name: 'wombatland' }), await newDataset(ann.call)]
  const folder = await newFolder(ann.call, dataset, 'f')
  const file = await upload(ann.call, dataset, 'wombat', 'wombat.txt', { query: `folder_id=${folder}` })
  const shared = await upload(ann.call, dataset, 'shared', 'shared.txt')
  await ann.post(`/api/datasets/${other}/files/${shared}`)
  await extracted(ann.call, file)
  const blob = (await files().get(file))?.blob ?? ''
  for (const [kind, id] of [
    ['files', file],
    ['datasets', dataset],
  ] as const) {
    await ann.post(`/api/${kind}/${id}/comment`, { text: 'wombat' })
    await ann.post(`/api/${kind}/${id}/follow`)
    await ann.post(`/api/${kind}/${id}/metadata.jsonld`, {
      agent: { '@type': 'cat:user', user_id: `http://x/api/users/${ann.id}` },
      content: { k: 'wombat' },
    })
    await ann.post('/api/relations', { source: target(id, kind.slice(0, -1)), target: target(other) })
  }
  const section = await idOf(ann.post('/api/sections', { file_id: file, area: { x: 1, y: 1, w: 1, h: 1 } }))
  const previews = await idsOf(ann.get(`/api/files/${file}/listpreviews`))
  t.not(previews.length, 0)
  const link = new URL(((await ann.post(`/files/${file}/links`)).body as { link: string }).link).pathname

  await removed(dataset)
  for (const path of [`datasets/${dataset}`, `files/${file}`, `sections/${section}`, ...previews.map(id => `previews/${id}`)])
    t.is((await ann.get(`/api/${path}`)).status, 404, path)
  t.is((await callsOf(server.as()).get(link)).status, 404)
  t.is(await server.get(BlobStore).stat(blob), undefined)
  t.is(await server.get(Folders).get(folder), undefined)
  t.deepEqual((await server.get(Users).get(ann.id))?.followed, [])
  const documents = server.get(DocumentStore)
  t.deepEqual(await Array.fromAsync(documents.walk(relations)), [])
  for (const ref of [{ kind: 'file', id: file } as const, { kind: 'dataset', id: dataset } as const]) {
    t.deepEqual((await server.get(MetadataDocuments).of(ref)).items, [])
    t.deepEqual((await server.get(Comments).of(ref, { limit: 10 })).items, [])
  }
  const hits = (await ann.get('/api/search?query=wombat*')).body as { results: readonly unknown[] }
  t.deepEqual(hits.results, [])
  t.deepEqual((await files().get(shared))?.places, [{ dataset: other, folder: null, in: other }])
  t.is((await ann.get(`/api/files/${shared}`)).body, 'shared')
})

test.serial('an interrupted cascade continues after a restart', async t => {
  const dataset = await newDataset(ann.call)
  const folder = await newFolder(ann.call, dataset, 'f')
  const ids: string[] = []
  for (let n = 0; n < 40; n++)
    ids.push(await upload(ann.call, dataset, `${n}`, `${n}.txt`, { query: `extract=false${n % 2 ? `&folder_id=${folder}` : ''}` }))
  await server.drained(60_000)
  const blobs = await Promise.all(ids.map(async id => (await files().get(id))?.blob ?? ''))
  await ann.remove(`/api/datasets/${dataset}`)
  t.is((await ann.remove(`/api/datasets/${dataset}`)).status, 200)
  await server.restart()
  await server.drained(60_000)
  const documents = server.get(DocumentStore)
  t.is((await documents.getMany(fileRecords, ids)).size, 0)
  for (const blob of blobs) t.is(await server.get(BlobStore).stat(blob), undefined)
  t.is(await server.get(Folders).get(folder), undefined)
})

test('the datasets suggested for a file are those that the caller may add to', async t => {
  const [space, carl] = [await newSpace(ann), await somebody(server, 'carl')]
  await letIn(ann, space, 'Editor', carl)
  const [mine, shared, hidden] = [
    await newDataset(carl.call, { name: 'goal' }),
    await newDataset(ann.call, { name: 'goal', space: [space] }),
    await newDataset(bob.call, { name: 'goal' }),
  ]
  const file = await upload(carl.call, mine)
  const path = `/api/datasets/moveFileToDataset?file_id=${file}`
  t.deepEqual(await idsOf(carl.get(`${path}&title=GOA`)), [shared, mine])
  t.deepEqual(await idsOf(carl.get(`${path}&title=goa&exact=true`)), [])
  t.deepEqual(await idsOf(carl.get(`${path}&limit=1`)), [shared])
  t.false((await idsOf(carl.get(`${path}&limit=0`))).includes(hidden))
  for (const wrong of ['nonsense', 'f'.repeat(24)]) t.is((await carl.get(`/api/datasets/moveFileToDataset?file_id=${wrong}`)).status, 404)
  t.is((await carl.get('/api/datasets/moveFileToDataset')).status, 400)
})
