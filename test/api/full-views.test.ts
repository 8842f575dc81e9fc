import test from 'ava'
import { Users } from 'pounce/sdk'
import { bootForTest, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, newFolder, ok, refusal, upload } from '../support/scene.ts'

type Full = Readonly<Record<string, unknown>> & { readonly rights: readonly string[]; readonly id: string }

const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const post = (json: unknown) => ({ method: 'POST', json })
const full = (call: TestFetch, path: string): Promise<Full> => ok<Full>(call(`${path}?view=full`))
const listed = (call: TestFetch, path: string): Promise<readonly Full[]> => ok<readonly Full[]>(call(`${path}?view=full`))
const newSpace = async (call: TestFetch, name: string): Promise<string> =>
  (await ok<{ id: string }>(call('/api/spaces', post({ name, description: 'for plants' })))).id
const newCollection = async (call: TestFetch, name: string, about: Readonly<Record<string, unknown>> = {}): Promise<string> =>
  (await ok<{ id: string }>(call('/api/collections', post({ name, description: 'of leaves', ...about })))).id

let server: TestServer
let ann: Person
let bob: Person
const made = { space: '', hidden: '', collection: '', parent: '', dataset: '', folder: '', file: '' }

test.before(async () => {
  server = await bootForTest({ config: { access: { private: true } } })
  ann = await newPerson(server, 'ann')
  bob = await newPerson(server, 'bob')
  const { call } = ann
  made.space = await newSpace(call, 'lab')
  made.hidden = await newSpace(call, 'secret lab')
  made.collection = await newCollection(call, 'leaves', { space: made.space })
  made.parent = await newCollection(call, 'secret herbarium')
  await ok(call(`/api/collections/${made.parent}/addSubCollection/${made.collection}`, { method: 'POST' }))
  made.dataset = await newDataset(call, {
    name: 'oak',
    description: 'of 2018',
    space: [made.space, made.hidden],
    collection: [made.collection],
  })
  await ok(call(`/api/collections/${made.parent}/datasets/${made.dataset}`, { method: 'POST' }))
  made.folder = await newFolder(call, made.dataset, 'raw')
  made.file = await upload(call, made.dataset, 'bytes', 'oak.csv', { type: 'text/csv' })
  await ok(call(`/api/datasets/${made.dataset}/tags`, post({ tags: ['tree'] })))
  const viewer = (await server.get(Users).roles()).find(({ name }) => name === 'Viewer')?.id ?? ''
  await server.get(Users).setMembership(bob.id, made.space, viewer)
  await ok(bob.call(`/api/datasets/${made.dataset}/follow`, { method: 'POST' }))
  await server.drained()
})
test.after.always(() => server?.stop())

test('the counts of a dataset include nested files and folders', async t => {
  const { call } = await newPerson(server, 'eve')
  const dataset = await newDataset(call, { name: 'counted' })
  const outer = await newFolder(call, dataset, 'outer')
  const inner = await newFolder(call, dataset, 'inner', outer)
  for (const folder of ['', outer, inner])
    await upload(call, dataset, 'x', `in ${folder}.txt`, { query: `extract=false${folder && `&folder_id=${folder}`}` })
  t.like(await full(call, `/api/datasets/${dataset}`), { counts: { files: 3, folders: 2 } })
  const inTree = await ok<unknown[]>(call(`/api/tree/getChildrenOfNode?nodeType=dataset&nodeId=${dataset}`))
  t.is(inTree.length, 2, 'the tree lists only direct children')
})

test('a dataset shows times, names, license, counts and the rights of the caller', async t => {
  const found = await full(ann.call, `/api/datasets/${made.dataset}`)
  t.like(found, { id: made.dataset, name: 'oak', description: 'of 2018', resource_type: 'dataset', access: 'DEFAULT', isPublic: false })
  t.like(found, { author: { id: ann.id, fullName: 'ann Number 1' }, following: false, trashedAt: null, counts: { files: 1, folders: 1 } })
  t.like(found, {
    license: { type: 'license1', text: 'All Rights Reserved', allowDownload: false },
    statistics: { views: 0, lastViewed: null },
  })
  t.regex(String(found['created']), iso)
  t.regex(String(found['modified']), iso)
  t.deepEqual(
    (found['tags'] as { name: string }[]).map(({ name }) => name),
    ['tree'],
  )
  t.deepEqual(
    (found['spaces'] as { name: string }[]).map(({ name }) => name),
    ['lab', 'secret lab'],
  )
  t.deepEqual((found['collections'] as { name: string }[]).map(({ name }) => name).toSorted(), ['leaves', 'secret herbarium'])
  for (const right of ['EditDataset', 'DeleteDataset', 'DownloadFiles', 'AddTag', 'AddFile']) t.true(found.rights.includes(right), right)
})

