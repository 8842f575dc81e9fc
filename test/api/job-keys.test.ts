import test from 'ava'
import { byExtractor, byUser, documentsOf } from '../support/annotated.ts'
import { callsOf } from '../support/calls.ts'
import { extractorInfo } from '../support/extractor-info.ts'
import { extractor, JobScene } from '../support/job-scene.ts'
import { newKey } from '../support/people.ts'
import { formWith, newDataset, ok, unknownId, upload } from '../support/scene.ts'
import { letIn } from '../support/spaces-and-people.ts'

const serviceKey = 'a service key of this test alone'
let scene: JobScene
type Ann = Awaited<ReturnType<JobScene['person']>>
let ann: Ann

test.before(async () => {
  scene = await JobScene.open({ resources: { users: { commKey: serviceKey } } })
  ann = await scene.person()
})
test.after.always(() => scene?.server.stop())

const document = {
  content: { words: 2 },
  agent: { '@type': 'cat:extractor', extractor_id: `https://example.org/extractors/${extractor}/1.0` },
}
const ofFile = async () => scene.by(await scene.keyOf(await scene.submit(ann.person, 'files', ann.file)))
const ofDataset = async () => scene.by(await scene.keyOf(await scene.submit(ann.person, 'datasets', ann.dataset)))
type By = Awaited<ReturnType<typeof ofFile>>

const uploadTo = (by: By, path: string) => by.call(path, { method: 'POST', body: formWith('made', 'made.txt') })
const made = async (by: By, path: string): Promise<string> => (await ok<{ id: string }>(uploadTo(by, path))).id

/** The requests of pyclowder and extractors about a file. */
const works = async (by: By, file: string) => {
  const tags = { tags: ['counted', ''], extractor_id: extractor }
  const preview = await made(by, '/api/previews')
  const thumbnail = await made(by, '/api/fileThumbnail')
  const section = ((await by.post('/api/sections', { file_id: file, area: { x: 0, y: 0, w: 1, h: 1 } })).body as { id: string }).id
  const ofSection = await made(by, '/api/previews')
  return [
    await by.get(`/api/files/${file}/metadata`),
    await by.get(`/api/files/${file}`),
    await by.get(`/api/files/${file}/metadata.jsonld`),
    await by.get(`/api/files/${file}/technicalmetadatajson`),
    await by.post(`/api/files/${file}/metadata.jsonld`, document),
    await by.post(`/api/files/${file}/tags`, tags),
    await by.post(`/api/files/${file}/previews/${preview}`, {}),
    await by.post(`/api/previews/${preview}/metadata`, { page: 1 }),
    await by.get(`/api/previews/${preview}`),
    await by.post(`/api/files/${file}/thumbnails/${thumbnail}`, {}),
    await by.post(`/api/sections/${section}/tags`, tags),
    await by.post(`/api/sections/${section}/description`, { description: 'a word' }),
    await by.post(`/api/previews/${ofSection}/metadata`, { section_id: section }),
    await by.get(`/api/files/${file}/isBeingProcessed`),
    await by.get(`/api/files/${file}/extracted_metadata`),
    await by.get(`/api/extractions/${file}/metadata`),
    await by.get('/api/version'),
  ].map(({ status }) => status)
}

/** Their requests about the dataset that contains it. */
const worksOn = async (by: By, dataset: string) =>
  [
    await by.get(`/api/datasets/${dataset}`),
    await by.get(`/api/datasets/${dataset}/files`),
    await by.get(`/api/datasets/${dataset}/metadata.jsonld`),
    await by.post(`/api/datasets/${dataset}/metadata.jsonld`, document),
    await by.post(`/api/datasets/${dataset}/tags`, { tags: ['seen'], extractor_id: extractor }),
    await by.post(`/api/datasets/${dataset}/newFolder`, { name: `f${Math.random()}`, parentId: dataset, parentType: 'dataset' }),
    await by.get(`/api/datasets/${dataset}/folders`),
    await by.get(`/api/datasets/${dataset}/download`),
  ].map(({ status }) => status)

const all200 = (statuses: readonly number[]) => statuses.filter(status => status !== 200)

