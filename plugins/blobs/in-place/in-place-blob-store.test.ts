import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFile, mkdir, mkdtemp, readFile, realpath, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import test from 'ava'
import { CorruptContent, Invalid } from 'pounce/sdk'
import { blobStoreContract, blobStoreLocalPathContract, FixedClock, type TestContext } from 'pounce/sdk/testing'
import { embeddedStores } from '../../../test/support/embedded-stores.ts'
import { InPlaceBlobStore } from './in-place-blob-store.ts'
import { ListedFolders } from './listed-folders.ts'
import { RegisteredFiles, registrations } from './registered-files.ts'

const newFolder = async (t: TestContext): Promise<string> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'pounce-in-place-')))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A store with one listed folder, and a sibling folder that is not listed. */
const scene = async (t: TestContext) => {
  const root = await newFolder(t)
  const listed = join(root, 'data')
  const other = join(root, 'data-old')
  await mkdir(join(listed, 'deep'), { recursive: true })
  await mkdir(other)
  await writeFile(join(listed, 'leaf.txt'), 'green leaf')
  await writeFile(join(other, 'secret.txt'), 'secret')
  const { documents, blobs } = await embeddedStores(t)
  await documents.declare([registrations])
  const folders = new ListedFolders({ folders: [listed, join(root, 'not-mounted')] })
  let id = 0
  const ids = { next: () => (++id).toString(16).padStart(24, '0') }
  const files = new RegisteredFiles(folders, documents, ids, new FixedClock())
  return { root, listed, other, files, store: new InPlaceBlobStore(blobs, documents, folders), documents }
}

const makeStore = async (t: TestContext) => (await scene(t)).store
blobStoreContract(test, makeStore)
blobStoreLocalPathContract(test, makeStore)

const read = async (stream: Promise<AsyncIterable<Uint8Array> | undefined>): Promise<string> => {
  const found = await stream
  return found === undefined ? 'absent' : (await buffer(found)).toString()
}

test('a registered file is read in place, in full and by range, and is kept when its key is removed', async t => {
  const { listed, files, store } = await scene(t)
  const path = join(listed, 'leaf.txt')
  const info = await files.register(join(listed, 'deep', '..', 'leaf.txt'))
  t.deepEqual(info, { key: info.key, sizeBytes: 10, sha256: createHash('sha256').update('green leaf').digest('hex') })
  t.is(await read(store.get(info.key)), 'green leaf')
  t.is(await read(store.get(info.key, { start: 6, end: 9 })), 'leaf')
  await t.throwsAsync(store.get(info.key, { start: 6, end: 10 }), { instanceOf: Invalid })
  t.deepEqual(await store.stat(info.key), info)
  t.is(await store.localPath(info.key), path)
  t.is(await store.temporaryUrl(info.key, { sizeBytes: 10, filename: 'x', contentType: 'text/plain', expiresInMs: 1 }), undefined)
  t.true(store.liesElsewhere(info.key))
  t.false(store.liesElsewhere((await store.put(Buffer.from('own'))).key))
  await store.remove(info.key)
  await store.remove(info.key)
  t.is(await store.get(info.key), undefined)
  t.is(await store.stat(info.key), undefined)
  t.is(await readFile(path, 'utf8'), 'green leaf')
})

test('empty and large files are read unchanged', async t => {
  const { listed, files, store } = await scene(t)
  const large = Buffer.alloc(3_000_000, 'abcdefg')
  await writeFile(join(listed, 'large'), large)
  await writeFile(join(listed, 'empty'), '')
  t.is(await read(store.get((await files.register(join(listed, 'large'))).key)), large.toString())
  t.is(await read(store.get((await files.register(join(listed, 'empty'))).key)), '')
})

