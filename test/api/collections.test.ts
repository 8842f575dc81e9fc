import test from 'ava'
import { Collections } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { allIds, callsOf, idOf, idsOf, nextOf } from '../support/calls.ts'
import { refusal } from '../support/people.ts'
import {
  letIn,
  newCollection,
  newDataset,
  newSpace,
  publish,
  recordPlugins,
  type Somebody,
  somebody,
} from '../support/spaces-and-people.ts'

const server = await bootForTest({ plugins: recordPlugins })
test.after.always(() => server.stop())
const nobody = callsOf(server.as())
const unknownId = 'f'.repeat(24)
const ok = { status: 'success' }
const single = async (person: Somebody, id: string) => (await person.get(`/api/collections/${id}`)).body as Record<string, string>
const recordOf = (id: string) => server.get(Collections).get(id)
const below = (owner: Somebody, parent: string, name = 'below') =>
  idOf(owner.post('/api/collections/newCollectionWithParent', { name, parentId: parent }))

test('a created collection is returned by id and in lists, in their different shapes', async t => {
  const ann = await somebody(server, 'Ann')
  const space = await newSpace(ann)
  const id = await idOf(ann.post('/api/collections', { name: 'Ice', description: 'cores', space }))
  const one = await single(ann, id)
  t.regex(
    one['author'] ?? '',
    new RegExp(`^MiniUser\\(${ann.id},Ann Number \\d+,http://[^,]*/api/avatars/AN-\\d+,Some\\(${ann.email.toLowerCase()}\\)\\)$`),
  )
  t.like(one, {
    id,
    name: 'Ice',
    description: 'cores',
    root_flag: 'true',
    child_collection_ids: 'List()',
    parent_collection_ids: 'List()',
    childCollectionsCount: '0',
    datasetCount: '0',
    spaces: `List(${space})`,
  })
  const [item] = (await ann.get('/api/collections?title=Ice&exact=true')).body as Record<string, unknown>[]
  t.deepEqual(item, {
    id,
    collectionname: 'Ice',
    description: 'cores',
    created: one['created'],
    thumbnail: null,
    authorId: ann.id,
    resource_type: 'collection',
  })
})

test('an invalid collection is refused and not created', async t => {
  const ann = await somebody(server)
  const wrong = [{}, { name: '' }, { name: 'a\u0000b' }, { name: 'x'.repeat(501) }, { name: 1 }, { name: null }]
  for (const json of wrong) t.is((await ann.post('/api/collections', json)).status, 400, JSON.stringify(json).slice(0, 50))
  for (const space of [unknownId, 'nonsense', '{"$ne":1}']) t.is((await ann.post('/api/collections', { name: 'n', space })).status, 404)
  for (const parentId of [unknownId, 'nonsense', [unknownId]]) {
    t.is((await ann.post('/api/collections/newCollectionWithParent', { name: 'n', parentId })).status, 404)
  }
  t.is((await nobody.post('/api/collections', { name: 'n' })).status, 401)
  t.deepEqual(await idsOf(ann.get('/api/collections/canEdit')), [])
  t.is((await ann.post('/api/collections', { name: 'n', space: 'default' })).status, 200)
})

test('a collection created without a parent has none', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const id = await idOf(ann.post('/api/collections/newCollectionWithParent', { name: 'n', space }))
  t.like(await single(ann, id), { name: 'n', parent_collection_ids: 'List()', spaces: `List(${space})`, root_flag: 'true' })
  t.is((await ann.post('/api/collections/newCollectionWithParent', { name: 'n' })).status, 200)
  t.is((await ann.post('/api/collections/newCollectionWithParent', { name: 'n', parentId: [] })).status, 400)
})

test('null stands for an omitted member of a new collection', async t => {
  const ann = await somebody(server)
  for (const [path, more] of [
    ['/api/collections', {}],
    ['/api/collections/newCollectionWithParent', { parentId: null }],
  ] as const) {
    const id = await idOf(ann.post(path, { name: 'n', description: null, space: null, ...more }))
    t.like(await single(ann, id), { description: '', spaces: 'List()', parent_collection_ids: 'List()' })
  }
})

