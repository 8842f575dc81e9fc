import { execFile } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import test from 'ava'
import { type Archive, Archives, BlobStore, Datasets, Files } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { bytesOf, digests, downloaded, newFolder, unzip, uploadBytes as upload } from '../support/archives.ts'
import { callsOf } from '../support/calls.ts'
import { letIn, newDataset, newSpace, recordPlugins, somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest({ plugins: recordPlugins })
test.after.always(() => server.stop())
const unknownId = 'f'.repeat(24)
const run = promisify(execFile)
/** Undefined when the program is not installed; otherwise its exit status is the result. */
const isAbsent = (error: unknown): undefined => {
  if ((error as { code?: unknown }).code !== 'ENOENT') throw error
  return undefined
}

test('the archive of a dataset contains its files byte for byte, in their folders', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann, { name: 'Größe – 観測/1' })
  const top = await newFolder(ann, dataset, 'top')
  const inner = await newFolder(ann, dataset, 'Übersicht', top)
  await newFolder(ann, dataset, 'empty')
  const wanted = new Map([
    ['a.txt', Buffer.from('in the root')],
    ['top/Übersicht/観測.bin', randomBytes(3_000_000)],
    ['top/a.txt', Buffer.from('same name elsewhere')],
    ['top/empty.bin', Buffer.alloc(0)],
  ])
  const folderOf = new Map([
    ['top', top],
    ['top/Übersicht', inner],
  ])
  for (const [path, bytes] of wanted) {
    const slash = path.lastIndexOf('/')
    await upload(ann, dataset, path.slice(slash + 1), bytes, { folder: folderOf.get(path.slice(0, Math.max(slash, 0))) })
  }
  const response = await ann.call(`/api/datasets/${dataset}/download`)
  t.is(response.status, 200)
  t.is(response.headers.get('content-type'), 'application/zip')
  t.regex(response.headers.get('content-disposition') ?? '', /^attachment;.*filename\*=UTF-8''Gr%C3%B6%C3%9Fe/)
  const archive = await bytesOf(response)
  t.is(Number(response.headers.get('content-length')), archive.length)
  t.deepEqual(digests(await unzip(archive)), digests(wanted))
})

test('files with the same name in one folder are distinguished by their ids', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  const ids = [await upload(ann, dataset, 'a.txt', Buffer.from('1')), await upload(ann, dataset, 'a.txt', Buffer.from('2'))]
  const found = await unzip(await bytesOf(await ann.call(`/api/datasets/${dataset}/download`)))
  t.deepEqual(digests(found), digests(ids.map((id, n) => [`a_${id}.txt`, Buffer.from(String(n + 1))] as const)))
})

test('the archive of an empty dataset is empty', async t => {
  const ann = await somebody(server)
  const found = await unzip(await bytesOf(await ann.call(`/api/datasets/${await newDataset(ann)}/download`)))
  t.is(found.size, 0)
})

test('a range has the same bytes as in the whole archive, and responses without a body are not counted', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  for (const size of [10, 70_000, 200_000]) await upload(ann, dataset, `${size}.bin`, randomBytes(size))
  const path = `/api/datasets/${dataset}/download`
  const downloads = async () => {
    await server.drained()
    return (await server.get(Datasets).get(dataset))?.statistics.downloads
  }
  const head = await ann.call(path, { method: 'HEAD' })
  t.is(head.status, 200)
  const etag = head.headers.get('etag') ?? ''
  t.is((await ann.call(path, { headers: { 'if-none-match': etag } })).status, 304)
  t.is((await ann.call(path, { headers: { 'if-match': '"x"' } })).status, 412)
  t.is(await downloads(), 0)
  const whole = await bytesOf(await ann.call(path))
  t.is(whole.length, Number(head.headers.get('content-length')))
  const part = await ann.call(path, { headers: { range: 'bytes=60000-150000' } })
  t.is(part.status, 206)
  t.is(part.headers.get('content-range'), `bytes 60000-150000/${whole.length}`)
  t.true((await bytesOf(part)).equals(whole.subarray(60_000, 150_001)))
  t.is(part.headers.get('etag'), etag)
  t.is((await ann.call(`${path}?tracking=false`)).status, 200)
  t.is(await downloads(), 1)
  t.truthy((await server.get(Datasets).get(dataset))?.statistics.lastDownloaded)
})

test('downloading a dataset requires DownloadFiles', async t => {
  const [ann, bob] = [await somebody(server), await somebody(server)]
  const space = await newSpace(ann)
  const dataset = await newDataset(ann, { space: [space] })
  const path = `/api/datasets/${dataset}/download`
  await letIn(ann, space, 'Viewer', bob)
  t.is((await bob.get(path)).status, 403)
  t.is((await callsOf(server.as()).get(path)).status, 401)
  t.is((await ann.get(`/api/datasets/${unknownId}/download`)).status, 404)
  t.is((await bob.get(`${path}?bagit=true`)).status, 403)
  t.is((await ann.get(`${path}?compression=x`)).status, 400)
  await letIn(ann, space, 'Editor', bob)
  t.is((await bob.get(path)).status, 200)
})

