import { randomBytes } from 'node:crypto'
import { readdir, rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import test from 'ava'
import { BlobStore, DocumentStore } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { datasets } from '../../plugins/resources/datasets/collection.ts'
import { zip as zipStream } from '../../plugins/resources/downloads/zip.ts'
import { type ZipEntry, zip } from '../../scripts/test-data/zip.ts'
import { bagFiles, bagZip, type Files, importBag, v1Bag, zipOf } from '../support/bags.ts'
import { recordPlugins, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

const server = await bootForTest({ plugins: [...recordPlugins, 'blobs.sweep'] })
const ann = await somebody(server)
test.after.always(() => server.stop())

const entries = (files: Files): ZipEntry[] =>
  Object.entries(files).map(([name, bytes]) => ({ name, bytes: Buffer.from(bytes as Uint8Array) }))
const good = bagFiles({ 'a.txt': 'a', 'b.txt': 'b' })
const goodZip = zipOf(good)
/** A valid bag with an additional unlisted entry, so that only this entry can cause a refusal. */
const withEntry = (name: string, fields: ZipEntry['fields'] = {}, bytes: Uint8Array = Buffer.from('x')): Buffer =>
  zip([...entries(good), { name, bytes, ...(fields ? { fields } : {}) }])
const without = (name: string): Files => Object.fromEntries(Object.entries(good).filter(([path]) => path !== name))
/** A bag with changed tag files and a matching tag manifest. */
const tagged = (tags: Files): Buffer => bagZip({ 'a.txt': 'a' }, { tags })
const changed = (archive: Buffer, find: string, put: string): Buffer => {
  const at = archive.lastIndexOf(find)
  const copy = Buffer.from(archive)
  copy.write(put, at, 'latin1')
  return copy
}
/** Declares a wrong uncompressed size in the directory. */
const lying = (sizeBytes: number): Buffer =>
  zip(entries(good).map(entry => (entry.name === 'data/a.txt' ? { ...entry, fields: { sizeBytes } } : entry)))
const huge = (megabytes: number): Buffer => Buffer.alloc(megabytes << 20)
const nested = (depth: number): string => `${'<a>'.repeat(depth)}${'</a>'.repeat(depth)}`

const hostile: readonly (readonly [string, () => Buffer, RegExp])[] = [
  ['not a ZIP', () => Buffer.from('nothing like it'), /ot a ZIP archive/],
  ['nothing', () => Buffer.alloc(0), /ot a ZIP archive/],
  ['half a ZIP', () => goodZip.subarray(0, goodZip.length >> 1), /ot a ZIP archive/],
  ['a ZIP without a bag', () => zipOf({ 'a.txt': 'a' }), /Not a bag: bagit\.txt is missing/],
  ['a path that leads out', () => withEntry('data/../../etc/passwd'), /"data\/\.\.\/\.\.\/etc\/passwd" leads out/],
  ['a path from the root', () => withEntry('/etc/passwd'), /"\/etc\/passwd" has an absolute path/],
  ['a path with a drive', () => withEntry('C:/windows/x'), /"C:\/windows\/x" has an absolute path/],
  ['a path with backslashes', () => withEntry('data\\..\\x'), /has a backslash/],
  ['control characters', () => withEntry('data/a\u0007b'), /control characters/],
  ['control characters in a name of the old code page', () => withEntry('data/a\u0007b', { flags: 0 }), /control characters/],
  ['a link', () => withEntry('data/link', { unixMode: 0o120777 }), /"data\/link" is a link or a device/],
  ['a device', () => withEntry('data/null', { unixMode: 0o020666 }), /"data\/null" is a link or a device/],
  ['a folder that is a file', () => withEntry('data/dir', { unixMode: 0o040755 }), /is a folder by its type/],
  ['a folder with bytes', () => withEntry('data/dir/', { unixMode: 0o040755 }), /is a folder with bytes/],
  ['two entries with the same name', () => withEntry('data/a.txt'), /"data\/a\.txt" occurs twice/],
  ['two entries with the same path', () => withEntry('data//a.txt'), /occurs twice/],
  ['a file that is also a folder', () => withEntry('data/a.txt/b'), /"data\/a\.txt" is a file, and a folder/],
  ['encryption', () => withEntry('data/secret', { flags: 1 }), /"data\/secret" is encrypted/],
  ['a bomb in one entry', () => withEntry('data/bomb', {}, huge(101)), /"data\/bomb" would unpack to more than 100 times/],
  ['a claim of 4 GB', () => withEntry('data/bomb', { sizeBytes: 0xfffffff0 }), /would unpack to more than 100 times/],
  ['more bytes than the archive has', () => withEntry('data/x', { compressedBytes: 1 << 20 }), /entries overlap/],
  ['a size that is too small', () => lying(0), /"data\/a\.txt"|Payload-Oxum/],
  ['a size that is too large', () => lying(10), /Payload-Oxum/],
  [
    'a wrong checksum in the directory',
    () => changed(goodZip, 'data/b.txt', 'data/B.txt'),
    /which is not in the bag|cannot be read|not in a manifest/,
  ],
  [
    'bytes that differ from the manifest',
    () => zipOf({ ...good, 'data/a.txt': 'X' }),
    /sha256 of "data\/a\.txt" is .* but its manifest has /,
  ],
  ['a missing file', () => zipOf(without('data/a.txt')), /lists "data\/a\.txt", which is not in the bag/],
  [
    'a file that is not in a manifest',
    () => zipOf({ ...good, 'data/extra.txt': 'x' }),
    /"data\/extra\.txt" is in the payload but not in a manifest/,
  ],
  ['no manifest', () => zipOf(without('manifest-sha256.txt')), /no manifest|not in the bag/],
  ['a malformed manifest', () => tagged({ 'manifest-sha256.txt': 'nonsense' }), /"nonsense" is not a digest and a path/],
  ['a manifest that leads out', () => tagged({ 'manifest-sha256.txt': `${'0'.repeat(64)}  ../../etc/passwd` }), /which is not in the bag/],
  ['a wrong Payload-Oxum', () => tagged({ 'bag-info.txt': 'Payload-Oxum: 2.1' }), /Payload-Oxum is "2\.1", but the payload is 1\.1/],
  ['a changed tag file', () => zipOf({ ...good, 'bag-info.txt': 'Payload-Oxum: 2.2\nX: y' }), /sha256 of "bag-info\.txt"/],
  ['files to be fetched', () => tagged({ 'fetch.txt': 'http://169.254.169.254/ - data/x' }), /fetch\.txt is not supported/],
  ['an invalid version', () => tagged({ 'bagit.txt': 'BagIt-Version: new\n' }), /BagIt-Version is missing/],
  [
    'an unknown encoding',
    () => tagged({ 'bagit.txt': 'BagIt-Version: 1.0\nTag-File-Character-Encoding: Klingon\n' }),
    /unknown encoding "Klingon"/,
  ],
  ['text in another encoding', () => tagged({ 'bag-info.txt': Buffer.from([0x58, 0x3a, 0x20, 0xff, 0xfe]) }), /is not in utf-8/i],
  ['several bags', () => zipOf({ ...prefixed('one/'), ...prefixed('two/') }), /several bags/],
  ['files outside the bag', () => zipOf({ ...prefixed('one/'), 'other.txt': 'x' }), /"other\.txt" is outside of the bag/],
  ['a DTD', () => tagged({ 'metadata/datacite.xml': '<!DOCTYPE r SYSTEM "file:///etc/passwd"><r/>' }), /datacite\.xml is invalid: .*DTD/],
  [
    'expanding entities',
    () => tagged({ 'metadata/clowder.xml': '<!DOCTYPE r [<!ENTITY a "aaaa">]><r>&a;</r>' }),
    /clowder\.xml is invalid: .*DTD/,
  ],
  [
    'an undefined entity',
    () => tagged({ 'metadata/datacite.xml': '<r>&xxe;</r>' }),
    /datacite\.xml is invalid: it is not well-formed XML: 1:8: undefined entity/,
  ],
  ['malformed XML', () => tagged({ 'metadata/datacite.xml': '<r><title>' }), /not well-formed XML: 1:10: unclosed tag: title/],
  ['deeply nested XML', () => tagged({ 'metadata/datacite.xml': nested(10_000) }), /nested deeper than 64/],
  ['a DTD in a bag of v1', () => v1Bag({}, { xml: '<!DOCTYPE r><r/>' }), /DTD/],
  ['metadata that is not JSON', () => bagZip({ '_dataset_metadata.json': '{' }), /_dataset_metadata\.json is not valid JSON/],
  ['deeply nested metadata', () => bagZip({ '_dataset_metadata.json': '['.repeat(1000) + ']'.repeat(1000) }), /nested deeper than 64/],
  ['metadata with a __proto__ member', () => bagZip({ '_dataset_metadata.json': '{"__proto__":{"x":1}}' }), /member named __proto__/],
  ['metadata that is a string', () => bagZip({ '_dataset_metadata.json': '["word"]' }), /must be a JSON object/],
  ['too deeply nested folders', () => bagZip({ [`${'d/'.repeat(101)}x`]: 'x' }), /deeper than 100 folders/],
  ['a name of a thousand letters', () => bagZip({ ['n'.repeat(1000)]: 'x' }), /more than 255 characters/],
]

const prefixed = (folder: string): Files => Object.fromEntries(Object.entries(good).map(([path, bytes]) => [folder + path, bytes]))

/** Possible leftovers of an import: hidden datasets, blobs and archives. */
const remains = async () => {
  await server.drained()
  const importing = await Array.fromAsync(server.get(DocumentStore).walk(datasets))
  const blobs = await Array.fromAsync(server.get(BlobStore).list())
  const archives = await readdir(join(server.folder, 'bags')).catch(() => [])
  return { datasets: importing.length, blobs: blobs.length, archives: archives.length }
}

test.serial('hostile bags are refused with a reason and leave nothing behind', async t => {
  t.timeout(120_000)
  for (const [what, archive, reason] of hostile) {
    const { status, message } = await importBag(ann, archive())
    t.is(status, 400, `${what}: ${message}`)
    t.regex(message, reason, what)
  }
  const left = await until('all leftovers to be removed', remains, ({ datasets, blobs, archives }) => datasets + blobs + archives === 0)
  t.deepEqual(left, { datasets: 0, blobs: 0, archives: 0 })
})

test.serial('a bag of 100,001 entries is refused', async t => {
  const many = Array.from({ length: 100_001 }, (_, at) => ({
    ...{ path: `data/${at}`, sizeBytes: 0, modified: new Date() },
    open: async () => Buffer.alloc(0),
  }))
  const { status, message } = await importBag(ann, await buffer(zipStream([many])))
  t.is(status, 400)
  t.regex(message, /more than 100000 entries/)
})

test.serial('a ZIP bomb spread over many entries is refused', async t => {
  const { status, message } = await importBag(
    ann,
    zip([...entries(good), ...Array.from({ length: 30 }, (_, at) => ({ name: `data/${at}`, bytes: huge(5) }))]),
  )
  t.is(status, 400)
  t.regex(message, /would unpack to more than 100 times|not in a manifest/)
})

test.serial('a fault is reported while other entries are being read', async t => {
  t.timeout(120_000)
  const large = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`${at}.bin`, randomBytes(4 << 20)]))
  const archive = bagZip({ ...large, '0.bin_metadata.json': '"word"', '_info.json': '{}' })
  for (let time = 0; time < 5; time += 1) {
    const { status, message } = await importBag(ann, archive)
    t.is(status, 400, message)
    t.regex(message, /0\.bin_metadata\.json: a metadata document must be a JSON object/)
  }
})

