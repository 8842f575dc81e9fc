import test from 'ava'
import { Datasets, Users } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { allIds, callsOf, idsOf, nextOf } from '../support/calls.ts'
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
const admin = callsOf(server.as(server.admin.key))
const nobody = callsOf(server.as())
const unknownId = 'f'.repeat(24)
const ok = { status: 'success' }
const recordOf = (id: string) => server.get(Datasets).get(id)
const own = (person: Somebody) => idsOf(person.get('/api/datasets/canEdit?limit=0'))

test('a dataset is created and has the same representation in every response', async t => {
  const ann = await somebody(server)
  const [space, collection] = [await newSpace(ann), await newCollection(ann)]
  const id = await newDataset(ann, { name: 'Größe – 観測', description: 'a\nb', space: [space], collection: [collection] })
  const { status, body } = await ann.get(`/api/datasets/${id}`)
  t.is(status, 200)
  const { created, ...rest } = body as Record<string, unknown>
  t.regex(String(created), /^\w{3} \w{3} \d\d \d\d:\d\d:\d\d UTC \d{4}$/)
  const shape = {
    id,
    name: 'Größe – 観測',
    description: 'a\nb',
    thumbnail: null,
    authorId: ann.id,
    spaces: [space],
    resource_type: 'dataset',
  }
  t.deepEqual(rest, shape)
  for (const list of ['/api/datasets?title=größe', `/api/spaces/${space}/datasets`, `/api/collections/${collection}/datasets`]) {
    t.deepEqual((await ann.get(list)).body, [body], list)
  }
  t.deepEqual((await ann.get(`/api/collections/${collection}/getDatasets`)).body, [body])
  t.like(await recordOf(id), { access: 'DEFAULT', isPublic: false, collections: [collection], state: 'live' })
})

test('an invalid dataset is refused and not created', async t => {
  const ann = await somebody(server)
  const wrong: readonly object[] = [
    {},
    { name: '' },
    { name: 'a\u0007' },
    { name: 'x'.repeat(501) },
    { name: ['n'] },
    { name: 'n', description: 4 },
    { name: 'n', access: 'TRIAL' },
    { name: 'n', access: 'open' },
    { name: 'n', space: { $ne: 1 } },
    { name: 'n', existingfiles: [unknownId] },
  ]
  for (const json of wrong) t.is((await ann.post('/api/datasets/createempty', json)).status, 400, JSON.stringify(json).slice(0, 50))
  for (const json of [{ space: [unknownId] }, { space: 'nonsense' }, { collection: [unknownId] }, { existingfiles: `${unknownId}` }]) {
    t.is((await ann.post('/api/datasets/createempty', { name: 'n', ...json })).status, 404, JSON.stringify(json))
  }
  t.is((await nobody.post('/api/datasets/createempty', { name: 'n' })).status, 401)
  t.deepEqual(await own(ann), [])
  t.is((await ann.post('/api/datasets/createempty', { name: 'n', space: ['default'], collection: '' })).status, 200)
})

test('a dataset can be created only in spaces and collections that its author may add to', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const [space, collection] = [await newSpace(ann), await newCollection(ann)]
  await letIn(ann, space, 'Viewer', bob)
  for (const more of [{ space: [space] }, { collection: [collection] }]) {
    t.is((await bob.post('/api/datasets/createempty', { name: 'n', ...more })).status, 403)
  }
  t.deepEqual(await own(bob), [])
})

test('malformed, unknown and deleted ids get the same response', async t => {
  const ann = await somebody(server)
  const id = await newDataset(ann)
  for (let n = 0; n < 2; n++) t.deepEqual((await ann.remove(`/api/datasets/${id}`)).body, ok)
  const answers = await Promise.all(['nonsense', unknownId, id].map(async one => refusal(await ann.call(`/api/datasets/${one}`))))
  for (const answer of answers) t.deepEqual(answer, answers[0])
  t.is(answers[0]?.['httpStatus'], 404)
  for (const one of ['nonsense', unknownId, id]) {
    t.is((await ann.put(`/api/datasets/${one}/title`, { name: 'n' })).status, 404)
    t.is((await ann.remove(`/api/datasets/${one}`)).status, 404)
    t.is((await ann.get(`/api/datasets/${one}/download`)).status, 404)
    t.is((await ann.post(`/api/datasets/${one}/newFolder`, { name: 'n', parentId: one, parentType: 'dataset' })).status, 404)
  }
})

