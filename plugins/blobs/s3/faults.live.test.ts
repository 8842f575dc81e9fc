import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import test from 'ava'
import { CorruptContent, Invalid, Unavailable } from 'pounce/sdk'
import { youngGeneration } from 'pounce/sdk/kit'
import { liveTests, silent, testBytes } from 'pounce/sdk/testing'
import { flakyProxy } from '../../../test/support/flaky-proxy.ts'
import { bytesPayload } from './blob-writer.ts'
import { S3Connection } from './connection.ts'
import { AbandonedUploads } from './multipart-uploads.ts'
import { freshConfig, freshStore, type TestStore } from './test-store.ts'

const { test: live, url } = liveTests(test, 'S3')
const MB = 1024 * 1024

async function namesOf({ objects, uploads }: TestStore): Promise<readonly string[]> {
  const names: string[] = []
  for await (const { name } of objects.list('')) names.push(name)
  for await (const { name } of uploads.list('')) names.push(`unfinished ${name}`)
  return names
}

/** The error of a rejected promise. */
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => {
      throw new Error('it succeeded')
    },
    (error: unknown) => error,
  )

const piecesOf = (bytes: Buffer, gate?: (at: number) => Promise<void>): Readable =>
  Readable.from(
    (async function* () {
      for (let at = 0; at < bytes.length; at += 64 * 1024) {
        await gate?.(at)
        yield bytes.subarray(at, at + 64 * 1024)
      }
    })(),
    { objectMode: false },
  )

for (const mode of ['refuse', 'silent', 'cut'] as const) {
  live(`every call to an unavailable server (${mode}) fails with Unavailable, and succeeds once it is back`, async t => {
    const proxy = await flakyProxy(t, url('S3'))
    const { store } = await freshStore(t, url('S3'), { through: proxy.urlFor(url('S3')) })
    const { key } = await store.put(testBytes(100_000))
    const { key: doomed } = await store.put(testBytes(10))
    const { key: long } = await store.put(testBytes(7 * MB))
    await proxy.become(mode)
    const calls = [
      store.put(testBytes(1000)),
      store.put(piecesOf(testBytes(20 * MB))),
      store.get(key),
      store.get(long, { start: 5, end: 9 }),
      store.stat(key),
      store.remove(doomed),
      store.list().next(),
    ]
    // A silent server never responds: only a timeout ends these calls.
    for (const error of await Promise.all(calls.map(failureOf))) t.true(error instanceof Unavailable, String(error))
    await proxy.become('pass')
    t.is((await store.stat(long))?.sizeBytes, 7 * MB)
    t.is(
      (await (await store.get(key))?.toArray())?.reduce((sum, { length }) => sum + length, 0),
      100_000,
    )
  })
}

live('requests to a slow server succeed while it keeps responding', async t => {
  const proxy = await flakyProxy(t, url('S3'), { slowMs: 500 })
  const { store } = await freshStore(t, url('S3'), { through: proxy.urlFor(url('S3')) })
  await proxy.become('slow')
  const { key } = await store.put(testBytes(1000))
  t.true((await (await store.get(key))?.toArray())?.[0]?.equals(testBytes(1000)))
})

live('an interrupted upload fails even if its source stalls, and leaves no object', async t => {
  const proxy = await flakyProxy(t, url('S3'))
  const made = await freshStore(t, url('S3'), { through: proxy.urlFor(url('S3')) })
  const source = piecesOf(testBytes(40 * MB), async at => {
    if (at === 16 * MB) await proxy.become('refuse')
    // the source stalls forever
    if (at === 28 * MB) await once(source, 'close')
  })
  const error = await failureOf(made.store.put(source))
  t.true(error instanceof Unavailable, String(error))
  t.true(source.destroyed)
  await proxy.become('pass')
  const left = await namesOf(made)
  t.true(
    left.every(name => name.startsWith('unfinished p/')),
    left.join(),
  )
})

live('uploads and downloads survive occasional connection failures', async t => {
  const proxy = await flakyProxy(t, url('S3'))
  const { store } = await freshStore(t, url('S3'), { through: proxy.urlFor(url('S3')) })
  const bytes = testBytes(30 * MB)
  const breakOnce = async (): Promise<void> => {
    await proxy.become('refuse')
    await proxy.become('pass')
  }
  const { key, sha256 } = await store.put(
    piecesOf(bytes, async at => {
      if (at === 13 * MB || at === 22 * MB) await breakOnce()
    }),
  )
  t.is(sha256, createHash('sha256').update(bytes).digest('hex'))
  const stream = await store.get(key)
  const pieces: Buffer[] = []
  let seen = 0
  for await (const piece of stream ?? []) {
    if (Math.floor(seen / (9 * MB)) !== Math.floor((seen + piece.length) / (9 * MB))) await breakOnce()
    seen += piece.length
    pieces.push(piece)
  }
  t.true(Buffer.concat(pieces).equals(bytes))
})

for (const mode of ['refuse', 'silent'] as const) {
  live(`a download fails instead of ending early when the server becomes unavailable (${mode})`, async t => {
    const proxy = await flakyProxy(t, url('S3'))
    const { store } = await freshStore(t, url('S3'), { through: proxy.urlFor(url('S3')) })
    const { key } = await store.put(piecesOf(testBytes(60 * MB)))
    const stream = await store.get(key)
    let seen = 0
    const error = await failureOf(
      (async () => {
        for await (const piece of stream ?? []) {
          if (seen === 0) await proxy.become(mode)
          seen += piece.length
        }
      })(),
    )
    t.true(error instanceof Unavailable, String(error))
    t.true(seen < 60 * MB)
    await proxy.become('pass')
  })
}

