import test from 'ava'
import { Datasets, DocumentStore } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { selections } from '../../plugins/resources/selected/selections.ts'
import { callsOf } from '../support/calls.ts'
import { upload } from '../support/scene.ts'
import { letIn, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest({ config: { access: { private: true } } })
test.after.always(() => server.stop())
const unknownId = 'f'.repeat(24)
const datasets = server.get(Datasets)
const select = (person: Somebody, dataset: string) => person.post('/api/selected', { dataset })
const selected = async (person: Somebody) => (await person.get('/api/selected')).body as readonly string[]

test('datasets are selected once each, removed, and cleared all at once', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  t.deepEqual(await selected(ann), [])
  t.deepEqual((await ann.post('/api/selected/remove', { dataset: unknownId })).body, { selected_count: 0 })
  const [one, two] = [await newDataset(ann), await newDataset(ann)]
  t.deepEqual((await select(ann, one)).body, { selected_count: 1 })
  t.deepEqual((await select(ann, two)).body, { selected_count: 2 })
  t.deepEqual((await select(ann, two)).body, { selected_count: 2 })
  t.deepEqual(await selected(ann), [one, two])
  t.deepEqual(await selected(bob), [])
  t.deepEqual((await ann.post('/api/selected/remove', { dataset: one })).body, { selected_count: 1 })
  t.deepEqual((await ann.post('/api/selected/clear')).body, { success: 'true' })
  t.deepEqual(await selected(ann), [])
})

test('concurrent selections are all kept', async t => {
  const ann = await somebody(server)
  const ids = await Promise.all(Array.from({ length: 12 }, () => newDataset(ann)))
  await Promise.all(ids.map(id => select(ann, id)))
  t.deepEqual([...(await selected(ann))].sort(), [...ids].sort())
})

test('only visible datasets can be selected, and only those that still exist and are visible are listed', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  const shared = await newDataset(ann, { space: [space] })
  for (const id of [shared, unknownId, 'nonsense']) t.is((await select(bob, id)).status, 404)
  t.is((await bob.post('/api/selected', {})).status, 400)
  await letIn(ann, space, 'Viewer', bob)
  t.deepEqual((await select(bob, shared)).body, { selected_count: 1 })
  t.deepEqual(await selected(bob), [shared])
  await ann.remove(`/api/datasets/${shared}`)
  t.deepEqual(await selected(bob), [])
  const own = await newDataset(bob)
  t.deepEqual((await select(bob, own)).body, { selected_count: 1 })
  t.deepEqual((await select(bob, own)).body, { selected_count: 1 })
  t.deepEqual((await bob.post('/api/selected/remove', { dataset: own })).body, { selected_count: 0 })
  await ann.put(`/api/datasets/restore/${shared}`)
  t.deepEqual(await selected(bob), [shared])
  await ann.post(`/api/spaces/${space}/removeUser?removeUser=${bob.id}`)
  t.deepEqual(await selected(bob), [])
  const nobody = callsOf(server.as())
  for (const path of ['/api/selected', '/api/selected/files']) t.is((await nobody.get(path)).status, 401)
  t.is((await nobody.post('/api/selected/clear')).status, 401)
})

test('datasets that were deleted permanently do not count towards the limit', async t => {
  const ann = await somebody(server)
  const gone = Array.from({ length: 999 }, (_, n) => n.toString(16).padStart(24, '0'))
  const [first, second] = [await newDataset(ann), await newDataset(ann)]
  await select(ann, first)
  await server.get(DocumentStore).commit({ update: ann.id, in: selections, addToSet: { datasets: gone } })
  t.deepEqual((await select(ann, second)).body, { selected_count: 2 })
  t.deepEqual(await selected(ann), [first, second])
})

test('tags are added to datasets that the caller may tag, and refusals are reported', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  const others = await newDataset(ann, { space: [space] })
  await letIn(ann, space, 'Viewer', bob)
  const own = await newDataset(bob)
  for (const id of [others, own]) await select(bob, id)
  for (const query of ['', '?tags=', '?tags=%20,%20']) t.is((await bob.post(`/api/selected/tag${query}`)).status, 400)
  const { body } = await bob.post('/api/selected/tag?tags=ice&tags=snow,sea')
  t.like(body, {
    success: 'false',
    datasets: [
      { id: others, status: 'refused' },
      { id: own, status: 'done' },
    ],
  })
  t.deepEqual((await datasets.get(own))?.tags.map(({ name }) => name).sort(), ['ice', 'sea', 'snow'])
  t.deepEqual((await datasets.get(others))?.tags, [])
  t.like((await ann.post('/api/selected/tag?tags=ice')).body, { success: 'true', datasets: [] })
})

test('deleting moves datasets that the caller may delete to the trash; the rest is reported and stays selected', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  const others = await newDataset(ann, { space: [space] })
  await letIn(ann, space, 'Editor', bob)
  const own = await newDataset(bob)
  for (const id of [others, own]) await select(bob, id)
  const { status, body } = await bob.remove('/api/selected/files')
  t.is(status, 200)
  t.like(body, {
    success: 'false',
    datasets: [
      { id: others, status: 'refused' },
      { id: own, status: 'done' },
    ],
  })
  t.is((await datasets.get(own))?.state, 'trashed')
  t.is((await datasets.get(others))?.state, 'live')
  t.deepEqual(await selected(bob), [others])
})

test('the download contains a folder for each dataset that the caller may download', async t => {
  const ann = await somebody(server)
  t.is((await ann.get('/api/selected/files')).status, 404)
  const ids = [await newDataset(ann, { name: 'first' }), await newDataset(ann, { name: 'second' })]
  for (const id of ids) {
    await upload(ann.call, id, 'words', 'words.txt')
    await select(ann, id)
  }
  const answer = await ann.call('/api/selected/files')
  t.is(answer.status, 200)
  t.is(answer.headers.get('content-type'), 'application/zip')
  const text = Buffer.from(await answer.arrayBuffer()).toString('latin1')
  for (const name of ['first', 'second']) t.regex(text, new RegExp(`${name}/.*words\\.txt`))
})
