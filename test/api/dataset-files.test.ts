import test from 'ava'
import { Datasets, Files } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { idOf, idsOf } from '../support/calls.ts'
import { newFolder } from '../support/scene.ts'
import { letIn, newCollection, newDataset, newSpace, recordPlugins, type Somebody, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest({ plugins: recordPlugins })
test.after.always(() => server.stop())
const unknownId = 'f'.repeat(24)
const ok = { status: 'success' }
const recordOf = (id: string) => server.get(Datasets).get(id)
const own = (person: Somebody) => idsOf(person.get('/api/datasets/canEdit?limit=0'))
const placesOf = async (id: string) => (await server.get(Files).get(id))?.places.map(place => place.in)
const filesOf = async (person: Somebody, dataset: string) => (await idsOf(person.get(`/api/datasets/${dataset}/files`))).toSorted()

/** A file outside datasets. */
const looseFile = async (owner: Somebody, name = 'loose.txt'): Promise<string> => {
  const form = new FormData()
  form.set('File', new Blob([`bytes of ${name}`]), name)
  const answer = await owner.call('/api/files', { method: 'POST', body: form })
  return ((await answer.json()) as { id: string }).id
}

test('a dataset can be created from a file, and then contains it', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const [first, second] = [await looseFile(ann), await looseFile(ann, 'second.txt')]
  t.is((await ann.post('/api/datasets', { name: 'n' })).status, 400)
  t.is((await ann.post('/api/datasets', { file_id: first })).status, 400)
  for (const file_id of [unknownId, 'nonsense']) t.is((await ann.post('/api/datasets', { name: 'n', file_id })).status, 404)
  t.is((await bob.post('/api/datasets', { name: 'n', file_id: first })).status, 404)
  const id = await idOf(ann.post('/api/datasets', { name: 'of one', file_id: first }))
  t.is((await recordOf(id))?.access, 'PRIVATE')
  t.deepEqual(await idsOf(ann.get(`/api/datasets/${id}/files`)), [first])
  const both = await newDataset(ann, { existingfiles: `${first},${second}` })
  t.deepEqual((await idsOf(ann.get(`/api/datasets/${both}/files`))).toSorted(), [first, second].toSorted())
  t.deepEqual((await ann.post('/api/datasets/attachmultiple', { datasetid: id, existingfiles: `${second},${first}` })).body, { id })
  t.is((await idsOf(ann.get(`/api/datasets/${id}/files`))).length, 2)
  t.is((await bob.post('/api/datasets/attachmultiple', { datasetid: id, existingfiles: '' })).status, 403)
  t.is((await server.get(Files).get(first))?.places.length, 2)
})

test('null properties of a new dataset count as absent', async t => {
  const ann = await somebody(server)
  const nothing = { description: null, space: null, collection: null, access: null, existingfiles: null }
  const id = await idOf(ann.post('/api/datasets/createempty', { name: 'n', ...nothing }))
  t.like(await recordOf(id), { description: '', spaces: [], access: 'DEFAULT' })
  const file_id = await looseFile(ann)
  const made = await idOf(ann.post('/api/datasets', { name: 'n', file_id, description: null, space: null }))
  t.like(await recordOf(made), { description: '', spaces: [] })
})

test('deleting a dataset without its files keeps those in its root, also if they are in its folders as well', async t => {
  const ann = await somebody(server)
  const [file, twice, inside] = [await looseFile(ann), await looseFile(ann), await looseFile(ann)]
  const dataset = await newDataset(ann, { existingfiles: `${file},${twice},${inside}` })
  const folder = await newFolder(ann.call, dataset, 'a')
  for (const id of [twice, inside]) t.is((await ann.post(`/api/datasets/${dataset}/moveFile/${folder}/${id}`, {})).status, 200)
  t.is((await ann.post(`/api/datasets/${dataset}/files/${twice}`)).status, 200)
  t.deepEqual(await placesOf(twice), [folder, dataset])
  t.deepEqual((await ann.post(`/api/datasets/${dataset}/detachdelete`)).body, ok)
  t.is((await ann.get(`/api/datasets/${dataset}`)).status, 404)
  await server.drained()
  for (const id of [file, twice]) t.deepEqual(await placesOf(id), [])
  t.is(await placesOf(inside), undefined)
})