test.serial('an aborted import leaves nothing behind', async t => {
  const before = await remains()
  const archive = bagZip(Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`${at}.bin`, Buffer.alloc(200_000, at)])))
  const boundary = 'b'
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="f"; filename="bag.zip"\r\n\r\n`
  const { hostname, port } = new URL(server.url)
  const tail = `\r\n--${boundary}--`
  const length = head.length + archive.length + tail.length
  const headers = { 'x-api-key': ann.key, 'content-type': `multipart/form-data; boundary=${boundary}`, 'content-length': length }
  for (const part of [archive.length >> 1, archive.length]) {
    const request = http.request({ hostname, port, path: '/api/datasets/createfrombag', method: 'POST', headers })
    request.on('error', () => undefined)
    request.write(head)
    request.write(archive.subarray(0, part))
    if (part === archive.length) {
      request.end(tail)
      await until(
        'the import to begin',
        async () => (await Array.fromAsync(server.get(DocumentStore).walk(datasets))).length > before.datasets,
      )
    }
    const closed = new Promise(resolve => request.on('close', resolve))
    request.destroy()
    await closed
  }
  const left = await until(
    'all leftovers to be removed',
    remains,
    ({ datasets, blobs }) => datasets === before.datasets && blobs === before.blobs,
  )
  t.is(left.archives, 0)
})

test.serial('while archives cannot be written, an import gets 503', async t => {
  const folder = join(server.folder, 'bags')
  await rm(folder, { recursive: true, force: true })
  await writeFile(folder, '')
  t.is((await importBag(ann, goodZip)).status, 503)
  await rm(folder)
  t.is((await importBag(ann, goodZip)).status, 200)
})
