import { appendFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import type { BlobStore } from 'pounce/sdk'
import { testBytes } from 'pounce/sdk/testing'
import { encodeHeader } from './segment-format.ts'
import { freshStore, startedStore } from './test-store.ts'

async function read(store: BlobStore, key: string): Promise<Buffer | undefined> {
  const stream = await store.get(key)
  return stream && Buffer.concat(await stream.toArray())
}

async function keysOf(store: BlobStore): Promise<readonly string[]> {
  const keys: string[] = []
  for await (const { key } of store.list()) keys.push(key)
  return keys.sort()
}

const sizeOf = (at: number): number => (at * 7919) % 60_000

/** Puts enough blobs to fill several segments. */
async function fill(store: BlobStore, count: number): Promise<readonly string[]> {
  const info = await Promise.all(Array.from({ length: count }, (_, at) => store.put(testBytes(sizeOf(at), at + 1))))
  return info.map(({ key }) => key)
}

const segmentFiles = async (folder: string): Promise<readonly string[]> =>
  (await readdir(join(folder, 'segments'))).map(name => join(folder, 'segments', name)).sort()

const diskBytes = async (folder: string): Promise<number> => {
  const stats = await Promise.all((await segmentFiles(folder)).map(path => stat(path)))
  return stats.reduce((sum, { blocks }) => sum + blocks * 512, 0)
}

test('a full segment is followed by a new one, and all entries survive a restart', async t => {
  const { store, folder } = await freshStore(t)
  const keys = await fill(store, 1200)
  t.true((await segmentFiles(folder)).length >= 2)
  await store.dispose()
  const again = await startedStore(folder)
  t.deepEqual(await keysOf(again), [...keys].sort())
  for (const [at, key] of keys.entries()) {
    if (at % 10 === 0) t.true((await read(again, key))?.equals(testBytes(sizeOf(at), at + 1)))
  }
  await again.put(testBytes(10))
  await again.dispose()
})

const tails: readonly (readonly [string, Buffer])[] = [
  ['half a header', encodeHeader({ offset: 5064, sizeBytes: 900, modified: new Date(), sha256: 'ab'.repeat(32) }).subarray(0, 31)],
  ['a header without content', encodeHeader({ offset: 5064, sizeBytes: 900, modified: new Date(), sha256: 'ab'.repeat(32) })],
  ['zeros', Buffer.alloc(10_000)],
  ['random bytes', testBytes(300_000, 7)],
  ['a header with a wrong offset', encodeHeader({ offset: 1, sizeBytes: 0, modified: new Date(), sha256: 'ab'.repeat(32) })],
]
for (const [name, tail] of tails) {
  test(`a segment that ends with ${name} is truncated at the next start`, async t => {
    const { store, folder } = await freshStore(t)
    const { key } = await store.put(testBytes(5000))
    await store.dispose()
    const [path] = await segmentFiles(folder)
    await appendFile(path ?? '', tail)
    const again = await startedStore(folder)
    t.is((await stat(path ?? '')).size, 5064)
    t.deepEqual(await keysOf(again), [key])
    t.true((await read(again, key))?.equals(testBytes(5000)))
    const next = await again.put(testBytes(70))
    t.true((await read(again, next.key))?.equals(testBytes(70)))
    await again.dispose()
  })
}

test('content that resembles an entry is not read as one', async t => {
  const { store, folder } = await freshStore(t)
  const fake = encodeHeader({ offset: 64, sizeBytes: 5, modified: new Date(), sha256: 'ab'.repeat(32) })
  const { key } = await store.put(Buffer.concat([fake, fake, Buffer.from('hello')]))
  await store.dispose()
  const again = await startedStore(folder)
  t.deepEqual(await keysOf(again), [key])
  await again.dispose()
})

test('a segment is deleted with its last entry, even if other entries were removed before a restart', async t => {
  const { store, folder } = await freshStore(t)
  const keys = await fill(store, 1200)
  const [first] = await segmentFiles(folder)
  const inFirst = keys.filter(key => key.startsWith('s/00000000/'))
  await Promise.all(inFirst.slice(0, 100).map(key => store.remove(key)))
  await store.dispose()
  const again = await startedStore(folder)
  await Promise.all(inFirst.slice(100).map(key => again.remove(key)))
  t.false((await segmentFiles(folder)).includes(first ?? ''))
  const rest = keys.filter(key => !inFirst.includes(key))
  t.deepEqual(await keysOf(again), [...rest].sort())
  for (const key of inFirst.slice(0, 5)) t.is(await again.get(key), undefined)
  await Promise.all(rest.map(key => again.remove(key)))
  t.deepEqual(await keysOf(again), [])
  t.deepEqual(await segmentFiles(folder), [])
  await again.dispose()
})

test('the disk space of removed entries is freed while others remain in the same segment', async t => {
  const { store, folder } = await freshStore(t)
  const keys = await fill(store, 1200)
  const full = await diskBytes(folder)
  const isKept = (at: number): boolean => at % 40 === 0
  const reader = read(store, keys[400] ?? '')
  await Promise.all(keys.map((key, at) => (isKept(at) ? undefined : store.remove(key))))
  t.true((await reader)?.equals(testBytes(sizeOf(400), 401)))
  t.true((await diskBytes(folder)) < full * 0.75, `${await diskBytes(folder)} of ${full} bytes are still in use`)
  const kept = keys.filter((_, at) => isKept(at))
  for (const running of [store, await startedStore(folder)]) {
    t.deepEqual(await keysOf(running), [...kept].sort())
    for (const [at, key] of keys.entries()) {
      if (isKept(at)) t.true((await read(running, key))?.equals(testBytes(sizeOf(at), at + 1)))
      else if (at % 7 === 0) t.is(await running.get(key), undefined)
    }
    await running.dispose()
  }
  t.deepEqual(await readdir(join(folder, 'tmp')), [])
})

test('entries written while others in the same segment are removed survive', async t => {
  const { store } = await freshStore(t)
  const kept: string[] = []
  for (let round = 0; round < 20; round += 1) {
    const doomed = await fill(store, 40)
    const [keys] = await Promise.all([fill(store, 20), ...doomed.map(key => store.remove(key))])
    kept.push(...keys)
  }
  t.deepEqual(await keysOf(store), [...kept].sort())
})