test('a list of one is accepted as the space of a new collection', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  for (const path of ['/api/collections', '/api/collections/newCollectionWithParent']) {
    const id = await idOf(ann.post(path, { name: 'n', space: [space] }))
    t.like(await single(ann, id), { spaces: `List(${space})`, root_flag: 'true' })
    for (const none of [[], [''], ['default']])
      t.like(await single(ann, await idOf(ann.post(path, { name: 'n', space: none }))), { spaces: 'List()' })
    t.is((await ann.post(path, { name: 'n', space: [unknownId] })).status, 404)
    t.is((await ann.post(path, { name: 'n', space: [space, space] })).status, 400)
  }
})

test('malformed, unknown and deleted ids get the same response', async t => {
  const ann = await somebody(server)
  const id = await newCollection(ann)
  for (let n = 0; n < 2; n++) t.deepEqual((await ann.remove(`/api/collections/${id}`)).body, ok)
  const answers = await Promise.all(['nonsense', unknownId, id].map(async one => refusal(await ann.call(`/api/collections/${one}`))))
  for (const answer of answers) t.deepEqual(answer, answers[0])
  t.is(answers[0]?.['httpStatus'], 404)
})

test('adding to a space requires the permission, whether the body or the path names it', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  await letIn(ann, space, 'Viewer', bob)
  t.is((await bob.post('/api/collections', { name: 'n', space })).status, 403)
  const own = await newCollection(bob)
  t.is((await bob.post(`/api/spaces/${space}/addCollectionToSpace/${own}`)).status, 403)
  await letIn(ann, space, 'Editor', bob)
  t.deepEqual((await bob.post(`/api/spaces/${space}/addCollectionToSpace/${own}`)).body, { collectionInSpace: '1' })
  const others = await newCollection(ann)
  t.is((await bob.post(`/api/spaces/${space}/addCollectionToSpace/${others}`)).status, 403)
  t.is((await bob.post(`/api/spaces/${space}/addCollectionToSpace/${unknownId}`)).status, 404)
  t.is((await bob.post(`/api/spaces/${unknownId}/addCollectionToSpace/${own}`)).status, 404)
})

test('name and description can be changed, only by callers who may edit', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const id = await newCollection(ann)
  t.deepEqual((await ann.put(`/api/collections/${id}/title`, { name: 'new' })).body, ok)
  t.deepEqual((await ann.put(`/api/collections/${id}/description`, { description: '' })).body, ok)
  t.is((await bob.put(`/api/collections/${id}/title`, { name: 'taken' })).status, 403)
  for (const json of [{}, { name: null }, { name: '' }]) t.is((await ann.put(`/api/collections/${id}/title`, json)).status, 400)
  t.is((await ann.put(`/api/collections/${id}/description`, {})).status, 400)
  t.like(await recordOf(id), { name: 'new', description: '' })
})

test('a deleted collection is in the trash and can be restored', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const id = await newCollection(ann)
  t.is((await bob.remove(`/api/collections/${id}`)).status, 403)
  t.deepEqual((await ann.post(`/api/collections/${id}/remove`)).body, ok)
  t.deepEqual(await idsOf(ann.get('/api/collections/canEdit')), [])
  t.deepEqual(await idsOf(ann.get('/api/collections/listTrash')), [id])
  t.deepEqual(await idsOf(nobody.get('/api/collections/listTrash')), [])
  t.is((await bob.get(`/api/collections/${id}`)).status, 404)
  t.deepEqual((await ann.put(`/api/collections/restore/${id}`)).body, ok)
  t.deepEqual(await idsOf(ann.get('/api/collections/canEdit')), [id])
  t.is((await ann.put(`/api/collections/restore/${unknownId}`)).status, 404)
  await ann.remove(`/api/collections/${id}`)
  t.is((await ann.remove('/api/collections/emptyTrash')).body, 'Done emptying trash')
  t.is((await ann.get(`/api/collections/${id}`)).status, 404)
  t.is((await ann.remove('/api/collections/clearOldCollectionsTrash')).status, 403)
})

