import { createHash, randomBytes } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { bootForTest, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, newFolder, ok, refusal, unknownId } from '../support/scene.ts'
import { until } from '../support/until.ts'

let server: TestServer
let ann: Person
let bob: Person
let dataset: string

const version = { 'tus-resumable': '1.0.0' }
const type = { 'content-type': 'application/offset+octet-stream' }

test.before(async () => {
  const http = { allowedOrigins: ['https://app.example.org'] }
  server = await bootForTest({ config: { http, resources: { uploads: { partBytes: 65_536, maxOpen: 20, maxBytes: 10_000_000 } } } })
  ann = await newPerson(server, 'ann')
  bob = await newPerson(server, 'bob')
  dataset = await newDataset(ann.call)
})
test.after.always(() => server?.stop())

const encoded = (about: Readonly<Record<string, string>>): string =>
  Object.entries(about)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',')

interface Begin {
  readonly about?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array<ArrayBuffer>
  readonly call?: TestFetch
}

const begin = (length: number | string, { about = {}, headers = {}, body, call = ann.call }: Begin = {}): Promise<Response> =>
  call('/api/uploads', {
    method: 'POST',
    headers: {
      ...version,
      'upload-length': String(length),
      'upload-metadata': encoded({ filename: 'leaf.bin', dataset, ...about }),
      ...(body ? type : {}),
      ...headers,
    },
    ...(body ? { body } : {}),
  })

const begun = async (t: ExecutionContext, length: number, options: Begin = {}): Promise<string> => {
  const answer = await begin(length, options)
  t.is(answer.status, 201, await answer.text())
  const location = answer.headers.get('location') ?? ''
  t.regex(location, /^\/api\/uploads\/[0-9a-f]{24}$/)
  return location
}

const patch = (path: string, offset: number, body: Uint8Array<ArrayBuffer>, headers = {}, call = ann.call): Promise<Response> =>
  call(path, { method: 'PATCH', headers: { ...version, ...type, 'upload-offset': String(offset), ...headers }, body })

const head = (path: string, call = ann.call): Promise<Response> => call(path, { method: 'HEAD', headers: version })

const bytesOf = async (id: string, call = ann.call): Promise<Buffer> =>
  Buffer.from(await (await call(`/api/files/${id}/blob?tracking=false`)).arrayBuffer())

const idIn = (path: string): string => path.split('/').at(-1) ?? ''

const data = (length: number): Buffer<ArrayBuffer> => Buffer.from(Uint8Array.from(randomBytes(length)))

test('a page of an allowed origin may send and read the headers of the protocol', async t => {
  const headers = { origin: 'https://app.example.org', 'access-control-request-method': 'POST' }
  const preflight = await server.as()('/api/uploads', { method: 'OPTIONS', headers })
  const names = (header: string): readonly string[] => preflight.headers.get(header)?.split(', ') ?? []
  for (const name of ['Content-Type', 'X-API-Key', 'Tus-Resumable', 'Upload-Offset', 'Upload-Checksum', 'Upload-Defer-Length'])
    t.true(names('access-control-allow-headers').includes(name), name)
  for (const name of ['Location', 'Retry-After', 'Tus-Resumable', 'Tus-Extension', 'Upload-Offset', 'Upload-Expires'])
    t.true(names('access-control-expose-headers').includes(name), name)
})

