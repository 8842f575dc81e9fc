import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { formWith, newDataset, ok, upload } from '../support/scene.ts'
import { type Somebody, somebody } from '../support/spaces-and-people.ts'

let server: TestServer
let ann: Somebody
test.before(async () => {
  server = await bootForTest()
  ann = await somebody(server, 'ann')
})
test.after.always(() => server?.stop())

test('tags of a section can also be removed by POST, by their ids', async t => {
  const file = await upload(ann.call, await newDataset(ann.call))
  const { id } = (await ann.post('/api/sections', { file_id: file })).body as { id: string }
  const path = `/api/sections/${id}/tags`
  const { tags } = (await ann.post(path, { tags: ['a', 'b'] })).body as { tags: readonly { id: string; name: string }[] }
  t.deepEqual(
    tags.map(({ name }) => name),
    ['a', 'b'],
  )
  t.deepEqual((await ann.post(`${path}/remove`, { tags: [tags[0]?.id] })).body, { status: 'success' })
  t.deepEqual(((await ann.get(path)).body as { tags: readonly string[] }).tags, ['b'])
})

test('a logo is updated by its id and deleted by its path and name', async t => {
  const picture = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.from('x')])
  const body = formWith(picture, 'p.png', 'image/png', 'image')
  for (const [name, value] of Object.entries({ path: `user-${ann.id}`, name: 'mine' })) body.append(name, value)
  const { id } = await ok<{ id: string }>(ann.call('/api/logos', { method: 'POST', body }))
  for (const showText of [false, true]) {
    t.deepEqual((await ann.put(`/api/logos/${id}`, { showText })).body, { status: 'success' })
    t.like((await ann.get(`/api/logos/${id}`)).body, { id, showText })
  }
  t.is((await ann.remove(`/api/logos/user-${ann.id}/mine`)).status, 204)
  t.is((await ann.get(`/api/logos/${id}`)).status, 404)
})

test('a file is uploaded at the path of its dataset, read outside /api, and deleted by POST', async t => {
  const dataset = await newDataset(ann.call)
  const body = formWith('words', 'w.txt')
  const { id } = await ok<{ id: string }>(ann.call(`/api/datasets/${dataset}/files?extract=false`, { method: 'POST', body }))
  t.is((await ann.get(`/files/${id}/blob`)).body, 'words')
  t.is((await ann.post(`/api/files/${id}/reindex`)).status, 200)
  await server.drained()
  t.deepEqual((await ann.post(`/api/files/${id}/remove`)).body, { status: 'success' })
  t.is((await ann.get(`/api/files/${id}/metadata`)).status, 404)
  t.is((await ann.get(`/files/${id}/blob`)).status, 404)
})

test('API keys are listed by name', async t => {
  await ann.post('/api/users/keys?name=listed')
  const names = ((await ann.get('/api/users/keys')).body as readonly { name: string }[]).map(({ name }) => name)
  t.true(names.includes('listed'))
})

test('an API key is read by its name, without the key itself', async t => {
  const made = (await ann.post('/api/users/keys?name=another')).body as { key: string }
  const { body } = await ann.get('/api/users/keys/another')
  t.like(body, { name: 'another' })
  t.false(JSON.stringify(body).includes(made.key))
  t.is((await ann.get('/api/users/keys/nothing')).status, 404)
})
