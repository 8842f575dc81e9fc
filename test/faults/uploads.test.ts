import test, { type ExecutionContext } from 'ava'
import { type BlobStore, type DocumentStore, Unavailable } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { OrphanSweep } from '../../plugins/blobs/sweep/orphan-sweep.ts'
import { files } from '../../plugins/resources/files/collection.ts'
import { parts, uploads } from '../../plugins/resources/uploads/collections.ts'
import { embeddedStores } from '../support/embedded-stores.ts'
import { Gate, overridesOf } from '../support/faulty-stores.ts'
import { newDataset, ok } from '../support/scene.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { recordPlugins } from '../support/spaces-and-people.ts'

const stores = ['documents.sqlite', 'blobs.disk']
const plugins = [...recordPlugins.filter(id => !stores.includes(id)), 'blobs.sweep', 'resources.uploads']

const setUp = async (t: ExecutionContext) => {
  const gate = new Gate()
  const { documents, blobs } = await embeddedStores(t)
  const overrides = overridesOf(gate.guard<DocumentStore>('documents', documents), gate.guard<BlobStore>('blobs', blobs))
  const config = { resources: { uploads: { partBytes: 65_536 } } }
  const server = await bootForTest({ t, plugins, overrides, config })
  const call = server.as(server.admin.key)
  return { gate, server, call, documents, blobs, dataset: await newDataset(call) }
}
type Scene = Awaited<ReturnType<typeof setUp>>

const namesIn = async ({ call, dataset }: Scene): Promise<readonly string[]> =>
  (await ok<{ filename: string }[]>(call(`/api/datasets/${dataset}/files`))).map(({ filename }) => filename)

/** Records without bytes, and bytes without a record that remain after a sweep. */
const halves = async ({ server, documents, blobs }: Scene): Promise<readonly string[]> => {
  const found: string[] = []
  const named = new Set<string>()
  const look = async (what: string, blob: string): Promise<void> => {
    named.add(blob)
    if (!(await blobs.stat(blob))) found.push(`${what} has no bytes`)
  }
  for await (const { id, blob } of documents.walk(files)) await look(`file ${id}`, blob)
  for await (const { id, blob } of documents.walk(parts)) await look(`part ${id}`, blob)
  // Called directly, because the periodic task has a grace period that protects uploads in progress.
  await server.get(OrphanSweep).sweep({ graceMs: 0 })
  for await (const { key } of blobs.list()) if (!named.has(key)) found.push(`${key} belongs to nobody`)
  return found
}

const ways = [
  ['a call to an unavailable store', 'before'],
  ['a call whose response is lost', 'after'],
] as const

const fault = () => new Unavailable('A store is unavailable')

const threeFiles = (): FormData => {
  const form = new FormData()
  for (const name of ['a.txt', 'b.txt', 'c.txt']) {
    form.append('File', new Blob([`bytes of ${name}`.repeat(10_000)]), name)
    form.append(name, JSON.stringify({ about: name }))
  }
  return form
}

for (const [title, when] of ways)
  test(`${title} leaves all files of an upload or none`, async t => {
    const scene = await setUp(t)
    let isOver = false
    for (let at = 1; !isOver; at++) {
      const before = await namesIn(scene)
      scene.gate.arm(at, when, fault)
      const answer = await scene.call(`/api/uploadToDataset/${scene.dataset}?extract=false`, { method: 'POST', body: threeFiles() })
      const { failed } = scene.gate
      scene.gate.arm(0)
      await answer.text()
      await scene.server.drained()
      const count = (await namesIn(scene)).length - before.length
      t.is(count, answer.ok ? 3 : 0, `call ${at}, ${failed}: ${answer.status}`)
      t.deepEqual(await halves(scene), [], `call ${at}, ${failed}`)
      isOver = failed === undefined
    }
  })

const version = { 'tus-resumable': '1.0.0' }
const data = Buffer.from(Uint8Array.from({ length: 150_000 }, (_, at) => at % 251))

/** Uploads like a tus client: restarts, or requests the offset and resumes, until it is complete. */
const insist = async ({ call, dataset }: Scene): Promise<string> => {
  const about = `filename ${btoa('pieces.bin')},dataset ${btoa(dataset)}`
  const headers = { ...version, 'upload-length': String(data.length), 'upload-metadata': about }
  let path: string | null = null
  for (let tries = 0; tries < 5 && path === null; tries++)
    path = (await call('/api/uploads', { method: 'POST', headers })).headers.get('location')
  if (path === null) throw new Error('no upload was started')
  for (let tries = 0; tries < 5; tries++) {
    const { headers: seen } = await call(path, { method: 'HEAD', headers: version })
    const offset = seen.get('upload-offset')
    if (offset === null) continue
    if (Number(offset) === data.length) return path
    const type = { 'content-type': 'application/offset+octet-stream', 'upload-offset': offset }
    const answer = await call(path, { method: 'PATCH', headers: { ...version, ...type }, body: data.subarray(Number(offset)) })
    if (answer.status === 204) return path
  }
  throw new Error('the upload did not finish')
}

for (const [title, when] of ways)
  test(`${title} does not prevent an upload in pieces from completing, and leaves no part of it`, async t => {
    const scene = await setUp(t)
    const random = seededRandom()
    t.log(`seed ${random.seed}`)
    let isOver = false
    for (let at = 1; !isOver; at += at < 20 ? 1 : 1 + random.int(6)) {
      scene.gate.arm(at, when, fault)
      const path = await insist(scene)
      const { failed } = scene.gate
      scene.gate.arm(0)
      const id = path.split('/').at(-1)
      t.like(await ok(scene.call(path)), { state: 'finished', file: id }, `call ${at}, ${failed}`)
      t.deepEqual(
        Buffer.from(await (await scene.call(`/api/files/${id}/blob?tracking=false`)).arrayBuffer()),
        data,
        `call ${at}, ${failed}`,
      )
      await scene.server.drained()
      t.deepEqual(await halves(scene), [], `call ${at}, ${failed}`)
      isOver = failed === undefined
    }
    for await (const upload of scene.documents.walk(uploads))
      await scene.call(`/api/uploads/${upload.id}`, { method: 'DELETE', headers: version })
    for await (const { id } of scene.documents.walk(parts)) t.fail(`part ${id} is left`)
    t.deepEqual(await halves(scene), [])
  })