test('paths outside the listed folders and non-regular files are refused, all with the same message', async t => {
  const { root, listed, other, files } = await scene(t)
  await symlink(join(other, 'secret.txt'), join(listed, 'link.txt'))
  await symlink(other, join(listed, 'way-out'))
  await symlink('/etc', join(listed, 'etc'))
  await symlink(join(listed, 'loop'), join(listed, 'loop'))
  await promisify(execFile)('mkfifo', [join(listed, 'pipe')])
  const wrong = [
    ...[join(other, 'secret.txt'), `${listed}/../data-old/secret.txt`, `${listed}-old/secret.txt`, join(listed, 'link.txt')],
    ...[join(listed, 'way-out', 'secret.txt'), join(listed, 'etc', 'passwd'), join(listed, 'loop'), join(listed, 'pipe')],
    ...[listed, join(listed, 'deep'), root, '/etc/passwd', '/dev/null', '/dev/zero', '/proc/self/environ', '/', ''],
    ...[
      'leaf.txt',
      './leaf.txt',
      join(listed, 'absent'),
      `${listed}/leaf.txt\0.png`,
      `${listed}/${'x'.repeat(5000)}`,
      `file://${listed}/leaf.txt`,
    ],
  ]
  const messages = new Set<string>()
  for (const path of wrong) messages.add((await t.throwsAsync(files.register(path), { instanceOf: Invalid }, path))?.message ?? '')
  t.is(messages.size, 1)
})

test('a symbolic link within the listed folders is resolved to its target', async t => {
  const { listed, files, store } = await scene(t)
  await symlink(join(listed, 'leaf.txt'), join(listed, 'deep', 'link.txt'))
  const { key } = await files.register(join(listed, 'deep', 'link.txt'))
  t.is(await store.localPath(key), join(listed, 'leaf.txt'))
})

test('without listed folders nothing can be registered', async t => {
  const { listed, documents } = await scene(t)
  const none = new RegisteredFiles(new ListedFolders({ folders: [] }), documents, { next: () => 'a' }, new FixedClock())
  await t.throwsAsync(none.register(join(listed, 'leaf.txt')), { instanceOf: Invalid })
})

test('reading a file that was modified, replaced or deleted fails with CorruptContent', async t => {
  const { listed, other, files, store } = await scene(t)
  const changes: readonly (readonly [string, (path: string) => Promise<unknown>])[] = [
    ['longer', path => appendFile(path, '!')],
    ['other bytes of the same length', path => writeFile(path, 'brown leaf')],
    ['gone', path => rm(path)],
    ['moved out and linked', async path => rename(path, join(other, 'moved')).then(() => symlink(join(other, 'moved'), path))],
    ['a folder', async path => rm(path).then(() => mkdir(path))],
  ]
  for (const [title, change] of changes) {
    const path = join(listed, 'changing')
    await rm(path, { recursive: true, force: true })
    await writeFile(path, 'green leaf')
    await utimes(path, 1000, 1000)
    const { key } = await files.register(path)
    await change(path)
    await t.throwsAsync(read(store.get(key)), { instanceOf: CorruptContent }, title)
    await t.throwsAsync(read(store.get(key, { start: 0, end: 1 })), { instanceOf: CorruptContent }, title)
  }
})

test('changed content with the old modification time is detected before the last byte is delivered', async t => {
  const { listed, files, store } = await scene(t)
  const path = join(listed, 'forged')
  await writeFile(path, Buffer.alloc(1_000_000, 'a'))
  await utimes(path, 1000, 1000)
  const { key } = await files.register(path)
  await writeFile(path, Buffer.alloc(1_000_000, 'b'))
  await utimes(path, 1000, 1000)
  let seen = 0
  const reading = async (): Promise<void> => {
    for await (const chunk of (await store.get(key)) ?? []) seen += (chunk as Buffer).length
  }
  await t.throwsAsync(reading(), { instanceOf: CorruptContent })
  t.true(seen < 1_000_000)
})

test('a stream destroyed unread leaves no open file behind', async t => {
  const { listed, files, store } = await scene(t)
  const { key } = await files.register(join(listed, 'leaf.txt'))
  const stream = await store.get(key)
  await new Promise<void>(resolve => stream?.destroy().once('close', () => resolve()))
  t.true(stream?.closed)
})

test('a registration can be aborted', async t => {
  const { listed, files } = await scene(t)
  await t.throwsAsync(files.register(join(listed, 'leaf.txt'), AbortSignal.abort(new Invalid('enough'))), { message: 'enough' })
})
