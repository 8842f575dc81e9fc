import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { ByteRange } from '../bytes.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import { Invalid } from '../problem.ts'
import { type ContractTest, contractTest, type TestContext, type TestRunner } from './any-runner.ts'
import { blobStoreFlowContract } from './blob-store-flow-contract.ts'

/** Returns a fresh, empty, started store; may use `t.teardown`. */
export type MakeBlobStore = (t: TestContext) => Promise<BlobStore>

const kB = 1024
const MB = kB * kB
/** The clock of the server that stores the bytes may differ. */
const clockDifferenceMs = 3_600_000
const sizes = [0, 1, 64 * kB - 1, 64 * kB, 64 * kB + 1, 4 * MB - 1, 4 * MB, 4 * MB + 1, 20_000_000]

/** Pseudo-random bytes, the same for every call. */
export function testBytes(sizeBytes: number, seed = 1): Buffer {
  const words = new Uint32Array(Math.ceil(sizeBytes / 4))
  let state = (seed * 2_654_435_761) >>> 0 || 1
  for (let at = 0; at < words.length; at += 1) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    words[at] = state
  }
  return Buffer.from(words.buffer, 0, sizeBytes)
}

const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** A stream of these bytes in chunks of the given length. */
const streamOf = (bytes: Buffer, pieceBytes = 50_000): Readable =>
  Readable.from(
    (function* () {
      for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
    })(),
    { objectMode: false },
  )

async function readAll(store: BlobStore, key: string, range?: ByteRange): Promise<Buffer | undefined> {
  const stream = await store.get(key, range)
  if (!stream) return undefined
  const pieces: Buffer[] = []
  for await (const piece of stream) pieces.push(piece)
  return Buffer.concat(pieces)
}

async function keysOf(store: BlobStore): Promise<readonly string[]> {
  const keys: string[] = []
  for await (const { key } of store.list()) keys.push(key)
  return keys.sort()
}

/** The contract of BlobStore. Run it in a test file of the implementation. `now` is the clock of the store, if it is not the clock of the machine. */
export function blobStoreContract(runner: TestRunner, makeStore: MakeBlobStore, now: () => Date = () => new Date()): void {
  const test = contractTest(runner)
  storing(test, makeStore)
  listing(test, makeStore, now)
  refusing(test, makeStore)
  reading(test, makeStore)
  removing(test, makeStore)
  blobStoreFlowContract(test, makeStore)
}

function storing(test: ContractTest, makeStore: MakeBlobStore): void {
  for (const size of sizes) {
    test(`${size} bytes are returned unchanged`, async t => {
      const store = await makeStore(t)
      const bytes = testBytes(size)
      const expected = { sizeBytes: size, sha256: sha256Of(bytes) }
      for (const source of [bytes, streamOf(bytes)]) {
        const info = await store.put(source)
        t.like(info, expected)
        t.regex(info.key, /^[a-z0-9/._-]{1,200}$/)
        t.deepEqual(await store.stat(info.key), info)
        t.true((await readAll(store, info.key))?.equals(bytes))
      }
    })
  }

  test('a stream of many tiny chunks is stored completely', async t => {
    const store = await makeStore(t)
    const bytes = testBytes(150_000)
    const { key, sizeBytes } = await store.put(streamOf(bytes, 37))
    t.is(sizeBytes, bytes.length)
    t.true((await readAll(store, key))?.equals(bytes))
  })

  test('a view into a larger buffer is stored without the rest of the buffer', async t => {
    const store = await makeStore(t)
    const around = testBytes(1000)
    const { key } = await store.put(new Uint8Array(around.buffer, around.byteOffset + 100, 50))
    t.true((await readAll(store, key))?.equals(around.subarray(100, 150)))
  })

  test('a correct announced length and digest are accepted', async t => {
    const store = await makeStore(t)
    for (const size of [0, 10, 100_000]) {
      const bytes = testBytes(size)
      const announced = { sizeBytes: size, sha256: sha256Of(bytes) }
      t.like(await store.put(streamOf(bytes), announced), announced)
    }
  })

  test('the same bytes put twice get two independent keys', async t => {
    const store = await makeStore(t)
    for (const size of [0, 10, 100_000]) {
      const bytes = testBytes(size)
      const first = await store.put(bytes)
      const second = await store.put(bytes)
      t.not(first.key, second.key)
      await store.remove(first.key)
      t.is(await store.get(first.key), undefined)
      t.true((await readAll(store, second.key))?.equals(bytes))
    }
  })

  test('concurrent puts of all lengths do not mix', async t => {
    const store = await makeStore(t)
    const blobs = Array.from({ length: 60 }, (_, at) => testBytes((at * 7919) % 180_000, at + 1))
    const info = await Promise.all(blobs.map((bytes, at) => store.put(at % 2 ? bytes : streamOf(bytes))))
    t.is(new Set(info.map(({ key }) => key)).size, blobs.length)
    await Promise.all(
      info.map(async ({ key, sha256 }, at) => {
        const bytes = blobs[at] as Buffer
        t.is(sha256, sha256Of(bytes))
        t.true((await readAll(store, key))?.equals(bytes))
      }),
    )
    t.deepEqual(await keysOf(store), info.map(({ key }) => key).sort())
  })
}