test('only editors can change the title and description of a dataset, and a change updates its date', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const id = await newDataset(ann)
  const path = `/api/datasets/${id}`
  t.deepEqual((await ann.put(`${path}/title`, { name: 'new' })).body, ok)
  t.deepEqual((await ann.put(`${path}/description`, { description: 'text' })).body, ok)
  t.like(await recordOf(id), { name: 'new', description: 'text' })
  t.deepEqual((await ann.post(`${path}/editing`, { name: 'both', description: '' })).body, ok)
  const record = await recordOf(id)
  t.like(record, { name: 'both', description: '' })
  t.true((record?.modified ?? '') >= (record?.created ?? ''))
  t.is((await bob.put(`${path}/title`, { name: 'taken' })).status, 403)
  t.is((await nobody.put(`${path}/title`, { name: 'taken' })).status, 401)
  for (const json of [{}, { name: null }, { name: '' }, { name: '\n' }]) t.is((await ann.put(`${path}/title`, json)).status, 400)
  for (const json of [{ name: 'n' }, { description: '' }]) t.is((await ann.post(`${path}/editing`, json)).status, 400)
  t.deepEqual(await recordOf(id), record)
})

test('creators are appended, reordered and removed', async t => {
  const ann = await somebody(server)
  const id = await newDataset(ann)
  const path = `/api/datasets/${id}/creator`
  const before = '2020-01-01T00:00:00.000Z'
  await server.get(Datasets).change(id, { set: { modified: before } }, [])
  for (const creator of ['Ada', 'Bo & Co', 'Ada', 'Cy']) t.deepEqual((await ann.post(path, { creator })).body, ok)
  t.true(((await recordOf(id))?.modified ?? before) > before)
  t.deepEqual((await recordOf(id))?.creators, ['Ada', 'Bo & Co', 'Cy'])
  t.deepEqual((await ann.put(`${path}/reorder?creator=Cy&newPos=0`)).body, ok)
  t.deepEqual((await ann.put(`${path}/reorder?creator=Ada&newPos=99`)).body, ok)
  t.deepEqual((await ann.put(`${path}/reorder?creator=Unknown&newPos=0`)).body, ok)
  t.deepEqual((await recordOf(id))?.creators, ['Cy', 'Bo & Co', 'Ada'])
  t.deepEqual((await ann.remove(`${path}/remove?creator=Bo%20%26%20Co`)).body, ok)
  t.deepEqual((await recordOf(id))?.creators, ['Cy', 'Ada'])
  t.is((await ann.put(`${path}/reorder?creator=Cy`)).status, 400)
  t.is((await ann.put(`${path}/reorder?creator=Cy&newPos=first`)).status, 400)
  t.is((await ann.post(path, {})).status, 400)
})

test('no creator is lost when many are added at once', async t => {
  const ann = await somebody(server)
  const id = await newDataset(ann)
  const names = Array.from({ length: 50 }, (_, n) => `creator ${n}`)
  const answers = await Promise.all(names.map(creator => ann.post(`/api/datasets/${id}/creator`, { creator })))
  t.true(answers.every(answer => answer.status === 200))
  t.deepEqual((await recordOf(id))?.creators.toSorted(), names.toSorted())
})