test('a server admin clears the old trash of all accounts and nothing else', async t => {
  const ann = await somebody(server)
  const admin = callsOf(server.as(server.admin.key))
  const [live, fresh, old] = [await newCollection(ann), await newCollection(ann), await newCollection(ann)]
  for (const id of [fresh, old]) await ann.remove(`/api/collections/${id}`)
  await server.get(Collections).change(old, { set: { trashedAt: '2020-01-01T00:00:00.000Z' } }, [])
  const { body } = await admin.remove('/api/collections/clearOldCollectionsTrash?days=30')
  t.is(body, 'Deleted all collections in trash older than 30 days')
  t.deepEqual(await Promise.all([live, fresh, old].map(async id => (await recordOf(id))?.state)), ['live', 'trashed', undefined])
})

test('a subcollection joins the spaces of its parent, as do its descendants', async t => {
  const ann = await somebody(server)
  const [space, later] = [await newSpace(ann), await newSpace(ann)]
  const top = await newCollection(ann, { space })
  const middle = await idOf(ann.post('/api/collections/newCollectionWithParent', { name: 'm', parentId: [top] }))
  const [loose, bottom] = [await newCollection(ann), await newCollection(ann)]
  t.is((await ann.post(`/api/collections/${loose}/addSubCollection/${bottom}`)).status, 200)
  const { body } = await ann.post(`/api/collections/${middle}/addSubCollection/${loose}`)
  t.like(body as object, { id: middle, child_collection_ids: `List(${loose})`, parent_collection_ids: `List(${top})` })
  await server.drained()
  t.deepEqual((await recordOf(bottom))?.spaces, [space])
  t.deepEqual((await ann.post(`/api/spaces/${later}/addCollectionToSpace/${top}`)).body, { collectionInSpace: '1' })
  await server.drained()
  for (const id of [top, middle, loose, bottom]) t.deepEqual((await recordOf(id))?.spaces, [space, later])
  t.deepEqual(await idsOf(ann.get(`/api/spaces/${later}/collections`)), [top])
  t.is((await ann.post(`/api/spaces/${later}/removeCollection/${middle}?removeDatasets=false`)).status, 400)
  t.is((await ann.get(`/api/collections/${middle}/removeFromSpaceAllowed/${later}`)).body, false)
  t.is((await ann.get(`/api/collections/${top}/removeFromSpaceAllowed/${later}`)).body, true)
  t.is((await ann.post(`/api/spaces/${later}/removeCollection/${top}?removeDatasets=false`)).body, 'success')
  await server.drained()
  for (const id of [top, middle, loose, bottom]) t.deepEqual((await recordOf(id))?.spaces, [space])
  t.is((await ann.post(`/api/spaces/${later}/removeCollection/${top}?removeDatasets=false`)).status, 404)
  t.is((await ann.post(`/api/spaces/${space}/removeCollection/${top}`)).status, 400)
})

test('on request, datasets leave a space with their collection unless another collection of the space contains them', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const [going, staying] = [await newCollection(ann, { space }), await newCollection(ann, { space })]
  const alone = await newDataset(ann, { space: [space], collection: [going] })
  const shared = await newDataset(ann, { space: [space], collection: [going, staying] })
  t.is((await ann.post(`/api/spaces/${space}/removeCollection/${going}?removeDatasets=true`)).status, 200)
  await server.drained()
  t.deepEqual(await idsOf(ann.get(`/api/spaces/${space}/datasets`)), [shared])
  t.deepEqual(await idsOf(ann.get(`/api/collections/${going}/datasets`)), [shared, alone])
})