test('some files or one folder can be downloaded, but nothing from another dataset', async t => {
  const ann = await somebody(server)
  const [dataset, other] = [await newDataset(ann), await newDataset(ann)]
  const top = await newFolder(ann, dataset, 'top')
  const inner = await newFolder(ann, dataset, 'inner', top)
  const root = await upload(ann, dataset, 'root.txt', Buffer.from('root'))
  const deep = await upload(ann, dataset, 'deep.txt', Buffer.from('deep'), { folder: inner })
  const foreign = await upload(ann, other, 'foreign.txt', Buffer.from('foreign'))
  const partial = await ann.call(`/api/datasets/${dataset}/downloadPartial?fileList=${root},${deep}`)
  t.deepEqual([...(await unzip(await bytesOf(partial))).keys()], ['deep.txt', 'root.txt'])
  t.is((await server.get(Files).get(root))?.statistics.downloads, 1, 'counted by the end of the download')
  t.regex(partial.headers.get('content-disposition') ?? '', /\(Partial\)\.zip/)
  const folder = await ann.call(`/api/datasets/${dataset}/downloadFolder?folderId=${inner}`)
  t.deepEqual([...(await unzip(await bytesOf(folder))).keys()], ['inner/deep.txt'])
  await server.drained()
  t.is((await server.get(Files).get(root))?.statistics.downloads, 1)
  const asJson = encodeURIComponent(JSON.stringify([root, deep]))
  const listed = await ann.call(`/api/datasets/${dataset}/downloadPartial?fileList=${asJson}`)
  t.deepEqual([...(await unzip(await bytesOf(listed))).keys()], ['deep.txt', 'root.txt'])
  for (const path of [
    `downloadPartial?fileList=${root},${foreign}`,
    `downloadPartial?fileList=${unknownId}`,
    'downloadPartial?fileList=nonsense',
    `downloadPartial?fileList=${encodeURIComponent(JSON.stringify([root, foreign]))}`,
    `downloadFolder?folderId=${unknownId}`,
    'downloadFolder?folderId=nonsense',
    `downloadFolder?folderId=${await newFolder(ann, other, 'f')}`,
  ]) {
    t.is((await ann.get(`/api/datasets/${dataset}/${path}`)).status, 404, path)
  }
  for (const list of ['', '?fileList=', '?fileList=,'])
    t.is((await ann.get(`/api/datasets/${dataset}/downloadPartial${list}`)).status, 400, list)
})

test('missing bytes abort the download, which never looks complete', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  await upload(ann, dataset, 'a.bin', randomBytes(2_000_000))
  const lost = await upload(ann, dataset, 'b.bin', randomBytes(2_000_000))
  await server.get(BlobStore).remove((await server.get(Files).get(lost))?.blob ?? '')
  const response = await ann.call(`/api/datasets/${dataset}/download`)
  await t.throwsAsync(response.arrayBuffer())
  const alone = await newDataset(ann)
  const only = await upload(ann, alone, 'only.bin', Buffer.from('only'))
  await server.get(BlobStore).remove((await server.get(Files).get(only))?.blob ?? '')
  const answer = await ann.get(`/api/datasets/${alone}/download`)
  t.is(answer.status, 500)
  t.is((answer.body as { code: string }).code, 'content-corrupt')
})

test('bytes damaged on disk abort the download', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  const id = await upload(ann, dataset, 'damaged.bin', randomBytes(5_000_000))
  const blobs = server.get(BlobStore)
  const path = await blobs.localPath?.((await server.get(Files).get(id))?.blob ?? '')
  t.truthy(path)
  const bytes = await readFile(path ?? '')
  bytes[4_000_000] = (bytes[4_000_000] ?? 0) ^ 1
  await writeFile(path ?? '', bytes)
  const response = await ann.call(`/api/datasets/${dataset}/download`)
  await t.throwsAsync(async () => {
    const { status } = response
    await response.arrayBuffer()
    if (status !== 200) throw new Error(`answered ${status}`)
  })
})

test('aborted downloads do not affect others', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  for (let n = 0; n < 3; n++) await upload(ann, dataset, `${n}.bin`, randomBytes(4_000_000))
  const path = `/api/datasets/${dataset}/download`
  const whole = bytesOf(await ann.call(path))
  for (let n = 0; n < 10; n++) {
    const stop = new AbortController()
    const response = await ann.call(path, { signal: stop.signal })
    await response.body?.getReader().read()
    stop.abort()
  }
  t.true((await bytesOf(await ann.call(path))).equals(await whole))
})