test('a license is stored with its abbreviations expanded', async t => {
  const ann = await somebody(server)
  const id = await newDataset(ann)
  const license = {
    licenseType: 'license2',
    rightsHolder: 'Ann',
    licenseText: 'by-nc-sa',
    licenseUrl: 'https://x.org',
    allowDownload: 'true',
  }
  t.deepEqual((await ann.post(`/api/datasets/${id}/license`, license)).body, ok)
  const text = 'Attribution-NonCommercial-ShareAlike'
  t.deepEqual((await recordOf(id))?.license, { type: 'license2', rightsHolder: 'Ann', text, url: 'https://x.org', allowDownload: true })
  for (const key of Object.keys(license)) {
    t.is((await ann.post(`/api/datasets/${id}/license`, { ...license, [key]: undefined })).status, 400, key)
  }
  t.is((await ann.post(`/api/datasets/${id}/license`, { ...license, licenseType: 'x'.repeat(501) })).status, 400)
  for (const [allowDownload, isAllowed] of [
    ['True', true],
    ['False', false],
    ['true', true],
    ['false', false],
    [true, true],
    [false, false],
  ] as const) {
    const sent = { ...license, licenseType: 'CC BY 4.0', allowDownload }
    t.deepEqual((await ann.post(`/api/datasets/${id}/license`, sent)).body, ok)
    t.like((await recordOf(id))?.license, { type: 'CC BY 4.0', allowDownload: isAllowed })
  }
})

test('read access follows the access setting and the spaces', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const [here, shut, open] = [
    await newDataset(ann, { space: [space] }),
    await newDataset(ann, { space: [space], access: 'PRIVATE' }),
    await newDataset(ann, { access: 'PUBLIC' }),
  ]
  const areOpen = async () => Promise.all([here, shut, open].map(async id => (await recordOf(id))?.isPublic))
  t.deepEqual(await areOpen(), [false, false, true])
  await publish(server, ann, space)
  t.deepEqual(await areOpen(), [true, false, true])
  t.deepEqual((await ann.put(`/api/datasets/${here}/access`)).body, ok)
  t.deepEqual((await ann.put(`/api/datasets/${shut}/access?aceess=PUBLIC`)).body, ok)
  t.deepEqual((await ann.put(`/api/datasets/${open}/access?access=DEFAULT`)).body, ok)
  t.deepEqual(await areOpen(), [false, true, false])
  t.is((await ann.post(`/api/spaces/${space}/addDatasetToSpace/${open}`)).status, 200)
  t.deepEqual(await areOpen(), [false, true, true])
  await publish(server, ann, space, 'PRIVATE')
  t.deepEqual(await areOpen(), [false, true, false])
  t.is((await ann.put(`/api/datasets/${here}/access?access=OPEN`)).status, 400)
})

test('adding a dataset to a space requires permission on both; a viewer of the space can remove only their own', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  const dataset = await newDataset(bob)
  const path = (what: string, id = dataset) => `/api/spaces/${space}/${what}/${id}`
  t.is((await bob.post(path('addDatasetToSpace'))).status, 403)
  t.is((await ann.post(path('addDatasetToSpace'))).status, 403)
  await letIn(ann, space, 'Editor', bob)
  t.deepEqual((await bob.post(path('addDatasetToSpace'))).body, { datasetsInSpace: '1' })
  t.deepEqual((await bob.post(path('addDatasetToSpace'))).body, { datasetsInSpace: '1' })
  t.is((await bob.post(path('addDatasetToSpace', unknownId))).status, 404)
  t.is((await bob.post(`/api/spaces/${unknownId}/addDatasetToSpace/${dataset}`)).status, 404)
  await letIn(ann, space, 'Viewer', bob)
  t.deepEqual((await bob.post(path('removeDataset'))).body, { isTrial: 'false' })
  t.is((await bob.post(path('removeDataset'))).status, 404)
  const anns = await newDataset(ann, { space: [space] })
  t.is((await bob.post(path('removeDataset', anns))).status, 403)
  t.deepEqual((await ann.post(path('removeDataset', anns))).body, { isTrial: 'false' })
})

