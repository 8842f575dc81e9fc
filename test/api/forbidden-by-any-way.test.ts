import { request } from 'node:http'
import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, unknownId, upload } from '../support/scene.ts'

let server: TestServer
let ann: Person
let eve: Person
let dataset: string
let file: string
let etag: string
let modified: string
const word = 'zqforbiddenx'

test.before(async () => {
  server = await bootForTest({ config: { access: { private: true }, http: { allowedHosts: ['*'] } } })
  ann = await newPerson(server, 'ann')
  eve = await newPerson(server, 'eve')
  dataset = await newDataset(ann.call, { name: word })
  file = await upload(ann.call, dataset, `${word} content`, `${word}.txt`)
  const { headers } = await ann.call(`/api/files/${file}`, { method: 'HEAD' })
  etag = headers.get('etag') ?? ''
  modified = headers.get('last-modified') ?? ''
})
test.after.always(() => server?.stop())

interface Raw {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

/** Sends a path unchanged: `fetch` would normalize it. */
const raw = (path: string, key: string | undefined, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Raw> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url)
    const sending = request(
      { hostname, port, path, method, headers: { ...headers, ...(key === undefined ? {} : { 'x-api-key': key }) } },
      answer => {
        answer.setEncoding('latin1')
        let text = ''
        answer.on('data', piece => {
          text += piece
        })
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }))
      },
    )
    sending.on('error', reject).end()
  })