test('an interrupted download can be resumed unless the dataset has changed', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  const folder = await newFolder(ann, dataset, 'folder')
  for (const size of [0, 70_000, 10, 300_000, 65_536]) await upload(ann, dataset, `${size}.bin`, randomBytes(size), { folder })
  const path = `/api/datasets/${dataset}/download`
  const first = await ann.call(path)
  const etag = first.headers.get('etag') ?? ''
  t.regex(etag, /^"[\w-]{20,}"$/)
  const whole = await bytesOf(first)
  for (let n = 0; n < 20; n++) {
    const start = randomInt(whole.length)
    const rest = await ann.call(path, { headers: { range: `bytes=${start}-`, 'if-range': etag } })
    t.is(rest.status, 206)
    t.true((await bytesOf(rest)).equals(whole.subarray(start)), `from ${start}`)
  }
  t.is((await ann.call(path, { headers: { 'if-none-match': etag } })).status, 304)
  t.is((await ann.call(path, { headers: { range: `bytes=${whole.length}-` } })).status, 416)
  await upload(ann, dataset, 'new.bin', 'new')
  const changed = await ann.call(path, { headers: { range: 'bytes=1000-', 'if-range': etag } })
  t.is(changed.status, 200)
  t.not(changed.headers.get('etag'), etag)
  t.is((await bytesOf(changed)).length, Number(changed.headers.get('content-length')))
  t.is((await ann.call(path, { headers: { 'if-match': etag } })).status, 412)
})

test('names of every kind can be unpacked, and stay inside their folder', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  const names = ['Übersicht – 観測.md', 'a.txt', 'A.TXT', `${'x'.repeat(200)}.dat`, '観'.repeat(200), 'NUL', 'aux.txt', 'dots...', 'C:evil']
  for (const name of names) await upload(ann, dataset, name, name)
  const renamed = await upload(ann, dataset, 'climbs', '../../etc/passwd')
  await server.get(Files).change(renamed, { set: { name: '../../etc/passwd' } }, [])
  const folder = await newFolder(ann, dataset, 'CON')
  await upload(ann, dataset, 'a.txt', 'in a folder', { folder })
  const found = await unzip(await downloaded(ann, `/api/datasets/${dataset}/download`))
  const paths = [...found.keys()]
  t.is(paths.length, names.length + 2)
  t.deepEqual([...found.values()].map(String).toSorted(), [...names, '../../etc/passwd', 'in a folder'].toSorted())
  for (const path of paths) {
    t.true(
      path
        .split('/')
        .every(part => Buffer.byteLength(part) <= 255 && !/^(nul|con|aux)(\.|$)|^\.{1,2}$|[. ]$|[\\\u0000-\u001f]/i.test(part)),
      path,
    )
  }
  t.is(new Set(paths.map(path => path.normalize('NFC').toLowerCase())).size, paths.length)
  t.is(String(found.get('_CON/a.txt')), 'in a folder')
})

test('unzip and Python can unpack the archive', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  const folder = await newFolder(ann, dataset, 'Übersicht')
  for (const size of [0, 100, 65_536, 65_537, 1_000_000]) await upload(ann, dataset, `観測 ${size}.bin`, randomBytes(size), { folder })
  const path = join(await mkdtemp(join(tmpdir(), 'pounce-zip-')), 'dataset.zip')
  t.teardown(() => rm(dirname(path), { recursive: true, force: true }))
  await writeFile(path, await downloaded(ann, `/api/datasets/${dataset}/download`))
  const tools = await Promise.all([
    run('unzip', ['-tq', path]).then(({ stdout }) => stdout, isAbsent),
    run('python3', ['-c', 'import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).testzip())', path]).then(
      ({ stdout }) => stdout,
      isAbsent,
    ),
  ])
  t.regex(tools[0] ?? 'No errors detected', /No errors detected/)
  t.is(tools[1]?.trim() ?? 'None', 'None')
  t.is((await unzip(await readFile(path))).size, 5)
})

test('bytes removed during the download abort it', async t => {
  const ann = await somebody(server)
  const dataset = await newDataset(ann)
  for (let n = 0; n < 4; n++) await upload(ann, dataset, `${n}.bin`, randomBytes(8_000_000))
  const last = await upload(ann, dataset, 'z.bin', randomBytes(100_000))
  const response = await ann.call(`/api/datasets/${dataset}/download`)
  t.is(response.status, 200)
  await server.get(BlobStore).remove((await server.get(Files).get(last))?.blob ?? '')
  await t.throwsAsync(response.arrayBuffer())
})

test('archives built by other plugins work like any other', async t => {
  const ann = await somebody(server)
  const [one, other] = [await newDataset(ann, { name: 'same' }), await newDataset(ann, { name: 'same' })]
  const ids = [await upload(ann, one, 'a.txt', '1'), await upload(ann, other, 'a.txt', '2')]
  const archives = server.get(Archives)
  const pathsOf = async ({ bytes }: Archive) => [...(await unzip(await buffer(await bytes.open()))).keys()]
  const sets = await archives.ofDatasets([one, other, unknownId], 'Selected.zip')
  t.like(sets, { files: 2, folders: 2, fileBytes: 2 })
  t.deepEqual(await pathsOf(sets), [`same_${one}/a.txt`, `same_${other}/a.txt`].toSorted())
  const files = [...(await server.get(Files).getMany(ids)).values()]
  const some = await archives.ofFiles(
    files.map(file => ({ file, folders: ['x', '..'] })),
    'x.zip',
  )
  t.deepEqual(await pathsOf(some), ids.map(id => `x/__/a_${id}.txt`).toSorted())
})