test('creating a dataset from files of another user gives no access to them', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const [space, file] = [await newSpace(ann), await looseFile(ann)]
  await newDataset(ann, { space: [space], existingfiles: file })
  t.is((await bob.post('/api/datasets/createempty', { name: 'n', existingfiles: file })).status, 403)
  await letIn(ann, space, 'Viewer', bob)
  t.is((await bob.post('/api/datasets', { name: 'n', file_id: file })).status, 403)
  const bobs = await newDataset(bob)
  t.is((await bob.post(`/api/datasets/${bobs}/files/${file}`)).status, 403)
  t.is((await bob.post('/api/datasets/attachmultiple', { datasetid: bobs, existingfiles: file })).status, 403)
  t.deepEqual(await own(bob), [bobs])
  t.is((await placesOf(file))?.length, 1)
})

test('attaching a file to a dataset of one’s own gives no right to delete or archive it', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const [space, file] = [await newSpace(ann), await looseFile(ann)]
  const dataset = await newDataset(ann, { space: [space], existingfiles: file })
  await letIn(ann, space, 'Editor', bob)
  const bobs = await newDataset(bob)
  t.is((await bob.post(`/api/datasets/${bobs}/files/${file}`)).status, 200)
  const rightsOf = async (who: Somebody) =>
    ((await who.get(`/api/files/${file}/metadata?view=full`)).body as { rights: readonly string[] }).rights
  const isRefused = async () => {
    t.is((await bob.remove(`/api/files/${file}`)).status, 403)
    t.deepEqual((await bob.post('/api/files/bulkRemove', { fileIds: [file] })).body, {
      deleted: [],
      'not found': [],
      'error deleting': [],
      'no permission': [file],
    })
    const rights = await rightsOf(bob)
    t.deepEqual(
      ['EditFile', 'DeleteFile', 'ArchiveFile'].filter(right => rights.includes(right)),
      ['EditFile'],
    )
  }
  await isRefused()
  await ann.post(`/api/spaces/${space}/removeUser?removeUser=${bob.id}`)
  await isRefused()
  // The owner of the other dataset cannot prevent its author from deleting it.
  t.true((await rightsOf(ann)).includes('DeleteFile'))
  // Deleting his own dataset for good leaves the file in the other one.
  for (let n = 0; n < 2; n++) await bob.remove(`/api/datasets/${bobs}`)
  await server.drained()
  t.deepEqual(await placesOf(file), [dataset])
  t.is((await ann.remove(`/api/files/${file}`)).status, 200)
})

test('a file is attached once and detached without being deleted', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const [dataset, other, file] = [await newDataset(ann), await newDataset(ann), await looseFile(ann)]
  for (let n = 0; n < 2; n++) t.deepEqual((await ann.post(`/api/datasets/${dataset}/files/${file}`)).body, ok)
  t.deepEqual((await ann.post(`/api/datasets/${other}/files/${file}`)).body, ok)
  t.deepEqual(await placesOf(file), [dataset, other])
  t.is((await bob.remove(`/api/datasets/${dataset}/${file}`)).status, 403)
  t.deepEqual((await ann.remove(`/api/datasets/${dataset}/${file}`)).body, ok)
  t.deepEqual((await ann.remove(`/api/datasets/${dataset}/${file}`)).body, ok)
  t.deepEqual(await placesOf(file), [other])
  t.is((await ann.post(`/api/datasets/${dataset}/filesRemove/${file}/False`)).status, 404)
  t.is((await ann.post(`/api/datasets/${dataset}/filesRemove/${file}/maybe`)).status, 400)
  t.deepEqual((await ann.post(`/api/datasets/${dataset}/filesRemove/${file}/TRUE`)).body, ok)
  t.deepEqual((await ann.post(`/api/datasets/${other}/filesRemove/${file}/False`)).body, ok)
  t.deepEqual((await ann.remove(`/api/datasets/${dataset}/${unknownId}`)).body, ok)
  // A misspelt path is not an id.
  for (const path of ['nonsense', 'folders']) t.is((await ann.remove(`/api/datasets/${dataset}/${path}`)).status, 404, path)
  for (const id of [unknownId, 'nonsense']) {
    t.deepEqual((await ann.post(`/api/datasets/${dataset}/filesRemove/${id}/True`)).body, ok)
    t.is((await ann.post(`/api/datasets/${dataset}/filesRemove/${id}/False`)).status, 404)
  }
  t.like(await ann.post(`/api/datasets/${dataset}/filesRemove/${file}/x`), {
    status: 400,
    body: { message: 'ignoreNotFound must be true or false' },
  })
  await server.drained()
  t.deepEqual(await placesOf(file), [])
  t.is((await ann.get(`/api/files/${file}/blob`)).status, 200)
  for (const path of [`${unknownId}/files/${file}`, `${dataset}/files/${unknownId}`, `${dataset}/files/nonsense`]) {
    t.is((await ann.post(`/api/datasets/${path}`)).status, 404, path)
  }
})

