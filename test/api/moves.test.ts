import test from 'ava'
import { BlobStore, Counters, Datasets, event, Files, Folders } from 'pounce/sdk'
import { filePlaced } from 'pounce/sdk/kit'
import { bootForTest } from 'pounce/sdk/testing'
import { callsOf, idsOf } from '../support/calls.ts'
import { newDataset, newFolder, upload } from '../support/scene.ts'
import { letIn, newSpace, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest({ config: { access: { private: true } } })
const [ann, bob, eve] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await somebody(server, 'eve')]
test.after.always(() => server.stop())
const [files, folders, datasets] = [server.get(Files), server.get(Folders), server.get(Datasets)]
const nobody = callsOf(server.as())
const unknownId = 'f'.repeat(24)

/** A dataset of Ann with the folders a/b/c, a file in each of them and one in the root. */
const tree = async (more: Record<string, unknown> = {}) => {
  const dataset = await newDataset(ann.call, more)
  const a = await newFolder(ann.call, dataset, 'a')
  const b = await newFolder(ann.call, dataset, 'b', a)
  const c = await newFolder(ann.call, dataset, 'c', b)
  const put = (folder?: string) =>
    upload(ann.call, dataset, 'x', 'x.txt', { query: `extract=false${folder ? `&folder_id=${folder}` : ''}` })
  return { dataset, a, b, c, root: await put(), inA: await put(a), inB: await put(b), inC: await put(c) }
}
const pathsOf = async (file: string) => ((await ann.get(`/api/files/${file}/paths`)).body as { paths: unknown }).paths
const move = (by: typeof ann, from: string, folder: string, query = '') => by.post(`/api/datasets/${from}/moveFolder/${folder}${query}`)
const filesOf = async (dataset: string) => (await idsOf(ann.get(`/api/datasets/${dataset}/files`))).toSorted()

test('a file moves between the root and the folders of its dataset', async t => {
  const { dataset, a, b, root } = await tree()
  const to = (folder: string) => `/api/datasets/${dataset}/moveFile/${folder}/${root}`
  t.deepEqual((await ann.post(to(a), { folderId: null })).body, { status: 'success', fileName: 'x.txt', folderName: 'a' })
  t.deepEqual(await pathsOf(root), [['Leaves', 'a']])
  t.is((await ann.post(to(b), {})).status, 400)
  t.is((await ann.post(to(b), { folderId: b })).status, 400)
  t.deepEqual((await ann.post(to(b), { folderId: a })).body, { status: 'success', fileName: 'x.txt', folderName: 'b' })
  t.deepEqual(await pathsOf(root), [['Leaves', 'a', 'b']])
  t.deepEqual((await ann.post(to(b), { folderId: b })).body, { status: 'success', fileName: 'x.txt', folderName: 'b' })
  t.like(await ann.post(`/api/datasets/${dataset}/moveToDataset/${a}/${root}`), {
    status: 400,
    body: { message: 'The file is not in this folder' },
  })
  for (const path of [`moveToDataset/zz/${root}`, `moveFile/zz/${root}`, `moveFolder/${a}?into=zz`])
    t.like(await ann.post(`/api/datasets/${dataset}/${path}`, {}), { status: 404, body: { message: 'Folder not found or not accessible' } })
  t.like(await ann.get('/api/bulk/zz'), { status: 404, body: { message: 'Bulk job not found or not accessible' } })
  t.like(await ann.post(`/api/datasets/${dataset}/urls`, { url: 5 }), {
    status: 400,
    body: { message: 'url must be text of at most 4000 characters' },
  })
  t.deepEqual((await ann.post(`/api/datasets/${dataset}/moveToDataset/${b}/${root}`)).body, { status: 'success', fileName: 'x.txt' })
  t.deepEqual((await files.get(root))?.places, [{ dataset, folder: null, in: dataset }])
})

test('moving a file with a wrong dataset or folder, or without permission, is refused', async t => {
  const [space, mine, other] = [await newSpace(ann), await tree(), await tree()]
  await ann.post(`/api/spaces/${space}/addDatasetToSpace/${mine.dataset}`)
  await letIn(ann, space, 'Viewer', bob)
  const before = await files.get(mine.root)
  const path = (folder: string, file = mine.root) => `/api/datasets/${mine.dataset}/moveFile/${folder}/${file}`
  for (const wrong of [other.a, unknownId, 'nonsense', mine.dataset]) {
    t.is((await ann.post(path(wrong), {})).status, 404, wrong)
    t.is((await ann.post(path(mine.a), { folderId: wrong })).status, 404, wrong)
  }
  for (const file of [unknownId, 'nonsense']) t.is((await ann.post(path(mine.a, file), {})).status, 404)
  t.is((await ann.post(path(mine.a, other.root), {})).status, 400)
  t.is((await ann.post(`/api/datasets/${mine.dataset}/moveToDataset/${other.a}/${mine.root}`)).status, 404)
  t.is((await bob.post(path(mine.a), {})).status, 403)
  t.is((await eve.post(path(mine.a), {})).status, 404)
  t.is((await nobody.post(path(mine.a), {})).status, 401)
  t.deepEqual(await files.get(mine.root), before)
})

