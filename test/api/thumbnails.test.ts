import test from 'ava'
import { Collections, Datasets, DocumentStore, Files } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { thumbnails } from '../../plugins/resources/previews/collections.ts'
import { send, thumbnailOf } from '../support/derived.ts'
import { upload } from '../support/scene.ts'
import { newCollection, newDataset, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest()
const ann = await somebody(server, 'ann')
const bob = await somebody(server, 'bob')
test.after.always(() => server.stop())

const newFile = async (): Promise<string> => upload(ann.call, await newDataset(ann))

test('a file, its dataset and their collections show a thumbnail, and another one when it is deleted', async t => {
  const collection = await newCollection(ann)
  const dataset = await newDataset(ann, { collection: [collection] })
  const [one, two] = [await upload(ann.call, dataset), await upload(ann.call, dataset)]
  const shown = async () => {
    await server.drained(60_000)
    const [file, set] = [await server.get(Files).get(one), await server.get(Datasets).get(dataset)]
    return [file?.thumbnail, set?.thumbnail, (await server.get(Collections).get(collection))?.thumbnail]
  }
  const first = await thumbnailOf(ann, `/api/files/${one}`)
  t.deepEqual(await shown(), [first, first, first])
  const second = await thumbnailOf(ann, `/api/files/${one}`)
  const other = await thumbnailOf(ann, `/api/files/${two}`)
  t.deepEqual(await shown(), [second, first, first])
  t.is((await bob.remove(`/api/thumbnails/${first}`)).status, 403)
  t.is((await server.as()(`/api/thumbnails/${first}`, { method: 'DELETE' })).status, 401)
  t.deepEqual((await ann.remove(`/api/thumbnails/${second}`)).body, { status: 'success' })
  t.is((await ann.remove(`/api/thumbnails/${second}`)).status, 404)
  t.deepEqual(await shown(), [first, first, first])
  await ann.remove(`/api/thumbnails/${first}`)
  t.deepEqual(await shown(), [null, other, other])
  await ann.remove(`/api/files/${two}`)
  t.deepEqual(await shown(), [null, null, null])
})

test('datasets and collections show the thumbnail of a file only while they contain the file', async t => {
  const [from, to] = [await newDataset(ann), await newDataset(ann)]
  const file = await upload(ann.call, from)
  const thumbnail = await thumbnailOf(ann, `/api/files/${file}`)
  const shown = async () => {
    await server.drained(60_000)
    return [(await server.get(Datasets).get(from))?.thumbnail, (await server.get(Datasets).get(to))?.thumbnail]
  }
  t.deepEqual(await shown(), [thumbnail, null])
  t.is((await ann.post(`/api/datasets/${to}/files/${file}`, {})).status, 200)
  t.deepEqual(await shown(), [thumbnail, thumbnail])
  t.is((await ann.remove(`/api/datasets/${from}/${file}`)).status, 200)
  t.deepEqual(await shown(), [null, thumbnail])
  const collection = await newCollection(ann)
  await ann.post(`/api/collections/${collection}/datasets/${to}`)
  await server.drained(60_000)
  t.is((await server.get(Collections).get(collection))?.thumbnail, thumbnail)
  await ann.remove(`/api/collections/${collection}/datasets/${to}`)
  await server.drained(60_000)
  t.is((await server.get(Collections).get(collection))?.thumbnail, null)
})

test('a file shows the thumbnail that was attached last, whenever it was uploaded', async t => {
  const [file, other] = [await newFile(), await newFile()]
  const uploaded = [await send(ann, '/api/fileThumbnail'), await send(ann, '/api/fileThumbnail')]
  const shown = async (id = file) => {
    await server.drained(60_000)
    return (await server.get(Files).get(id))?.thumbnail
  }
  for (const id of [...uploaded].reverse().concat(uploaded)) {
    t.is((await ann.post(`/api/files/${file}/thumbnails/${id}`, {})).status, 200)
    t.is(await shown(), id)
  }
  const before = await send(ann, '/api/fileThumbnail')
  await ann.post(`/api/files/${other}/thumbnails/${uploaded[0]}`, {})
  const shared = await shown(other)
  await ann.post(`/api/files/${other}/thumbnails/${before}`, {})
  t.is(await shown(other), before)
  await ann.post(`/api/files/${other}/thumbnails/${uploaded[0]}`, {})
  t.is(await shown(other), shared, 'sharing it again attaches the same copy again')
})

test('of thumbnails attached concurrently, the file shows the last one', async t => {
  const file = await newFile()
  const ids = await Promise.all(Array.from({ length: 12 }, () => send(ann, '/api/fileThumbnail')))
  const answers = await Promise.all(ids.map(id => ann.post(`/api/files/${file}/thumbnails/${id}`, {})))
  t.true(answers.every(({ status }) => status === 200))
  await server.drained(60_000)
  const stored = [...(await server.get(DocumentStore).getMany(thumbnails, ids)).values()]
  const times = stored.map(({ attached }) => attached ?? '').sort()
  t.is(new Set(times).size, ids.length)
  t.is((await server.get(Files).get(file))?.thumbnail, stored.find(({ attached }) => attached === times.at(-1))?.id)
})

test('a copy of a file gets a thumbnail of its own, which outlives that of the original', async t => {
  const [from, to] = [await newDataset(ann), await newDataset(ann)]
  const file = await upload(ann.call, from)
  const thumbnail = await thumbnailOf(ann, `/api/files/${file}`)
  await server.drained(60_000)
  const original = await server.get(Files).get(file)
  if (!original) throw new Error('no file')
  const { name, contentType, blob, sizeBytes, sha256, author } = original
  const about = { name, contentType, blob, sizeBytes, sha256, author, extract: false }
  const copy = await server.get(Files).create({ ...about, dataset: to, thumbnail })
  await server.drained(60_000)
  const own = (await server.get(Files).get(copy.id))?.thumbnail
  t.truthy(own)
  t.not(own, thumbnail)
  t.is((await server.get(Datasets).get(to))?.thumbnail, own)
  await ann.remove(`/api/files/${file}`)
  await server.drained(60_000)
  t.is((await ann.get(`/api/thumbnails/${thumbnail}`)).status, 404)
  t.is(await (await ann.call(`/api/thumbnails/${own}/blob`)).text(), 'a picture')
})