test('children and parents are listed, and a subcollection can be removed', async t => {
  const ann = await somebody(server)
  const top = await newCollection(ann)
  const children = [await below(ann, top), await below(ann, top)].toReversed()
  t.deepEqual((await ann.get(`/api/collections/${top}/getChildCollectionIds`)).body, children)
  t.deepEqual(await idsOf(ann.get(`/api/collections/${top}/getChildCollections`)), children)
  t.deepEqual((await ann.get(`/api/collections/${children[0]}/getParentCollectionIds`)).body, [top])
  t.deepEqual(await idsOf(ann.get(`/api/collections/${children[0]}/getParentCollections`)), [top])
  t.is((await single(ann, top))['childCollectionsCount'], '2')
  t.deepEqual(await idsOf(ann.get('/api/collections/canEdit')), [...children, top])
  const tops = await allIds(ann.get, '/api/collections')
  t.true(tops.includes(top))
  t.false(tops.includes(children[0] as string))
  t.deepEqual((await ann.post(`/api/collections/${top}/removeSubCollection/${children[0]}`)).body, ok)
  t.deepEqual((await ann.get(`/api/collections/${top}/getChildCollectionIds`)).body, [children[1]])
  t.true((await recordOf(children[0] as string))?.isTopLevel)
  t.is((await ann.get(`/api/collections/${unknownId}/getChildCollections`)).status, 404)
})

test('children of a purged collection are kept and become top-level', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const top = await newCollection(ann, { space })
  const child = await below(ann, top)
  for (let n = 0; n < 2; n++) await ann.remove(`/api/collections/${top}`)
  await server.drained()
  t.like(await recordOf(child), { parents: [], spaces: [space], rootSpaces: [space], isTopLevel: true })
})

test('children of a collection in the trash are top-level until it is restored', async t => {
  const ann = await somebody(server)
  const [top, other] = [await newCollection(ann), await newCollection(ann)]
  const [child, shared] = [await below(ann, top), await below(ann, top)]
  await ann.post(`/api/collections/${other}/addSubCollection/${shared}`)
  const listed = async () => {
    await server.drained()
    const ids = await allIds(ann.get, '/api/collections')
    return [top, child, shared].map(id => ids.includes(id))
  }
  t.deepEqual(await listed(), [true, false, false])
  await ann.remove(`/api/collections/${top}`)
  t.deepEqual(await listed(), [false, true, false])
  await ann.remove(`/api/collections/${other}`)
  t.deepEqual(await listed(), [false, true, true])
  await ann.put(`/api/collections/restore/${top}`)
  t.deepEqual(await listed(), [true, false, false])
})

test('cycles are refused', async t => {
  const ann = await somebody(server)
  const a = await newCollection(ann)
  const b = await below(ann, a)
  const c = await below(ann, b)
  t.is((await ann.post(`/api/collections/${a}/addSubCollection/${a}`)).status, 400)
  t.is((await ann.post(`/api/collections/${b}/addSubCollection/${a}`)).status, 409)
  t.is((await ann.post(`/api/collections/${c}/addSubCollection/${a}`)).status, 409)
  t.is((await ann.post(`/api/collections/${a}/addSubCollection/${c}`)).status, 200)
  t.deepEqual((await recordOf(a))?.parents, [])
  t.deepEqual((await recordOf(c))?.parents, [b, a])
})

test('of concurrent changes that would form a cycle, one is refused', async t => {
  const ann = await somebody(server)
  const ring: string[] = []
  for (let n = 0; n < 4; n++) ring.push(await newCollection(ann))
  const add = (at: number) => ann.post(`/api/collections/${ring[at]}/addSubCollection/${ring[(at + 1) % 4]}`)
  const statuses = (await Promise.all([0, 1, 2, 3].map(add))).map(answer => answer.status)
  t.deepEqual(statuses.toSorted(), [200, 200, 200, 409])
  await server.drained()
  const parents = await Promise.all(ring.map(async id => (await recordOf(id))?.parents.length))
  t.is(
    parents.reduce((sum, one) => (sum ?? 0) + (one ?? 0), 0),
    3,
  )
})

test('only its owner can add a collection to further spaces', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const [shared, bobs] = [await newSpace(ann), await newSpace(bob)]
  await letIn(ann, shared, 'Editor', bob)
  const anns = await newCollection(ann, { space: shared })
  const own = await newCollection(bob, { space: bobs })
  t.is((await bob.post(`/api/collections/${own}/addSubCollection/${anns}`)).status, 403)
  const inside = await newCollection(bob, { space: shared })
  t.is((await bob.post(`/api/collections/${inside}/addSubCollection/${anns}`)).status, 200)
  t.deepEqual((await recordOf(anns))?.spaces, [shared])
})

