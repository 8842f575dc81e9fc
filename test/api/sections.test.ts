import test from 'ava'
import { DocumentStore, Sections } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { sections } from '../../plugins/resources/sections/stored-sections.ts'
import { answering, previewOf, say, sectionOf, send, thumbnailOf } from '../support/derived.ts'
import { unknownId, upload } from '../support/scene.ts'
import { newDataset, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest()
const ann = await somebody(server, 'ann')
const bob = await somebody(server, 'bob')
test.after.always(() => server.stop())
const newFile = async (): Promise<string> => upload(ann.call, await newDataset(ann))

test('a section has the shape of Clowder 1.x, and unknown fields are kept', async t => {
  const file = await newFile()
  const area = { x: 1, y: 2.5, w: 30, h: 40 }
  const sent = { area, startTime: 12, endTime: 20, order: 3, description: 'a face', confidence: 0.9, nested: { 'a.b': [null, 1] } }
  const id = await sectionOf(ann, file, sent)
  const shown = { id, file_id: file, startTime: '12', tags: [], area, description: 'a face', endTime: 20, order: 3, thumbnail: null }
  t.deepEqual((await ann.get(`/api/sections/${id}`)).body, { ...shown, more: { confidence: 0.9, nested: { 'a.b': [null, 1] } } })
  const bare = await sectionOf(ann, file, { area: null, startTime: null, author: bob.id, id: 'x', tags: ['forged'] })
  const nothing = { startTime: '-1', tags: [], area: null, description: '', endTime: null, order: null, thumbnail: null }
  t.deepEqual((await bob.get(`/api/sections/${bare}`)).body, { id: bare, file_id: file, ...nothing })
})

test('an invalid section is refused, as is one without permission', async t => {
  const file = await newFile()
  for (const [area, message] of [
    [{ x: 1, y: 1 }, 'area.w is required'],
    [{}, 'area.x is required'],
    [{ x: 1, y: 1, w: 1, h: 'x' }, 'area.h must be a number'],
  ] as const) {
    const { body } = await ann.post('/api/sections', { file_id: file, area })
    t.true((body as { message: string }).message.startsWith(message), JSON.stringify(body))
  }
  const missing = await ann.post('/api/sections', { area: null })
  t.like(missing, { status: 400, body: { code: 'invalid' } })
  t.regex(JSON.stringify(missing.body), /No \\"file_id\\" specified/)
  for (const file_id of ['nonsense', unknownId, await newDataset(ann)]) t.is((await ann.post('/api/sections', { file_id })).status, 404)
  for (const wrong of [{ area: {} }, { area: [1, 2, 3, 4] }, { startTime: 'soon' }, { order: 1.5 }, { description: 'a\u0000b' }])
    t.is((await ann.post('/api/sections', { file_id: file, ...wrong })).status, 400, JSON.stringify(wrong))
  t.is((await bob.post('/api/sections', { file_id: file })).status, 403)
  t.is((await server.as()('/api/sections', { method: 'POST', json: { file_id: file } })).status, 401)
  t.deepEqual((await ann.get(`/api/files/${file}/sections`)).body, [])
  t.is((await ann.get(`/api/files/${unknownId}/sections`)).status, 404)
})

test('the sections of a file are sorted by start time', async t => {
  const file = await newFile()
  const [ten, two, none] = [
    await sectionOf(ann, file, { startTime: 10 }),
    await sectionOf(ann, file, { startTime: 2 }),
    await sectionOf(ann, file),
  ]
  t.deepEqual((await bob.get(`/api/files/${file}/sections`)).body, [none, two, ten])
})

test('only editors can change a description', async t => {
  const id = await sectionOf(ann, await newFile(), { description: 'before' })
  const path = `/api/sections/${id}/description`
  t.deepEqual((await ann.post(path, { description: 'after' })).body, { status: 'success' })
  t.is((await bob.post(path, { description: 'mine' })).status, 403)
  t.is((await ann.post(path, {})).status, 400)
  t.is((await ann.post(`/api/sections/${unknownId}/description`, { description: 'x' })).status, 404)
  t.like((await ann.get(`/api/sections/${id}`)).body, { description: 'after' })
})

test('deleting a section deletes its previews, thumbnails and comments at once', async t => {
  const file = await newFile()
  const id = await sectionOf(ann, file)
  const preview = await send(ann, '/api/previews')
  t.is((await ann.post(`/api/previews/${preview}/metadata`, { section_id: id, width: '10' })).status, 200)
  const thumbnail = await thumbnailOf(ann, `/api/sections/${id}`)
  await server.drained(60_000)
  t.like((await ann.get(`/api/sections/${id}`)).body, { thumbnail })
  await say(ann, `/api/sections/${id}/comments`, 'look here')
  const paths = [`/api/sections/${id}`, `/api/sections/${id}/comments`, `/api/previews/${preview}`, `/api/thumbnails/${thumbnail}`]
  t.is(await answering(bob, paths), 4)
  t.is((await bob.remove(`/api/sections/${id}`)).status, 403)
  t.deepEqual((await ann.remove(`/api/sections/${id}`)).body, { status: 'success' })
  t.is(await answering(ann, paths), 0)
  await server.drained(60_000)
  t.is(await answering(ann, paths), 0)
  t.is((await ann.remove(`/api/sections/${id}`)).status, 404)
  t.is((await ann.get(`/api/files/${file}/metadata`)).status, 200)
})

test('deleting a file deletes its sections', async t => {
  const file = await newFile()
  const ids = await Promise.all(Array.from({ length: 5 }, () => sectionOf(ann, file)))
  const comment = await say(ann, `/api/sections/${ids[0]}/comments`, 'soon gone')
  await ann.remove(`/api/files/${file}`)
  t.is(
    await answering(
      ann,
      ids.map(id => `/api/sections/${id}`),
    ),
    0,
  )
  await server.drained(60_000)
  t.is((await server.get(Sections).getMany(ids)).size, 0)
  t.is((await ann.post(`/api/comment/${comment}`, { text: 'still?' })).status, 404)
})

test('sections created during the deletion of their file are deleted too', async t => {
  for (let round = 0; round < 3; round += 1) {
    const file = await newFile()
    const made = Array.from({ length: 10 }, () => ann.post('/api/sections', { file_id: file }))
    const gone = ann.remove(`/api/files/${file}`)
    const ids = (await Promise.all(made)).flatMap(({ status, body }) => (status === 200 ? [(body as { id: string }).id] : []))
    t.is((await gone).status, 200)
    await server.drained(60_000)
    t.is((await server.get(Sections).getMany(ids)).size, 0)
  }
})

test('resources derived from a file follow changes of its access at once', async t => {
  const closed = await bootForTest({ t, config: { access: { private: true } } })
  const [owner, stranger] = [await somebody(closed, 'owner'), await somebody(closed, 'stranger')]
  const dataset = await newDataset(owner)
  const file = await upload(owner.call, dataset)
  const section = await sectionOf(owner, file)
  const ofSection = await send(owner, '/api/previews')
  await owner.post(`/api/previews/${ofSection}/metadata`, { section_id: section })
  const [preview, thumbnail] = [await previewOf(owner, file), await thumbnailOf(owner, `/api/files/${file}`)]
  await say(owner, `/api/files/${file}/comment`, 'seen')
  const comment = await say(owner, `/api/sections/${section}/comments`, 'seen too')
  const paths = [
    ...[`/api/sections/${section}`, `/api/sections/${section}/tags`, `/api/sections/${section}/comments`, `/api/files/${file}/comments`],
    ...[`/api/previews/${preview}`, `/api/previews/${ofSection}`, `/api/previews/${preview}/metadata`, `/api/thumbnails/${thumbnail}`],
    ...[`/api/files/${file}/sections`, `/api/files/${file}/listpreviews`, `/api/datasets/${dataset}/getPreviews`],
  ]
  t.is(await answering(stranger, paths), 0)
  await owner.put(`/api/datasets/${dataset}/access?access=PUBLIC`)
  t.is(await answering(stranger, paths), paths.length)
  await owner.put(`/api/datasets/${dataset}/access?access=PRIVATE`)
  t.is(await answering(stranger, paths), 0)
  for (const [path, json] of [
    ['/api/sections', { file_id: file }],
    [`/api/sections/${section}/tags`, { tags: ['x'] }],
    [`/api/comment/${comment}`, { text: 'x' }],
    [`/api/previews/${preview}/title`, { title: 'x' }],
  ] as const)
    t.is((await stranger.post(path, json)).status, 404, path)
  t.is(await answering(owner, paths), paths.length)
})

test('a file is found by the tags of its sections', async t => {
  const file = await newFile()
  const id = await sectionOf(ann, file)
  const found = async () => {
    await server.drained(60_000)
    const { body } = await ann.get('/api/search?query=tag:ocelot')
    return (body as { results: { id: string }[] }).results.map(each => each.id)
  }
  const tag = (await ann.post(`/api/sections/${id}/tags`, { tags: ['ocelot'] })).body as { tags: { id: string }[] }
  t.deepEqual(await found(), [file])
  await ann.call(`/api/sections/${id}/tags`, { method: 'DELETE', json: { tags: [tag.tags[0]?.id] } })
  t.deepEqual(await found(), [])
  await ann.post(`/api/sections/${id}/tags`, { tags: ['ocelot'] })
  t.deepEqual(await found(), [file])
  await ann.remove(`/api/sections/${id}`)
  t.deepEqual(await found(), [])
})

test('tags are removed from a section by id or by name', async t => {
  const id = await sectionOf(ann, await newFile())
  const path = `/api/sections/${id}/tags`
  const { tags } = (await ann.post(path, { tags: ['leaf', 'stem', 'red bud', 'root'] })).body as { tags: { id: string }[] }
  const left = async () => ((await ann.get(path)).body as { tags: string[] }).tags
  t.is((await bob.post(`${path}/remove`, { tags: ['leaf'] })).status, 403)
  t.deepEqual((await ann.post(`${path}/remove`, { tags: ['leaf', ' red  bud', 'absent'] })).body, { status: 'success' })
  t.deepEqual(await left(), ['stem', 'root'])
  t.is((await ann.call(path, { method: 'DELETE', json: { tags: [tags[1]?.id] } })).status, 200)
  t.deepEqual(await left(), ['root'])
  t.is((await ann.call(path, { method: 'DELETE', json: { tags: 'root' } })).status, 200)
  t.deepEqual(await left(), [])
  t.is((await ann.post(`${path}/remove`, { tags: 1 })).status, 400)
})

test('a file has at most 10,000 sections, also under concurrent requests', async t => {
  const file = await newFile()
  const { id: _id, revision: _revision, ...record } = (await server.get(Sections).get(await sectionOf(ann, file))) ?? t.fail()
  for (let at = 1; at < 9997; at += 833) {
    const some = Array.from({ length: 833 }, (_, n) => ({
      change: { insert: { ...record, id: `c${(at + n).toString(16).padStart(23, '0')}` }, into: sections },
    }))
    await server.get(DocumentStore).commitEach(some)
  }
  const answers = await Promise.all(Array.from({ length: 10 }, () => ann.post('/api/sections', { file_id: file })))
  t.is(answers.filter(({ status }) => status === 200).length, 3)
  for (const { status, body } of answers) {
    if (status === 200) continue
    t.is(status, 400)
    t.like(body, { code: 'invalid', message: 'A file can have at most 10000 sections' })
  }
  await ann.remove(`/api/sections/${((await ann.get(`/api/files/${file}/sections`)).body as string[])[0]}`)
  t.is((await ann.post('/api/sections', { file_id: file })).status, 200)
  await sectionOf(ann, await newFile())
})