test('the key of a file’s job allows what extractors do with the file, its dataset and what they create there', async t => {
  const by = await ofFile()
  t.deepEqual(all200(await works(by, ann.file)), [])
  t.deepEqual(all200(await worksOn(by, ann.dataset)), [])
  const derived = await made(by, `/api/uploadToDataset/${ann.dataset}?extract=false`)
  t.deepEqual(all200(await works(by, derived)), [])
  t.is((await by.get(`/api/files/${ann.sibling}`)).status, 200)
  t.is((await by.post(`/api/files/${ann.file}/extractions`, { extractor, parameters: {} })).status, 200)
})

test('the key of a dataset’s job allows the same with the dataset and everything in it', async t => {
  const by = await ofDataset()
  t.deepEqual(all200(await worksOn(by, ann.dataset)), [])
  for (const file of [ann.file, ann.sibling]) t.deepEqual(all200(await works(by, file)), [])
  t.is((await by.post(`/api/files/${ann.sibling}/extractions`, { extractor, parameters: {} })).status, 200)
  t.is((await by.post(`/api/datasets/${ann.dataset}/extractions`, { extractor, parameters: {} })).status, 200)
})

test('resources in another space or dataset are not found, whoever owns them', async t => {
  const { other, stranger, elsewhere } = ann
  for (const by of [await ofFile(), await ofDataset()]) {
    const preview = await made(by, '/api/previews')
    const tries = [
      await by.get(`/api/files/${stranger}`),
      await by.get(`/api/files/${stranger}/metadata`),
      await by.post(`/api/files/${stranger}/metadata.jsonld`, document),
      await by.post(`/api/files/${stranger}/previews/${preview}`, {}),
      await by.post('/api/sections', { file_id: stranger }),
      await by.get(`/api/datasets/${other}`),
      await by.get(`/api/datasets/${other}/files`),
      await by.get(`/api/datasets/${other}/download`),
      await by.post(`/api/datasets/${other}/metadata.jsonld`, document),
      await by.post(`/api/files/${stranger}/extractions`, { extractor, parameters: {} }),
    ]
    t.deepEqual(
      tries.map(({ status }) => status),
      tries.map(() => 404),
    )
    t.is((await uploadTo(by, `/api/uploadToDataset/${other}`)).status, 404)
    t.deepEqual(await by.get(`/api/extractions/${stranger}/status`).then(({ body }) => body), 'no file')
    t.is((await by.get(`/api/spaces/${elsewhere}`)).status, 403)
  }
})

test('a job key cannot rename, delete, move, license, share or administer anything, including its own target', async t => {
  const { dataset, file, space, other, sibling, person } = ann
  for (const by of [await ofFile(), await ofDataset()]) {
    const tries = [
      await by.put(`/api/datasets/${dataset}/title`, { name: 'renamed' }),
      await by.put(`/api/datasets/${dataset}/description`, { description: 'x' }),
      await by.put(`/api/files/${file}/filename`, { name: 'renamed' }),
      await by.remove(`/api/files/${file}`),
      await by.remove(`/api/datasets/${dataset}`),
      await by.remove(`/api/datasets/${dataset}/tags`, { tags: ['seen'] }),
      await by.post(`/api/datasets/${dataset}/license`, { licenseType: 'license1' }),
      await by.post(`/api/files/${file}/license`, { licenseType: 'license1' }),
      await by.put(`/api/datasets/${dataset}/access?access=PUBLIC`),
      await by.post(`/api/datasets/${dataset}/moveBetweenDatasets/${other}/${sibling}`),
      await by.post(`/api/spaces/${space}/addDatasetToSpace/${dataset}`),
      await by.post(`/api/spaces/${space}/removeDataset/${dataset}`),
      await by.post('/api/datasets/createempty', { name: 'new', space: [space] }),
      await by.post('/api/collections', { name: 'new', space }),
      await by.get(`/api/spaces/${space}/members`),
      await by.post(`/files/${file}/links`),
      await by.get('/api/me'),
      await by.get(`/api/users/${person.id}`),
      await by.get('/api/users/keys'),
      await by.post('/api/users/keys?name=mine'),
      await by.get('/api/datasets'),
      await by.get('/api/search?query=target'),
      await by.get('/api/spaces'),
      await by.post('/api/geostreams/sensors', {
        name: 'x',
        type: 'Feature',
        geometry: { type: 'Point', coordinates: [0, 0, 0] },
        properties: {},
      }),
    ]
    t.deepEqual(
      tries.map(({ status }) => status),
      tries.map(() => 403),
    )
  }
  t.like((await person.get(`/api/datasets/${dataset}`)).body as object, { name: 'the dataset' })
})

