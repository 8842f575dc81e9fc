import { createHash } from 'node:crypto'
import { mkdtemp, open, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import test from 'ava'
import { type BlobStore, CorruptContent, Unavailable } from 'pounce/sdk'
import type { BlobInfo } from 'pounce/sdk/store-kit'
import { testBytes } from 'pounce/sdk/testing'
import { type Disk, realDisk } from './disk.ts'
import { freshStore, startedStore } from './test-store.ts'

const bytes = testBytes(3_000_000, 7)
const everyBytes = 500_000
const everyMs = Number.POSITIVE_INFINITY
const sha256 = (of: Uint8Array): string => createHash('sha256').update(of).digest('hex')

const source = (length = bytes.length, end?: Error): Readable =>
  Readable.from(
    (async function* () {
      for (let at = 0; at < length; at += 65_536) yield bytes.subarray(at, Math.min(at + 65_536, length))
      if (end) throw end
    })(),
    { objectMode: false },
  )

const read = async (store: BlobStore, key: string, range?: { start: number; end: number }): Promise<Buffer | undefined> => {
  const stream = await store.get(key, range)
  return stream && Buffer.concat(await stream.toArray())
}

const keysOf = async (store: BlobStore): Promise<readonly string[]> => {
  const keys: string[] = []
  for await (const { key } of store.list()) keys.push(key)
  return keys.sort()
}

/** Puts bytes and collects the beginnings reported during the put. */
const grow = async (store: BlobStore, from = source(), keep?: (beginning: BlobInfo) => Promise<void>) => {
  const kept: BlobInfo[] = []
  const put = store.putGrowing?.(from, {
    everyBytes,
    everyMs,
    keep: async beginning => {
      kept.push(beginning)
      await keep?.(beginning)
    },
  })
  const [outcome] = await Promise.allSettled([put])
  return { kept, outcome, whole: outcome.status === 'fulfilled' ? outcome.value : undefined }
}

test('the bytes received so far are available as a separate blob, during the upload and after it', async t => {
  const { store } = await freshStore(t)
  let seen = 0
  const { kept, whole } = await grow(store, source(), async ({ key, sizeBytes }) => {
    t.true((await read(store, key))?.equals(bytes.subarray(0, sizeBytes)))
    seen += 1
  })
  t.true(seen >= 3, `${seen}`)
  t.is(whole?.sha256, sha256(bytes))
  t.true((await read(store, whole?.key ?? ''))?.equals(bytes))
  for (const { key, sizeBytes, sha256: digest } of kept) {
    t.is(digest, sha256(bytes.subarray(0, sizeBytes)))
    t.deepEqual(await store.stat(key), { key, sizeBytes, sha256: digest })
    t.true((await read(store, key, { start: 70_000, end: 200_000 }))?.equals(bytes.subarray(70_000, 200_001)))
    await t.throwsAsync(read(store, key, { start: 0, end: sizeBytes }))
    t.is(await store.localPath?.(key), undefined)
  }
  t.deepEqual(
    kept.map(({ sizeBytes }) => sizeBytes),
    kept.map(({ sizeBytes }) => sizeBytes).toSorted((one, other) => one - other),
  )
  t.deepEqual(await keysOf(store), [...kept.map(({ key }) => key), whole?.key].sort())
})

test('beginnings and the complete blob are removed independently', async t => {
  const { store, folder } = await freshStore(t)
  const { kept, whole } = await grow(store)
  const [first, ...others] = kept
  for (const { key } of others) await store.remove(key)
  t.is(await store.get(others[0]?.key ?? ''), undefined)
  await store.remove(whole?.key ?? '')
  t.true((await read(store, first?.key ?? ''))?.equals(bytes.subarray(0, first?.sizeBytes)))
  await store.remove(first?.key ?? '')
  t.deepEqual(await keysOf(store), [])
  const left = await readdir(folder, { recursive: true, withFileTypes: true })
  t.deepEqual(
    left.filter(entry => entry.isFile() && !entry.name.endsWith('.segment')).map(({ name }) => name),
    [],
  )
})

test('an interrupted upload leaves its beginnings, also after a restart of the store', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-blobs-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const store = await startedStore(folder)
  const { kept, outcome } = await grow(store, source(2_200_000, new Error('cut')))
  t.is(outcome.status === 'rejected' && outcome.reason.message, 'cut')
  await store.dispose()
  const again = await startedStore(folder)
  t.teardown(() => again.dispose())
  t.true(kept.length >= 2)
  t.deepEqual(await keysOf(again), kept.map(({ key }) => key).sort())
  for (const { key, sizeBytes } of kept) t.true((await read(again, key))?.equals(bytes.subarray(0, sizeBytes)))
})

test('the put fails if a beginning cannot be recorded by its owner or synced to the disk', async t => {
  const { store } = await freshStore(t)
  const refused = await grow(store, source(), () => Promise.reject(new Error('no record')))
  t.is(refused.outcome.status === 'rejected' && refused.outcome.reason.message, 'no record')
  t.deepEqual(
    await keysOf(store),
    refused.kept.map(({ key }) => key),
  )

  const broken: Disk = { ...realDisk, sync: () => Promise.reject(Object.assign(new Error('no sync'), { code: 'EIO' })) }
  const { store: other } = await freshStore(t, broken)
  const { kept, outcome } = await grow(other)
  t.true(outcome.status === 'rejected' && outcome.reason instanceof Unavailable)
  t.deepEqual(kept, [])
  t.deepEqual(await keysOf(other), [])
})

test('reading a damaged or truncated beginning fails with CorruptContent', async t => {
  const { store, folder } = await freshStore(t)
  const { kept } = await grow(store, source(1_200_000, new Error('cut')))
  const [first] = kept
  const names = await readdir(join(folder, 'beginnings'), { recursive: true, withFileTypes: true })
  const name = names.find(entry => entry.isFile() && first?.key.endsWith(entry.name))
  const path = join(name?.parentPath ?? '', name?.name ?? '')
  await using file = await open(path, 'r+')
  await file.write(Buffer.from([(bytes[100_000] ?? 0) ^ 1]), 0, 1, 100_000)
  await t.throwsAsync(read(store, first?.key ?? ''), { instanceOf: CorruptContent })
  await file.truncate(1000)
  await t.throwsAsync(read(store, first?.key ?? ''), { instanceOf: CorruptContent })
})
