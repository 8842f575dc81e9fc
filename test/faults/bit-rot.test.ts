import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { bootForTest, type TestFetch } from 'pounce/sdk/testing'
import { damage } from '../support/damage.ts'
import { newDataset, refusal, upload } from '../support/scene.ts'

const setUp = async (t: ExecutionContext) => {
  const server = await bootForTest({ t })
  const call = server.as(server.admin.key)
  return { server, call, dataset: await newDataset(call) }
}

/** The outcome of a download: the bytes, or how it was refused or aborted. */
const taken = async (
  call: TestFetch,
  path: string,
  range?: string,
): Promise<Buffer | 'cut' | { readonly code: string; readonly status: number }> => {
  const answer = await call(path, range === undefined ? {} : { headers: { range } })
  if (!answer.ok) {
    const { code, status } = await refusal(Promise.resolve(answer))
    return { code, status }
  }
  try {
    return Buffer.from(await answer.arrayBuffer())
  } catch {
    return 'cut'
  }
}

const corrupt = { code: 'content-corrupt', status: 500 }

test('a large file with a damaged byte is never delivered completely; undamaged parts are delivered', async t => {
  const { server, call, dataset } = await setUp(t)
  const bytes = Buffer.alloc(8_000_000, 'rot ')
  const id = await upload(call, dataset, bytes, 'large.bin')
  await damage(server.folder, 'files', 5_000_000)
  t.is(await taken(call, `/api/files/${id}/blob`), 'cut')
  t.is(await taken(call, `/api/datasets/${dataset}/download`), 'cut')
  t.deepEqual(await taken(call, `/api/files/${id}/blob`, 'bytes=4999990-5000010'), corrupt)
  t.deepEqual(await taken(call, `/api/files/${id}/blob`, 'bytes=0-999'), bytes.subarray(0, 1000))
  t.deepEqual(await taken(call, `/api/files/${id}/blob`, 'bytes=-1000'), bytes.subarray(-1000))
})

test('a small file with a damaged byte is refused, and other files are delivered', async t => {
  const { server, call, dataset } = await setUp(t)
  const before = await upload(call, dataset, 'a file before', 'before.txt')
  const id = await upload(call, dataset, 'the rotten file', 'rotten.txt')
  const after = await upload(call, dataset, 'a file after', 'after.txt')
  const segment = join(server.folder, 'blobs', 'segments')
  const [name = ''] = await readdir(segment)
  const file = await open(join(segment, name), 'r')
  const at = (await file.readFile()).indexOf('rotten')
  await file.close()
  await damage(server.folder, 'segments', at)
  t.deepEqual(await taken(call, `/api/files/${id}/blob`), corrupt)
  t.deepEqual(await taken(call, `/api/files/${id}/blob`, 'bytes=0-2'), corrupt)
  const refused = (await (await call(`/api/files/${id}/blob`)).json()) as object
  t.deepEqual(Object.keys(refused).toSorted(), ['code', 'message', 'requestId', 'status'], 'no path on the server is disclosed')
  t.is(String(await taken(call, `/api/files/${before}/blob`)), 'a file before')
  t.is(String(await taken(call, `/api/files/${after}/blob`)), 'a file after')
  const archive = await taken(call, `/api/datasets/${dataset}/download`)
  t.true(archive === 'cut' || (!Buffer.isBuffer(archive) && archive.status === 500))
})
