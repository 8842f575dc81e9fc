import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { allIds, callsOf, idsOf } from '../support/calls.ts'
import { letIn, newCollection, newDataset, newSpace, recordPlugins, type Somebody, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest({ plugins: recordPlugins, config: { access: { private: true } } })
test.after.always(() => server.stop())
const unknownId = 'f'.repeat(24)
const path = (type: string, id = '', more = ''): string => `/api/tree/getChildrenOfNode?nodeType=${type}${id ? `&nodeId=${id}` : ''}${more}`
const below = async (person: Somebody, type: string, id = '', more = '') => [...(await idsOf(person.get(path(type, id, more))))].sort()

test('the root lists visible spaces, and own resources without a parent', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const [space, shared] = [await newSpace(ann), await newSpace(bob)]
  await letIn(bob, shared, 'Viewer', ann)
  const collection = await newCollection(ann)
  const loose = await newDataset(ann)
  await newDataset(ann, { space: [space] })
  await newDataset(ann, { collection: [collection] })
  await newCollection(ann, { space })
  await ann.post('/api/collections/newCollectionWithParent', { name: 'inside', parentId: collection })
  await newDataset(bob)
  const trashed = await newDataset(ann)
  await ann.remove(`/api/datasets/${trashed}`)
  t.deepEqual(await below(ann, 'root'), [space, shared, collection, loose].sort())
  t.deepEqual(await below(ann, 'root', '', '&mine=true'), [space, collection, loose].sort())
  t.deepEqual(await allIds(ann.get, path('root', '', '&limit=1')).then(ids => [...ids].sort()), [space, shared, collection, loose].sort())
})

test('a space lists what is in none of its collections; `mine` restricts it to own resources', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const [space, elsewhere] = [await newSpace(ann), await newSpace(ann)]
  await letIn(ann, space, 'Editor', bob)
  const [inside, outside] = [await newCollection(ann, { space }), await newCollection(ann, { space: elsewhere })]
  const held = await newDataset(ann, { space: [space], collection: [inside] })
  const heldElsewhere = await newDataset(ann, { space: [space], collection: [outside] })
  const bobs = await newDataset(bob, { space: [space] })
  const bobsGroup = await newCollection(bob, { space })
  t.deepEqual(await below(bob, 'space', space), [heldElsewhere, bobs, inside, bobsGroup].sort())
  t.deepEqual(await below(bob, 'space', space, '&mine=true'), [bobs, bobsGroup].sort())
  t.deepEqual(await below(ann, 'collection', inside), [held])
  t.deepEqual(await below(bob, 'collection', inside, '&mine=true'), [])
  await ann.remove(`/api/collections/${inside}`)
  t.deepEqual(await below(bob, 'space', space), [held, heldElsewhere, bobs, bobsGroup].sort())
})

test('an inaccessible node gets 404 like a missing one, and anonymous callers get 401', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const things = { space: await newSpace(ann), collection: await newCollection(ann), dataset: await newDataset(ann) }
  for (const [type, id] of Object.entries(things)) {
    for (const each of [id, unknownId, 'nonsense']) t.is((await bob.get(path(type, each))).status, 404, `${type} ${each}`)
    t.is((await callsOf(server.as()).get(path(type, id))).status, 401)
    t.deepEqual(await below(ann, type, id), [])
  }
})

test('a page may be empty if its datasets are in collections; its link leads to the rest', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const collection = await newCollection(ann, { space })
  const loose = await newDataset(ann, { space: [space] })
  for (let n = 0; n < 40; n++) await newDataset(ann, { space: [space], collection: [collection] })
  const first = await ann.get(path('space', space, '&limit=2'))
  t.deepEqual(first.body, [])
  t.truthy(first.headers.get('link'))
  t.deepEqual([...(await allIds(ann.get, path('space', space, '&limit=2')))].sort(), [loose, collection].sort())
})