test('moving a file between datasets requires rights on both', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const file = await looseFile(ann)
  const [from, to, bobs] = [await newDataset(ann, { existingfiles: file }), await newDataset(ann), await newDataset(bob)]
  t.is((await ann.post(`/api/datasets/${from}/moveBetweenDatasets/${bobs}/${file}`)).status, 403)
  t.deepEqual((await ann.post(`/api/datasets/${from}/moveBetweenDatasets/${to}/${file}`)).body, ok)
  t.deepEqual([await filesOf(ann, from), await filesOf(ann, to)], [[], [file]])
  for (const goal of [to, from]) t.is((await ann.post(`/api/datasets/${from}/moveBetweenDatasets/${goal}/${file}`)).status, 404)
  t.is((await ann.post(`/api/datasets/${to}/moveBetweenDatasets/${unknownId}/${file}`)).status, 404)
  await ann.remove(`/api/datasets/${from}`)
  t.is((await ann.post(`/api/datasets/${to}/moveBetweenDatasets/${from}/${file}`)).status, 409)
  t.deepEqual(await placesOf(file), [to])
})

test('attaching a file to 20 datasets concurrently loses none of them', async t => {
  const ann = await somebody(server)
  const file = await looseFile(ann)
  const made = await Promise.all(Array.from({ length: 20 }, () => newDataset(ann)))
  const answers = await Promise.all(made.map(dataset => ann.post(`/api/datasets/${dataset}/files/${file}`)))
  t.true(answers.every(answer => answer.status === 200))
  t.deepEqual((await placesOf(file))?.toSorted(), made.toSorted())
})

test('a file can be attached to at most 1,000 datasets', async t => {
  const ann = await somebody(server)
  const [file, dataset, last] = [await looseFile(ann), await newDataset(ann), await newDataset(ann)]
  t.deepEqual((await ann.post(`/api/datasets/${dataset}/files/${file}`)).body, ok)
  const others = Array.from({ length: 998 }, (_, n) => `a${n.toString(16).padStart(23, '0')}`)
  const places = [dataset, ...others].map(id => ({ dataset: id, folder: null, in: id }))
  await server.get(Files).change(file, { set: { places } }, [])
  const next = [await newDataset(ann), await newDataset(ann)]
  const answers = await Promise.all(next.map(id => ann.post(`/api/datasets/${id}/files/${file}`)))
  const refused = answers.filter(({ status }) => status !== 200)
  t.is(refused.length, 1)
  t.like(refused[0], { status: 400, body: { code: 'invalid', message: 'A file can be in at most 1000 datasets' } })
  t.deepEqual((await ann.post(`/api/datasets/${dataset}/files/${file}`)).body, ok)
  await ann.remove(`/api/datasets/${dataset}/${file}`)
  t.deepEqual((await ann.post(`/api/datasets/${last}/files/${file}`)).body, ok)
})

test('a dataset without a thumbnail takes that of an attached file, and so do its collections', async t => {
  const ann = await somebody(server)
  const [collection, file] = [await newCollection(ann), await looseFile(ann)]
  const dataset = await newDataset(ann, { collection })
  await server.get(Files).change(file, { set: { thumbnail: unknownId } }, [])
  await ann.post(`/api/datasets/${dataset}/files/${file}`)
  t.is(((await ann.get(`/api/datasets/${dataset}`)).body as { thumbnail: string }).thumbnail, unknownId)
  const [item] = (await ann.get('/api/collections/canEdit')).body as { thumbnail: string }[]
  t.is(item?.thumbnail, unknownId)
})
