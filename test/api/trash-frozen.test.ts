import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { byUser } from '../support/annotated.ts'
import { type Calls, callsOf } from '../support/calls.ts'
import { declaredRoutes, fill, kindOf } from '../support/declared-routes.ts'
import { previewOf, say, sectionOf, send, thumbnailOf } from '../support/derived.ts'
import { newKey } from '../support/people.ts'
import { formWith, newFolder, unknownId, upload } from '../support/scene.ts'
import { letIn, newCollection, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

type Who = Pick<Somebody, 'call'> & Calls
type Ids = Readonly<Record<string, string>>
type Send = readonly [method: 'POST' | 'PUT' | 'DELETE', path: string, json?: unknown]

const calling = (server: TestServer, key?: string): Who => {
  const call = server.as(key)
  return { call, ...callsOf(call) }
}
const withSuperAdmin = (who: Who): Who => {
  const call: Who['call'] = (path, init) => who.call(`${path}${path.includes('?') ? '&' : '?'}superAdmin=true`, init)
  return { call, ...callsOf(call) }
}

/** Ann's dataset in a space, with one resource of each kind in it; Bob is an editor of the space and uploaded one of the files, Cyd is its admin, Dora is a stranger. */
const open = async (isPrivate: boolean) => {
  const server = await bootForTest({ config: { access: { private: isPrivate } } })
  const [ann, bob, cyd, dora] = await Promise.all(['ann', 'bob', 'cyd', 'dora'].map(name => somebody(server, name)))
  if (!ann || !bob || !cyd || !dora) throw new Error('Nobody there')
  const space = await newSpace(cyd)
  await letIn(cyd, space, 'Editor', ann, bob)
  const collection = await newCollection(ann, { space, name: 'shelf' })
  const dataset = await newDataset(ann, { space: [space], collection: [collection], name: 'data' })
  const folder = await newFolder(ann.call, dataset, 'folder')
  const file = await upload(ann.call, dataset, 'one', 'one.txt', { query: `extract=false&folder_id=${folder}` })
  const bobs = await upload(bob.call, dataset, 'two', 'two.txt')
  const section = await sectionOf(ann, file, { area: { x: 0, y: 0, w: 1, h: 1 } })
  const preview = await previewOf(ann, file)
  const thumbnail = await thumbnailOf(ann, `/api/files/${file}`)
  const comment = await say(ann, `/api/files/${file}/comment`, 'said')
  const said = await ann.post('/api/metadata.jsonld', { file_id: file, content: { depth: 1 } })
  const metadata = (said.body as { document: { id: string } }).document.id
  for (const path of [`datasets/${dataset}`, `files/${file}`, `sections/${section}`, `collections/${collection}`])
    await ann.post(`/api/${path}/tags`, { tags: ['leaf'] })
  await ann.post(`/api/datasets/${dataset}/follow`)
  const live = await newDataset(ann, { space: [space], name: 'live' })
  const loose = await upload(ann.call, live, 'three', 'three.txt')
  const annsKey = await newKey(server, ann.email, ann.password, 'name=extractor&scope=extraction')
  const bobsKey = await newKey(server, bob.email, bob.password, 'name=extractor&scope=extraction')
  await server.drained()
  const ids: Ids = { space, collection, dataset, folder, file, bobs, section, preview, thumbnail, comment, metadata, live, loose }
  const extractors = { annsExtractor: calling(server, annsKey), bobsExtractor: calling(server, bobsKey) }
  const admin = calling(server, server.admin.key)
  const people: Readonly<Record<string, Who>> = { ann, bob, cyd, dora, ...extractors, anonymous: calling(server), admin }
  return { server, ids, people, ann, bob, cyd, superAdmin: withSuperAdmin(admin) }
}

const reads = ({ dataset, collection, folder, file, section, preview, thumbnail, metadata }: Ids): readonly string[] => [
  `/api/datasets/${dataset}`,
  `/api/datasets/${dataset}/files`,
  `/api/datasets/${dataset}/listFiles`,
  `/api/datasets/${dataset}/tags`,
  `/api/datasets/${dataset}/metadata.jsonld`,
  `/api/datasets/${dataset}/comments`,
  `/api/datasets/${dataset}/download`,
  `/api/datasets/${dataset}/downloadFolder?folderId=${folder}`,
  `/api/collections/${collection}`,
  `/api/collections/${collection}/tags`,
  `/api/files/${file}`,
  `/api/files/${file}/metadata`,
  `/api/files/${file}/metadata.jsonld`,
  `/api/files/${file}/tags`,
  `/api/files/${file}/comments`,
  `/api/files/${file}/sections`,
  `/api/files/${file}/listpreviews`,
  `/api/sections/${section}`,
  `/api/sections/${section}/tags`,
  `/api/previews/${preview}`,
  `/api/thumbnails/${thumbnail}`,
  `/api/metadata.jsonld/${metadata}`,
]

/** One request for each type of change and kind of resource. */
const changes = (ids: Ids): readonly Send[] => {
  const { space, collection, dataset, folder, file, section, preview, thumbnail, comment, metadata, live, loose } = ids
  const document = { content: { a: 1 }, agent: byUser(unknownId) }
  return [
    ['PUT', `/api/datasets/${dataset}/title`, { name: 'other' }],
    ['PUT', `/api/datasets/${dataset}/access?access=PUBLIC`],
    [
      'POST',
      `/api/datasets/${dataset}/license`,
      { licenseType: 'license1', rightsHolder: 'x', licenseText: '', licenseUrl: '', allowDownload: 'true' },
    ],
    ['POST', `/api/datasets/${dataset}/tags`, { tags: ['more'] }],
    ['POST', `/api/datasets/${dataset}/tags/remove_all`],
    ['POST', `/api/datasets/${dataset}/comment`, { text: 'late' }],
    ['POST', `/api/datasets/${dataset}/metadata.jsonld`, document],
    ['DELETE', `/api/datasets/${dataset}/metadata.jsonld`],
    ['POST', `/api/datasets/${dataset}/newFolder`, { name: 'g', parentId: dataset, parentType: 'dataset' }],
    ['PUT', `/api/datasets/${dataset}/updateName/${folder}`, { name: 'g' }],
    ['DELETE', `/api/datasets/${dataset}/deleteFolder/${folder}`],
    ['POST', `/api/datasets/${dataset}/files/${loose}`],
    ['DELETE', `/api/datasets/${dataset}/${file}`],
    ['POST', `/api/datasets/${dataset}/detachdelete`],
    ['POST', `/api/datasets/${dataset}/extractions`, { extractor: 'pounce.digest' }],
    ['POST', `/api/datasets/${dataset}/follow`],
    ['POST', `/api/datasets/${dataset}/reindex`],
    ['POST', `/api/spaces/${space}/removeDataset/${dataset}`],
    ['POST', `/api/spaces/${space}/addDatasetToSpace/${dataset}`],
    ['PUT', `/api/collections/${collection}/title`, { name: 'other' }],
    ['POST', `/api/collections/${collection}/tags/remove_all`],
    ['POST', `/api/collections/${collection}/datasets/${live}`],
    ['POST', `/api/spaces/${space}/removeCollection/${collection}?removeDatasets=false`],
    ['DELETE', `/api/files/${file}`],
    ['PUT', `/api/files/${file}/filename`, { name: 'other' }],
    [
      'POST',
      `/api/files/${file}/license`,
      { licenseType: 'license1', rightsHolder: 'x', licenseText: '', licenseUrl: '', allowDownload: 'true' },
    ],
    ['POST', `/api/files/${file}/tags`, { tags: ['more'] }],
    ['POST', `/api/files/${file}/tags/remove_all`],
    ['POST', `/api/files/${file}/comment`, { text: 'late' }],
    ['POST', `/api/files/${file}/metadata.jsonld`, document],
    ['DELETE', `/api/files/${file}/metadata.jsonld`],
    ['POST', `/api/datasets/${dataset}/moveBetweenDatasets/${live}/${file}`],
    ['POST', `/api/datasets/${live}/files/${file}`],
    ['POST', `/files/${file}/links`],
    ['POST', '/api/sections', { file_id: file, area: { x: 0, y: 0, w: 1, h: 1 } }],
    ['DELETE', `/api/sections/${section}`],
    ['POST', `/api/sections/${section}/tags`, { tags: ['more'] }],
    ['POST', `/api/sections/${section}/comments`, { text: 'late' }],
    ['POST', `/api/previews/${preview}/title`, { title: 'other' }],
    ['DELETE', `/api/previews/${preview}`],
    ['DELETE', `/api/thumbnails/${thumbnail}`],
    ['POST', `/api/comment/${comment}`, { text: 'late' }],
    ['POST', `/api/comment/${comment}/editComment`, { commentText: 'other' }],
    ['DELETE', `/api/comment/${comment}/removeComment`],
    ['DELETE', `/api/metadata.jsonld/${metadata}`],
    ['POST', '/api/metadata.jsonld', { file_id: file, content: { a: 1 } }],
    ['POST', '/api/relations', { source: { id: file, resourceType: 'file' }, target: { id: loose, resourceType: 'file' } }],
    ['POST', '/api/selected', { dataset }],
    ['POST', '/api/datasets', { name: 'of it', file_id: file }],
    ['POST', '/api/datasets/createempty', { name: 'in it', collection: [collection] }],
  ]
}

const requested = async (who: Who, [method, path, json]: Send): Promise<string> => {
  const answer = await who.call(path, { method, ...(json === undefined ? {} : { json }) })
  const { code } = (await answer.json().catch(() => ({}))) as { code?: string }
  return `${method} ${path} ${answer.status} ${code}`
}
const each = async (who: Who, sent: readonly Send[]): Promise<readonly string[]> => {
  const answers: string[] = []
  for (const one of sent) answers.push(await requested(who, one))
  return answers
}
const allBut = (sent: readonly Send[], outcome: string): readonly string[] => sent.map(([method, path]) => `${method} ${path} ${outcome}`)

const statuses = async (who: Who, paths: readonly string[]): Promise<readonly string[]> => {
  const found: string[] = []
  for (const path of paths) {
    const answer = await who.call(path)
    found.push(`${answer.status} ${path} ${answer.status === 200 ? '' : await answer.text()}`)
  }
  return found
}

/** Everything that the owner can read, except view and download counters, and archives, whose bytes contain timestamps. */
const shown = async (who: Who, ids: Ids): Promise<readonly unknown[]> => {
  const found: unknown[] = []
  for (const path of reads(ids).filter(each => !each.includes('/download'))) {
    const text = await (await who.call(path)).text()
    found.push(`${path} ${text.replaceAll(/"(views|downloads|last_viewed|last_downloaded)":[^,}]*/g, '')}`)
  }
  return found
}

for (const isPrivate of [true, false])
  test.serial(`on a ${isPrivate ? 'private' : 'public'} server the trash is readable by its owners, and immutable`, async t => {
    const { server, ids, people, ann, bob, cyd, superAdmin } = await open(isPrivate)
    t.teardown(() => server.stop())
    const before = await shown(ann, ids)
    await ann.remove(`/api/datasets/${ids['dataset']}`)
    await ann.remove(`/api/collections/${ids['collection']}`)

    const sent = changes(ids)
    const frozen = allBut(sent, '409 in-trash')
    t.deepEqual(await each(ann, sent), frozen)
    t.deepEqual(await each(superAdmin, sent), frozen)
    // These callers may refer to live resources, but trashed ones appear not to exist to them.
    for (const name of ['bob', 'cyd', 'dora', 'admin', 'bobsExtractor']) {
      const refused = (await each(people[name] as Who, sent)).filter(line => !/ 40[34] (not-found|forbidden)$/.test(line))
      t.deepEqual(refused, [], name)
    }
    const byNobody = (await each(people['anonymous'] as Who, sent)).filter(line => !/ 401 not-signed-in$/.test(line))
    t.deepEqual(byNobody, [])
    const late = (await each(people['annsExtractor'] as Who, sent)).filter(line => !/ (409 in-trash|403 forbidden)$/.test(line))
    t.deepEqual(late, [])

    const paths = reads(ids)
    t.deepEqual(
      (await statuses(ann, paths)).filter(line => !line.startsWith('200')),
      [],
    )
    t.deepEqual(
      (await statuses(superAdmin, paths)).filter(line => !line.startsWith('200')),
      [],
    )
    for (const name of ['bob', 'cyd', 'dora', 'admin', 'bobsExtractor'])
      t.deepEqual(
        (await statuses(people[name] as Who, paths)).filter(line => !line.startsWith('404')),
        [],
        name,
      )
    const unseen = isPrivate ? /^401/ : /^40[14]/
    t.deepEqual(
      (await statuses(people['anonymous'] as Who, paths)).filter(line => !unseen.test(line)),
      [],
    )

    t.is((await bob.get(`/api/files/${ids['bobs']}/metadata`)).status, 200)
    t.is(
      await requested(bob, ['PUT', `/api/files/${ids['bobs']}/filename`, { name: 'x' }]),
      `PUT /api/files/${ids['bobs']}/filename 409 in-trash`,
    )

    for (const kind of ['datasets', 'collections'])
      t.is((await cyd.put(`/api/${kind}/restore/${ids[kind.slice(0, -1)]}`)).status, 200, 'callers who may delete it may restore it')
    await server.drained()
    t.deepEqual(await shown(ann, ids), before)
    t.is((await bob.post(`/api/files/${ids['file']}/tags`, { tags: ['again'] })).status, 200)
  })

test('bulk requests skip resources in the trash', async t => {
  const { server, ids, ann, bob } = await open(true)
  t.teardown(() => server.stop())
  await ann.remove(`/api/datasets/${ids['dataset']}`)
  const fileIds = [ids['file'], ids['bobs'], ids['loose']]
  const metadata = { content: { a: 1 }, agent: byUser(ann.id) }
  const some = await ann.post('/api/files/metadata.jsonld', { files: fileIds, metadata })
  t.is(some.status, 200, JSON.stringify(some.body))
  const codes = (some.body as { refused: readonly { code: string }[] }).refused.map(({ code }) => code)
  t.deepEqual(codes, ['in-trash', 'in-trash'])
  const none = await ann.post('/api/files/metadata.jsonld', { files: fileIds.slice(0, 2), metadata })
  t.like(none, { status: 409, body: { code: 'in-trash' } })
  t.like(await bob.post('/api/files/metadata.jsonld', { files: [ids['file']], metadata: { content: { a: 1 }, agent: byUser(bob.id) } }), {
    status: 404,
  })

  const removed = await ann.post('/api/files/bulkRemove', { fileIds })
  t.like(removed.body, { deleted: [ids['loose']], 'no permission': fileIds.slice(0, 2) })
  t.like((await bob.post('/api/files/bulkRemove', { fileIds: [ids['file']] })).body, { 'not found': [ids['file']] })
})

test('followers can unfollow a resource in the trash, and it cannot be copied from there', async t => {
  const { server, ids, ann, bob } = await open(true)
  t.teardown(() => server.stop())
  await bob.post(`/api/datasets/${ids['dataset']}/follow`)
  await ann.remove(`/api/datasets/${ids['dataset']}`)
  for (const who of [ann, bob]) t.is((await who.post(`/api/datasets/${ids['dataset']}/unfollow`)).status, 200)
  // Copying adds a relation to the original, which is a change of it.
  t.is((await ann.post(`/api/datasets/${ids['dataset']}/copyDatasetToSpace/${ids['space']}`)).status, 409)
  t.is((await bob.post(`/api/datasets/${ids['dataset']}/copyDatasetToSpace/${ids['space']}`)).status, 404)
})

test('callers with the right to delete a resource can purge it without viewing it', async t => {
  const { server, ids, ann, bob, cyd } = await open(true)
  t.teardown(() => server.stop())
  await ann.remove(`/api/datasets/${ids['dataset']}`)
  t.is((await cyd.get(`/api/datasets/${ids['dataset']}`)).status, 404)
  t.is((await bob.remove(`/api/datasets/${ids['dataset']}`)).status, 404)
  t.is((await bob.put(`/api/datasets/restore/${ids['dataset']}`)).status, 404)
  t.is((await cyd.remove(`/api/datasets/${ids['dataset']}`)).status, 200)
  t.is((await ann.get(`/api/datasets/${ids['dataset']}`)).status, 404)
})

test('a file in a trashed and a live dataset is live', async t => {
  const { server, ids, ann, bob } = await open(true)
  t.teardown(() => server.stop())
  t.is((await ann.post(`/api/datasets/${ids['live']}/files/${ids['file']}`)).status, 200)
  await ann.remove(`/api/datasets/${ids['dataset']}`)
  t.is((await bob.post(`/api/files/${ids['file']}/tags`, { tags: ['again'] })).status, 200)
  t.is((await bob.get(`/api/files/${ids['file']}`)).status, 200)
  t.like(await ann.remove(`/api/datasets/${ids['dataset']}/${ids['file']}`), { status: 409, body: { code: 'in-trash' } })
})

test('uploads to a dataset in the trash get 409, in one request or resumable', async t => {
  const { server, ids, ann } = await open(true)
  t.teardown(() => server.stop())
  const about = `filename ${btoa('half.txt')},dataset ${btoa(ids['dataset'] ?? '')}`
  const tus = { 'tus-resumable': '1.0.0' }
  const begin = () => ann.call('/api/uploads', { method: 'POST', headers: { ...tus, 'upload-length': '4', 'upload-metadata': about } })
  const begun = (await begin()).headers.get('location') ?? ''
  const path = new URL(begun, 'http://any').pathname
  await ann.remove(`/api/datasets/${ids['dataset']}`)
  const headers = { ...tus, 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' }
  t.is((await ann.call(path, { method: 'PATCH', headers, body: 'four' })).status, 409)
  t.is((await begin()).status, 409)
  const body = formWith('x', 'x.txt')
  t.is((await ann.call(`/api/uploadToDataset/${ids['dataset']}`, { method: 'POST', body })).status, 409)
  const preview = await send(ann, '/api/previews')
  t.like(await ann.post(`/api/files/${ids['file']}/previews/${preview}`, {}), { status: 409, body: { code: 'in-trash' } })
  t.is((await ann.get(`/api/previews/${preview}`)).status, 200)
  await ann.put(`/api/datasets/restore/${ids['dataset']}`)
  t.is(((await ann.get(`/api/datasets/${ids['dataset']}/files`)).body as readonly unknown[]).length, 2)
})

test('the reason why a resource is frozen is explained', async t => {
  const { server, ids, ann } = await open(true)
  t.teardown(() => server.stop())
  await ann.remove(`/api/datasets/${ids['dataset']}`)
  const { body } = await ann.get(`/api/permissions/explain?permission=EditFile&type=file&id=${ids['file']}`)
  t.like(body, { verdict: 'frozen' })
  t.regex(JSON.stringify(body), /is in the trash and cannot be changed/)
})

/** Operations allowed in the trash: reading, restoring, permanent deletion. Followers may also unfollow. */
const allowedInTrash = [
  'DELETE /api/collections/{id}',
  'DELETE /api/datasets/{id}',
  'POST /api/collections/{id}/remove',
  'POST /api/collections/{id}/unfollow',
  'POST /api/datasets/{id}/unfollow',
  'POST /api/files/{id}/unfollow',
  'PUT /api/collections/restore/{id}',
  'PUT /api/datasets/restore/{id}',
]

test('every route that changes a resource in the trash refuses it, except the allowed ones', async t => {
  const { server, ids, ann } = await open(true)
  t.teardown(() => server.stop())
  await ann.remove(`/api/datasets/${ids['dataset']}`)
  await ann.remove(`/api/collections/${ids['collection']}`)
  const binned = ['dataset', 'collection', 'file', 'section', 'preview', 'thumbnail', 'comment', 'metadata']
  const all = (await declaredRoutes(server)).filter(({ method, ids, path, permission }) => {
    return method !== 'GET' && permission !== 'serverAdmin' && ids.some(name => binned.includes(kindOf(path, name)))
  })
  const names = all.map(({ method, path }) => `${method} ${path}`)
  t.deepEqual(
    allowedInTrash.filter(name => !names.includes(name)),
    [],
  )
  t.true(names.length > 80, String(names.length))
  const unrefused: string[] = []
  const others: Ids = { ignoreNotFound: 'True', level: '3' }
  for (const { method, path, query } of all) {
    if (allowedInTrash.includes(`${method} ${path}`)) continue
    const filled = fill(path, (kind, name) => ids[kind] ?? ids[name] ?? others[name] ?? unknownId)
    const requested = query.flatMap(({ name, required }) => (required ? [`${name}=false`] : [])).join('&')
    const answer = await ann.call(`${filled}?${requested}`, { method })
    const { code } = (await answer.json().catch(() => ({}))) as { code?: string }
    if (code !== 'in-trash') unrefused.push(`${method} ${path} ${answer.status} ${code}`)
  }
  t.deepEqual(unrefused, [])
})