/** A file and its dataset, each with a document by a person, by the extractor of the jobs and by another extractor. */
const described = async () => {
  const { call, id: user } = ann.person
  const dataset = await newDataset(call, { space: [ann.space] })
  const file = await upload(call, dataset)
  const paths = [`/api/files/${file}`, `/api/datasets/${dataset}`] as const
  for (const path of paths)
    for (const agent of [byUser(user), byExtractor(extractor), byExtractor('acme.other')])
      await ok(call(`${path}/metadata.jsonld`, { method: 'POST', json: { agent, content: {} } }))
  const left = async (path: string) =>
    (await documentsOf(call, path)).map(({ agent }) => agent.extractor_id?.split('/').at(-2) ?? 'person').toSorted()
  return { dataset, file, paths, left }
}

test('a job key deletes metadata of its own extractor only', async t => {
  for (const kind of ['files', 'datasets'] as const) {
    const { dataset, file, paths, left } = await described()
    const by = scene.by(await scene.keyOf(await scene.submit(ann.person, kind, kind === 'files' ? file : dataset)))
    for (const path of paths) {
      t.deepEqual((await by.remove(`${path}/metadata.jsonld?extractor=acme.other`)).body, { status: 'success', count: '0' })
      t.deepEqual((await by.remove(`${path}/metadata.jsonld`)).body, { status: 'success', count: '1' })
      t.deepEqual(await left(path), ['acme.other', 'person'])
    }
    t.is((await by.remove(`/api/files/${ann.stranger}/metadata.jsonld`)).status, 404)
    await by.post(`/api/files/${file}/metadata.jsonld`, document)
    const statuses: Record<string, number> = {}
    for (const { id, agent } of await documentsOf(ann.person.call, `/api/files/${file}`))
      statuses[agent.extractor_id?.split('/').at(-2) ?? 'person'] = (await by.remove(`/api/metadata.jsonld/${id}`)).status
    t.deepEqual(statuses, { [extractor]: 200, 'acme.other': 403, person: 403 })
  }
})

test('other extractor keys delete metadata of any extractor, if the user of the key may', async t => {
  const { email, password } = ann.person
  const ownKey = await newKey(scene.server, email, password, 'name=extractor&scope=extraction')
  const asService: By = {
    ...scene.by(''),
    remove: path => callsOf(scene.server.as()).remove(`${path}${path.includes('?') ? '&' : '?'}key=${serviceKey}`),
  }
  for (const by of [scene.by(ownKey), asService]) {
    const { paths, left } = await described()
    for (const path of paths) {
      const [, , byPerson] = await documentsOf(ann.person.call, path)
      t.is((await by.remove(`/api/metadata.jsonld/${byPerson?.id}`)).status, 403)
      t.deepEqual((await by.remove(`${path}/metadata.jsonld?extractor=acme.other`)).body, { status: 'success', count: '1' })
      t.deepEqual((await by.remove(`${path}/metadata.jsonld`)).body, { status: 'success', count: '1' })
      t.deepEqual(await left(path), ['person'])
    }
  }
  const viewer = await scene.person('viewer')
  await letIn(ann.person, ann.space, 'Viewer', viewer.person)
  const viewerKey = await newKey(scene.server, viewer.person.email, viewer.person.password, 'name=extractor&scope=extraction')
  t.is((await scene.by(viewerKey).remove(`/api/datasets/${ann.dataset}/metadata.jsonld`)).status, 403)
})