test('an upload in chunks becomes a file with the id of the upload', async t => {
  const bytes = data(200_000)
  const folder = await newFolder(ann.call, dataset, 'below')
  const metadata = JSON.stringify({ '@context': ['http://example.org/c', { a: 'http://example.org/a' }], a: 1 })
  const path = await begun(t, bytes.length, { about: { folder, metadata, filetype: 'text/x-leaf', extract: 'false' } })
  const first = await patch(path, 0, bytes.subarray(0, 150_000))
  t.is(first.status, 204)
  t.is(first.headers.get('upload-offset'), '150000')
  t.is(first.headers.get('tus-resumable'), '1.0.0')
  const requested = await head(path)
  t.is(requested.status, 200)
  t.is(requested.headers.get('upload-offset'), '150000')
  t.is(requested.headers.get('upload-length'), '200000')
  t.is(requested.headers.get('cache-control'), 'no-store')
  t.truthy(Date.parse(requested.headers.get('upload-expires') ?? ''))
  t.regex(requested.headers.get('upload-metadata') ?? '', /^filename /)
  t.is((await ann.call(`/api/files/${idIn(path)}/metadata`)).status, 404)
  t.is((await patch(path, 150_000, bytes.subarray(150_000))).status, 204)
  const id = idIn(path)
  t.deepEqual(await bytesOf(id), bytes)
  t.like(await ok(ann.call(`/api/files/${id}/metadata`)), {
    filename: 'leaf.bin',
    'content-type': 'text/x-leaf',
    size: '200000',
    path: '/below',
    status: 'PROCESSED',
    sha256: createHash('sha256').update(bytes).digest('hex'),
  })
  const [document] = await ok<Record<string, unknown>[]>(ann.call(`/api/files/${id}/metadata.jsonld`))
  t.like(document, { content: { a: 1 } })
  t.like(await ok(ann.call(path)), { state: 'finished', file: id, received: 200_000, length: 200_000, filename: 'leaf.bin' })
})

test('progress is visible to the uploader only', async t => {
  const path = await begun(t, 100_000)
  await patch(path, 0, data(70_000))
  const mine = await ok<{ id: string }[]>(ann.call('/api/uploads'))
  t.like(mine.find(({ id }) => id === idIn(path)) ?? {}, {
    filename: 'leaf.bin',
    dataset,
    length: 100_000,
    received: 70_000,
    file: null,
    state: 'open',
  })
  t.deepEqual(await ok(bob.call('/api/uploads')), [])
  for (const answer of [
    bob.call(path),
    head(path, bob.call),
    patch(path, 70_000, data(1), {}, bob.call),
    bob.call(path, { method: 'DELETE', headers: version }),
  ])
    t.is((await answer).status, 404)
  t.is((await server.as()('/api/uploads')).status, 401)
  t.is((await ann.call(path, { method: 'DELETE', headers: version })).status, 204)
  t.is((await ann.call(path)).status, 404)
})

test('the first bytes, or all of them, may be sent with the creation of an upload', async t => {
  const bytes = data(1000)
  const answer = await begin(bytes.length, { body: bytes })
  t.is(answer.status, 201)
  t.is(answer.headers.get('upload-offset'), '1000')
  t.deepEqual(await bytesOf(idIn(answer.headers.get('location') ?? '')), bytes)
  const some = await begin(3000, { body: bytes })
  t.is(some.headers.get('upload-offset'), '1000')
  const path = some.headers.get('location') ?? ''
  t.is((await patch(path, 1000, data(2000))).status, 204)
  t.is((await bytesOf(idIn(path))).length, 3000)
})

test('an empty file is created at once', async t => {
  const path = await begun(t, 0)
  t.is((await bytesOf(idIn(path))).length, 0)
  t.is((await patch(path, 0, data(0))).status, 204)
})

test('a file in no dataset is visible to its uploader only', async t => {
  const path = await begun(t, 5, { about: { dataset: '' }, body: data(5) })
  t.is((await bytesOf(idIn(path))).length, 5)
  t.is((await bob.call(`/api/files/${idIn(path)}/blob`)).status, 404)
})

test('bytes are accepted only if they match the announced checksum', async t => {
  const bytes = data(150_000)
  const path = await begun(t, bytes.length)
  const sum = (algorithm: string, of: Uint8Array): string => `${algorithm} ${createHash(algorithm).update(of).digest('base64')}`
  const wrong = await patch(path, 0, bytes, { 'upload-checksum': sum('sha1', data(10)) })
  t.is(wrong.status, 460)
  t.is((await head(path)).headers.get('upload-offset'), '0')
  let offset = 0
  for (const algorithm of ['md5', 'sha1', 'sha256']) {
    const piece = bytes.subarray(offset, offset + 50_000)
    t.is((await patch(path, offset, piece, { 'upload-checksum': sum(algorithm, piece) })).status, 204, algorithm)
    offset += piece.length
  }
  t.deepEqual(await bytesOf(idIn(path)), bytes)
  const whole = await begun(t, 100_000, { about: { sha256: 'a'.repeat(64) } })
  t.is((await patch(whole, 0, data(100_000))).status, 460)
  t.is((await head(whole)).status, 404)
})

