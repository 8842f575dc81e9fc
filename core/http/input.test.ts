import { gzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { type Route, routesFor, s } from 'pounce/sdk'
import type { HttpConfig } from './config.ts'
import { serve } from './testing/serve.ts'

const route = routesFor('things', {})
const responses = { 200: s.json() }
const body = s.Object({
  name: s.line(20),
  note: s.Optional(s.prose()),
  mode: s.String({ default: 'soft' }),
  tags: s.Optional(s.Array(s.Object({ label: s.String() }), { maxItems: 2 })),
  either: s.Optional(s.Union([s.Object({ a: s.Number() }), s.Object({ b: s.String(), c: s.Optional(s.String()) })])),
  free: s.Optional(s.json()),
  open: s.Optional(s.Record(s.String(), s.Number())),
})

const routes: Record<string, Route> = {
  make: route({
    method: 'POST',
    path: '/api/things',
    summary: 'x',
    permission: 'anyone',
    body,
    responses,
    handle: async request => ({ status: 200, body: request.body }),
  }),
  options: route({
    method: 'POST',
    path: '/api/options',
    summary: 'x',
    permission: 'anyone',
    body: s.Object({ a: s.Optional(s.String()) }),
    responses,
    handle: async request => ({ status: 200, body: request.body }),
  }),
  either: route({
    method: 'POST',
    path: '/api/either',
    summary: 'x',
    permission: 'anyone',
    body: s.Union([s.Record(s.String(), s.Unknown()), s.Array(s.Unknown())]),
    responses,
    handle: async request => ({ status: 200, body: request.body }),
  }),
  store: route({
    method: 'POST',
    path: '/api/free',
    summary: 'x',
    permission: 'anyone',
    body: s.json(),
    maxBodyBytes: 2_000_000,
    responses,
    handle: async request => ({ status: 200, body: request.body }),
  }),
  drop: route({
    method: 'DELETE',
    path: '/api/things',
    summary: 'x',
    permission: 'anyone',
    body: s.Object({ ids: s.Array(s.id()) }),
    responses,
    handle: async request => ({ status: 200, body: request.body }),
  }),
  list: route({
    method: 'GET',
    path: '/api/things',
    summary: 'x',
    permission: 'anyone',
    query: s.Object({
      limit: s.Integer({ default: 12, minimum: 1, maximum: 100 }),
      ratio: s.Optional(s.Number()),
      deep: s.flag(false),
      tag: s.Optional(s.repeated(s.String())),
      year: s.Optional(s.repeated(s.Integer())),
      order: s.Optional(s.Union([s.Literal('asc'), s.Literal('desc')])),
      space: s.Optional(s.id()),
      text: s.Optional(s.String()),
      since: s.Optional(s.String({ format: 'date-time' })),
    }),
    responses,
    handle: async ({ query, url }) => ({ status: 200, body: { query, url: url.href } }),
  }),
}

type Json = Readonly<Record<string, unknown>>

const server = async (t: ExecutionContext, config: Partial<HttpConfig> = { maxAnonymousJsonBytes: 10_000_000 }) => {
  const { url } = await serve(t, routes, { config })
  const read = async (response: Response): Promise<{ status: number; json: Json; message: string }> => {
    const json = (await response.json()) as Json
    return { status: response.status, json, message: String(json['message'] ?? '') }
  }
  return {
    url,
    post: async (path: string, text: string | Uint8Array, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
      read(await fetch(url + path, { method: 'POST', headers, body: text })),
    get: async (query: string) => read(await fetch(`${url}/api/things${query}`)),
  }
}

test('defaults are added to a body, and undeclared members are removed at every depth', async t => {
  const { post } = await server(t)
  const sent = {
    name: 'x',
    id: 1,
    tags: [{ label: 'a', author: 'me' }],
    either: { b: 'y', c: 'z', d: 0 },
    open: { k: 1 },
    free: { id: { deep: [1] } },
  }
  const { json } = await post('/api/things', JSON.stringify(sent))
  t.deepEqual(json, {
    name: 'x',
    mode: 'soft',
    tags: [{ label: 'a' }],
    either: { b: 'y', c: 'z' },
    open: { k: 1 },
    free: { id: { deep: [1] } },
  })
})

test('a refusal names the field and the rule', async t => {
  const { post } = await server(t)
  const expected: readonly [unknown, RegExp][] = [
    [{}, /^name is required: text of 1 to 20 characters, without control characters$/],
    [{ name: '' }, /^name must be text of 1 to 20 characters/],
    [{ name: 'x'.repeat(21) }, /^name must be text of 1 to 20 characters/],
    [{ name: 'a\u0000b' }, /^name must be text .*without control characters/],
    [{ name: 5 }, /^name must be text/],
    [{ name: 'x', tags: [{}] }, /^tags\[0\]\.label is required: text$/],
    [{ name: 'x', tags: [{ label: 1 }] }, /^tags\[0\]\.label must be text$/],
    [{ name: 'x', tags: [1, 2, 3] }, /^tags must be a list of at most 2 items/],
    [{ name: 'x', open: { k: 'v' } }, /^open\.k must be a number$/],
    [[], /^The body must be an object$/],
    [null, /^The body must be an object$/],
    ['text', /^The body must be an object$/],
  ]
  for (const [sent, message] of expected) {
    const answer = await post('/api/things', JSON.stringify(sent))
    t.is(answer.status, 400, JSON.stringify(sent))
    t.is(answer.json['code'], 'invalid')
    t.regex(answer.message, message)
  }
})

test('invalid JSON is refused with the position of the error', async t => {
  const { post } = await server(t)
  const answer = await post('/api/things', '{"name": "x", }')
  t.is(answer.status, 400)
  t.regex(answer.message, /not valid JSON: .*position 14/)
  t.is((await post('/api/things', '{"name":"x"')).status, 400)
  t.is((await post('/api/things', 'NaN')).status, 400)
})

test('a missing body is an empty object where that is allowed', async t => {
  const { post, url } = await server(t)
  t.deepEqual((await post('/api/options', '', {})).json, {})
  t.is((await fetch(`${url}/api/options`, { method: 'POST' })).status, 200)
  t.is((await post('/api/things', '', {})).status, 400)
  const absent = await post('/api/either', '', {})
  t.deepEqual([absent.status, absent.message], [400, 'The body must be an object or a list'])
  t.deepEqual((await post('/api/either', '{}')).json, {})
})

test('another media type, charset or coding is 415', async t => {
  const { post } = await server(t)
  const text = '{"name":"x"}'
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonx',
    'multipart/form-data; boundary=x',
    '',
    'application/json; charset=utf-16',
    'application/json; charset="latin1"',
  ]) {
    t.is((await post('/api/things', Buffer.from(text), { 'content-type': type })).status, 415, type)
  }
  t.regex((await post('/api/things', Buffer.from(text), {})).message, /Expecting text\/json or application\/json body/)
  t.is((await post('/api/things', gzipSync(text), { 'content-type': 'application/json', 'content-encoding': 'gzip' })).status, 415)
  for (const type of ['text/json', 'application/ld+json', 'application/json; charset=UTF-8', 'APPLICATION/JSON']) {
    t.is((await post('/api/things', text, { 'content-type': type })).status, 200, type)
  }
})

