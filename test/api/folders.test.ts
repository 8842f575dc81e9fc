import test from 'ava'
import { Folders } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { callsOf, idOf, idsOf } from '../support/calls.ts'
import { letIn, newCollection, newDataset, newSpace, recordPlugins, type Somebody, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest({ plugins: recordPlugins })
test.after.always(() => server.stop())
const nobody = callsOf(server.as())
const unknownId = 'f'.repeat(24)

const newFolder = (owner: Somebody, dataset: string, name: string, parentId = dataset) =>
  owner.post(`/api/datasets/${dataset}/newFolder`, { name, parentId, parentType: parentId === dataset ? 'dataset' : 'folder' })
const pathsOf = async (owner: Somebody, dataset: string) =>
  ((await owner.get(`/api/datasets/${dataset}/folders`)).body as { name: string }[]).map(folder => folder.name)
const upload = async (owner: Somebody, dataset: string, name: string, folder?: string) => {
  const form = new FormData()
  form.set('File', new Blob([name]), name)
  const answer = await owner.call(`/api/uploadToDataset/${dataset}${folder ? `?folder_id=${folder}` : ''}`, { method: 'POST', body: form })
  return ((await answer.json()) as { id: string }).id
}

test('folders are created in a dataset and in each other', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  const { status, body } = await newFolder(ann, dataset, 'Größe 観測')
  t.is(status, 200)
  const { id, created, ...rest } = body as Record<string, string>
  t.regex(created ?? '', / UTC \d{4}$/)
  t.deepEqual(rest, { name: 'Größe 観測', parentDatasetID: dataset, parentId: dataset, parentType: 'dataset', files: '', folders: '' })
  const inner = await newFolder(ann, dataset, 'inner', id)
  t.like(inner.body as object, { parentId: id, parentType: 'folder', parentDatasetID: dataset })
  t.deepEqual((await ann.get(`/api/datasets/${dataset}/folders`)).body, [
    { id, name: '/Größe 観測' },
    { id: (inner.body as { id: string }).id, name: '/Größe 観測/inner' },
  ])
})

test('a number is appended to a name that is already taken', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  for (let n = 0; n < 3; n++) t.is((await newFolder(ann, dataset, 'a')).status, 200)
  t.deepEqual(await pathsOf(ann, dataset), ['/a', '/a (1)', '/a (2)'])
  const other = await idOf(newFolder(ann, dataset, 'b'))
  t.deepEqual((await ann.put(`/api/datasets/${dataset}/updateName/${other}`, { name: 'a' })).body, { status: 'success', newname: 'a (3)' })
  t.deepEqual((await ann.put(`/api/datasets/${dataset}/updateName/${other}`, { name: 'c' })).body, { status: 'success', newname: 'c' })
  await newFolder(ann, dataset, 'a', other)
  t.deepEqual(await pathsOf(ann, dataset), ['/a', '/a (1)', '/a (2)', '/c', '/c/a'])
})

test('a renamed folder may have its own display name, or one that has become free', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  const [first, second, third] = await Promise.all(['dup', 'x', 'y'].map(name => idOf(newFolder(ann, dataset, name))))
  const rename = async (folder: string | undefined, name: string) =>
    ((await ann.put(`/api/datasets/${dataset}/updateName/${folder}`, { name })).body as { newname: string }).newname
  t.is(await rename(second, 'dup'), 'dup (1)')
  t.is(await rename(second, 'dup'), 'dup (1)')
  t.is(await rename(second, 'dup (1)'), 'dup (1)')
  t.is(await rename(third, 'dup'), 'dup (2)')
  t.is((await ann.remove(`/api/datasets/${dataset}/deleteFolder/${first}`)).status, 200)
  t.is(await rename(third, 'dup'), 'dup')
  t.is(await rename(second, 'dup'), 'dup (1)')
  t.deepEqual((await pathsOf(ann, dataset)).toSorted(), ['/dup', '/dup (1)'])
})

test('concurrently created folders of the same name get distinct names', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  const answers = await Promise.all(Array.from({ length: 20 }, () => newFolder(ann, dataset, 'same')))
  t.true(answers.every(answer => answer.status === 200))
  const names = await pathsOf(ann, dataset)
  t.deepEqual(names.toSorted(), ['/same', ...Array.from({ length: 19 }, (_, n) => `/same (${n + 1})`)].toSorted())
})

test('an invalid folder is refused and not created', async t => {
  const ann = await somebody(server)
  const [dataset, other] = [await newDataset(ann), await newDataset(ann)]
  const elsewhere = await idOf(newFolder(ann, other, 'elsewhere'))
  const whole = { name: 'n', parentId: dataset, parentType: 'dataset' }
  const wrong: readonly (readonly [object, number])[] = [
    ...Object.keys(whole).map(key => [{ ...whole, [key]: undefined }, 400] as const),
    ...['', '.', '..', 'a/b', 'a\\b', 'a\u0000', 'x'.repeat(256)].map(name => [{ ...whole, name }, 400] as const),
    [{ ...whole, parentType: 'space' }, 400],
    [{ ...whole, parentId: other }, 400],
    [{ ...whole, parentType: 'folder', parentId: elsewhere }, 404],
    [{ ...whole, parentType: 'folder', parentId: unknownId }, 404],
    [{ ...whole, parentType: 'folder', parentId: 'nonsense' }, 404],
    [{ ...whole, parentType: 'folder', parentId: dataset }, 404],
  ]
  for (const [json, status] of wrong) {
    t.is((await ann.post(`/api/datasets/${dataset}/newFolder`, json)).status, status, JSON.stringify(json).slice(0, 80))
  }
  t.deepEqual(await pathsOf(ann, dataset), [])
})