test('a collection does not enter further spaces with a parent of another owner, also if both change at once', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const [shared, bobs] = [await newSpace(ann), await newSpace(bob)]
  await letIn(ann, shared, 'Editor', bob)
  const anns = await newCollection(ann, { space: shared })
  const [lower, top] = [await newCollection(bob), await newCollection(bob)]
  t.is((await bob.post(`/api/collections/${lower}/addSubCollection/${anns}`)).status, 200)
  t.is((await bob.post(`/api/spaces/${bobs}/addCollectionToSpace/${lower}`)).status, 200)
  const enter = bob.post(`/api/spaces/${bobs}/addCollectionToSpace/${top}`)
  const [nested] = await Promise.all([bob.post(`/api/collections/${top}/addSubCollection/${anns}`), enter])
  t.true(nested.status === 200 || nested.status === 403)
  await server.drained()
  t.deepEqual((await recordOf(anns))?.spaces, [shared])
  const inBobs = await newCollection(bob, { space: bobs })
  t.is((await bob.post(`/api/collections/${inBobs}/addSubCollection/${lower}`)).status, 200)
  const admin = callsOf(server.as(server.admin.key))
  const [wide, own] = [await newSpace(admin), await below(bob, lower)]
  t.is((await admin.post(`/api/spaces/${wide}/addCollectionToSpace/${lower}?superAdmin=true`)).status, 200)
  await server.drained()
  t.deepEqual((await recordOf(anns))?.spaces, [shared, wide])
  t.deepEqual((await recordOf(own))?.spaces, [bobs, wide])
})

test('a collection can be taken out of a space while its parent there is in the trash, and stays out when that is restored', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const top = await newCollection(ann, { space })
  const child = await below(ann, top)
  const out = () => ann.post(`/api/spaces/${space}/removeCollection/${child}?removeDatasets=false`)
  t.is((await out()).status, 400)
  await ann.remove(`/api/collections/${top}`)
  t.is((await ann.get(`/api/collections/${child}/removeFromSpaceAllowed/${space}`)).body, true)
  t.is((await out()).status, 200)
  await ann.put(`/api/collections/restore/${top}`)
  await server.drained()
  t.like(await recordOf(child), { spaces: [], parents: [top] })
})

test('a root collection can be removed from a space that a parent of it is in', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const [top, child] = [await newCollection(ann, { space }), await newCollection(ann, { space })]
  await ann.post(`/api/collections/${top}/addSubCollection/${child}`)
  t.is((await ann.post(`/api/spaces/${space}/removeCollection/${child}?removeDatasets=false`)).status, 200)
  await server.drained()
  t.like(await recordOf(child), { spaces: [], rootSpaces: [], parents: [top] })
})

test('a collection stays out of a space that it was removed from, also while events of its parent are pending', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  // Their children enter the space one after another, which keeps the consumer of all these events busy.
  const large = await Promise.all(Array.from({ length: 8 }, () => newCollection(ann)))
  await Promise.all(large.flatMap(parent => Array.from({ length: 15 }, () => below(ann, parent))))
  await server.drained()
  await Promise.all(large.map(parent => ann.post(`/api/spaces/${space}/addCollectionToSpace/${parent}`)))
  const child = await below(ann, await newCollection(ann, { space }))
  await ann.post(`/api/collections/${child}/rootFlag/${space}`)
  t.is((await ann.post(`/api/spaces/${space}/removeCollection/${child}?removeDatasets=false`)).status, 200)
  await server.drained()
  t.like(await recordOf(child), { spaces: [] })
})