test('members that could reach a prototype are refused, however deep', async t => {
  const { post } = await server(t)
  for (const text of [
    '{"__proto__":{"a":1}}',
    '{"a":[{"constructor":{"prototype":{}}}]}',
    '{"a":{"prototype":1}}',
    '{"\\u005f_proto__":1}',
  ]) {
    const { status, message } = await post('/api/free', text)
    t.is(status, 400, text)
    t.regex(message, /must not have/)
  }
  t.is(({} as { a?: unknown }).a, undefined)
})

test('nesting is limited to 64 levels, even of content stored verbatim', async t => {
  const { post } = await server(t)
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
  t.is((await post('/api/free', nested(64))).status, 200)
  t.is((await post('/api/free', nested(65))).status, 400)
  t.regex((await post('/api/free', nested(200_000))).message, /64 levels/)
  t.is((await post('/api/free', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`)).status, 400)
})

test('bodies of anonymous callers have a lower limit than that of the route', async t => {
  const { post } = await server(t, { maxAnonymousJsonBytes: 1024 })
  const text = (length: number): string => JSON.stringify('x'.repeat(length - 2))
  t.is((await post('/api/free', text(1024))).status, 200)
  const answer = await post('/api/free', text(1025))
  t.is(answer.status, 413)
  t.regex(answer.message, /at most 1024 bytes/)
})

test('the size of a body is limited by its route', async t => {
  const { post, url } = await server(t)
  const text = (length: number): string => JSON.stringify('x'.repeat(length - 2))
  t.is((await post('/api/free', text(2_000_000))).status, 200)
  const answer = await post('/api/free', text(2_000_001))
  t.is(answer.status, 413)
  t.regex(answer.message, /at most 2000000 bytes/)
  t.is((await post('/api/things', text(1_048_577))).status, 413)
  const unannounced = new ReadableStream({
    pull(controller) {
      controller.enqueue(Buffer.alloc(65_536, '1'))
    },
  })
  const endless = { method: 'POST', headers: { 'content-type': 'application/json' }, body: unannounced, duplex: 'half' } as RequestInit
  t.is((await fetch(`${url}/api/free`, endless)).status, 413)
})

test('text that is not UTF-8 is refused, a sent replacement character is not', async t => {
  const { post } = await server(t)
  const { status, message } = await post('/api/free', Buffer.from([0x22, 0xff, 0x22]))
  t.is(status, 400)
  t.regex(message, /not UTF-8/)
  t.is((await post('/api/free', '"\ufffd"')).status, 200)
  t.deepEqual((await post('/api/free', '{"ключ":"值 😀"}')).json, { ключ: '值 😀' })
})

test('content that cannot be stored unchanged is refused', async t => {
  const { post } = await server(t)
  for (const text of ['{"a":1e999}', '["\\ud800"]', '{"\\udc00":1}']) t.is((await post('/api/free', text)).status, 400, text)
})

test('a DELETE may have a body', async t => {
  const { url } = await server(t)
  const ids = ['a'.repeat(24)]
  const response = await fetch(`${url}/api/things`, {
    method: 'DELETE',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ids }),
  })
  t.deepEqual(await response.json(), { ids })
})

test('a query gets types and defaults', async t => {
  const { get } = await server(t)
  t.deepEqual((await get('')).json['query'], { limit: 12, deep: false })
  t.deepEqual((await get('?limit=3&ratio=-1.5e2&deep=True&tag=a&tag=b&year=2001&order=asc&unknown=1&superAdmin=true')).json['query'], {
    limit: 3,
    ratio: -150,
    deep: true,
    tag: ['a', 'b'],
    year: [2001],
    order: 'asc',
  })
  for (const [sent, deep] of [
    ['1', true],
    ['0', false],
    ['FALSE', false],
    ['yes', true],
  ] as const) {
    t.deepEqual((await get(`?deep=${sent}`)).json['query'], { limit: 12, deep })
  }
})

test('empty form fields are treated as absent unless they are text', async t => {
  const { get } = await server(t)
  t.deepEqual((await get('?limit=&deep=&space=&text=')).json['query'], { limit: 12, deep: false, text: '' })
})

test('the first value of a repeated parameter is used unless it is a list', async t => {
  const { get } = await server(t)
  t.deepEqual((await get('?limit=1&limit=2')).json['query'], { limit: 1, deep: false })
})

test('no value of a query is dropped, however many there are', async t => {
  const { get } = await server(t)
  const answer = await get(`?${'tag=a&'.repeat(1001)}`)
  t.is(answer.status, 400)
  t.regex(String(answer.json['message']), /^tag /)
  t.is(((await get(`?${'tag=a&'.repeat(1000)}deep=true`)).json['query'] as { deep: boolean }).deep, true)
})

test('an invalid query is refused with the name of the parameter', async t => {
  const { get } = await server(t)
  const expected: readonly [string, RegExp][] = [
    ['?limit=0', /^limit must be a whole number from 1 to 100$/],
    ['?limit=1.5', /^limit must be a whole number/],
    ['?limit=0x10', /^limit must be a whole number/],
    ['?limit=%201', /^limit must be a whole number/],
    ['?limit=1e999', /^limit must be a whole number/],
    ['?deep=maybe', /^deep must be true or false$/],
    ['?order=up', /^order must be one of asc, desc$/],
    ['?year=x', /^year\[0\] must be a whole number$/],
    ['?since=yesterday', /^since must be a time such as/],
  ]
  for (const [query, message] of expected) {
    const answer = await get(query)
    t.is(answer.status, 400, query)
    t.regex(answer.message, message)
  }
})

test('a malformed id in a query is 404', async t => {
  const { get } = await server(t)
  const answer = await get('?space=nope')
  t.is(answer.status, 404)
  t.regex(answer.message, /Space not found/)
})

test('a handler gets the URL without the key', async t => {
  const { url } = await serve(
    t,
    { list: routes['list'] as Route },
    { callers: { identify: async () => ({ via: 'key', scope: 'full', superAdmin: false }) } },
  )
  const response = await fetch(`${url}/api/things?limit=2&key=very-secret&text=a%20b`)
  t.deepEqual(((await response.json()) as Json)['url'], 'https://data.example.org/api/things?limit=2&text=a%20b')
})