test('a file moves from any folder of a dataset into any folder of another one', async t => {
  const [from, to] = [await tree(), await tree({ name: 'Target' })]
  const path = `/api/datasets/${from.dataset}/moveBetweenDatasets/${to.dataset}/${from.inB}`
  t.is((await ann.post(path)).status, 404)
  t.is((await ann.post(`${path}?fromFolder=${from.b}&toFolder=${from.a}`)).status, 404)
  t.is((await ann.post(`${path}?fromFolder=${from.b}&toFolder=${to.b}`)).status, 200)
  t.deepEqual(await pathsOf(from.inB), [['Target', 'a', 'b']])
  t.false((await filesOf(from.dataset)).includes(from.inB))
  t.true((await filesOf(to.dataset)).includes(from.inB))
  t.is((await eve.post(`/api/datasets/${from.dataset}/moveBetweenDatasets/${to.dataset}/${from.root}`)).status, 404)
})

test('a folder moves within its dataset with all its content', async t => {
  const { dataset, a, b, c, inC } = await tree()
  t.deepEqual((await move(ann, dataset, b)).body, { status: 'success', folderId: b, newname: 'b' })
  t.deepEqual(await pathsOf(inC), [['Leaves', 'b', 'c']])
  t.is((await move(ann, dataset, a, `?into=${c}`)).status, 200)
  const listed = (await ann.get(`/api/datasets/${dataset}/folders`)).body as readonly { name: string }[]
  t.deepEqual(listed.map(folder => folder.name).toSorted(), ['/b', '/b/c', '/b/c/a'])
  t.is((await move(ann, dataset, a, `?into=${c}`)).status, 200)
})

test('a folder cannot be moved into itself or its descendants', async t => {
  const { dataset, a, b, c } = await tree()
  for (const into of [a, b, c]) t.is((await move(ann, dataset, a, `?into=${into}`)).status, 400)
  t.deepEqual((await folders.get(a))?.parent, { kind: 'dataset', id: dataset })
})

test('of two folders moved into each other concurrently, one stays where it was', async t => {
  const dataset = await newDataset(ann.call)
  for (let n = 0; n < 10; n++) {
    const [one, two] = [await newFolder(ann.call, dataset, `one ${n}`), await newFolder(ann.call, dataset, `two ${n}`)]
    const answers = await Promise.all([move(ann, dataset, one, `?into=${two}`), move(ann, dataset, two, `?into=${one}`)])
    t.deepEqual(answers.map(answer => answer.status).toSorted(), [200, 400])
    t.is((await folders.paths([one, two])).size, 2)
  }
})

test('a moved folder gets a number if its name is already in use', async t => {
  const { dataset, b } = await tree()
  const other = await newFolder(ann.call, dataset, 'b')
  t.like((await move(ann, dataset, b)).body, { newname: 'b (1)' })
  t.like((await move(ann, dataset, other, `?into=${b}`)).body, { newname: 'b' })
})

test.serial('a folder moves to another dataset with all its content', async t => {
  await server.drained(60_000)
  const before = await server.get(Counters).instance()
  const [from, to] = [await tree(), await tree({ name: 'Target' })]
  t.like((await move(ann, from.dataset, from.a, `?to=${to.dataset}`)).body, { newname: 'a (1)' })
  t.is((await folders.get(from.a))?.dataset, to.dataset)
  await server.drained(60_000)
  t.deepEqual(await pathsOf(from.inC), [['Target', 'a (1)', 'b', 'c']])
  t.deepEqual(await filesOf(from.dataset), [from.root])
  t.deepEqual(await filesOf(to.dataset), [to.root, to.inA, to.inB, to.inC, from.inA, from.inB, from.inC].toSorted())
  t.deepEqual((await ann.get(`/api/datasets/${from.dataset}/folders`)).body, [])
  t.is((await ann.remove(`/api/datasets/${from.dataset}/deleteFolder/${from.b}`)).status, 404)
  t.is((await ann.remove(`/api/datasets/${to.dataset}/deleteFolder/${from.b}`)).status, 200)
  await server.drained(60_000)
  t.is((await ann.get(`/api/files/${from.inC}`)).status, 404)
  t.like(await server.get(Counters).instance(), { datasets: before.datasets + 2, files: before.files + 6 })
})

test('moving a folder to another dataset requires rights on both', async t => {
  const [one, two] = [await newSpace(ann), await newSpace(ann)]
  const [from, to] = [await tree({ space: [one] }), await tree({ space: [two] })]
  await letIn(ann, one, 'Viewer', bob)
  await letIn(ann, two, 'Editor', bob)
  const query = `?to=${to.dataset}`
  t.is((await move(bob, from.dataset, from.a, query)).status, 403)
  await letIn(ann, one, 'Editor', bob)
  await letIn(ann, two, 'Viewer', bob)
  t.is((await move(bob, from.dataset, from.a, query)).status, 403)
  t.is((await move(eve, from.dataset, from.a, query)).status, 404)
  t.is((await nobody.post(`/api/datasets/${from.dataset}/moveFolder/${from.a}${query}`)).status, 401)
  for (const wrong of [unknownId, 'nonsense']) t.is((await move(ann, from.dataset, from.a, `?to=${wrong}`)).status, 404)
  t.is((await move(ann, to.dataset, from.a)).status, 404)
  t.is((await move(ann, from.dataset, from.a, `?to=${to.dataset}&into=${from.b}`)).status, 404)
  t.is((await move(ann, from.dataset, from.a, `?into=${to.a}`)).status, 404)
  t.is((await folders.get(from.a))?.dataset, from.dataset)
  await letIn(ann, two, 'Editor', bob)
  t.is((await move(bob, from.dataset, from.a, query)).status, 200)
})