test('a wrong offset gets 409 with the correct one', async t => {
  const path = await begun(t, 100)
  t.like(await (await patch(path, 1, data(10))).json(), { code: 'conflict', offset: 0 })
  t.is((await patch(path, 0, data(10))).status, 204)
  t.is((await patch(path, 0, data(10))).status, 409)
  t.is((await patch(path, 10, data(91))).status, 413)
  t.is((await head(path)).headers.get('upload-offset'), '10')
  const chunked = { ...version, ...type, 'upload-offset': '10' }
  const init = { method: 'PATCH', headers: chunked, body: new Blob([data(91)]).stream(), duplex: 'half' as const }
  t.is((await ann.call(path, init as RequestInit)).status, 413)
  t.is((await head(path)).headers.get('upload-offset'), '10')
  t.is((await patch(path, 10, data(90))).status, 204)
  t.is((await patch(path, 100, data(1))).status, 409)
})

test('of concurrent requests at the same offset one succeeds, and the file has its bytes', async t => {
  for (let round = 0; round < 5; round++) {
    const path = await begun(t, 300_000)
    const bodies = Array.from({ length: 4 }, () => data(300_000))
    const answers = await Promise.all(bodies.map(async body => (await patch(path, 0, body)).status))
    t.is(answers.filter(status => status === 204).length, 1, String(answers))
    t.true(
      answers.every(status => [204, 409, 423].includes(status)),
      String(answers),
    )
    t.deepEqual(await bytesOf(idIn(path)), bodies[answers.indexOf(204)])
  }
})

test('querying an upload during its last request loses no bytes', async t => {
  const whole = data(400_000)
  const path = await begun(t, whole.length)
  const received = async (): Promise<number> => (await ok<{ received: number }>(ann.call(path))).received
  const sent = new TransformStream<Uint8Array, Uint8Array>()
  const writer = sent.writable.getWriter()
  const init = { method: 'PATCH', headers: { ...version, ...type, 'upload-offset': '0' }, body: sent.readable, duplex: 'half' as const }
  const answer = ann.call(path, init)
  // In small pieces, so that a prefix becomes durable only with the last one.
  for (let at = 0; at < whole.length; at += 40_000) {
    await writer.write(whole.subarray(at, at + 40_000))
    if (at >= 80_000) await until('all but the last bytes to be counted', received, count => count >= Math.min(at, whole.length - 80_000))
  }
  for (let looks = 0; looks < 60; looks++) t.true((await received()) < whole.length)
  await writer.close()
  t.is((await answer).status, 204)
  await ok(ann.call(path))
  t.deepEqual(await bytesOf(idIn(path)), whole)
})