test('the root flag of a collection in a space can be set and unset', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const top = await newCollection(ann, { space })
  const child = await below(ann, top)
  t.like((await ann.post(`/api/collections/${child}/rootFlag/${space}`)).body as object, { id: child, root_flag: 'true' })
  t.deepEqual(await idsOf(ann.get(`/api/spaces/${space}/collections`)), [child, top])
  t.like((await ann.post(`/api/collections/${child}/unsetRootFlag/${space}`)).body as object, { root_flag: 'false' })
  t.deepEqual(await idsOf(ann.get(`/api/spaces/${space}/collections`)), [top])
  t.is((await ann.post(`/api/collections/${await newCollection(ann)}/rootFlag/${space}`)).status, 400)
})

test('possible parents share a space and are neither ancestors nor descendants', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const [top, other, elsewhere] = [await newCollection(ann, { space }), await newCollection(ann, { space }), await newCollection(ann)]
  const middle = await below(ann, top)
  const bottom = await below(ann, middle)
  t.deepEqual(await idsOf(ann.get(`/api/collections/possibleParents?currentCollectionId=${middle}`)), [other])
  t.deepEqual(await idsOf(ann.get(`/api/collections/possibleParents?currentCollectionId=${elsewhere}`)), [bottom, middle, other, top])
  const dataset = await newDataset(ann, { space: [space] })
  t.deepEqual(await idsOf(ann.get(`/api/collections/datasetPossibleParents/${dataset}`)), [bottom, middle, other, top])
  t.is((await ann.get('/api/collections/possibleParents')).status, 400)
  t.is((await ann.get(`/api/collections/datasetPossibleParents/${unknownId}`)).status, 404)
})

test('collections of a public space and their descendants are public until it becomes private', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const top = await newCollection(ann, { space })
  const child = await below(ann, top)
  await publish(server, ann, space)
  t.deepEqual([(await recordOf(top))?.isPublic, (await recordOf(child))?.isPublic], [true, true])
  const late = await newCollection(ann, { space })
  t.true((await recordOf(late))?.isPublic)
  await publish(server, ann, space, 'PRIVATE')
  t.deepEqual([(await recordOf(top))?.isPublic, (await recordOf(late))?.isPublic], [false, false])
})

test('deleting a space removes every collection from it', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const made: string[] = []
  for (let n = 0; n < 5; n++) made.push(await newCollection(ann, { space }))
  await ann.remove(`/api/collections/${made[0]}`)
  await ann.remove(`/api/spaces/${space}`)
  await server.drained()
  for (const id of made) t.like(await recordOf(id), { spaces: [], rootSpaces: [], isTopLevel: true })
})

test('unfiltered lists contain what the caller may view', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  await letIn(ann, space, 'Viewer', bob)
  const rooted = await newCollection(ann, { space })
  const loose = await newCollection(ann)
  t.true((await idsOf(ann.get('/api/collections/rootCollections'))).includes(rooted))
  t.false((await idsOf(ann.get('/api/collections/rootCollections'))).includes(loose))
  t.true((await idsOf(ann.get('/api/collections/topLevelCollections'))).includes(loose))
  t.deepEqual(await idsOf(bob.get('/api/collections/allCollections')), [rooted])
  t.deepEqual(await idsOf(ann.get('/api/collections/allCollections')), [loose, rooted])
  t.deepEqual(await idsOf(nobody.get('/api/collections/allCollections?showAll=true')), [])
  const page = await ann.get('/api/collections/allCollections?limit=1')
  t.deepEqual(await idsOf(Promise.resolve(page)), [loose])
  t.deepEqual(await idsOf(ann.get(nextOf(page) ?? '')), [rooted])
})

test('a collection can be followed, and unfollowed even after its deletion', async t => {
  const ann = await somebody(server)
  const id = await newCollection(ann)
  t.deepEqual((await ann.post(`/api/collections/${id}/follow`)).body, ok)
  for (let n = 0; n < 2; n++) await ann.remove(`/api/collections/${id}`)
  t.like(await ann.post(`/api/collections/${id}/unfollow`), { status: 200, body: '' })
  t.is((await ann.post(`/api/collections/${id}/unfollow`)).status, 404)
  t.is((await ann.post(`/api/collections/${id}/follow`)).status, 404)
})