test('parents that the caller may not view are omitted, and rights are those of the caller', async t => {
  const found = await full(bob.call, `/api/datasets/${made.dataset}`)
  t.deepEqual(found['spaces'], [{ id: made.space, name: 'lab' }])
  t.deepEqual(found['collections'], [{ id: made.collection, name: 'leaves' }])
  t.like(found, { following: true, author: { fullName: 'ann Number 1' } })
  t.deepEqual(found.rights, [])
  const collection = await full(bob.call, `/api/collections/${made.collection}`)
  t.deepEqual([collection['parents'], collection.rights], [[], []])
  t.false(JSON.stringify([found, collection]).includes('secret'))
  const file = await full(bob.call, `/api/files/${made.file}/metadata`)
  t.like(file, { mayDownload: false, rights: [] })
})

test('a collection, a space and a file show their parents, counts and rights', async t => {
  const collection = await full(ann.call, `/api/collections/${made.collection}`)
  t.like(collection, { name: 'leaves', description: 'of leaves', counts: { datasets: 1, collections: 0 }, resource_type: 'collection' })
  t.deepEqual(collection['parents'], [{ id: made.parent, name: 'secret herbarium' }])
  t.deepEqual(collection['rootOf'], [{ id: made.space, name: 'lab' }])
  t.true(collection.rights.includes('EditCollection'))
  const space = await full(ann.call, `/api/spaces/${made.space}`)
  t.like(space, {
    name: 'lab',
    access: 'TRIAL',
    timeToLive: { isEnabled: false, hours: 720 },
    roles: ['Admin'],
    requested: false,
    requests: 0,
  })
  t.deepEqual(space['counts'], { datasets: 1, collections: 1, members: 2 })
  t.true(space.rights.includes('EditSpace'))
  const seen = await full(bob.call, `/api/spaces/${made.space}`)
  t.deepEqual([seen['roles'], seen.rights, seen['requests']], [['Viewer'], [], undefined])
  const file = await full(ann.call, `/api/files/${made.file}/metadata`)
  t.like(file, {
    name: 'oak.csv',
    originalName: 'oak.csv',
    contentType: 'text/csv',
    sizeBytes: 5,
    mayDownload: true,
    resource_type: 'file',
  })
  t.deepEqual(file['places'], [{ dataset: { id: made.dataset, name: 'oak' }, folder: null, path: [] }])
  t.regex(String(file['sha256']), /^[0-9a-f]{64}$/)
  t.true(file.rights.includes('EditFile'))
})

test('lists show the same view as the single resource', async t => {
  const { call } = ann
  const [dataset, collection, space] = [
    await full(call, `/api/datasets/${made.dataset}`),
    await full(call, `/api/collections/${made.collection}`),
    await full(call, `/api/spaces/${made.space}`),
  ]
  for (const path of [
    '/api/datasets',
    '/api/datasets/canEdit',
    `/api/spaces/${made.space}/datasets`,
    `/api/collections/${made.collection}/datasets`,
  ])
    t.deepEqual(await listed(call, path), [dataset], path)
  for (const path of [`/api/spaces/${made.space}/collections`, `/api/collections/${made.parent}/getChildCollections`])
    t.deepEqual(await listed(call, path), [collection], path)
  for (const path of ['/api/collections', '/api/collections/canEdit'])
    t.deepEqual(
      (await listed(call, path)).find(({ id }) => id === made.collection),
      collection,
      path,
    )
  for (const path of ['/api/spaces', '/api/spaces/canEdit'])
    t.deepEqual(
      (await listed(call, path)).find(({ id }) => id === made.space),
      space,
      path,
    )
})

test('a trashed resource shows the date of deletion', async t => {
  const { call } = await newPerson(server)
  const [dataset, collection] = [await newDataset(call), await newCollection(call, 'old')]
  await ok(call(`/api/datasets/${dataset}`, { method: 'DELETE' }))
  await ok(call(`/api/collections/${collection}`, { method: 'DELETE' }))
  const [one] = await listed(call, '/api/datasets/listTrash')
  const [other] = await listed(call, '/api/collections/listTrash')
  t.deepEqual([one?.id, other?.id], [dataset, collection])
  t.regex(String(one?.['trashedAt']), iso)
  t.regex(String(other?.['trashedAt']), iso)
  t.true(one?.rights.includes('DeleteDataset'))
  t.false(one?.rights.includes('EditDataset'))
})

test('an unknown view gets 400, an anonymous caller 401, and an inaccessible or unknown resource 404', async t => {
  t.is((await refusal(ann.call(`/api/datasets/${made.dataset}?view=half`))).status, 400)
  t.is((await refusal(server.as()(`/api/datasets/${made.dataset}?view=full`))).status, 401)
  const { call } = await newPerson(server)
  for (const path of [`datasets/${made.dataset}`, `spaces/${made.hidden}`, `collections/${made.collection}`, `files/${made.file}/metadata`])
    t.is((await refusal(call(`/api/${path}?view=full`))).status, 404, path)
  t.is((await refusal(ann.call(`/api/datasets/${'f'.repeat(24)}?view=full`))).status, 404)
})