test('folders nest at most 100 levels deep', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  let parent = dataset
  for (let n = 0; n < 100; n++) parent = await idOf(newFolder(ann, dataset, 'd', parent))
  t.is((await newFolder(ann, dataset, 'd', parent)).status, 400)
  t.is((await pathsOf(ann, dataset)).at(-1), '/d'.repeat(100))
})

test('only callers who may add to a dataset list and create its folders', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  const dataset = await newDataset(ann, { space: [space] })
  const folder = await idOf(newFolder(ann, dataset, 'f'))
  await letIn(ann, space, 'Viewer', bob)
  const tries = () => [
    newFolder(bob, dataset, 'g'),
    bob.get(`/api/datasets/${dataset}/folders`),
    bob.put(`/api/datasets/${dataset}/updateName/${folder}`, { name: 'taken' }),
    bob.remove(`/api/datasets/${dataset}/deleteFolder/${folder}`),
  ]
  for (const answer of await Promise.all(tries())) t.is(answer.status, 403)
  t.is((await nobody.get(`/api/datasets/${dataset}/folders`)).status, 401)
  t.is((await server.get(Folders).get(folder))?.name, 'f')
  await letIn(ann, space, 'Editor', bob)
  t.is((await newFolder(bob, dataset, 'g')).status, 200)
})

test('deleting a folder deletes everything below it and nothing else', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  const top = await idOf(newFolder(ann, dataset, 'top'))
  const inner = await idOf(newFolder(ann, dataset, 'inner', top))
  const beside = await idOf(newFolder(ann, dataset, 'beside'))
  const [deep, shallow, root] = [
    await upload(ann, dataset, 'deep', inner),
    await upload(ann, dataset, 'x', top),
    await upload(ann, dataset, 'root'),
  ]
  t.deepEqual((await ann.remove(`/api/datasets/${dataset}/deleteFolder/${top}`)).body, { status: 'success', folderId: top })
  t.deepEqual(await pathsOf(ann, dataset), ['/beside'])
  t.is((await ann.remove(`/api/datasets/${dataset}/deleteFolder/${top}`)).status, 404)
  await server.drained()
  for (const id of [top, inner]) t.is(await server.get(Folders).get(id), undefined)
  t.deepEqual(await idsOf(ann.get(`/api/datasets/${dataset}/files`)), [root])
  for (const id of [deep, shallow]) t.is((await ann.get(`/api/files/${id}/metadata`)).status, 404)
  t.truthy(await server.get(Folders).get(beside))
})

test('a folder is accessible only through its own dataset', async t => {
  const ann = await somebody(server)
  const [dataset, other] = [await newDataset(ann), await newDataset(ann)]
  const folder = await idOf(newFolder(ann, dataset, 'f'))
  for (const [at, id] of [
    [other, folder],
    [dataset, unknownId],
    [dataset, 'nonsense'],
    [unknownId, folder],
  ]) {
    t.is((await ann.remove(`/api/datasets/${at}/deleteFolder/${id}`)).status, 404)
    t.is((await ann.put(`/api/datasets/${at}/updateName/${id}`, { name: 'n' })).status, 404)
  }
  t.is((await server.get(Folders).get(folder))?.name, 'f')
})

test('deleting a dataset deletes its folders', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  const top = await idOf(newFolder(ann, dataset, 'top'))
  const inner = await idOf(newFolder(ann, dataset, 'inner', top))
  await ann.remove(`/api/datasets/${dataset}`)
  t.is((await newFolder(ann, dataset, 'late')).status, 409)
  await ann.remove(`/api/datasets/${dataset}`)
  await server.drained()
  for (const id of [top, inner]) t.is(await server.get(Folders).get(id), undefined)
})

test('the tree lists the children of each node', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const collection = await newCollection(ann, { space })
  const [inside, loose, mine] = [
    await newDataset(ann, { space: [space], collection }),
    await newDataset(ann, { space: [space] }),
    await newDataset(ann),
  ]
  const top = await idOf(newFolder(ann, loose, 'top'))
  const inner = await idOf(newFolder(ann, loose, 'inner', top))
  const below = async (nodeType: string, nodeId?: string) => {
    const { body } = await ann.get(`/api/tree/getChildrenOfNode?nodeType=${nodeType}${nodeId ? `&nodeId=${nodeId}` : ''}`)
    return (body as { id: string; children: boolean }[]).map(({ id, children }) => [id, children])
  }
  t.deepEqual(await below('root'), [
    [space, true],
    [mine, false],
  ])
  t.deepEqual(await below('space', space), [
    [loose, true],
    [collection, true],
  ])
  t.deepEqual(await below('collection', collection), [[inside, false]])
  t.deepEqual(await below('dataset', loose), [[top, true]])
  t.deepEqual(await below('folder', top), [[inner, false]])
})