function listing(test: ContractTest, makeStore: MakeBlobStore, now: () => Date): void {
  test('list returns all blobs with lengths and times', async t => {
    const store = await makeStore(t)
    t.deepEqual(await keysOf(store), [])
    const puts = await Promise.all([0, 5, 70_000, 200_000].map(size => store.put(testBytes(size))))
    await store.remove(puts[1]?.key ?? '')
    await store.remove(puts[3]?.key ?? '')
    const entries = await Array.fromAsync(store.list())
    t.deepEqual(
      Object.fromEntries(entries.map(({ key, sizeBytes }) => [key, sizeBytes])),
      Object.fromEntries([puts[0], puts[2]].map(info => [info?.key, info?.sizeBytes])),
    )
    // By this time bytes without a record are deleted, or kept because their record may still be written.
    for (const { modified } of entries) t.true(Math.abs(modified.getTime() - now().getTime()) < clockDifferenceMs, `modified ${modified}`)
    const later = new Map(await Array.fromAsync(store.list(), ({ key, modified }) => [key, modified] as const))
    for (const { key, modified } of entries) t.deepEqual(later.get(key), modified, 'modified, listed again')
  })

  // Alone: a thousand uploads next to those of other tests exceed the time limits of a store on a busy machine.
  test.serial('more than a thousand blobs are all listed, each once', async t => {
    const store = await makeStore(t)
    const keys: string[] = []
    for (let at = 0; at < 1050; at += 25) {
      const puts = await Promise.all(Array.from({ length: 25 }, (_, n) => store.put(Buffer.from(`blob ${at + n}`))))
      keys.push(...puts.map(({ key }) => key))
    }
    t.deepEqual(await keysOf(store), keys.sort())
  })

  for (const size of [10, 5_000_000]) {
    test(`an upload of ${size} bytes is not listed before it is complete`, async t => {
      const store = await makeStore(t)
      const source = new Readable({ read: () => undefined })
      source.push(testBytes(size))
      const put = store.put(source)
      for (let looks = 0; looks < 20; looks += 1) t.deepEqual(await keysOf(store), [], 'while the source continues')
      source.push(null)
      const { key, sizeBytes } = await put
      t.is(sizeBytes, size)
      t.deepEqual(await keysOf(store), [key])
    })
  }
}