live('corruption is detected in full and range reads, and other blocks can still be read', async t => {
  const { store, objects } = await freshStore(t, url('S3'))
  for (const size of [10, 200_000, 8 * MB]) {
    const bytes = testBytes(size)
    const { key } = await store.put(bytes)
    const metadata = (await objects.head(key))?.metadata ?? {}
    const at = Math.floor(size / 2)
    const damaged = Buffer.from(bytes)
    damaged[at] = (damaged[at] ?? 0) ^ 1
    await objects.put(key, bytesPayload(damaged), metadata)
    await t.throwsAsync(async () => (await store.get(key))?.toArray(), { instanceOf: CorruptContent })
    await t.throwsAsync(async () => (await store.get(key, { start: at, end: at }))?.toArray(), { instanceOf: CorruptContent })
    if (size > 100_000)
      t.true(Buffer.concat((await (await store.get(key, { start: 5, end: 99 }))?.toArray()) ?? []).equals(bytes.subarray(5, 100)))
    await objects.put(key, bytesPayload(bytes.subarray(0, -1)), metadata)
    await t.throwsAsync(async () => (await store.get(key))?.toArray(), { instanceOf: CorruptContent })
  }
})

live('a blob without its checksums is reported as corrupt, not as absent', async t => {
  const { store, objects } = await freshStore(t, url('S3'))
  const long = await store.put(testBytes(7 * MB))
  await objects.remove(long.key.replace('p/', 'sums/'))
  const short = await store.put(testBytes(100))
  await objects.put(short.key, bytesPayload(testBytes(100)), {})
  for (const { key } of [long, short]) {
    await t.throwsAsync(store.stat(key), { instanceOf: CorruptContent })
    await t.throwsAsync(async () => (await store.get(key))?.toArray(), { instanceOf: CorruptContent })
  }
})

live('uploads left by a crash are aborted after a day; newer uploads and those of other programs are kept', async t => {
  const made = await freshStore(t, url('S3'), { prefix: 'ours/' })
  const { uploads, clock, connection, store } = made
  const key = (await store.put(testBytes(7 * MB))).key
  const left = await uploads.begin(`${key.slice(0, -4)}0000`)
  const moving = await uploads.begin(`${key.slice(0, -4)}1111`)
  await uploads.begin('p/not-a-key-of-ours')
  const sweep = new AbandonedUploads(connection, clock, silent)
  clock.advance(Date.now() - clock.now().getTime())
  t.is(await sweep.sweep(), 0)
  clock.advance(25 * 60 * 60 * 1000)
  t.is(await sweep.sweep(), 2)
  await t.notThrowsAsync(uploads.abort(left))
  await t.throwsAsync(uploads.send(moving, 1, bytesPayload(testBytes(10))))
  t.is((await store.stat(key))?.sizeBytes, 7 * MB)
  t.is((await namesOf(made)).filter(name => name.startsWith('unfinished')).join(), 'unfinished p/not-a-key-of-ours')
})

const wrongSettings = [
  ['no bucket name', { bucket: undefined }, 'blobs.s3.bucket'],
  ['a missing bucket', { createBucket: false }, 'createBucket'],
  ['an invalid bucket name', { bucket: 'A_b' }, 'blobs.s3.bucket'],
  ['an unknown access key', { accessKeyId: 'nobody' }, 'blobs.s3.accessKeyId'],
  ['a wrong secret', { secretAccessKey: 'very-secret-but-wrong' }, 'blobs.s3.secretAccessKey'],
  ['an access key without a secret', { secretAccessKey: undefined }, 'blobs.s3.secretAccessKey'],
  ['an unreachable endpoint', { endpoint: 'http://127.0.0.1:9' }, 'blobs.s3.endpoint'],
  ['a wrong region', { region: 'eu-nowhere-1' }, 'blobs.s3.region'],
] as const
for (const [what, wrong, setting] of wrongSettings) {
  live(`with ${what}, startup fails and the error names ${setting}`, async t => {
    const error = await failureOf(new S3Connection({ ...freshConfig(url('S3')), ...wrong } as never, silent).start())
    t.true(error instanceof Invalid, String(error))
    const { message } = error as Error
    t.true(message.includes(setting), message)
    t.false(message.includes('very-secret-but-wrong') || message.includes('testsecret'))
  })
}

live.serial('two concurrent transfers of 100 MiB use less than 160 MiB of memory', async t => {
  const { store } = await freshStore(t, url('S3'))
  const before = process.memoryUsage().rss
  let most = 0
  /** Collects garbage as the server does for the bytes that pass through it. */
  const look = (bytes: number): void => {
    youngGeneration.passed(bytes)
    most = Math.max(most, process.memoryUsage().rss - before)
  }
  const one = async (): Promise<void> => {
    const piece = testBytes(MB)
    const { key } = await store.put(
      Readable.from(
        (function* () {
          for (let at = 0; at < 100; at += 1) {
            look(piece.length)
            yield piece
          }
        })(),
        { objectMode: false },
      ),
    )
    for await (const { length } of (await store.get(key)) ?? []) look(length)
  }
  await Promise.all([one(), one()])
  t.true(most < 160 * MB, `${most / MB} MiB more`)
})