test('a moved file survives the deletion of its former dataset immediately afterwards', async t => {
  for (let n = 0; n < 5; n++) {
    const [from, to] = [await tree(), await tree()]
    await ann.remove(`/api/datasets/${from.dataset}`)
    await ann.put(`/api/datasets/restore/${from.dataset}`)
    await Promise.all([move(ann, from.dataset, from.a, `?to=${to.dataset}`)])
    await datasets.remove(from.dataset)
    await server.drained(60_000)
    for (const file of [from.inA, from.inB, from.inC]) t.is((await ann.get(`/api/files/${file}`)).status, 200)
    t.is((await ann.get(`/api/files/${from.root}`)).status, 404)
    t.is((await folders.paths([from.c])).get(from.c)?.length, 3)
  }
})

test('folders moved while their target is deleted stay where they were, or are deleted with it', async t => {
  for (let n = 0; n < 10; n++) {
    const { dataset, b, inC } = await tree()
    const goal = await newFolder(ann.call, dataset, 'goal')
    const [moved] = await Promise.all([move(ann, dataset, b, `?into=${goal}`), ann.remove(`/api/datasets/${dataset}/deleteFolder/${goal}`)])
    await server.drained(60_000)
    const isLeft = (await folders.get(b)) !== undefined
    t.is((await ann.get(`/api/files/${inC}/metadata`)).status, isLeft ? 200 : 404, String(moved.status))
    if (isLeft) t.is((await folders.paths([b])).size, 1)
    else t.is(moved.status, 200)
  }
})

test('files moved while their target is deleted stay where they were, or are deleted with it', async t => {
  for (let n = 0; n < 10; n++) {
    const { dataset, a, root } = await tree()
    const blob = (await files.get(root))?.blob ?? ''
    const [moved] = await Promise.all([
      ann.post(`/api/datasets/${dataset}/moveFile/${a}/${root}`, {}),
      ann.remove(`/api/datasets/${dataset}/deleteFolder/${a}`),
    ])
    await server.drained(60_000)
    const file = await files.get(root)
    if (file) t.deepEqual(file.places, [{ dataset, folder: null, in: dataset }], String(moved.status))
    else t.is(await server.get(BlobStore).stat(blob), undefined)
  }
})

test('a file in a folder that was deleted when the file was moved there is deleted, not left without a location', async t => {
  const { dataset, a, root } = await tree()
  const { blob = '', places = [] } = (await files.get(root)) ?? {}
  t.is((await ann.remove(`/api/datasets/${dataset}/deleteFolder/${a}`)).status, 200)
  await server.drained(60_000)
  // As after a move whose events are handled only now.
  const next = [{ dataset, folder: a, in: a }]
  const moved = event('file.moved', { kind: 'file', id: root }, { dataset, folder: a, from: null })
  await files.change(root, { set: { places: next } }, [moved, filePlaced(root, places, next)])
  await server.drained(60_000)
  t.is(await files.get(root), undefined)
  t.is(await server.get(BlobStore).stat(blob), undefined)
})

test('files uploaded while their dataset is deleted leave nothing behind', async t => {
  for (let n = 0; n < 10; n++) {
    const dataset = await newDataset(ann.call)
    const uploads = Promise.allSettled(Array.from({ length: 4 }, () => upload(ann.call, dataset)))
    await datasets.remove(dataset)
    const made = (await uploads).flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
    await server.drained(60_000)
    for (const file of made) t.is(await files.get(file), undefined)
    t.deepEqual(await Array.fromAsync(files.ofDataset(dataset)), [])
  }
})

test.serial('a resource deleted twice concurrently is subtracted from the totals once', async t => {
  await server.drained(60_000)
  const before = await server.get(Counters).instance()
  const { dataset, a, inA } = await tree()
  const twice = async (path: string) => (await Promise.all([ann.remove(path), ann.remove(path)])).map(answer => answer.status).toSorted()
  for (const path of [`/api/files/${inA}`, `/api/datasets/${dataset}/deleteFolder/${a}`]) {
    const answers = await twice(path)
    t.is(answers[0], 200, path)
    t.true([200, 404].includes(answers[1] ?? 0), path)
  }
  await ann.remove(`/api/datasets/${dataset}`)
  t.is((await twice(`/api/datasets/${dataset}`))[0], 200)
  await server.drained(60_000)
  t.like(await server.get(Counters).instance(), { datasets: before.datasets, files: before.files, bytes: before.bytes })
})