function refusing(test: ContractTest, makeStore: MakeBlobStore): void {
  for (const size of [10, 100_000, 5_000_000]) {
    test(`${size} bytes that differ from the announced length or digest are refused and not kept`, async t => {
      const store = await makeStore(t)
      const bytes = testBytes(size)
      await t.throwsAsync(store.put(streamOf(bytes), { sizeBytes: size + 1 }), { instanceOf: Invalid })
      await t.throwsAsync(store.put(streamOf(bytes), { sizeBytes: size - 1 }), { instanceOf: Invalid })
      await t.throwsAsync(store.put(bytes, { sizeBytes: size - 1 }), { instanceOf: Invalid })
      for (const source of [bytes, streamOf(bytes)])
        await t.throwsAsync(store.put(source, { sha256: sha256Of(Buffer.from('other')) }), { instanceOf: Invalid })
      t.deepEqual(await keysOf(store), [])
    })

    test(`a source that fails after ${size} bytes leaves nothing`, async t => {
      const store = await makeStore(t)
      const failure = new Error('the uploader disconnected')
      const source = Readable.from(
        (function* () {
          yield testBytes(size)
          throw failure
        })(),
        { objectMode: false },
      )
      t.is(await t.throwsAsync(store.put(source)), failure)
      t.deepEqual(await keysOf(store), [])
    })

    test(`a source that is cut off after ${size} bytes leaves nothing`, async t => {
      const store = await makeStore(t)
      const source = new Readable({ read: () => undefined })
      source.push(testBytes(size))
      const put = t.throwsAsync(store.put(source))
      setImmediate(() => source.destroy())
      await put
      t.deepEqual(await keysOf(store), [])
    })

    test(`an upload aborted after ${size} bytes rejects with the reason and leaves nothing`, async t => {
      const store = await makeStore(t)
      const controller = new AbortController()
      const reason = new Error('changed my mind')
      const source = new Readable({ read: () => undefined })
      source.push(testBytes(size))
      const put = t.throwsAsync(store.put(source, { signal: controller.signal }))
      setImmediate(() => controller.abort(reason))
      t.is(await put, reason)
      t.deepEqual(await keysOf(store), [])
    })
  }

  test('a put with an already aborted signal does nothing', async t => {
    const store = await makeStore(t)
    const reason = new Error('too late')
    t.is(await t.throwsAsync(store.put(testBytes(10), { signal: AbortSignal.abort(reason) })), reason)
    t.deepEqual(await keysOf(store), [])
  })
}

function reading(test: ContractTest, makeStore: MakeBlobStore): void {
  for (const size of [1, 1000, 64 * kB + 1, 4 * MB + 1]) {
    test(`every kind of range of ${size} bytes is exact`, async t => {
      const store = await makeStore(t)
      const bytes = testBytes(size)
      const { key } = await store.put(bytes)
      const edges = [0, 1, 64 * kB - 1, 64 * kB, 4 * MB - 1, 4 * MB, Math.floor(size / 2), size - 2, size - 1]
      const inside = [...new Set(edges)].filter(edge => edge >= 0 && edge < size)
      for (const start of inside) {
        for (const end of inside.filter(edge => edge >= start)) {
          const part = await readAll(store, key, { start, end })
          t.true(part?.equals(bytes.subarray(start, end + 1)), `${start}-${end}`)
        }
      }
    })

    test(`a range that is not inside ${size} bytes is invalid`, async t => {
      const store = await makeStore(t)
      const { key } = await store.put(testBytes(size))
      const wrong = [
        { start: 0, end: size },
        { start: size, end: size },
        { start: -1, end: 0 },
        { start: 1, end: 0 },
        { start: 0.5, end: 0.5 },
        { start: Number.NaN, end: 0 },
      ]
      for (const range of wrong) await t.throwsAsync(store.get(key, range), { instanceOf: Invalid }, JSON.stringify(range))
    })
  }

  test('ranges of a large blob are exact, also when many are read concurrently', async t => {
    const store = await makeStore(t)
    const bytes = testBytes(20_000_000)
    const { key } = await store.put(bytes)
    const ranges = [
      ...[0, 8 * MB - 1, 12_345_678, bytes.length - 1].map(start => ({ start, end: start })),
      ...[1, 5 * MB - 3, 16 * MB - 70_000].map(start => ({ start, end: start + 140_000 })),
      { start: 1, end: bytes.length - 2 },
    ]
    await Promise.all(
      [...ranges, ...ranges].map(async ({ start, end }) => {
        const part = await readAll(store, key, { start, end })
        t.true(part?.equals(bytes.subarray(start, end + 1)), `${start}-${end}`)
      }),
    )
  })

  test('no range of an empty blob is valid', async t => {
    const store = await makeStore(t)
    const { key } = await store.put(testBytes(0))
    await t.throwsAsync(store.get(key, { start: 0, end: 0 }), { instanceOf: Invalid })
  })

  test('keys that the store did not create are absent, whatever they look like', async t => {
    const store = await makeStore(t)
    const puts = await Promise.all([5, 100_000].map(size => store.put(testBytes(size))))
    const neighbours = puts.flatMap(({ key }) => [
      `${key}0`,
      key.slice(0, -1),
      `${key}/`,
      `/${key}`,
      `./${key}`,
      key.toUpperCase(),
      swapEnd(key),
    ])
    const hostile = [
      '',
      '.',
      '..',
      '/',
      '../..',
      '../../../etc/passwd',
      '/etc/passwd',
      'a/../../b',
      'x\u0000y',
      '%2e%2e/x',
      'a'.repeat(5000),
    ]
    const known = new Set(puts.map(({ key }) => key))
    for (const key of [...neighbours, ...hostile].filter(each => !known.has(each))) {
      t.is(await store.get(key), undefined, key)
      t.is(await store.get(key, { start: 0, end: 0 }), undefined, key)
      t.is(await store.stat(key), undefined, key)
      await t.notThrowsAsync(store.remove(key), key)
    }
    t.deepEqual(await keysOf(store), [...known].sort())
  })

  test('stopping a read early closes its stream and leaves the blob readable', async t => {
    const store = await makeStore(t)
    const bytes = testBytes(5_000_000)
    const { key } = await store.put(bytes)
    for (let times = 0; times < 20; times += 1) {
      const stream = await store.get(key)
      for await (const piece of stream ?? []) {
        t.true(piece.length > 0)
        break
      }
      t.true(stream?.destroyed)
    }
    t.true((await readAll(store, key))?.equals(bytes))
  })
}