test('the key of a file’s job cannot change previews that others attached to other files, nor submit those files', async t => {
  const preview = await made(scene.by(ann.person.key), '/api/previews')
  await ok(ann.person.call(`/api/files/${ann.sibling}/previews/${preview}`, { method: 'POST', json: {} }))
  const loose = await made(scene.by(ann.person.key), '/api/previews')
  const by = await ofFile()
  t.is((await by.get(`/api/previews/${preview}`)).status, 200)
  t.is((await by.post(`/api/previews/${preview}/metadata`, { page: 2 })).status, 403)
  t.is((await by.post(`/api/files/${ann.sibling}/extractions`, { extractor, parameters: {} })).status, 403)
  t.is((await by.post(`/api/datasets/${ann.dataset}/extractions`, { extractor, parameters: {} })).status, 403)
  t.is((await by.get(`/api/previews/${loose}`)).status, 404)
  t.is((await by.post(`/api/files/${ann.file}/previews/${loose}`, {})).status, 404)
})

test('after its file is moved, a job key has access to neither the old nor the new dataset', async t => {
  const { person, dataset } = ann
  const file = await upload(person.call, dataset, 'moving', 'moving.txt')
  const by = scene.by(await scene.keyOf(await scene.submit(person, 'files', file)))
  t.is((await by.get(`/api/datasets/${dataset}`)).status, 200)
  t.is((await person.post(`/api/datasets/${dataset}/moveBetweenDatasets/${ann.other}/${file}`)).status, 200)
  t.is((await by.get(`/api/files/${file}`)).status, 200)
  for (const id of [dataset, ann.other]) t.is((await by.get(`/api/datasets/${id}`)).status, 404)
})

test('a job key can add only its own tiles to a preview that it has created', async t => {
  const by = await ofFile()
  const preview = await made(by, '/api/previews')
  const tileBy = (who: By) => ok<{ id: string }>(who.call('/api/tiles', { method: 'POST', body: formWith('x', '0_0_a.jpg', 'image/jpeg') }))
  const [own, anothers] = [await tileBy(by), await tileBy(scene.by(ann.person.key))]
  t.is((await by.post(`/api/files/${ann.file}/previews/${preview}`, {})).status, 200)
  t.is((await by.post(`/api/previews/${preview}/tiles/${own.id}/0`, {})).status, 200)
  t.is((await by.get(`/api/previews/${preview}_files/0/0_0.jpg`)).status, 200)
  t.is((await by.post(`/api/previews/${preview}/tiles/${anothers.id}/0`, {})).status, 404)
})

test('a job key registers its own extractor and no other', async t => {
  const by = await ofFile()
  t.is((await by.post('/api/extractors', extractorInfo(extractor))).status, 200)
  t.is((await by.post('/api/extractors', extractorInfo('another.extractor'))).status, 403)
  t.is((await by.get(`/api/extractors/${extractor}`)).status, 200)
})

test('a job key is accepted in the query and in the header, but not for superadmin mode', async t => {
  const { server } = scene
  const dataset = (
    await ok<{ id: string }>(server.as(server.admin.key)('/api/datasets/createempty', { method: 'POST', json: { name: 'a' } }))
  ).id
  const file = await upload(server.as(server.admin.key), dataset)
  const key = await scene.keyOf(await scene.submit({ call: server.as(server.admin.key) }, 'files', file))
  t.regex(key, /^[\w-]+$/)
  t.is(encodeURIComponent(key), key)
  t.is((await server.as()(`/api/files/${file}?key=${key}`)).status, 200)
  t.is((await server.as()(`/api/files/${file}`, { headers: { 'x-api-key': key } })).status, 200)
  t.is((await server.as(key)(`/api/files/${ann.file}?superAdmin=true`)).status, 404)
  t.is((await server.as(key)('/api/users?superAdmin=true')).status, 403)
  t.is((await server.as(key)(`/api/files/${unknownId}`)).status, 404)
})

test('a job key that an extractor prints in a status message is masked', async t => {
  const { person, file } = await scene.person()
  const job = await scene.submit(person, 'files', file)
  const key = await scene.keyOf(job)
  await scene.bus.sendStatus(job, `StatusMessage.error: Command '['classify', '${key}']' failed, /tmp/${key}.log`)
  const { text, runs } = { text: `/api/extractions/${file}/status`, runs: `/api/files/${file}/extractions` }
  const shown = (path: string): Promise<unknown> => ok(person.call(path))
  t.false(JSON.stringify([await shown(text), await shown(runs)]).includes(key))
  t.like(await shown(text), { [extractor]: "StatusMessage.error: Command '['classify', 'secretKey']' failed, /tmp/secretKey.log" })
})
