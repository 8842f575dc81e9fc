import { createHash } from 'node:crypto'
import test from 'ava'
import { BlobStore, DocumentStore, Files } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../support/people.ts'
import { formWith, newDataset, newFolder, ok, refusal, unknownId, upload } from '../support/scene.ts'
import { until } from '../support/until.ts'

let server: TestServer
let ann: Person
let eve: Person

test.before(async () => {
  server = await bootForTest({ config: { access: { private: true } } })
  ann = await newPerson(server, 'ann')
  eve = await newPerson(server, 'eve')
})
test.after.always(() => server?.stop())

test('an uploaded file is downloaded byte for byte, with its name and digest', async t => {
  const dataset = await newDataset(ann.call)
  const bytes = Buffer.alloc(300_000, 'leaf 🍂 ')
  const id = await upload(ann.call, dataset, bytes, 'Übersicht – 観測.txt')
  const answer = await ann.call(`/api/files/${id}`)
  t.is(answer.status, 200)
  t.deepEqual(Buffer.from(await answer.arrayBuffer()), bytes)
  t.is(answer.headers.get('content-length'), '300000')
  t.regex(
    answer.headers.get('content-disposition') ?? '',
    /^attachment;.*filename\*=UTF-8''%C3%9Cbersicht%20%E2%80%93%20%E8%A6%B3%E6%B8%AC\.txt/,
  )
  t.is(answer.headers.get('repr-digest'), `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`)
  t.is(answer.headers.get('x-content-type-options'), 'nosniff')
})

test('byte ranges of a file can be requested; one beyond its end gets 416', async t => {
  const id = await upload(ann.call, await newDataset(ann.call), 'abcdefghij')
  const part = async (range: string) => {
    const answer = await ann.call(`/api/files/${id}/blob`, { headers: { range } })
    return [answer.status, await answer.text(), answer.headers.get('content-range')]
  }
  t.deepEqual(await part('bytes=2-4'), [206, 'cde', 'bytes 2-4/10'])
  t.deepEqual(await part('bytes=7-'), [206, 'hij', 'bytes 7-9/10'])
  t.deepEqual(await part('bytes=-3'), [206, 'hij', 'bytes 7-9/10'])
  const beyond = await ann.call(`/api/files/${id}`, { headers: { range: 'bytes=10-' } })
  t.is(beyond.status, 416)
  t.is(beyond.headers.get('content-range'), 'bytes */10')
})

test('a conditional request for an unchanged file gets 304', async t => {
  const id = await upload(ann.call, await newDataset(ann.call))
  const etag = (await ann.call(`/api/files/${id}`)).headers.get('etag') ?? ''
  t.is((await ann.call(`/api/files/${id}`, { headers: { 'if-none-match': etag } })).status, 304)
})

test('HEAD returns the size and is not counted as a download', async t => {
  const id = await upload(ann.call, await newDataset(ann.call), 'abc')
  const head = await ann.call(`/api/files/${id}`, { method: 'HEAD' })
  t.is(head.status, 200)
  t.is(head.headers.get('content-length'), '3')
  await server.drained()
  t.like(await ok(ann.call(`/api/files/${id}/metadata`)), { downloads: '0' })
})

test('a download is counted unless tracking is disabled', async t => {
  const id = await upload(ann.call, await newDataset(ann.call), 'abc')
  await (await ann.call(`/api/files/${id}?tracking=false`)).text()
  await (await ann.call(`/api/files/${id}`)).text()
  const downloads = async () => (await ok<{ downloads: string }>(ann.call(`/api/files/${id}/metadata`))).downloads
  while ((await downloads()) === '0') await server.drained()
  t.is(await downloads(), '1')
})

test('concurrent downloads are all counted, with few updates of the record', async t => {
  const id = await upload(ann.call, await newDataset(ann.call), 'abc')
  await server.drained()
  const recordOf = async () => await server.get(Files).get(id)
  const before = await recordOf()
  for (let round = 0; round < 10; round++)
    await Promise.all(Array.from({ length: 20 }, async () => (await ann.call(`/api/files/${id}`)).text()))
  await until('the downloads to be counted', async () => (await recordOf())?.statistics.downloads === 200)
  const changes = ((await recordOf())?.revision ?? 0) - (before?.revision ?? 0)
  t.true(changes < 50, `${changes} changes`)
})

test('pending downloads are counted when the server stops', async t => {
  const restarted = await bootForTest()
  t.teardown(() => restarted.stop())
  const { call } = await newPerson(restarted, 'bob')
  const id = await upload(call, await newDataset(call), 'abc')
  await Promise.all(Array.from({ length: 30 }, async () => (await call(`/api/files/${id}`)).text()))
  await restarted.restart()
  t.is((await restarted.get(Files).get(id))?.statistics.downloads, 30)
})

