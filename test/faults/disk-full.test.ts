import type { FileHandle } from 'node:fs/promises'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { BlobStore } from 'pounce/sdk'
import { bootForTest, type TestFetch } from 'pounce/sdk/testing'
import { type Disk, realDisk } from '../../plugins/blobs/disk/disk.ts'
import { embeddedStores } from '../support/embedded-stores.ts'
import { overridesOf, pluginsOnStores } from '../support/faulty-stores.ts'
import { sha256 } from '../support/main-job.ts'
import { formWith, newDataset, ok, upload } from '../support/scene.ts'

/** A disk with limited free space. A write that does not fit is written partially and fails, as on Linux. */
class FillingDisk implements Disk {
  leftBytes = Number.POSITIVE_INFINITY

  async write(file: FileHandle, pieces: readonly Uint8Array[], position: number): Promise<number> {
    const wanted = pieces.reduce((sum, piece) => sum + piece.length, 0)
    if (wanted > this.leftBytes) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    this.leftBytes -= wanted
    return realDisk.write(file, pieces, position)
  }

  sync(file: FileHandle): Promise<void> {
    return realDisk.sync(file)
  }

  space(folder: string): ReturnType<Disk['space']> {
    return realDisk.space(folder)
  }
}

const setUp = async (t: ExecutionContext, options: { disk?: Disk; maxSizeMiB?: number }) => {
  const { documents, blobs, folder } = await embeddedStores(t, options)
  const server = await bootForTest({ t, plugins: pluginsOnStores, overrides: overridesOf(documents, blobs) })
  const call = server.as(server.admin.key)
  return { server, call, blobs, folder, dataset: await newDataset(call) }
}

const isFull = async (t: ExecutionContext, answer: Response): Promise<void> => {
  const { message, requestId, ...body } = (await answer.json()) as Record<string, unknown>
  t.deepEqual([answer.status, body], [507, { status: 'error', code: 'no-space' }])
  t.regex(String(message), /^No storage space left/)
  t.is(typeof requestId, 'string')
  t.true(Number(answer.headers.get('retry-after')) > 0)
}

const countOf = async (blobs: BlobStore): Promise<number> => (await Array.fromAsync(blobs.list())).length

/** Operations that still succeed on a full server. */
const readsGoOn = async (t: ExecutionContext, call: TestFetch, dataset: string, acked: ReadonlyMap<string, string>): Promise<void> => {
  for (const [id, digest] of acked) {
    const answer = await call(`/api/files/${id}/blob`)
    t.is(sha256(Buffer.from(await answer.arrayBuffer())), digest)
  }
  const listed = await ok<{ id: string }[]>(call(`/api/datasets/${dataset}/files`))
  t.deepEqual(listed.map(each => each.id).sort(), [...acked.keys()].sort())
  for (const path of ['/readyz', '/healthz', '/api/search?query=kept', '/api/status', `/api/datasets/${dataset}/download`]) {
    const answer = await call(path)
    t.is(answer.status, 200, path)
    await answer.arrayBuffer()
  }
}

test('without space for bytes, uploads are refused with 507 and leave nothing; with space they succeed again', async t => {
  const disk = new FillingDisk()
  const { server, call, blobs, folder, dataset } = await setUp(t, { disk })
  const acked = new Map<string, string>()
  const keep = async (bytes: Buffer): Promise<void> => {
    acked.set(await upload(call, dataset, bytes, `kept${acked.size}.bin`), sha256(bytes))
  }
  await keep(Buffer.alloc(3_000_000, 'big'))
  await keep(Buffer.alloc(10_000, 'small'))
  const stored = await countOf(blobs)
  const put = (bytes: Buffer, more?: Buffer) => {
    const body = formWith(bytes, 'refused.bin')
    if (more) body.append('File', new Blob([Uint8Array.from(more)]), 'another.bin')
    return call(`/api/uploadToDataset/${dataset}`, { method: 'POST', body })
  }
  disk.leftBytes = 1_000_000
  await isFull(t, await put(Buffer.alloc(8_000_000)))
  disk.leftBytes = 30_000
  await isFull(t, await put(Buffer.alloc(5_000), Buffer.alloc(60_000)))
  disk.leftBytes = 100
  for (const answer of await Promise.all([1, 2, 3, 4].map(() => put(Buffer.alloc(5_000))))) await isFull(t, answer)
  disk.leftBytes = 0
  await isFull(t, await call('/api/previews', { method: 'POST', body: formWith('a preview', 'a.png', 'image/png') }))

  await server.drained()
  t.is(await countOf(blobs), stored)
  t.deepEqual(await readdir(join(folder, 'blobs', 'tmp')), [])
  await readsGoOn(t, call, dataset, acked)
  const about = { method: 'POST', json: { tags: ['no bytes needed'] } }
  t.is((await call(`/api/files/${[...acked.keys()][0]}/tags`, about)).status, 200)

  disk.leftBytes = Number.POSITIVE_INFINITY
  await keep(Buffer.alloc(2_000_000, 'again'))
  await keep(Buffer.alloc(100, 'again'))
  await readsGoOn(t, call, dataset, acked)
})

test('without space for records, changes are refused with 507 and have no effect; deletions free space', async t => {
  const { server, call, blobs, dataset } = await setUp(t, { maxSizeMiB: 4 })
  const bytes = Buffer.from('kept')
  const acked = new Map([[await upload(call, dataset, bytes, 'kept.txt'), sha256(bytes)]])
  const agent = { '@type': 'cat:extractor', name: 'x', extractor_id: 'https://example.org/extractors/x/1.0' }
  const target = `/api/datasets/${dataset}/metadata.jsonld`
  const annotate = (length: number) => call(target, { method: 'POST', json: { agent, content: { text: 'x'.repeat(length) } } })
  let added = 0
  let size = 200_000
  while (size > 100) {
    const answer = await annotate(size)
    if (answer.ok) added += 1
    else {
      await isFull(t, answer)
      size /= 4
    }
  }
  t.true(added > 5)
  const stored = await countOf(blobs)
  const refused = formWith('x'.repeat(30_000), `${'long '.repeat(40)}.txt`)
  const put = await call(`/api/uploadToDataset/${dataset}`, { method: 'POST', body: refused })
  if (put.ok) acked.set(((await put.json()) as { id: string }).id, sha256(Buffer.from('x'.repeat(30_000))))
  else await isFull(t, put)
  t.is(await countOf(blobs), stored + acked.size - 1)
  await readsGoOn(t, call, dataset, acked)
  t.is((await ok<unknown[]>(call(target))).length, added)

  t.deepEqual(await ok(call(target, { method: 'DELETE' })), { status: 'success', count: String(added) })
  acked.set(await upload(call, dataset, bytes, 'kept too.txt'), sha256(bytes))
  await server.drained(20_000)
  await readsGoOn(t, call, dataset, acked)
})
