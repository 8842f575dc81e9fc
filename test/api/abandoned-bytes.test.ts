import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import {
  BlobOwners,
  BlobStore,
  Commands,
  collection,
  DocumentStore,
  definePlugin,
  Invalid,
  provide,
  type StorageQuota,
  StorageQuotas,
  wire,
} from 'pounce/sdk'
import { bootForTest, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { registrations } from '../../plugins/blobs/in-place/registered-files.ts'
import { OrphanSweep } from '../../plugins/blobs/sweep/orphan-sweep.ts'
import { bagZip } from '../support/bags.ts'
import { newPerson } from '../support/people.ts'
import { formWith, newDataset, ok, upload } from '../support/scene.ts'

let isRefusing = false

/** Accepts every upload at first, and refuses it once all its bytes have been received. */
class LateRefusal implements StorageQuota {
  async check(): Promise<void> {
    return undefined
  }
  async reserve(): Promise<void> {
    if (isRefusing) throw new Invalid('Refused after the bytes')
  }
  async release(): Promise<void> {
    return undefined
  }
}
wire(LateRefusal)
const lateRefusal = definePlugin({
  id: 'test.late-refusal',
  summary: 'Refuses files when their bytes have come.',
  provides: [provide(StorageQuotas, LateRefusal)],
})

let server: TestServer
let call: TestFetch
let folder: string
const outside = createServer((_request, response) => response.end('fetched bytes'))

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pounce-abandoned-'))
  await writeFile(join(folder, 'leaf.csv'), 'a,b\n')
  await new Promise<void>(resolve => outside.listen(0, '127.0.0.1', resolve))
  const config = {
    blobs: { 'in-place': { folders: [folder] } },
    outbound: { allow: ['127.0.0.1'] },
    resources: { uploads: { partBytes: 65_536 } },
  }
  server = await bootForTest({ also: [lateRefusal], config })
  call = (await newPerson(server)).call
})
test.after.always(async () => {
  await server?.stop()
  outside.close()
  await rm(folder, { recursive: true, force: true })
})

const stored = async (): Promise<{ readonly blobs: number; readonly inPlace: number }> => {
  const count = { blobs: 0, inPlace: 0 }
  for await (const _ of server.get(BlobStore).list()) count.blobs += 1
  for await (const _ of server.get(DocumentStore).walk(registrations)) count.inPlace += 1
  return count
}

const tus = { 'tus-resumable': '1.0.0' }