test('with addDatasetToCollectionSpace, a dataset that its author adds to a collection enters the spaces of the collection', async t => {
  const sharing = await bootForTest({
    t,
    plugins: recordPlugins,
    config: { resources: { datasets: { addDatasetToCollectionSpace: true } } },
  })
  const [ann, bob] = [await somebody(sharing), await somebody(sharing)]
  const [space, other] = [await newSpace(ann), await newSpace(ann)]
  await letIn(ann, space, 'Editor', bob)
  await letIn(ann, other, 'Viewer', bob)
  const collection = await newCollection(ann, { space })
  await ann.post(`/api/spaces/${other}/addCollectionToSpace/${collection}`)
  const [anns, bobs] = [await newDataset(ann), await newDataset(bob)]
  const spacesOf = async (id: string) => [...((await ann.get(`/api/datasets/${id}`)).body as { spaces: string[] }).spaces].sort()
  for (const _ of [1, 2]) t.deepEqual((await ann.post(`/api/collections/${collection}/datasets/${anns}`)).body, { datasetsInCollection: 1 })
  t.deepEqual(await spacesOf(anns), [space, other].sort())
  // Bob may add to one of the spaces only.
  t.is((await bob.post(`/api/collections/${collection}/datasets/${bobs}`)).status, 200)
  t.deepEqual(await spacesOf(bobs), [space])
  // Only its author shares a dataset with further spaces.
  const shared = await newDataset(bob, { space: [space] })
  t.is((await ann.post(`/api/collections/${collection}/datasets/${shared}`)).status, 200)
  t.deepEqual(await spacesOf(shared), [space])
  const created = await newDataset(ann, { collection: [collection] })
  t.deepEqual(await spacesOf(created), [])
  t.is((await bob.remove(`/api/collections/${collection}/datasets/${bobs}`)).status, 200)
  t.deepEqual(await spacesOf(bobs), [space])
})

test('by default, adding a dataset to a collection leaves its spaces unchanged', async t => {
  const ann = await somebody(server)
  const collection = await newCollection(ann, { space: await newSpace(ann) })
  const id = await newDataset(ann)
  t.is((await ann.post(`/api/collections/${collection}/datasets/${id}`)).status, 200)
  t.deepEqual(((await ann.get(`/api/datasets/${id}`)).body as { spaces: string[] }).spaces, [])
})

test('a dataset can be added to a collection and removed from it', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const collection = await newCollection(ann)
  const [anns, bobs] = [await newDataset(ann), await newDataset(bob)]
  const path = (id: string) => `/api/collections/${collection}/datasets/${id}`
  t.is((await bob.post(path(bobs))).status, 403)
  t.is((await ann.post(path(bobs))).status, 403)
  const space = await newSpace(ann)
  await letIn(ann, space, 'Editor', bob)
  await bob.post(`/api/spaces/${space}/addDatasetToSpace/${bobs}`)
  t.deepEqual((await ann.post(path(anns))).body, { datasetsInCollection: 1 })
  t.deepEqual((await ann.post(path(bobs))).body, { datasetsInCollection: 2 })
  t.is(((await ann.get(`/api/collections/${collection}`)).body as Record<string, string>)['datasetCount'], '2')
  const outside = await idsOf(ann.get(`/api/datasets/listOutsideCollection/${collection}?limit=0`))
  t.false(outside.includes(anns) || outside.includes(bobs))
  t.is((await bob.remove(path(anns))).status, 403)
  t.deepEqual((await bob.remove(path(bobs))).body, ok)
  t.deepEqual((await bob.remove(path(bobs))).body, ok)
  t.is((await bob.remove(`${path(bobs)}?ignoreNotFound=false`)).status, 404)
  t.deepEqual((await ann.post(`/api/collections/${collection}/datasetsRemove/${anns}/False`)).body, ok)
  t.is((await ann.post(`/api/collections/${collection}/datasetsRemove/${anns}/False`)).status, 404)
  for (const flag of ['True', 'TRUE', 'tRue'])
    t.deepEqual((await ann.post(`/api/collections/${collection}/datasetsRemove/${anns}/${flag}`)).body, ok)
  t.is((await ann.post(`/api/collections/${collection}/datasetsRemove/${anns}/FALSE`)).status, 404)
  const wrong = await ann.post(`/api/collections/${collection}/datasetsRemove/${anns}/maybe`)
  t.is(wrong.status, 400)
  t.regex(JSON.stringify(wrong.body), /ignoreNotFound must be true or false/)
  t.is((await ann.post(path(unknownId))).status, 404)
  t.is((await ann.post(`/api/collections/${unknownId}/datasets/${anns}`)).status, 404)
})