/** The key with its last character replaced by another valid one. */
const swapEnd = (key: string): string => `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`

function removing(test: ContractTest, makeStore: MakeBlobStore): void {
  test('removing twice is no error, and a removed blob is gone everywhere', async t => {
    const store = await makeStore(t)
    for (const size of [0, 10, 100_000, 5_000_000]) {
      const { key } = await store.put(testBytes(size))
      await Promise.all([store.remove(key), store.remove(key)])
      await store.remove(key)
      t.is(await store.get(key), undefined)
      t.is(await store.stat(key), undefined)
    }
    t.deepEqual(await keysOf(store), [])
  })

  test('blobs put while others are removed are kept', async t => {
    const store = await makeStore(t)
    const doomed = await Promise.all(Array.from({ length: 30 }, (_, at) => store.put(testBytes(at * 4000, at + 1))))
    const [kept] = await Promise.all([
      Promise.all(Array.from({ length: 30 }, (_, at) => store.put(testBytes(at * 4000, at + 100)))),
      ...doomed.map(({ key }) => store.remove(key)),
    ])
    t.deepEqual(await keysOf(store), kept.map(({ key }) => key).sort())
    for (const { key, sha256 } of kept) t.is(sha256Of((await readAll(store, key)) ?? Buffer.alloc(0)), sha256)
  })
}

/** The contract of the capability `localPath`. */
export function blobStoreLocalPathContract(runner: TestRunner, makeStore: MakeBlobStore): void {
  const test = contractTest(runner)
  test('localPath returns the path of a file with exactly the bytes', async t => {
    const store = await makeStore(t)
    const bytes = testBytes(5_000_000)
    const { key } = await store.put(bytes)
    const path = await store.localPath?.(key)
    t.truthy(path)
    const file = await open(path ?? '', 'r')
    t.teardown(() => file.close())
    t.true((await file.readFile()).equals(bytes))
  })

  test('localPath of an unknown key is undefined', async t => {
    const store = await makeStore(t)
    const { key } = await store.put(testBytes(100_000))
    await store.remove(key)
    for (const each of [key, '', '..', '../../etc/passwd', '/etc/passwd']) t.is(await store.localPath?.(each), undefined, each)
  })
}
