import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import test from 'ava'
import { BlobStore, type ByteRange, CorruptContent, InPlaceFiles, Invalid, Unavailable } from 'pounce/sdk'
import { blobStoreContract, bootForTest, testBytes } from 'pounce/sdk/testing'
import { embeddedStores } from '../../../test/support/embedded-stores.ts'
import { tempFolder } from '../../../test/support/temp-folder.ts'
import { EncryptedBlobStore } from './encrypted-blob-store.ts'
import { EncryptionKeys } from './encryption-keys.ts'

const newKey = (): string => randomBytes(32).toString('base64')
const key = newKey()

const encrypted = (blobs: BlobStore, settings: { readonly key: string; readonly formerKeys?: string[] } = { key }): EncryptedBlobStore => {
  const keys = new EncryptionKeys({ formerKeys: [], ...settings })
  keys.start()
  return new EncryptedBlobStore(blobs, keys)
}

blobStoreContract(test, async t => encrypted((await embeddedStores(t)).blobs))

/** A backing store whose bytes a test can read and change. */
class OpenStore {
  readonly kept = new Map<string, Buffer>()

  async put(source: Readable | Uint8Array) {
    const bytes = source instanceof Uint8Array ? Buffer.from(source) : await buffer(source)
    const name = `blob-${this.kept.size}`
    this.kept.set(name, bytes)
    return { key: name, sizeBytes: bytes.length, sha256: '' }
  }

  async get(name: string, { start, end }: ByteRange = { start: 0, end: Number.MAX_SAFE_INTEGER }) {
    const bytes = this.kept.get(name)
    return bytes && Readable.from([bytes.subarray(start, end + 1)], { objectMode: false })
  }

  async stat(name: string) {
    const bytes = this.kept.get(name)
    return bytes && { key: name, sizeBytes: bytes.length, sha256: 'of what is stored' }
  }

  async remove(name: string) {
    this.kept.delete(name)
  }

  async *list() {
    for (const [name, { length }] of this.kept) yield { key: name, sizeBytes: length, modified: new Date(0) }
  }
}

const all = async (store: BlobStore, name: string, range?: ByteRange): Promise<Buffer> => {
  const stream = await store.get(name, range)
  if (!stream) throw new Error(`${name} is absent`)
  return buffer(stream)
}

test('stored bytes contain no plaintext, and the same content is encrypted differently each time', async t => {
  const open = new OpenStore()
  const store = encrypted(open)
  const secret = Buffer.from('the coordinates of the nest '.repeat(5000))
  const [one, other] = [await store.put(secret), await store.put(secret)]
  const stored = [one, other].map(info => open.kept.get(info.key) ?? Buffer.alloc(0))
  for (const bytes of stored) t.false(bytes.includes('coordinates'))
  t.false(stored[0]?.subarray(48, 1000).equals(stored[1]?.subarray(48, 1000) ?? Buffer.alloc(0)))
  t.true((await all(store, one.key)).equals(secret))
})

test('reading bytes that were changed, reordered, truncated or swapped fails with CorruptContent', async t => {
  const open = new OpenStore()
  const store = encrypted(open)
  const content = testBytes(200_000)
  const other = (await store.put(testBytes(200_000, 2))).key
  const chunk = 65_536 + 16
  const damage: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
    'a bit in the header': bytes => {
      bytes.writeUInt8(bytes.readUInt8(20) ^ 1, 20)
      return bytes
    },
    'a bit in the first chunk': bytes => {
      bytes.writeUInt8(bytes.readUInt8(1000) ^ 1, 1000)
      return bytes
    },
    'a bit in the last chunk': bytes => {
      bytes.writeUInt8(bytes.readUInt8(bytes.length - 100) ^ 1, bytes.length - 100)
      return bytes
    },
    'two chunks exchanged': bytes =>
      Buffer.concat([
        bytes.subarray(0, 48),
        bytes.subarray(48 + chunk, 48 + 2 * chunk),
        bytes.subarray(48, 48 + chunk),
        bytes.subarray(48 + 2 * chunk),
      ]),
    'the last chunk cut off': bytes => Buffer.concat([bytes.subarray(0, 48 + 3 * chunk), bytes.subarray(bytes.length - 48)]),
    'cut in the middle': bytes => bytes.subarray(0, 100_001),
    'the chunks of another blob': bytes => Buffer.concat([bytes.subarray(0, 48), (open.kept.get(other) ?? bytes).subarray(48)]),
  }
  for (const [what, spoil] of Object.entries(damage)) {
    const info = await store.put(content)
    open.kept.set(info.key, spoil(Buffer.from(open.kept.get(info.key) ?? '')))
    // A cached header must not hide the change.
    for (const reader of [store, encrypted(open)]) await t.throwsAsync(all(reader, info.key), { instanceOf: CorruptContent }, what)
  }
  const { key: name } = await store.put(content)
  const bytes = open.kept.get(name) ?? Buffer.alloc(0)
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1)
  await t.throwsAsync(store.stat(name), { instanceOf: CorruptContent })
})