test('a deleted collection is removed from its datasets', async t => {
  const ann = await somebody(server)
  const collection = await newCollection(ann)
  const made = [await newDataset(ann, { collection }), await newDataset(ann, { collection })]
  await ann.remove(`/api/datasets/${made[1]}`)
  for (let n = 0; n < 2; n++) await ann.remove(`/api/collections/${collection}`)
  await server.drained()
  for (const id of made) t.deepEqual((await recordOf(id))?.collections, [])
})

test('a dataset in the trash is visible only to its author and can be restored', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  await letIn(ann, space, 'Editor', bob)
  const id = await newDataset(ann, { space: [space] })
  t.is((await bob.remove(`/api/datasets/${id}`)).status, 403)
  t.deepEqual((await ann.remove(`/api/datasets/${id}`)).body, ok)
  t.is((await bob.get(`/api/datasets/${id}`)).status, 404)
  t.is((await ann.get(`/api/datasets/${id}`)).status, 200)
  t.deepEqual(await idsOf(ann.get(`/api/spaces/${space}/datasets`)), [])
  t.deepEqual(await own(ann), [])
  t.deepEqual(await idsOf(ann.get('/api/datasets/listTrash')), [id])
  t.is((await nobody.get('/api/datasets/listTrash')).status, 401)
  t.is((await ann.post(`/api/spaces/${await newSpace(ann)}/addDatasetToSpace/${id}`)).status, 409)
  t.deepEqual((await ann.put(`/api/datasets/restore/${id}`)).body, ok)
  t.deepEqual((await ann.put(`/api/datasets/restore/${id}`)).body, ok)
  t.deepEqual(await idsOf(bob.get(`/api/spaces/${space}/datasets`)), [id])
})

test('the trash is listed latest first, cleared of old datasets by admins, and emptied', async t => {
  const ann = await somebody(server)
  const made = [await newDataset(ann), await newDataset(ann), await newDataset(ann)]
  for (const id of made) await ann.remove(`/api/datasets/${id}`)
  for (const [n, id] of made.entries()) await server.get(Datasets).change(id, { set: { trashedAt: `202${n}-01-01T00:00:00.000Z` } }, [])
  t.deepEqual(await idsOf(ann.get('/api/datasets/listTrash')), made.toReversed())
  const page = await ann.get('/api/datasets/listTrash?limit=2')
  t.deepEqual(await idsOf(Promise.resolve(page)), [made[1], made[0]])
  t.deepEqual(await idsOf(ann.get(nextOf(page) ?? '')), [made[2]])
  t.is((await ann.remove('/api/datasets/clearOldDatasetsTrash')).status, 403)
  const days = Math.ceil((Date.now() - Date.parse('2021-06-01')) / 86_400_000)
  t.is(
    (await admin.remove(`/api/datasets/clearOldDatasetsTrash?days=${days}`)).body,
    `Deleted all datasets in trash older than ${days} days`,
  )
  t.deepEqual(await idsOf(ann.get('/api/datasets/listTrash')), [made[2]])
  t.is((await ann.remove('/api/datasets/emptyTrash')).body, 'Done emptying trash')
  t.deepEqual(await idsOf(ann.get('/api/datasets/listTrash')), [])
})

