import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import test, { type ExecutionContext } from 'ava'
import { type BlobStore, CorruptContent, Unavailable } from 'pounce/sdk'
import { inputFile } from './input-file.ts'
import type { RunFailure } from './run-failure.ts'

const limits = { maxBytes: 100, signal: new AbortController().signal }

/** The two methods that reading an input needs. */
const blobsWith = (methods: Pick<BlobStore, 'get'> & Partial<BlobStore>): BlobStore => methods as BlobStore
const holding = (text: string): BlobStore =>
  blobsWith({ get: async () => Readable.from([Buffer.from(text.slice(0, 3)), Buffer.from(text.slice(3))]) })

async function target(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-input-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'input')
}

test('a blob with a local path is not copied', async t => {
  const blobs = blobsWith({ get: () => Promise.reject(new Error('not asked')), localPath: async key => `/blobs/${key}` })
  t.is(await inputFile(blobs, { blob: 'b1', sizeBytes: 10 ** 12 }, await target(t), limits), '/blobs/b1')
})

test('other blobs are copied, even over an earlier copy and if empty', async t => {
  const path = await target(t)
  t.is(await inputFile(holding('some bytes'), { blob: 'b1', sizeBytes: 10 }, path, limits), path)
  t.is(await readFile(path, 'utf8'), 'some bytes')
  await inputFile(holding(''), { blob: 'b1', sizeBytes: 0 }, path, limits)
  t.is(await readFile(path, 'utf8'), '')
})

test('a blob that is missing, corrupt, too large or longer than declared is refused', async t => {
  const path = await target(t)
  const kindOf = async (blobs: BlobStore, sizeBytes: number) =>
    (await t.throwsAsync<RunFailure>(inputFile(blobs, { blob: 'b1', sizeBytes }, path, limits))).kind
  t.is(await kindOf(blobsWith({ get: async () => undefined }), 10), 'refused')
  t.is(await kindOf(holding('x'.repeat(101)), 101), 'refused')
  t.is(await kindOf(holding('eleven char'), 10), 'refused')
  const damaged = async function* () {
    yield Buffer.from('abc')
    throw new CorruptContent()
  }
  t.is(await kindOf(blobsWith({ get: async () => Readable.from(damaged()) }), 10), 'refused')
})

test('an unavailable blob store fails with Unavailable, not with a refusal', async t => {
  const blobs = blobsWith({ get: () => Promise.reject(new Unavailable('away')) })
  await t.throwsAsync(inputFile(blobs, { blob: 'b1', sizeBytes: 1 }, await target(t), limits), { instanceOf: Unavailable })
})