const append = (path: string, offset: number, bytes: string): Promise<Response> =>
  call(path, {
    method: 'PATCH',
    headers: { ...tus, 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream' },
    body: bytes,
  })

/** Sends all bytes of an upload in this many requests; resolves to the last response. */
const appendAll = async (path: string, bytes: string, requests = 1): Promise<Response> => {
  const each = Math.ceil(bytes.length / requests)
  for (let from = 0; from + each < bytes.length; from += each) {
    const { status } = await append(path, from, bytes.slice(from, from + each))
    if (status !== 204) throw new Error(`${status} at ${from}`)
  }
  return append(path, (requests - 1) * each, bytes.slice((requests - 1) * each))
}

const begin = async (dataset: string, lengthBytes: number): Promise<string> => {
  const about = `filename ${btoa('leaf.bin')},dataset ${btoa(dataset)}`
  const headers = { ...tus, 'upload-length': String(lengthBytes), 'upload-metadata': about }
  return (await call('/api/uploads', { method: 'POST', headers })).headers.get('location') ?? ''
}

const several = (): FormData => {
  const form = formWith('first bytes', 'a.txt')
  form.append('File', new Blob(['other bytes'.repeat(100_000)]), 'b.txt')
  form.append('file', JSON.stringify({ path: join(folder, 'leaf.csv') }))
  return form
}

const kinds: Readonly<Record<string, (dataset: string) => Promise<Response>>> = {
  multipart: dataset => call(`/api/uploadToDataset/${dataset}?extract=false`, { method: 'POST', body: several() }),
  'multipart without a dataset': () => call('/api/files', { method: 'POST', body: several() }),
  'from a URL': dataset => {
    const fileurl = `http://127.0.0.1:${(outside.address() as AddressInfo).port}/leaf.txt`
    return call(`/api/datasets/${dataset}/urls`, { method: 'POST', json: { fileurl } })
  },
  'in place': dataset => call(`/api/datasets/${dataset}/urls`, { method: 'POST', json: { path: join(folder, 'leaf.csv') } }),
  bag: () =>
    call('/api/datasets/createfrombag', { method: 'POST', body: formWith(bagZip({ 'a.txt': 'one', 'deep/b.txt': 'two' }), 'bag.zip') }),
}

for (const [kind, send] of Object.entries(kinds))
  test.serial(`an upload refused after all bytes were received leaves none behind: ${kind}`, async t => {
    const dataset = await newDataset(call)
    const before = await stored()
    isRefusing = true
    const answer = await send(dataset)
    isRefusing = false
    t.is(answer.status, 400, await answer.text())
    t.deepEqual(await stored(), before)
    t.deepEqual(await ok(call(`/api/datasets/${dataset}/files`)), [])
  })

for (const [title, sizeBytes, parts] of [
  ['one part', 1000, 1],
  ['several parts', 150_000, 3],
] as const)
  test.serial(`a resumable upload refused after its last byte keeps its parts for a retry, and nothing else: ${title}`, async t => {
    const dataset = await newDataset(call)
    const before = await stored()
    const bytes = 'x'.repeat(sizeBytes)
    const path = await begin(dataset, sizeBytes)
    isRefusing = true
    t.is((await appendAll(path, bytes, parts)).status, 400)
    isRefusing = false
    t.is((await stored()).blobs - before.blobs, parts)
    await ok(call(path))
    const id = path.split('/').at(-1)
    t.is(await (await call(`/api/files/${id}/blob`)).text(), bytes)
    t.is((await stored()).blobs - before.blobs, 1)
  })

test.serial('a cancelled resumable upload leaves no bytes', async t => {
  const before = await stored()
  const path = await begin(await newDataset(call), 200_000)
  t.is((await appendAll(path, 'x'.repeat(150_000))).status, 204)
  t.is((await call(path, { method: 'DELETE', headers: tus })).status, 204)
  t.deepEqual(await stored(), before)
})

test.serial('an upload to a dataset deleted meanwhile is refused with 404, and leaves no bytes once cancelled', async t => {
  const dataset = await newDataset(call)
  const path = await begin(dataset, 1000)
  const before = await stored()
  for (const _ of ['into the trash', 'for good']) await ok(call(`/api/datasets/${dataset}`, { method: 'DELETE' }))
  await server.drained()
  t.is((await appendAll(path, 'x'.repeat(1000))).status, 404)
  t.is((await call(path, { method: 'DELETE', headers: tus })).status, 204)
  t.deepEqual(await stored(), before)
})

test('the orphan sweep keeps blobs older than the records: the database may be the wrong one', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-lost-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const first = await bootForTest({ folder })
  const ann = await newPerson(first)
  await upload(ann.call, await newDataset(ann.call), 'a'.repeat(1000))
  await first.stop()
  await rm(join(folder, 'documents'), { recursive: true })
  const lost = await bootForTest({ t, folder })
  const bob = await newPerson(lost)
  const dataset = await newDataset(bob.call)
  const file = await upload(bob.call, dataset, 'b'.repeat(1000))
  const sweep = (more = {}) => lost.get(OrphanSweep).sweep({ graceMs: -1, ...more })
  t.like(await sweep(), { removed: 0, older: 1 })
  t.is(await (await bob.call(`/api/files/${file}/blob`)).text(), 'b'.repeat(1000))
  t.like(await sweep({ removesOlder: true }), { removed: 1, older: 0 })
  t.is((await bob.call(`/api/files/${file}/blob`)).status, 200)
})

const samples = collection<{ readonly key: string }>()('acme.samples')

class SampleBytes {
  readonly places = [{ in: samples, field: 'key' }]
  async owned(keys: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set(keys)
  }
}
const sampling = definePlugin({ id: 'acme.samples', summary: 's', collections: [samples], provides: [provide(BlobOwners, SampleBytes)] })

test('the sweep deletes nothing while a plugin whose records refer to bytes is not loaded, unless asked to', async t => {
  const data = await mkdtemp(join(tmpdir(), 'pounce-absent-'))
  t.teardown(() => rm(data, { recursive: true, force: true }))
  const config = { blobs: { sweep: { graceHours: 0 } } }
  const before = await bootForTest({ folder: data, also: [sampling], config })
  const { key } = await before.get(BlobStore).put(Buffer.from('of a sample'))
  await before.stop()

  const without = await bootForTest({ t, folder: data, config })
  const sweep = without
    .get(Commands)
    .all()
    .find(({ name }) => name === 'blobs sweep')
  const run = (options: Readonly<Record<string, string>>) => sweep?.run({ arguments: {}, options }, () => undefined)
  await without.runPeriodic('blobs.sweep/orphans')
  t.truthy(await without.get(BlobStore).stat(key))
  await t.throwsAsync(async () => run({}), { message: /plugin with the collection acme\.samples is not loaded.*--forget acme\.samples/ })
  await t.throwsAsync(async () => run({ forget: 'acme.sample' }), { instanceOf: Invalid, message: /acme\.samples/ })
  t.truthy(await without.get(BlobStore).stat(key))
  t.like(await run({ forget: 'acme.samples' }), { removed: 1 })
  t.is(await without.get(BlobStore).stat(key), undefined)
})