test('a range is read without decrypting the rest', async t => {
  const open = new OpenStore()
  const store = encrypted(open)
  const content = testBytes(300_000)
  const { key: name } = await store.put(content)
  const bytes = open.kept.get(name) ?? Buffer.alloc(0)
  bytes.fill(0, 48, 48 + 65_552)
  t.true((await all(store, name, { start: 65_536, end: 299_999 })).equals(content.subarray(65_536)))
  await t.throwsAsync(all(store, name, { start: 65_535, end: 65_536 }), { instanceOf: CorruptContent })
})

test('blobs stored unencrypted are read unchanged, and contents that begin with the magic bytes are handled correctly', async t => {
  const { blobs } = await embeddedStores(t)
  const before = await Promise.all(
    [testBytes(10), testBytes(100), testBytes(100_000), Buffer.from('PNC-AES1 is how it begins')].map(bytes => blobs.put(bytes)),
  )
  const store = encrypted(blobs)
  for (const info of before) {
    t.deepEqual(await store.stat(info.key), info)
    t.true((await all(store, info.key)).equals(await buffer((await blobs.get(info.key)) ?? Readable.from([]))))
  }
  const own = Buffer.concat([Buffer.from('PNC-AES1'), testBytes(500)])
  t.true((await all(store, (await store.put(own)).key)).equals(own))
})

test('after a key change, older blobs are read with the former key; without it, the error names the setting', async t => {
  const open = new OpenStore()
  const [first, second] = [newKey(), newKey()]
  const { key: old } = await encrypted(open, { key: first }).put(Buffer.from('old'))
  const rotated = encrypted(open, { key: second, formerKeys: [first] })
  const { key: young } = await rotated.put(Buffer.from('young'))
  t.is(String(await all(rotated, old)), 'old')
  t.is(String(await all(encrypted(open, { key: second }), young)), 'young')
  const error = await t.throwsAsync(encrypted(open, { key: second }).get(old), { instanceOf: Unavailable })
  t.regex(error?.message ?? '', /blobs\.encrypted\.formerKeys/)
  for (const wrong of ['short', newKey().slice(4), 'not base 64 at all, but as long as a key is'])
    t.throws(() => encrypted(open, { key: wrong }), { instanceOf: Invalid, message: /blobs\.encrypted\.key must be 32 bytes/ })
})

test('encryption and in-place files can be combined in either plugin order, and survive a restart', async t => {
  for (const added of [
    ['blobs.in-place', 'blobs.encrypted'],
    ['blobs.encrypted', 'blobs.in-place'],
  ]) {
    const listed = await tempFolder(t)
    await mkdir(join(listed, 'deep'))
    await writeFile(join(listed, 'deep', 'map.txt'), 'lies in place')
    const plugins = ['documents.sqlite', 'blobs.disk', ...added]
    const server = await bootForTest({ t, plugins, config: { blobs: { encrypted: { key }, 'in-place': { folders: [listed] } } } })
    const store = server.get(BlobStore)
    const info = await store.put(Buffer.from('kept in secret'))
    t.is(String(await all(store, info.key)), 'kept in secret')
    const files = (await readdir(server.folder, { recursive: true, withFileTypes: true })).filter(entry => entry.isFile())
    for (const { parentPath, name } of files) t.false((await readFile(join(parentPath, name))).includes('kept in secret'), name)
    const [inPlace] = server.get(InPlaceFiles).all()
    const map = await inPlace?.register(join(listed, 'deep', 'map.txt'))
    t.is(map?.sizeBytes, 13)
    await server.restart()
    t.is(String(await all(server.get(BlobStore), info.key)), 'kept in secret')
    t.is(String(await all(server.get(BlobStore), map?.key ?? '', { start: 5, end: 12 })), 'in place')
  }
})
