import { mkdtemp, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { BlobStore, CorruptContent } from 'pounce/sdk'
import { PermissionCatalog } from 'pounce/sdk/kit'
import { blobStoreContract, bootForTest, FixedClock, type TestContext, testBytes } from 'pounce/sdk/testing'
import { GzipBlobs } from './gzip-blobs.ts'

async function freshStore(t: TestContext): Promise<{ store: GzipBlobs; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'blobs-gzip-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const installation = { instance: 'test', version: '0', dataFolder: folder, baseUrl: '', plugins: [], roles: new Set(['http' as const]) }
  const store = new GzipBlobs({ folder, level: 1 }, { ...installation, admins: [], permissions: new PermissionCatalog() }, new FixedClock())
  await store.start()
  return { store, folder }
}

blobStoreContract(
  test,
  async t => (await freshStore(t)).store,
  () => new FixedClock().now(),
)

test('text is stored compressed', async t => {
  const { store, folder } = await freshStore(t)
  const { key } = await store.put(Buffer.from('the same words again and again, '.repeat(10_000)))
  t.true((await stat(join(folder, key))).size < 10_000)
})

test('a damaged file is never delivered completely', async t => {
  const { store, folder } = await freshStore(t)
  for (const spoil of [(path: string) => truncate(path, 50_000), (path: string) => writeFile(path, testBytes(90_000))]) {
    const { key } = await store.put(testBytes(100_000))
    await spoil(join(folder, key))
    await t.throwsAsync(async () => await (await store.get(key))?.toArray(), { instanceOf: CorruptContent })
  }
})

test('the kernel loads it from its folder', async t => {
  const server = await bootForTest({
    t,
    plugins: [fileURLToPath(new URL('.', import.meta.url))],
    config: { example: { 'blobs-gzip': { level: 9 } } },
  })
  const store = server.get(BlobStore)
  const { key } = await store.put(Buffer.from('kept by an outsider'))
  t.is(String(Buffer.concat((await (await store.get(key))?.toArray()) ?? [])), 'kept by an outsider')
  t.true((await readdir(join(server.folder, 'blobs-gzip'))).includes(key))
  await server.restart()
  t.truthy(await server.get(BlobStore).stat(key))
})