test('a response without bytes, or without the first ones, is not counted as a download', async t => {
  const id = await upload(ann.call, await newDataset(ann.call), 'abc')
  const { link } = await ok<{ link: string }>(ann.call(`/files/${id}/links`, { method: 'POST' }))
  const head = await ann.call(`/api/files/${id}`, { method: 'HEAD' })
  const downloads = async () => (await ok<{ downloads: string }>(ann.call(`/api/files/${id}/metadata`))).downloads
  for (const path of [`/api/files/${id}`, new URL(link).pathname])
    for (const [status, headers] of [
      [304, { 'if-none-match': head.headers.get('etag') ?? '' }],
      [304, { 'if-modified-since': head.headers.get('last-modified') ?? '' }],
      [412, { 'if-match': '"x"' }],
      [416, { range: 'bytes=3-' }],
      [206, { range: 'bytes=1-' }],
    ] as const) {
      const answer = await ann.call(path, { headers })
      await answer.text()
      t.is(answer.status, status)
    }
  t.is(await downloads(), '0')
  t.is(await (await ann.call(`/api/files/${id}`, { headers: { range: 'bytes=0-1' } })).text(), 'ab')
  t.is(await downloads(), '1')
})

test('numbers and dates in the info of a file are strings, as in Clowder 1.x', async t => {
  const dataset = await newDataset(ann.call)
  const folder = await newFolder(ann.call, dataset, 'a')
  const inner = await newFolder(ann.call, dataset, 'b', folder)
  const id = await upload(ann.call, dataset, 'x', 'x.csv', { type: 'application/octet-stream', query: `extract=false&folder_id=${inner}` })
  const info = await ok<Record<string, unknown>>(ann.call(`/api/files/${id}/metadata`))
  t.like(info, {
    id,
    filename: 'x.csv',
    filedescription: '',
    'content-type': 'text/csv',
    size: '1',
    thumbnail: null,
    authorId: ann.id,
    status: 'PROCESSED',
    path: '/a/b',
  })
  t.regex(String(info['date-created']), /^[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d UTC \d{4}$/)
  t.deepEqual(await ok(ann.call(`/api/files/${id}/paths`)), { paths: [['Leaves', 'a', 'b']] })
})

test('an upload of several files returns a description of each', async t => {
  const dataset = await newDataset(ann.call)
  const form = formWith('1', 'one.txt')
  form.append('anything', new Blob(['2']), 'two.bin')
  const { ids } = await ok<{ ids: { name: string; status: string; resource_type: string }[] }>(
    ann.call(`/api/uploadToDataset/${dataset}?extract=false`, { method: 'POST', body: form }),
  )
  t.deepEqual(
    ids.map(({ name, status, resource_type }) => [name, status, resource_type]),
    [
      ['one.txt', 'PROCESSED', 'file'],
      ['two.bin', 'PROCESSED', 'file'],
    ],
  )
})

test('dataset and folder can be specified in form fields after the file', async t => {
  const dataset = await newDataset(ann.call)
  const folder = await newFolder(ann.call, dataset, 'raw')
  const form = formWith('x', 'x.txt')
  form.append('dataset_id', dataset)
  form.append('folder_id', folder)
  const { id } = await ok<{ id: string }>(ann.call('/api/files/uploadToDataset', { method: 'POST', body: form }))
  t.like((await ok<{ id: string }[]>(ann.call(`/api/datasets/${dataset}/files`)))[0], { id, folders: { id: folder, name: 'raw' } })
})

test('a form field named after the file holds its metadata', async t => {
  const dataset = await newDataset(ann.call)
  const form = formWith('x', 'x.txt')
  form.append('x.txt', JSON.stringify({ '@context': ['https://example.org/c'], depth: 3 }))
  const { id } = await ok<{ id: string }>(ann.call(`/api/uploadToDataset/${dataset}?extract=false`, { method: 'POST', body: form }))
  const [document] = await ok<Record<string, unknown>[]>(ann.call(`/api/files/${id}/metadata.jsonld`))
  t.like(document, { '@context': ['https://example.org/c'], content: { depth: 3 }, agent: { '@type': 'cat:user', name: 'ann Number 1' } })
})

test('a form field is recognized by a name of any length and with decomposed letters, as from macOS', async t => {
  const dataset = await newDataset(ann.call)
  for (const name of ['Fläche.txt'.normalize('NFD'), `${'n'.repeat(251)}.txt`]) {
    const form = formWith('x', name)
    form.append(name, JSON.stringify({ depth: 3 }))
    const { id } = await ok<{ id: string }>(ann.call(`/api/uploadToDataset/${dataset}?extract=false`, { method: 'POST', body: form }))
    const [document] = await ok<Record<string, unknown>[]>(ann.call(`/api/files/${id}/metadata.jsonld`))
    t.like(document, { content: { depth: 3 } }, name)
  }
})

test('a dataset lists the files of its root first, then those in folders', async t => {
  const dataset = await newDataset(ann.call)
  const folder = await newFolder(ann.call, dataset, 'raw')
  await upload(ann.call, dataset, 'x', 'deep.txt', { query: `extract=false&folder_id=${folder}` })
  await upload(ann.call, dataset, 'x', 'top.txt')
  const names = async (path: string) => (await ok<{ filename: string }[]>(ann.call(path))).map(file => file.filename)
  t.deepEqual(await names(`/api/datasets/${dataset}/files`), ['top.txt', 'deep.txt'])
  t.deepEqual(await names(`/api/datasets/${dataset}/listAllFiles?max=1`), ['top.txt'])
  t.deepEqual(await names(`/api/datasets/${dataset}/listFiles`), ['top.txt'])
})

test('a file in several folders of a dataset is listed once for each', async t => {
  const dataset = await newDataset(ann.call)
  const [raw, chosen] = [await newFolder(ann.call, dataset, 'raw'), await newFolder(ann.call, dataset, 'chosen')]
  const file = await upload(ann.call, dataset, 'x', 'a.txt', { query: `extract=false&folder_id=${raw}` })
  const post = (path: string) => ok(ann.call(`/api/datasets/${dataset}/${path}`, { method: 'POST', json: {} }))
  const folders = async (query = '') =>
    (await ok<{ folders?: { name: string } }[]>(ann.call(`/api/datasets/${dataset}/files${query}`))).map(row => row.folders?.name)
  await post(`files/${file}`)
  t.deepEqual(await folders(), [undefined, 'raw'])
  await post(`moveFile/${chosen}/${file}`)
  t.deepEqual(await folders(), ['raw', 'chosen'])
  t.deepEqual(await folders('?max=1'), ['raw'])
})

test('the files in the root of a dataset are counted on demand', async t => {
  const dataset = await newDataset(ann.call)
  const count = (call: Person['call']) => call(`/api/datasets/${dataset}/listFiles?count=true`)
  t.is(await ok<number>(count(ann.call)), 0)
  const folder = await newFolder(ann.call, dataset, 'raw')
  await upload(ann.call, dataset, 'x', 'deep.txt', { query: `extract=false&folder_id=${folder}` })
  const top = await upload(ann.call, dataset, 'x', 'top.txt')
  await upload(ann.call, dataset, 'x', 'top.txt')
  const answer = await count(ann.call)
  t.is(answer.headers.get('content-type'), 'application/json')
  t.is(await answer.text(), '2')
  await ok(ann.call(`/api/files/${top}`, { method: 'DELETE' }))
  t.is(await ok<number>(count(ann.call)), 1)
  t.is((await ok<unknown[]>(ann.call(`/api/datasets/${dataset}/listFiles?count=false`))).length, 1)
  t.is((await refusal(count(eve.call))).status, 404)
  t.is((await refusal(ann.call(`/api/datasets/${unknownId}/listFiles?count=true`))).status, 404)
  t.is((await refusal(ann.call(`/api/datasets/${dataset}/listFiles?count=lots`))).status, 400)
})

test('files may have the same name, in the same folder or in different ones', async t => {
  const dataset = await newDataset(ann.call)
  const folder = await newFolder(ann.call, dataset, 'raw')
  for (const query of ['extract=false', 'extract=false', `extract=false&folder_id=${folder}`])
    await upload(ann.call, dataset, 'x', 'same.txt', { query })
  t.is((await ok<unknown[]>(ann.call(`/api/datasets/${dataset}/files`))).length, 3)
})

test('an empty file can be uploaded and downloaded', async t => {
  const id = await upload(ann.call, await newDataset(ann.call), '', 'empty.bin')
  t.is(await (await ann.call(`/api/files/${id}`)).text(), '')
})

test('a new name and description are visible at once', async t => {
  const id = await upload(ann.call, await newDataset(ann.call))
  t.deepEqual(await ok(ann.call(`/api/files/${id}/filename`, { method: 'PUT', json: { name: 'new.txt' } })), { status: 'success' })
  t.deepEqual(await ok(ann.call(`/api/files/${id}/updateDescription`, { method: 'PUT', json: { description: 'two\nlines' } })), {
    status: 'success',
  })
  t.like(await ok(ann.call(`/api/files/${id}/metadata`)), { filename: 'new.txt', filedescription: 'two\nlines' })
})

test('a name that is missing, too long or has control characters is refused with 400', async t => {
  const id = await upload(ann.call, await newDataset(ann.call))
  for (const json of [{}, { name: '' }, { name: 'a\u0000b' }, { name: 'a\nb' }, { name: 'x'.repeat(256) }, { name: 7 }, { name: null }]) {
    const { status, code } = await refusal(ann.call(`/api/files/${id}/filename`, { method: 'PUT', json }))
    t.deepEqual([status, code], [400, 'invalid'], JSON.stringify(json))
  }
  t.like(await ok(ann.call(`/api/files/${id}/metadata`)), { filename: 'hello.txt' })
})

test('a deleted file is gone at once, its bytes soon after', async t => {
  const dataset = await newDataset(ann.call)
  const id = await upload(ann.call, dataset, 'bytes that nobody else has')
  const { blob } = (await server.get(DocumentStore).get<{ blob: string }>({ name: 'files', indexes: {} }, id)) as { blob: string }
  t.deepEqual(await ok(ann.call(`/api/files/${id}`, { method: 'DELETE' })), { status: 'success' })
  t.is((await ann.call(`/api/files/${id}`)).status, 404)
  t.deepEqual(await ok(ann.call(`/api/datasets/${dataset}/files`)), [])
  await server.drained()
  t.is(await server.get(BlobStore).stat(blob), undefined)
})

test('malformed, unknown and invisible ids get the same response', async t => {
  const id = await upload(ann.call, await newDataset(ann.call))
  const bodies = new Set<string>()
  for (const each of ['nonsense', '123', unknownId, id, '%00', '..%2f..']) {
    for (const path of ['', '/metadata', '/paths', '/metadata.jsonld', '/tags']) {
      const answer = await eve.call(`/api/files/${each}${path}`)
      t.is(answer.status, 404, `${each}${path}`)
      const { requestId: _, ...body } = (await answer.json()) as Record<string, unknown>
      bodies.add(JSON.stringify(body))
    }
  }
  t.is(bodies.size, 1, [...bodies].join('\n'))
})

test('users without access can change nothing', async t => {
  const dataset = await newDataset(ann.call)
  const id = await upload(ann.call, dataset)
  const tries: [string, RequestInit & { json?: unknown }][] = [
    [`/api/files/${id}`, { method: 'DELETE' }],
    [`/api/files/${id}/filename`, { method: 'PUT', json: { name: 'x' } }],
    [`/api/files/${id}/tags`, { method: 'POST', json: { tags: ['x'] } }],
    [`/api/uploadToDataset/${dataset}`, { method: 'POST', body: formWith('x', 'x.txt') }],
    [`/api/datasets/${dataset}/files`, { method: 'POST', body: formWith('x', 'x.txt') }],
  ]
  for (const [path, init] of tries) t.is((await eve.call(path, init)).status, 404, path)
  const form = formWith('x', 'x.txt')
  form.append('dataset_id', dataset)
  t.is((await eve.call('/api/files/uploadToDataset', { method: 'POST', body: form })).status, 404)
  t.is((await server.as()(`/api/files/${id}`)).status, 401)
  t.is((await server.as('wrong-key')(`/api/files/${id}`)).status, 401)
  t.is((await ok<unknown[]>(ann.call(`/api/datasets/${dataset}/files`))).length, 1)
})

test('a refused upload leaves no bytes and no record', async t => {
  const other = await bootForTest({ t })
  const bob = await newPerson(other)
  const dataset = await newDataset(bob.call)
  const elsewhere = await newFolder(bob.call, await newDataset(bob.call), 'elsewhere')
  const post = (query: string, body: FormData | string, headers: Record<string, string> = {}) =>
    refusal(bob.call(`/api/uploadToDataset/${dataset}?${query}`, { method: 'POST', body, headers }))
  t.like(await post('', new FormData()), { status: 400 })
  t.like(await post(`folder_id=${elsewhere}`, formWith('x', 'x.txt')), { status: 404 })
  t.like(await post(`folder_id=nonsense`, formWith('x', 'x.txt')), { status: 404 })
  t.like(await post('', formWith('x', `${'x'.repeat(300)}.txt`)), { status: 400 })
  t.like(await post('', '{}', { 'content-type': 'application/json' }), { status: 415 })
  const head = '--b\r\nContent-Disposition: form-data; name="File"; filename="x.txt"\r\n\r\nhalf a fi'
  t.like(await post('', head, { 'content-type': 'multipart/form-data; boundary=b' }), { status: 400, code: 'invalid' })
  t.deepEqual(await ok(bob.call(`/api/datasets/${dataset}/files`)), [])
  await other.drained()
  let left = 0
  for await (const _blob of other.get(BlobStore).list()) left += 1
  t.is(left, 0)
})