test('lists are filtered by title, date and direction', async t => {
  const ann = await somebody(server)
  const made: string[] = []
  for (let n = 1; n <= 5; n++) {
    const id = await newDataset(ann, { name: `Core.${n} ÄRZTE` })
    await server.get(Datasets).change(id, { set: { created: `2001-0${n}-01T00:00:00.000Z` } }, [])
    made.unshift(id)
  }
  const list = (query: string) => idsOf(ann.get(`/api/datasets/canEdit?${query}`))
  t.deepEqual(await list(''), made)
  t.deepEqual(await list('limit=2'), made.slice(0, 2))
  t.deepEqual(await list('title=core.3%20%C3%A4rz'), [made[2]])
  t.deepEqual(await list('title=Core.3&exact=true'), [])
  t.deepEqual(await list('title=Core.3%20%C3%84RZTE&exact=true'), [made[2]])
  for (const text of ['c..e', '.*', '%25', '_', '$']) t.deepEqual(await list(`title=${text}`), [], text)
  const date = 'date=2001-03-01T00:00:00.000Z'
  t.deepEqual(await list(date), made.slice(3))
  t.deepEqual(await list(`${date}&when=a`), made.slice(3))
  t.deepEqual(await list(`${date}&when=b`), made.slice(0, 2))
  t.deepEqual(await list(`${date}&when=b&limit=1`), [made[1]])
  t.deepEqual(await list('when=b'), made)
  t.deepEqual(await list('date=2001-03-01T01:00:00.000%2B01:00&when=b'), made.slice(0, 2))
  t.deepEqual(await list('date=2001-03-01T01:00:00.000+0100&when=b'), made.slice(0, 2))
  for (const early of ['2001-03-01', '2001-03-01 00:00:00', '2001-03-01T00:00:00.000'])
    t.deepEqual(await list(`date=${early}&when=b`), made.slice(0, 2))
  for (const wrong of ['2001-03-32', 'Wed Jun 20 11:40:25 UTC 2018', '2001-13-01T00:00:00.000Z', '2001-03-01T00:00:00.', '0']) {
    const { status, body } = await ann.get(`/api/datasets?date=${encodeURIComponent(wrong)}`)
    t.is(status, 400)
    t.regex(String((body as { message: string }).message), /2018-06-20T11:40:25\.000Z/)
  }
})

test('pages neither skip nor repeat datasets, even with equal creation times', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const made: string[] = []
  for (let n = 0; n < 11; n++) {
    const id = await newDataset(ann, { space: [space] })
    await server.get(Datasets).change(id, { set: { created: n < 8 ? '2003-01-01T00:00:00.000Z' : '2002-01-01T00:00:00.000Z' } }, [])
    made.push(id)
  }
  for (const path of ['/api/datasets/canEdit?limit=3', `/api/spaces/${space}/datasets?limit=4`, '/api/datasets/canEdit?limit=0']) {
    const ids = await allIds(ann.get, path)
    t.deepEqual(ids.toSorted(), made.toSorted(), path)
    t.is(new Set(ids).size, ids.length)
  }
  const date = '2002-06-01T00:00:00.000Z'
  t.deepEqual((await allIds(ann.get, `/api/datasets/canEdit?limit=3&when=b&date=${date}`)).toSorted(), made.slice(0, 8).toSorted())
})

test('a dataset can be followed and unfollowed', async t => {
  const ann = await somebody(server)
  const id = await newDataset(ann)
  t.deepEqual((await ann.post(`/api/datasets/${id}/follow`)).body, ok)
  t.deepEqual((await server.get(Users).get(ann.id))?.followed, [{ kind: 'dataset', id }])
  t.deepEqual((await ann.post(`/api/datasets/${id}/unfollow`)).body, '')
  t.deepEqual((await server.get(Users).get(ann.id))?.followed, [])
  t.is((await ann.post(`/api/datasets/${unknownId}/follow`)).status, 404)
  t.is((await nobody.post(`/api/datasets/${id}/follow`)).status, 401)
})

test('a deleted space is removed from any number of datasets, whatever their state', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  const datasets = server.get(Datasets)
  const made = await Promise.all(Array.from({ length: 450 }, (_, n) => datasets.create({ name: `${n}`, author: ann.id, spaces: [space] })))
  await Promise.all(made.slice(0, 5).map(({ id }) => ann.remove(`/api/datasets/${id}`)))
  await ann.remove(`/api/spaces/${space}`)
  await server.drained(30_000)
  const after = await datasets.getMany(made.map(({ id }) => id))
  t.true([...after.values()].every(({ spaces }) => spaces.length === 0))
  t.is(after.size, 450)
})

test('datasets created while their space becomes public or private end up with its access', async t => {
  const ann = await somebody(server)
  const space = await newSpace(ann)
  for (const access of ['PUBLIC', 'PRIVATE', 'PUBLIC'] as const) {
    const making = Array.from({ length: 15 }, () => newDataset(ann, { space: [space] }))
    const [ids] = await Promise.all([Promise.all(making), publish(server, ann, space, access)])
    await server.drained()
    const records = await Promise.all(ids.map(recordOf))
    t.deepEqual(new Set(records.map(record => record?.isPublic)), new Set([access === 'PUBLIC']))
  }
})
