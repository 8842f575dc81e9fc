import { type FileHandle, mkdir, open, readdir, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import test from 'ava'
import { type BlobStore, type ByteRange, CorruptContent, NoSpace, Unavailable } from 'pounce/sdk'
import { testBytes } from 'pounce/sdk/testing'
import { type Disk, realDisk } from './disk.ts'
import { freshStore, startedStore } from './test-store.ts'

const blockBytes = 64 * 1024
const small = testBytes(5000)
const big = testBytes(10 * blockBytes + 17, 2)

async function read(store: BlobStore, key: string, range?: ByteRange): Promise<Buffer | undefined> {
  const stream = await store.get(key, range)
  return stream && Buffer.concat(await stream.toArray())
}

async function keysOf(store: BlobStore): Promise<readonly string[]> {
  const keys: string[] = []
  for await (const { key } of store.list()) keys.push(key)
  return keys
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
}

/** Changes one byte of a file, or truncates the file there. */
async function damage(path: string, at: number, how: 'flip' | 'cut' = 'flip'): Promise<void> {
  await using file = await open(path, 'r+')
  if (how === 'cut') return await file.truncate(at)
  const byte = Buffer.alloc(1)
  await file.read(byte, 0, 1, at)
  await file.write(Buffer.from([(byte[0] ?? 0) ^ 0x10]), 0, 1, at)
}

const pathOf = async (folder: string, part: 'files' | 'sums' | 'segments'): Promise<string> =>
  (await filesBelow(join(folder, part)))[0] ?? ''

for (const at of [0, blockBytes, 5 * blockBytes + 3, big.length - 1]) {
  test(`reading a large blob with byte ${at} flipped fails before the damaged block; ranges outside it are readable`, async t => {
    const { store, folder } = await freshStore(t)
    const { key } = await store.put(big)
    await damage(await pathOf(folder, 'files'), at)
    const got: Buffer[] = []
    const whole = (async () => {
      for await (const piece of (await store.get(key)) ?? []) got.push(piece)
    })()
    await t.throwsAsync(whole, { instanceOf: CorruptContent })
    const delivered = Buffer.concat(got)
    t.true(delivered.length <= Math.floor(at / blockBytes) * blockBytes)
    t.true(delivered.equals(big.subarray(0, delivered.length)))
    await t.throwsAsync(read(store, key, { start: at, end: at }), { instanceOf: CorruptContent })
    const elsewhere = { start: 2 * blockBytes + 5, end: 3 * blockBytes + 5 }
    t.true((await read(store, key, elsewhere))?.equals(big.subarray(elsewhere.start, elsewhere.end + 1)))
  })
}

test('a large blob whose file was truncated or extended is reported as corrupt', async t => {
  const { store, folder } = await freshStore(t)
  const { key } = await store.put(big)
  const path = await pathOf(folder, 'files')
  await damage(path, big.length - 1, 'cut')
  await t.throwsAsync(read(store, key), { instanceOf: CorruptContent })
  await t.throwsAsync(store.stat(key), { instanceOf: CorruptContent })
  await writeFile(path, Buffer.concat([big, Buffer.from('x')]))
  await t.throwsAsync(read(store, key), { instanceOf: CorruptContent })
})

for (const [how, spoil] of [
  ['flipped', (path: string) => damage(path, 9)],
  ['cut short', (path: string) => damage(path, 9, 'cut')],
  ['lost', (path: string) => rm(path)],
] as const) {
  test(`checksums that were ${how} are recomputed if the blob is intact, and not if it is damaged`, async t => {
    const { store, folder } = await freshStore(t)
    const { key } = await store.put(big)
    const sums = await pathOf(folder, 'sums')
    const before = await readFile(sums)
    await spoil(sums)
    t.true((await read(store, key))?.equals(big))
    t.deepEqual(await readFile(sums), before)
    await spoil(sums)
    await damage(await pathOf(folder, 'files'), 5)
    await t.throwsAsync(read(store, key, { start: blockBytes, end: blockBytes }), { instanceOf: CorruptContent })
  })
}

for (const at of [64, 64 + small.length - 1, 30, 60, 5, 1]) {
  test(`a small blob with byte ${at} of its entry flipped is corrupt, and its neighbours stay readable`, async t => {
    const { store, folder } = await freshStore(t)
    const [before, hit, after] = await Promise.all([store.put(testBytes(100, 8)), store.put(small), store.put(testBytes(200, 9))])
    await damage(await pathOf(folder, 'segments'), 64 + 100 + at)
    await t.throwsAsync(read(store, hit.key), { instanceOf: CorruptContent })
    t.true((await read(store, before.key))?.equals(testBytes(100, 8)))
    t.true((await read(store, after.key))?.equals(testBytes(200, 9)))
    const keys = await keysOf(store)
    t.true(keys.includes(before.key) && keys.includes(after.key))
  })
}

test('in a truncated segment, only the blobs from the truncation on are corrupt', async t => {
  const { store, folder } = await freshStore(t)
  const [before, hit] = await Promise.all([store.put(testBytes(100, 8)), store.put(small)])
  await damage(await pathOf(folder, 'segments'), 64 + 100 + 64 + 10, 'cut')
  await t.throwsAsync(read(store, hit.key), { instanceOf: CorruptContent })
  t.true((await read(store, before.key))?.equals(testBytes(100, 8)))
})

/** A disk on which calls fail as configured: `fail` returns the error of the n-th call, or undefined. */
function faultyDisk(fail: (call: 'write' | 'sync', n: number) => string | undefined): Disk {
  let calls = 0
  const check = (call: 'write' | 'sync'): void => {
    calls += 1
    const code = fail(call, calls)
    if (code) throw Object.assign(new Error(`${code}: injected`), { code })
  }
  return {
    ...realDisk,
    async write(file, pieces, position) {
      check('write')
      return await realDisk.write(file, pieces, position)
    },
    async sync(file) {
      check('sync')
      await realDisk.sync(file)
    },
  }
}

for (const [name, bytes] of [
  ['small', small],
  ['large', big],
] as const) {
  test(`on a full disk, a ${name} blob is refused and leaves nothing behind; puts succeed once there is space`, async t => {
    let isFull = false
    const { store, folder } = await freshStore(
      t,
      faultyDisk(call => (isFull && call === 'write' ? 'ENOSPC' : undefined)),
    )
    const kept = await store.put(bytes)
    isFull = true
    for (let times = 0; times < 3; times += 1) {
      await t.throwsAsync(store.put(bytes), { instanceOf: NoSpace })
      await t.throwsAsync(store.put(Readable.from([bytes])), { instanceOf: NoSpace })
    }
    t.true((await read(store, kept.key))?.equals(bytes))
    t.deepEqual(await keysOf(store), [kept.key])
    t.deepEqual(await readdir(join(folder, 'tmp')), [])
    isFull = false
    const later = await store.put(bytes)
    t.deepEqual([...(await keysOf(store))].sort(), [kept.key, later.key].sort())
  })

  test(`if any disk call fails during the put of a ${name} blob, the put fails and leaves nothing behind`, async t => {
    for (let failing = 1; ; failing += 1) {
      let hasFailed = false
      const disk = faultyDisk((_, n) => {
        hasFailed ||= n === failing
        return n === failing ? 'EIO' : undefined
      })
      const { store, folder } = await freshStore(t, disk)
      const put = await store.put(Readable.from([bytes])).catch((error: unknown) => error)
      t.is(put instanceof Unavailable, hasFailed, `call ${failing}`)
      if (!hasFailed) break
      t.deepEqual(await keysOf(store), [])
      t.deepEqual(await readdir(join(folder, 'tmp')), [])
      const again = await store.put(bytes)
      t.true((await read(store, again.key))?.equals(bytes))
    }
  })
}

test('a file whose sync failed is neither written nor synced again', async t => {
  const failed = new Set<FileHandle>()
  let isBroken = true
  const { store } = await freshStore(t, {
    ...realDisk,
    write: (file, pieces, position) => {
      t.false(failed.has(file))
      return realDisk.write(file, pieces, position)
    },
    async sync(file) {
      t.false(failed.has(file))
      const isFolder = (await file.stat()).isDirectory()
      if (!isBroken || isFolder) return await realDisk.sync(file)
      failed.add(file)
      throw Object.assign(new Error('EIO: injected'), { code: 'EIO' })
    },
  })
  for (const bytes of [small, big, small, big]) await t.throwsAsync(store.put(bytes), { instanceOf: Unavailable })
  t.is(failed.size, 4)
  isBroken = false
  for (const bytes of [small, big]) t.true((await read(store, (await store.put(bytes)).key))?.equals(bytes))
})

test('after a short write the rest is written', async t => {
  const { store } = await freshStore(t, {
    ...realDisk,
    write: (file, pieces, position) =>
      realDisk.write(file, [pieces.find(({ length }) => length > 0)?.subarray(0, 40_000) ?? new Uint8Array()], position),
  })
  for (const bytes of [small, big, testBytes(0)]) t.true((await read(store, (await store.put(Readable.from([bytes]))).key))?.equals(bytes))
})

test('one invalid upload in a shared write does not affect the others', async t => {
  const { store } = await freshStore(t)
  const good = Array.from({ length: 10 }, (_, at) => store.put(testBytes(1000, at + 1)))
  const bad = t.throwsAsync(store.put(testBytes(1000), { sha256: '0'.repeat(64) }))
  const info = await Promise.all(good)
  await bad
  t.is((await keysOf(store)).length, info.length)
})

test('temporary files left by an interrupted run are deleted at startup', async t => {
  const { folder } = await freshStore(t)
  await writeFile(join(folder, 'tmp', 'half'), big)
  await mkdir(join(folder, 'tmp', 'more'))
  const store = await startedStore(folder)
  t.deepEqual(await readdir(join(folder, 'tmp')), [])
  t.deepEqual(await keysOf(store), [])
  await store.dispose()
})

test('a store whose disk disappeared is unavailable, not empty', async t => {
  const { store, folder } = await freshStore(t)
  const [one, two] = await Promise.all([store.put(small), store.put(big)])
  await store.dispose()
  await t.notThrowsAsync(store.health())
  await rename(folder, `${folder}-away`)
  await t.throwsAsync(store.health(), { instanceOf: Unavailable })
  for (const { key } of [one, two]) {
    await t.throwsAsync(store.get(key), { instanceOf: Unavailable })
    await t.throwsAsync(store.stat(key), { instanceOf: Unavailable })
  }
  for (const bytes of [small, big]) await t.throwsAsync(store.put(bytes), { instanceOf: Unavailable })
  await t.throwsAsync(keysOf(store), { instanceOf: Unavailable })
  await rename(`${folder}-away`, folder)
  t.true((await read(store, one.key))?.equals(small))
  t.true((await read(store, two.key))?.equals(big))
})

test('a file is closed, however its reader ends', async t => {
  const { store, folder } = await freshStore(t)
  const { key } = await store.put(testBytes(3_000_000))
  const openFiles = async (): Promise<number> => {
    const links = await Promise.all((await readdir('/proc/self/fd')).map(fd => readlink(`/proc/self/fd/${fd}`).catch(() => '')))
    return links.filter(link => link.startsWith(join(folder, 'files'))).length
  }
  const left = await store.get(key)
  left?.destroy()
  const failed = await store.get(key)
  failed?.on('error', () => failed.destroy()).destroy(new Error('the reader failed'))
  for await (const _ of (await store.get(key)) ?? []) break
  await read(store, key)
  await t.throwsAsync(store.get(key, { start: 9, end: 3_000_000 }))
  const deadline = Date.now() + 60_000
  while ((await openFiles()) > 0 && Date.now() < deadline) await new Promise(setImmediate)
  t.is(await openFiles(), 0)
})