test.serial('an invalid start of an upload is refused with the reason', async t => {
  const cases: readonly (readonly [string, Promise<Response>, number, RegExp])[] = [
    ['no version', ann.call('/api/uploads', { method: 'POST', headers: { 'upload-length': '1' } }), 412, /Tus-Resumable/],
    ['another version', begin(1, { headers: { 'tus-resumable': '0.2.2' } }), 412, /1\.0\.0/],
    ['no length', begin('', {}), 400, /upload-length/],
    ['a negative length', begin('-1'), 400, /number of bytes/],
    ['a length out of range', begin('99999999999999999999'), 400, /number of bytes/],
    ['too long', begin(10_000_001), 413, /10000000/],
    ['metadata that is not Base64', begin(1, { headers: { 'upload-metadata': 'filename $$$' } }), 400, /filename/],
    [
      'a name that is not UTF-8',
      begin(1, { headers: { 'upload-metadata': `filename ${Buffer.from([0xff]).toString('base64')}` } }),
      400,
      /UTF-8/,
    ],
    ['a duplicate key', begin(1, { headers: { 'upload-metadata': 'filename YQ==,filename YQ==' } }), 400, /duplicate key/],
    ['no name', begin(1, { headers: { 'upload-metadata': '' } }), 400, /filename/],
    ['dots', begin(1, { about: { filename: '..' } }), 400, /file name/],
    ['a path', begin(1, { about: { filename: '../../etc/passwd' } }), 400, /file name/],
    ['a long name', begin(1, { about: { filename: 'x'.repeat(256) } }), 400, /255/],
    ['metadata that is not JSON', begin(1, { about: { metadata: '{' } }), 400, /metadata/],
    ['metadata that is a list', begin(1, { about: { metadata: '[]' } }), 400, /metadata/],
    ['metadata with a prototype', begin(1, { about: { metadata: '{"__proto__":{}}' } }), 400, /__proto__/],
    ['an invalid flag', begin(1, { about: { extract: 'maybe' } }), 400, /extract/],
    ['an invalid word', begin(1, { about: { showPreviews: 'Never' } }), 400, /showPreviews/],
    ['an invalid digest', begin(1, { about: { sha256: 'abc' } }), 400, /sha256/],
    ['a malformed dataset id', begin(1, { about: { dataset: 'x' } }), 400, /dataset/],
    ['an unknown dataset', begin(1, { about: { dataset: unknownId } }), 404, /Dataset not found/],
    ['an unknown folder', begin(1, { about: { folder: unknownId } }), 404, /Folder not found/],
    ['a folder without a dataset', begin(1, { about: { dataset: '', folder: unknownId } }), 400, /folder/],
    ['a dataset of another user', begin(1, { call: bob.call }), 403, /AddResourceToDataset|AddFile/],
    ['an unsupported checksum', begin(1, { headers: { 'upload-checksum': 'crc32 AAAA' } }), 400, /Checksum/],
    ['bytes of another type', begin(1, { body: data(1), headers: { 'content-type': 'text/plain' } }), 415, /offset/],
    ['a header of 50 kB', begin(1, { about: { filename: 'x', note: 'y'.repeat(40_000) } }), 431, /headers/],
  ]
  const before = (await ok<unknown[]>(ann.call('/api/uploads'))).length
  for (const [title, answer, status, says] of cases) {
    const response = await answer
    const text = await response.text()
    t.is(response.status, status, `${title}: ${text}`)
    t.regex(text, says, title)
  }
  t.is((await ok<unknown[]>(ann.call('/api/uploads'))).length, before)
  t.is((await server.as()('/api/uploads', { method: 'POST', headers: version })).status, 401)
})

test('an invalid continuation of an upload is refused', async t => {
  const path = await begun(t, 10)
  const send = (headers: Record<string, string>) => ann.call(path, { method: 'PATCH', headers, body: data(10) })
  t.is((await send({ ...type, 'upload-offset': '0' })).status, 412)
  t.is((await send({ ...version, ...type })).status, 400)
  t.is((await send({ ...version, ...type, 'upload-offset': '-1' })).status, 400)
  t.is((await send({ ...version, 'content-type': 'text/plain', 'upload-offset': '0' })).status, 415)
  t.is((await send({ ...version, ...type, 'upload-offset': '0', 'upload-checksum': 'sha1' })).status, 400)
  for (const id of [unknownId, 'x']) t.is((await patch(`/api/uploads/${id}`, 0, data(1))).status, 404)
  t.is((await ann.call(path, { method: 'HEAD' })).status, 412)
})

