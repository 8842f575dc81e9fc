import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { allIds, callsOf, idsOf } from '../support/calls.ts'
import { refusal } from '../support/people.ts'
import { letIn, newCollection, newDataset, newSpace, publish, recordPlugins, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest({ plugins: recordPlugins, config: { access: { private: true } } })
test.after.always(() => server.stop())
const admin = callsOf(server.as(server.admin.key))
const nobody = callsOf(server.as())
const lists = ['/api/datasets', '/api/collections', '/api/spaces'] as const

test('on a private server, lists contain only resources that are public, own or shared through a space', async t => {
  const [ann, bob, cid] = [await somebody(server), await somebody(server), await somebody(server)]
  const [open, shared] = [await newSpace(ann), await newSpace(ann)]
  await publish(server, ann, open)
  await letIn(ann, shared, 'Viewer', bob)
  const make = async (space?: string) => [
    await newDataset(ann, space ? { space: [space] } : {}),
    await newCollection(ann, space ? { space } : {}),
  ]
  const [secretSet, secretGroup] = await make()
  const [sharedSet, sharedGroup] = await make(shared)
  const [openSet, openGroup] = await make(open)
  const shutSet = await newDataset(ann, { space: [open], access: 'PRIVATE' })
  const seen = (person: { get: typeof ann.get }) => Promise.all(lists.map(path => allIds(person.get, `${path}?limit=2`)))
  t.deepEqual(await seen(ann), [
    [shutSet, openSet, sharedSet, secretSet],
    [openGroup, sharedGroup, secretGroup],
    [shared, open],
  ])
  t.deepEqual(await seen(bob), [
    [openSet, sharedSet],
    [openGroup, sharedGroup],
    [shared, open],
  ])
  t.deepEqual(await seen(cid), [[openSet], [openGroup], [open]])
  t.deepEqual(await idsOf(cid.get(`/api/spaces/${open}/datasets`)), [openSet])
  t.deepEqual(await idsOf(bob.get('/api/datasets/canEdit')), [])
  for (const path of lists.slice(0, 2)) t.is((await nobody.get(path)).status, 401)
  t.deepEqual(await idsOf(nobody.get('/api/spaces')), [open])
  t.is((await nobody.get(`/api/spaces/${open}`)).status, 200)
  for (const path of [`datasets/${secretSet}`, `collections/${secretGroup}`, `spaces/${shared}`, `datasets/${shutSet}`]) {
    const hidden = await refusal(await cid.call(`/api/${path}`))
    t.deepEqual(hidden, await refusal(await cid.call(`/api/${path.replace(/[0-9a-f]{24}/, 'f'.repeat(24))}`)), path)
    t.is(hidden['httpStatus'], 404)
  }
  t.is((await bob.get(`/api/datasets/${sharedSet}/download`)).status, 403)
  t.is((await cid.get(`/api/datasets/${sharedSet}/download`)).status, 404)
})

test('inaccessible resources do not appear in parents or children', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const [shared, secret] = [await newSpace(ann), await newSpace(ann)]
  await letIn(ann, shared, 'Viewer', bob)
  const top = await newCollection(ann, { space: shared })
  const hidden = await newCollection(ann, { space: secret })
  const child = await newCollection(ann)
  await ann.post(`/api/collections/${top}/addSubCollection/${child}`)
  await ann.post(`/api/collections/${hidden}/addSubCollection/${child}`)
  const { body } = await bob.get(`/api/collections/${child}`)
  t.is((body as Record<string, string>)['parent_collection_ids'], `List(${top})`)
  t.deepEqual(await idsOf(bob.get(`/api/collections/${child}/getParentCollections`)), [top])
  await newDataset(ann, { collection: [child] })
  t.deepEqual(await idsOf(bob.get(`/api/collections/${child}/datasets`)), [])
})

test('pages for a member of many spaces neither skip nor repeat datasets', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const made: string[] = []
  for (let n = 0; n < 12; n++) {
    const space = await newSpace(ann)
    await letIn(ann, space, 'Viewer', bob)
    for (let m = 0; m < 2; m++) made.unshift(await newDataset(ann, { space: [space] }))
    await newDataset(ann, { name: 'secret' })
  }
  const seen = await allIds(bob.get, '/api/datasets?limit=5')
  t.is(new Set(seen).size, seen.length)
  // The list may include public datasets of other tests.
  t.deepEqual(
    seen.filter(id => made.includes(id)),
    made,
  )
  t.deepEqual(await allIds(bob.get, '/api/datasets?limit=5&title=secret'), [])
})

test('being the author does not extend the permissions of an extraction key or a ReadOnly account', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const [dataset, collection] = [await newDataset(ann, { space: [space] }), await newCollection(ann, { space })]
  await ann.post(`/api/collections/${collection}/datasets/${dataset}`)
  const { key: made } = (await ann.post('/api/users/keys?name=extractor&scope=extraction')).body as { key: string }
  const key = callsOf(server.as(made))
  const tries = [
    (by: typeof ann.get) => by(`/api/spaces/${space}/removeDataset/${dataset}`),
    (by: typeof ann.get) => by(`/api/spaces/${space}/removeCollection/${collection}?removeDatasets=false`),
    (by: typeof ann.get) => by(`/api/collections/${collection}/datasetsRemove/${dataset}/True`),
    (by: typeof ann.get) => by(`/api/spaces/${space}/updateUsers`, { rolesandusers: { Viewer: '' } }),
  ]
  for (const attempt of tries) t.is((await attempt(key.post)).status, 403)
  t.is((await key.remove('/api/datasets/emptyTrash')).status, 403)
  t.is((await admin.post('/api/admin/users', { readonly: [ann.id] })).status, 200)
  for (const attempt of tries) t.is((await attempt(ann.post)).status, 403)
  t.is((await ann.remove('/api/datasets/emptyTrash')).status, 403)
  t.deepEqual(await idsOf(ann.get(`/api/spaces/${space}/datasets`)), [dataset])
})