/** A response without the parts that identify the request and the resource. */
const plain = ({ status, headers, text }: Raw, id: string): unknown => {
  const { 'x-request-id': _request, date: _date, connection: _connection, 'keep-alive': _alive, ...rest } = headers
  return [status, rest, text.replaceAll(id, 'an id').replaceAll(/"requestId":"[^"]*"/g, '')]
}

const places = (): readonly string[] => [
  `/api/files/${file}`,
  `/api/files/${file}/blob`,
  `/api/files/${file}/metadata`,
  `/api/datasets/${dataset}/download`,
  `/api/datasets/${dataset}`,
]

/** Strangers and anonymous callers get the same response for an invisible resource as for a missing one. */
const alike = async (
  t: import('ava').ExecutionContext,
  headers: Readonly<Record<string, string>>,
  method = 'GET',
  query = '',
): Promise<void> => {
  for (const key of [eve.key, undefined])
    for (const path of places()) {
      const [one, other] = [
        await raw(path + query, key, headers, method),
        await raw(path.replace(/[0-9a-f]{24}/, unknownId) + query, key, headers, method),
      ]
      const what = `${method} ${path}${query} ${JSON.stringify(headers)}`
      t.true([401, 404].includes(one.status), `${what}: ${one.status}`)
      t.notRegex(one.text, new RegExp(word), what)
      t.deepEqual(plain(one, file), plain(other, unknownId), what)
    }
}

test('conditional requests for an invisible resource reveal nothing', async t => {
  await alike(t, { 'if-none-match': etag })
  await alike(t, { 'if-none-match': '*' })
  await alike(t, { 'if-match': '*' })
  await alike(t, { 'if-match': '"other"' })
  await alike(t, { 'if-modified-since': modified })
  await alike(t, { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' })
  t.is((await raw(`/api/files/${file}`, ann.key, { 'if-none-match': etag })).status, 304)
})

test('range requests for an invisible resource reveal neither content nor length', async t => {
  await alike(t, { range: 'bytes=0-3' })
  await alike(t, { range: 'bytes=999999-' })
  await alike(t, { range: 'bytes=0-3', 'if-range': etag })
  t.is((await raw(`/api/files/${file}`, ann.key, { range: 'bytes=0-3' })).status, 206)
})

test('HEAD and OPTIONS of an invisible resource reveal nothing', async t => {
  await alike(t, {}, 'HEAD')
  for (const path of places()) {
    const [one, other] = [
      await raw(path, undefined, {}, 'OPTIONS'),
      await raw(path.replace(/[0-9a-f]{24}/, unknownId), undefined, {}, 'OPTIONS'),
    ]
    t.is(one.status, 200)
    t.deepEqual(plain(one, file), plain(other, unknownId))
  }
})

test('an invisible resource looks like a missing one in every format that a client can request', async t => {
  for (const accept of ['application/json', 'application/problem+json', 'text/html', 'text/csv', '*/*;q=0', 'application/zip', 'nonsense'])
    await alike(t, { accept })
  await alike(t, { 'accept-encoding': 'br, gzip' })
  const problem = await raw(`/api/files/${file}`, eve.key, { accept: 'application/problem+json' })
  t.is(problem.headers['content-type'], 'application/problem+json')
  t.like(JSON.parse(problem.text), { status: 404, code: 'not-found' })
})

test('no response is JSONP, whatever callback is requested', async t => {
  await alike(t, {}, 'GET', '?callback=steal')
  const own = await raw(`/api/datasets/${dataset}?callback=steal`, ann.key)
  t.is(own.headers['content-type'], 'application/json')
  t.notRegex(own.text, /steal/)
  t.is(own.headers['x-content-type-options'], 'nosniff')
})

test('headers that override method, host, address, user or path have no effect', async t => {
  const overrides = ['x-http-method-override', 'x-http-method', 'x-method-override'].map(name => ({ [name]: 'DELETE' }))
  for (const headers of overrides) {
    t.is((await raw(`/api/datasets/${dataset}`, ann.key, headers)).status, 200)
    t.is((await raw(`/api/datasets/${dataset}?_method=DELETE`, ann.key, headers)).status, 200)
    await alike(t, headers)
  }
  for (const name of ['x-original-url', 'x-rewrite-url', 'x-forwarded-path', 'x-forwarded-prefix'])
    t.is((await raw('/api/version', eve.key, { [name]: `/api/files/${file}` })).text.includes(word), false)
  for (const name of [
    'x-forwarded-for',
    'x-real-ip',
    'x-forwarded-user',
    'x-remote-user',
    'remote-user',
    'x-user-id',
    'x-user-email',
    'forwarded',
  ])
    await alike(t, { [name]: name.includes('user') ? ann.email : '127.0.0.1' })
})

test('links use the configured base URL, whatever host a request names', async t => {
  for (const headers of [
    { host: 'evil.example.org' },
    { 'x-forwarded-host': 'evil.example.org', 'x-forwarded-proto': 'https' },
    { forwarded: 'host=evil.example.org' },
  ])
    for (const path of [
      '/api/datasets?limit=1',
      '/api/search?query=zqforbiddenx',
      `/api/files/${file}/metadata.jsonld`,
      '/openapi.json',
      `/api/datasets/${dataset}`,
      '/api/me',
    ]) {
      const { headers: sent, text } = await raw(path, ann.key, headers)
      t.notRegex(`${JSON.stringify(sent)} ${text}`, /evil/, path)
    }
})

test('no alternative spelling of a path reaches the resource', async t => {
  const id = `files/${file}`
  const spellings = [
    ...[`/api/datasets/../${id}`, `/api/./${id}`, `//api/${id}`, `/api//${id}`, `/api/${id}/.`, `/api/${id}.`, `/api/${id}..`],
    ...[
      `/API/${id}`,
      `/Api/FILES/${file}`,
      `/api/files/${file.toUpperCase()}x`,
      `/api/${id};jsessionid=1`,
      `/api;x=1/${id}`,
      `/api/${id}%00`,
      `/api/${id}%20`,
    ],
    ...[
      `/api%2f${id}`,
      `/api/files%2f${file}`,
      `/api/%66iles/${file}`,
      `/api/version/..%2f${id}`,
      `/api/version/%2e%2e/${id}`,
      `/api/${id}%23`,
      `\\api\\${id}`,
    ],
    ...[`/api/files/${file}%2e%2e`, `/api/files/%2e/${file}`, `/api/version?/../${id}`, `/api/files/..;/${id}`],
  ]
  for (const spelling of spellings) {
    for (const key of [eve.key, undefined]) {
      const answer = await raw(spelling, key)
      t.notRegex(answer.text, new RegExp(word), spelling)
      t.true(answer.status >= 400 || spelling.startsWith('/api/version'), `${spelling}: ${answer.status}`)
    }
    // Not for the owner either: a resource has exactly one URL.
    if (!spelling.startsWith('/api/version?')) t.true((await raw(spelling, ann.key)).status >= 400, spelling)
  }
})

test('a trailing slash redirects with 301, for any caller and whether or not the resource exists', async t => {
  for (const key of [ann.key, eve.key, undefined])
    for (const id of [file, 'f'.repeat(24)]) {
      const { status, headers, text } = await raw(`/api/files/${id}/`, key)
      t.deepEqual([status, headers.location], [301, `/api/files/${id}`])
      t.notRegex(text, new RegExp(word))
    }
})