test('X-HTTP-Method-Override replaces the method of a POST', async t => {
  const path = await begun(t, 20)
  const post = (method: string, headers: Record<string, string> = {}, body?: Uint8Array<ArrayBuffer>) =>
    ann.call(path, { method: 'POST', headers: { ...version, 'x-http-method-override': method, ...headers }, ...(body ? { body } : {}) })
  t.is((await post('PATCH', { ...type, 'upload-offset': '0' }, data(10))).status, 204)
  t.is((await post('PATCH', { ...type })).status, 400)
  t.is((await post('PATCH', { 'content-type': 'text/plain', 'upload-offset': '10' }, data(10))).status, 415)
  const looked = await post('HEAD')
  t.deepEqual([looked.status, looked.headers.get('upload-offset'), looked.headers.get('upload-length')], [204, '10', '20'])
  t.like(await refusal(post('PUT')), {
    status: 400,
    message: 'X-HTTP-Method-Override must be PATCH, DELETE or HEAD, in a POST to an upload',
  })
  t.is((await post('DELETE', { 'tus-resumable': '2.0.0' })).status, 412)
  t.is((await post('DELETE')).status, 204)
  t.is((await post('DELETE')).status, 404)
  t.is((await head(path)).status, 404)
})

test('deleting an upload ends its running request with 404', async t => {
  const path = await begun(t, 400_000)
  const sent = new TransformStream<Uint8Array, Uint8Array>()
  const writer = sent.writable.getWriter()
  const init = { method: 'PATCH', headers: { ...version, ...type, 'upload-offset': '0' }, body: sent.readable, duplex: 'half' as const }
  const answer = refusal(ann.call(path, init))
  await writer.write(data(100_000))
  await until('some bytes to be received', async () => (await ok<{ received: number }>(ann.call(path))).received > 0)
  t.is((await ann.call(path, { method: 'DELETE', headers: version })).status, 204)
  await writer.write(data(300_000))
  await writer.close()
  t.like(await answer, { status: 404, message: 'Upload not found or not accessible' })
})

test.serial('an upload whose first bytes are refused is not left open', async t => {
  const before = (await ok<unknown[]>(ann.call('/api/uploads'))).length
  const wrong = `sha1 ${createHash('sha1').update('x').digest('base64')}`
  t.is((await begin(6, { body: data(5), headers: { 'upload-checksum': wrong } })).status, 460)
  t.is((await begin(6, { body: data(7) })).status, 413)
  t.is((await ok<unknown[]>(ann.call('/api/uploads'))).length, before)
})

test('OPTIONS lists versions and extensions', async t => {
  const answer = await server.as()('/api/uploads', { method: 'OPTIONS' })
  t.is(answer.status, 200)
  t.is(answer.headers.get('tus-version'), '1.0.0')
  t.is(answer.headers.get('tus-extension'), 'creation,creation-with-upload,checksum,expiration,termination')
  t.is(answer.headers.get('tus-checksum-algorithm'), 'sha256,sha1,md5')
})

test('an upload whose dataset was deleted meanwhile adds no file to it', async t => {
  const theirs = await newDataset(ann.call)
  const path = await begun(t, 10, { about: { dataset: theirs } })
  await ok(ann.call(`/api/datasets/${theirs}`, { method: 'DELETE' }))
  const { status } = await refusal(patch(path, 0, data(10)))
  t.true(status === 409 || status === 404, String(status))
  t.is((await ann.call(`/api/files/${idIn(path)}/metadata`)).status, 404)
})

test.serial('unfinished uploads per account are limited', async t => {
  const eve = await newPerson(server, 'eve')
  const options = { about: { dataset: '' }, call: eve.call }
  const paths: string[] = []
  for (let each = 0; each < 20; each++) paths.push(await begun(t, 10, options))
  t.like(await refusal(begin(10, options)), { status: 429 })
  await eve.call(paths[0] ?? '', { method: 'DELETE', headers: version })
  t.is((await begin(10, options)).status, 201)
})

test.serial('uploads begun concurrently do not exceed the limit together', async t => {
  const eve = await newPerson(server, 'eve')
  const options = { call: eve.call, about: { dataset: await newDataset(eve.call) } }
  const answers = await Promise.all(Array.from({ length: 60 }, () => begin(10, options)))
  t.is(answers.filter(({ status }) => status === 201).length, 20)
  t.is(answers.filter(({ status }) => status === 429).length, 40)
})
