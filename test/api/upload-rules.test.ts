import { EventEmitter, once } from 'node:events'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../support/people.ts'
import { formWith, newDataset, newFolder, ok, refusal, unknownId } from '../support/scene.ts'
import { drained } from '../support/until.ts'

let server: TestServer
let ann: Person
let bob: Person
let outside: Server
let source: string
/** Emits each response that is not sent. */
const silent = new EventEmitter()
let root: string
let listed: string

interface Item {
  readonly id: string
  readonly name: string
}

test.before(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'pounce-rules-')))
  listed = join(root, 'data')
  await mkdir(listed)
  await mkdir(join(root, 'data-old'))
  await writeFile(join(listed, 'leaf.csv'), 'a,b\n')
  await writeFile(join(root, 'data-old', 'secret.csv'), 'secret')
  await symlink(join(root, 'data-old'), join(listed, 'out'))
  outside = createServer((request, response) => {
    const path = request.url ?? ''
    if (path.startsWith('/named')) response.setHeader('content-disposition', 'attachment; filename="given name.csv"')
    if (path.startsWith('/hostile')) response.setHeader('content-disposition', 'attachment; filename="../../etc/passwd"')
    if (path.startsWith('/typed')) response.setHeader('content-type', 'image/png; x=y')
    if (path.startsWith('/inside')) response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end()
    else if (path.startsWith('/cut')) response.writeHead(200, { 'content-length': 100 }).write('half', () => response.destroy())
    else if (path.startsWith('/packed')) response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('0123456789'))
    else if (path.startsWith('/silent')) silent.emit('request', response)
    else if (path.startsWith('/none')) response.writeHead(404).end('gone')
    else response.end('0123456789')
  })
  await new Promise<void>(resolve => outside.listen(0, '127.0.0.1', resolve))
  source = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`
  const config = {
    blobs: { 'in-place': { folders: [listed] } },
    outbound: { allow: ['127.0.0.1'] },
    resources: { files: { maxUrlBytes: 1000 } },
  }
  server = await bootForTest({ config })
  ann = await newPerson(server, 'ann')
  bob = await newPerson(server, 'bob')
})
test.after.always(async () => {
  await server?.stop()
  outside?.closeAllConnections()
  outside?.close()
  await rm(root, { recursive: true, force: true })
})

const send = (dataset: string, form: FormData, query = 'extract=false', call = ann.call): Promise<Response> =>
  call(`/api/uploadToDataset/${dataset}?${query}`, { method: 'POST', body: form })

const filesOf = (dataset: string) => ok<{ id: string; filename: string; contentType: string }[]>(ann.call(`/api/datasets/${dataset}/files`))

const documentsOf = (id: string) => ok<Record<string, unknown>[]>(ann.call(`/api/files/${id}/metadata.jsonld`))

/** A ZIP archive with these names that consists of its central directory only. */
const zipOf = (...names: readonly string[]): Uint8Array<ArrayBuffer> => {
  const entries = names.map(name => {
    const entry = Buffer.alloc(46 + name.length)
    entry.write('PK\x01\x02', 'latin1')
    entry.writeUInt16LE(name.length, 28)
    entry.write(name, 46)
    return entry
  })
  const directory = Buffer.concat(entries)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt32LE(directory.length, 12)
  return Uint8Array.from(Buffer.concat([directory, end]))
}

test('a text field with the part’s name is metadata only with a context, one with the file’s name always', async t => {
  const dataset = await newDataset(ann.call)
  const form = formWith('x', 'a.txt', 'text/plain', 'one')
  form.append('two', new Blob(['y']), 'b.txt')
  form.append('one', JSON.stringify({ '@context': { d: 'http://example.org/d' }, d: 1 }))
  form.append('two', JSON.stringify({ d: 2 }))
  form.append('b.txt', JSON.stringify({ d: 3 }))
  const { ids } = await ok<{ ids: Item[] }>(send(dataset, form))
  t.like(ids, [{ name: 'a.txt', status: 'PROCESSED', resource_type: 'file', thumbnail: null }, { name: 'b.txt' }])
  const [a, b] = await Promise.all(ids.map(({ id }) => documentsOf(id)))
  t.like(a, { length: 1, 0: { '@context': { d: 'http://example.org/d' }, content: { d: 1 }, agent: { '@type': 'cat:user' } } })
  t.like(b, { length: 1, 0: { content: { d: 3 } } })
})

test('invalid metadata is refused with the name of its field, and no file of the upload is kept', async t => {
  const dataset = await newDataset(ann.call)
  const cases: readonly (readonly [string, string])[] = [
    ['b.txt', 'not JSON'],
    ['b.txt', '[1]'],
    ['b.txt', '{"@context":7}'],
    ['two', '{"@context":"http://example.org", '],
    ['two', '{"@context":null}'],
  ]
  for (const [field, value] of cases) {
    const form = formWith('x', 'a.txt', 'text/plain', 'one')
    form.append('two', new Blob(['y']), 'b.txt')
    form.append(field, value)
    const { status, message } = await refusal(send(dataset, form))
    t.is(status, 400, value)
    t.true(message.includes(field), message)
  }
  t.deepEqual(await filesOf(dataset), [])
})

test('other text fields are ignored, including one named like both its file and the part', async t => {
  const dataset = await newDataset(ann.call)
  const form = formWith('x', 'a.txt', 'text/plain', 'a.txt')
  form.append('a.txt', 'about a')
  form.append('datasetLevel', 'DatasetLevel')
  const { id } = await ok<{ id: string }>(send(dataset, form, 'showPreviews=None&originalZipFile=x&flags=%2Bnopreviews'))
  t.deepEqual(await documentsOf(id), [])
})

test('fields of more than 10 MiB in total are refused with 413', async t => {
  const form = formWith('x', 'a.txt')
  for (let each = 0; each < 11; each++) form.append(`field ${each}`, 'x'.repeat(1024 * 1000))
  t.like(await refusal(send(await newDataset(ann.call), form)), { status: 413 })
})

test('a file without a content type gets that of its extension, an archive that of its contents', async t => {
  const dataset = await newDataset(ann.call)
  const cases: readonly (readonly [string, string, Uint8Array<ArrayBuffer>, string])[] = [
    ['a.csv', 'application/octet-stream', Uint8Array.of(1), 'text/csv'],
    ['a.csv', 'text/x-mine', Uint8Array.of(1), 'text/x-mine'],
    ['a', 'application/octet-stream', Uint8Array.of(1), 'application/octet-stream'],
    ['a.zip', 'application/octet-stream', zipOf('a.txt', 'b/c.txt'), 'multi/files-zipped'],
    ['a.zip', 'application/x-zip-compressed', zipOf(), 'multi/files-zipped'],
    ['a.zip', 'application/zip', zipOf('obj/', 'obj/a.txt', 'b/Leaf.OBJ', 'c.x3d'), 'model/obj-zipped'],
    ['a.zip', 'application/zip', zipOf('c.x3d', 'b.obj'), 'model/x3d-zipped'],
    ['a.zip', 'application/zip', zipOf('a.lp'), 'imageset/ptmimages-zipped'],
    ['a.zip', 'application/zip', zipOf('a.sfmdataset'), 'model/sfm-zipped'],
    ['a.zip', 'application/zip', zipOf('a__slides/1.png'), 'multi/video-presentation-zipped'],
    ['a.zip', 'application/zip', Uint8Array.from(Buffer.from('no archive')), 'application/zip'],
    ['a.zip', 'application/zip', zipOf('a.obj').subarray(0, 40), 'application/zip'],
    ['a.zip', 'application/zip', Uint8Array.of(), 'application/zip'],
  ]
  for (const [name, declared, bytes, expected] of cases) {
    const { id } = await ok<{ id: string }>(send(dataset, formWith(bytes, name, declared)))
    t.is((await ok<Record<string, string>>(ann.call(`/api/files/${id}/metadata`)))['content-type'], expected, `${declared} ${expected}`)
  }
})

test('entries that the client adds to the feed are not added twice', async t => {
  const lines = async (person: Person): Promise<number> => {
    await drained(server.as(server.admin.key))
    const events = await ok<{ event_type: string }[]>(person.call('/api/events?limit=200'))
    return events.filter(line => JSON.stringify(line).includes('"add_file"')).length
  }
  const eve = await newPerson(server, 'eve')
  const dataset = await newDataset(eve.call)
  await ok(send(dataset, formWith('x', 'a.txt'), 'extract=false', eve.call))
  t.is(await lines(eve), 1)
  const form = formWith('x', 'b.txt')
  form.append('multiple', 'true')
  await ok(send(dataset, form, 'extract=false', eve.call))
  t.is(await lines(eve), 1)
})

test('a folder must be in the dataset', async t => {
  const dataset = await newDataset(ann.call)
  const folder = await newFolder(ann.call, await newDataset(ann.call), 'elsewhere')
  t.is((await send(dataset, formWith('x', 'a.txt'), `folder_id=${folder}`)).status, 404)
  t.deepEqual(await filesOf(dataset), [])
})

const fetched = (dataset: string, json: unknown, call = ann.call): Promise<Response> =>
  call(`/api/datasets/${dataset}/urls`, { method: 'POST', json })

test('an empty field folder_id names no folder, and a file input without a chosen file is ignored', async t => {
  const dataset = await newDataset(ann.call)
  const form = formWith('x', 'a.txt')
  form.append('folder_id', '')
  form.append('blank', new Blob([]), '')
  const { id } = await ok<{ id: string }>(send(dataset, form))
  t.like(await filesOf(dataset), { length: 1, 0: { id, filename: 'a.txt' } })
  const blank = new FormData()
  blank.append('File', new Blob([]), '')
  t.regex((await refusal(send(dataset, blank))).message, /No files uploaded/)
  const unnamed = formWith('x', 'a.txt')
  unnamed.append('File', new Blob(['y']), '')
  t.regex((await refusal(send(dataset, unnamed))).message, /1 to 255 characters/)
})

test('a field that differs from the parameter of its name is refused', async t => {
  const [one, other] = [await newDataset(ann.call), await newDataset(ann.call)]
  const [folder, sibling] = [await newFolder(ann.call, one, 'a'), await newFolder(ann.call, one, 'b')]
  const to = (query: string, fields: Readonly<Record<string, string>>) => {
    const body = formWith('x', 'a.txt')
    for (const [name, value] of Object.entries(fields)) body.append(name, value)
    return ann.call(`/api/files/uploadToDataset?${query}`, { method: 'POST', body })
  }
  t.is((await refusal(to(`dataset_id=${one}`, { dataset_id: other }))).status, 400)
  t.is((await refusal(to(`dataset_id=${one}&folder_id=${folder}`, { folder_id: sibling }))).status, 400)
  t.deepEqual([await filesOf(one), await filesOf(other)], [[], []])
  await ok(to(`dataset_id=${one}&folder_id=${folder}`, { dataset_id: one, folder_id: folder }))
})

test('a file at a URL is fetched, gets a name and a content type, and records its source', async t => {
  const dataset = await newDataset(ann.call)
  const md = { '@context': 'http://example.org/c', depth: 3 }
  const { id } = await ok<{ id: string }>(fetched(dataset, { fileurl: `${source}/a/leaf%20one.csv?x=1`, md }))
  t.like(await ok(ann.call(`/api/files/${id}/metadata`)), { filename: 'leaf one.csv', 'content-type': 'text/csv', size: '10' })
  const documents = await documentsOf(id)
  t.is(documents.length, 2)
  t.true(documents.some(each => JSON.stringify(each['content']) === JSON.stringify({ source: `${source}/a/leaf%20one.csv?x=1` })))
  t.true(documents.some(each => JSON.stringify(each['@context']).includes('http://purl.org/dc/terms/source')))
  t.true(documents.some(each => each['@context'] === 'http://example.org/c'))
})

test('a file at a URL is put into the requested folder', async t => {
  const dataset = await newDataset(ann.call)
  const folder = await newFolder(ann.call, dataset, 'a')
  const send = (id: string) =>
    ann.call(`/api/datasets/${dataset}/urls?folder_id=${id}`, { method: 'POST', json: { fileurl: `${source}/a/leaf%20one.csv` } })
  const { id } = await ok<{ id: string }>(send(folder))
  t.like(await ok(ann.call(`/api/files/${id}/metadata?view=full`)), { places: [{ folder, path: ['a'] }] })
  t.is((await send(unknownId)).status, 404)
})

test('the other server may set the name and content type of a file, if they are safe', async t => {
  const dataset = await newDataset(ann.call)
  const sources = [
    { weburl: `${source}/named/x.bin` },
    { url: `${source}/hostile/y.bin` },
    { fileurl: `${source}/typed/z.bin` },
    { note: 'names nothing' },
  ]
  const { ids } = await ok<{ ids: Item[] }>(fetched(dataset, sources))
  t.deepEqual(
    ids.map(({ name }) => name),
    ['given name.csv', 'y.bin', 'z.bin'],
  )
  t.is((await filesOf(dataset)).find(({ filename }) => filename === 'z.bin')?.contentType, 'image/png')
})

test('a file that the other server compresses for the transfer is stored uncompressed, unless its name says that it is compressed', async t => {
  const dataset = await newDataset(ann.call)
  const contentOf = async (path: string): Promise<Buffer> => {
    const { id } = await ok<{ id: string }>(fetched(dataset, { fileurl: source + path }))
    return Buffer.from(await (await ann.call(`/api/files/${id}/blob`)).arrayBuffer())
  }
  t.is((await contentOf('/packed/a.csv')).toString(), '0123456789')
  t.deepEqual(await contentOf('/packed/a.csv.gz'), gzipSync('0123456789'))
})

test('an upload from a URL that the client cancels ends its request to the other server', async t => {
  const dataset = await newDataset(ann.call)
  const abort = new AbortController()
  const requested = once(silent, 'request') as Promise<[ServerResponse]>
  const json = { fileurl: `${source}/silent` }
  const sending = t.throwsAsync(ann.call(`/api/datasets/${dataset}/urls`, { method: 'POST', json, signal: abort.signal }))
  const [response] = await requested
  const closed = once(response, 'close', { signal: AbortSignal.timeout(10_000) })
  abort.abort()
  await Promise.all([sending, closed])
  t.deepEqual(await filesOf(dataset), [])
})

test('URLs that can be fetched become files, and the others are reported with the reason', async t => {
  const dataset = await newDataset(ann.call)
  const bad = [
    `${source}/none`,
    `${source}/cut`,
    `${source}/inside`,
    'http://10.0.0.1/x',
    'ftp://example.org/x',
    'nonsense',
    'http://127.0.0.1:1/',
  ]
  const { ids, failed } = await ok<{ ids: Item[]; failed: { url: string; code: string; message: string }[] }>(
    fetched(dataset, [...bad.map(url => ({ url })), { url: `${source}/good.txt` }]),
  )
  t.is(ids.length, 1)
  t.deepEqual(
    failed.map(({ url, code }) => [url, code]),
    [
      ...[bad[0], bad[1]].map(url => [url, 'unreachable-source']),
      ...[bad[2], bad[3]].map(url => [url, 'forbidden']),
      ...[bad[4], bad[5]].map(url => [url, 'invalid']),
      [bad[6], 'unreachable-source'],
    ],
  )
  t.is((await filesOf(dataset)).length, 1)
  t.like(
    await refusal(
      fetched(
        dataset,
        bad.slice(0, 3).map(url => ({ url })),
      ),
    ),
    { status: 422, code: 'unreachable-source' },
  )
})

test('invalid requests with URLs are refused before anything is fetched', async t => {
  const dataset = await newDataset(ann.call)
  const url = `${source}/leaf.txt`
  t.like(await refusal(fetched(dataset, [])), { status: 400 })
  t.like(await refusal(fetched(dataset, { note: 1 })), { status: 400 })
  t.like(await refusal(fetched(dataset, [{ url }, { url, md: 'text' }])), { status: 400 })
  t.like(await refusal(fetched(dataset, { url: 7 })), { status: 400 })
  t.like(await refusal(fetched(unknownId, { url })), { status: 404 })
  t.is((await fetched(dataset, { url }, bob.call)).status, 403)
  t.is((await fetched(dataset, { url }, server.as())).status, 401)
  t.deepEqual(await filesOf(dataset), [])
})

const referring = (about: unknown): FormData => {
  const form = new FormData()
  form.append('file', JSON.stringify(about))
  return form
}

test('a file in a configured folder is registered in place, and only admins see its path', async t => {
  const dataset = await newDataset(ann.call)
  const path = join(listed, 'leaf.csv')
  const { id } = await ok<{ id: string }>(send(dataset, referring({ path, md: { depth: 4 }, dataset })))
  t.like(await ok(server.as(server.admin.key)(`/api/files/${id}/metadata?superAdmin=true`)), {
    filename: 'leaf.csv',
    'content-type': 'text/csv',
    filepath: path,
  })
  t.false('filepath' in (await ok<object>(ann.call(`/api/files/${id}/metadata`))))
  t.is(await (await ann.call(`/api/files/${id}/blob`)).text(), 'a,b\n')
  t.like(await documentsOf(id), { 0: { content: { depth: 4 } } })
  const other = await ok<{ id: string }>(fetched(dataset, { path }))
  await ok(ann.call(`/api/files/${id}`, { method: 'DELETE' }))
  await drained(server.as(server.admin.key))
  t.is(await (await ann.call(`/api/files/${other.id}/blob`)).text(), 'a,b\n')
})

test('references and uploads can be sent together, and files without a dataset belong to the sender', async t => {
  const form = formWith('x', 'a.txt')
  form.append('file', JSON.stringify({ path: join(listed, 'leaf.csv') }))
  const { ids } = await ok<{ ids: Item[] }>(ann.call('/api/files', { method: 'POST', body: form }))
  t.deepEqual(
    ids.map(({ name }) => name),
    ['a.txt', 'leaf.csv'],
  )
  const dataset = await newDataset(ann.call)
  const named = referring({ path: join(listed, 'leaf.csv'), dataset })
  await ok(ann.call('/api/files', { method: 'POST', body: named }))
  t.is((await filesOf(dataset)).length, 1)
  t.is((await bob.call('/api/files', { method: 'POST', body: referring({ path: join(listed, 'leaf.csv'), dataset }) })).status, 403)
})

test('a file registered in place keeps its name: a path that ends with another one is refused', async t => {
  const dataset = await newDataset(ann.call)
  const to = (path: string) => {
    const form = referring({ path: join(listed, 'leaf.csv') })
    form.append('path', path)
    return send(dataset, form)
  }
  const { status, message } = await refusal(to('x/renamed.csv'))
  t.is(status, 400)
  t.regex(message, /path must end with the name/)
  await ok(to('x/leaf.csv'))
  t.like(await filesOf(dataset), { length: 1, 0: { filename: 'leaf.csv' } })
})

test('a reference to any other path is refused, together with the files sent with it', async t => {
  const dataset = await newDataset(ann.call)
  const wrong: readonly unknown[] = [
    { path: join(root, 'data-old', 'secret.csv') },
    { path: `${listed}/../data-old/secret.csv` },
    { path: join(listed, 'out', 'secret.csv') },
    { path: listed },
    { path: '/etc/passwd' },
    { path: 'leaf.csv' },
    { path: 7 },
    { path: join(listed, 'leaf.csv'), md: 'text' },
    { path: join(listed, 'leaf.csv'), dataset: unknownId },
    { path: join(listed, 'leaf.csv'), dataset: {} },
  ]
  for (const about of wrong) {
    const form = referring(about)
    form.append('File', new Blob(['x']), 'a.txt')
    t.is((await send(dataset, form)).status, 400, JSON.stringify(about))
  }
  t.deepEqual(await filesOf(dataset), [])
})

test('names of more than 255 characters cannot be allowed, since uploads and renames never accept them', async t => {
  await t.throwsAsync(bootForTest({ config: { resources: { files: { maxNameLength: 256 } } } }), { message: /maxNameLength/ })
})
