import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { Conflict, type Log, Problem, type Route, routesFor, s, TooMany, Unavailable } from 'pounce/sdk'
import { RawJson, rawJson } from 'pounce/sdk/kit'
import { silent } from 'pounce/sdk/testing'
import { createHttp } from './server.ts'
import { callers } from './testing/people.ts'
import { rawClient } from './testing/raw-client.ts'
import { httpOptions, type ServeOptions, serve } from './testing/serve.ts'

const route = routesFor('things', {})
const anyone = { summary: 'x', permission: 'anyone' } as const

const answering = (handle: () => unknown, responses: Record<number, s.TSchema> = { 200: s.json() }): Route =>
  route({ method: 'GET', path: '/api/x', ...anyone, responses, handle: async () => handle() as never })

const failing = (thrown: unknown, responses?: Record<number, s.TSchema>): Route => {
  const { declaration, ...rest } = answering(() => {
    throw thrown
  }, responses)
  return { ...rest, declaration: { ...declaration, throws: [Conflict] } }
}

const get = async (t: ExecutionContext, routes: Record<string, Route>, path: string, init: RequestInit = {}, given: ServeOptions = {}) => {
  const { url } = await serve(t, routes, given)
  const response = await fetch(url + path, { redirect: 'manual', ...init })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

const effects: Record<string, Route> = {
  plain: route({
    method: 'GET',
    path: '/api/plain/:id',
    ...anyone,
    params: s.Object({ id: s.String() }),
    responses: { 200: s.text() },
    handle: async () => ({ status: 200, body: 'plain' }),
  }),
  changes: route({
    method: 'GET',
    path: '/api/changes',
    ...anyone,
    effects: 'removes',
    responses: { 200: s.text() },
    handle: async () => ({ status: 200, body: 'changed' }),
  }),
  minds: route({
    method: 'GET',
    path: '/api/minds',
    ...anyone,
    effects: 'counts',
    answersHead: true,
    responses: { 200: s.empty() },
    handle: async ({ isHead }) => ({ status: 200, body: undefined, headers: { 'x-head': String(isHead) } }),
  }),
  write: route({
    method: 'POST',
    path: '/api/plain/:id',
    ...anyone,
    params: s.Object({ id: s.String() }),
    responses: { 201: s.empty() },
    handle: async () => ({ status: 201, body: undefined }),
  }),
  proxy: route({
    method: 'GET',
    path: '/api/proxy/:key',
    aliases: [{ path: '/api/proxy/:key/' }],
    ...anyone,
    params: s.Object({ key: s.String() }),
    responses: { 200: s.text() },
    handle: async ({ params }) => ({ status: 200, body: params.key }),
  }),
}

test('an unknown path is a JSON 404, another method 405 with the allowed ones', async t => {
  const unknown = await get(t, effects, '/api/nowhere')
  t.is(unknown.status, 404)
  t.is((JSON.parse(unknown.text) as { code: string }).code, 'no-such-address')
  const wrong = await get(t, effects, '/api/plain/1', { method: 'DELETE' })
  t.is(wrong.status, 405)
  t.is(wrong.headers.get('allow'), 'GET, HEAD, POST')
  t.is((await get(t, effects, '/api/plain/1', { method: 'PATCH' })).status, 405)
})

test('a trailing slash redirects to the path without it, unless an alias has the slash', async t => {
  const { status, headers } = await get(t, effects, '/api/changes/', { redirect: 'manual' })
  t.deepEqual([status, headers.get('location')], [301, '/api/changes'])
  t.is((await get(t, effects, '/api/proxy/a/')).text, 'a')
})

test('OPTIONS lists the methods', async t => {
  const { status, headers } = await get(t, effects, '/api/plain/1', { method: 'OPTIONS' })
  t.is(status, 200)
  t.is(headers.get('content-length'), '0')
  t.is(headers.get('allow'), 'GET, HEAD, POST, OPTIONS')
  t.is(headers.get('access-control-allow-methods'), null)
  const nowhere = await get(t, effects, '/api/nowhere', { method: 'OPTIONS' })
  t.deepEqual([nowhere.status, nowhere.headers.get('allow')], [200, 'OPTIONS'])
})

test('HEAD is like GET without a body, and never runs routes with effects', async t => {
  const plain = await get(t, effects, '/api/plain/1', { method: 'HEAD' })
  t.deepEqual([plain.status, plain.text, plain.headers.get('content-length')], [200, '', '5'])
  t.is((await get(t, effects, '/api/changes', { method: 'HEAD' })).status, 405)
  t.is((await get(t, effects, '/api/minds', { method: 'HEAD' })).headers.get('x-head'), 'true')
  t.is((await get(t, effects, '/api/minds')).headers.get('x-head'), 'false')
})

test('a problem has a message, a code, details and the request id', async t => {
  const { status, text, headers } = await get(
    t,
    {
      getX: failing(new Conflict('It changed', { details: { job: 7, status: 'KO' } }), {
        200: s.json(),
        409: s.Object({ status: s.Literal('KO'), job: s.Integer() }),
      }),
    },
    '/api/x',
  )
  t.is(status, 409)
  t.deepEqual(JSON.parse(text), { status: 'KO', message: 'It changed', job: 7, code: 'conflict', requestId: headers.get('x-request-id') })
})

test('a client that requests it gets application/problem+json', async t => {
  const { headers, text } = await get(t, { getX: failing(new Conflict('It changed')) }, '/api/x', {
    headers: { accept: 'application/problem+json, */*' },
  })
  t.is(headers.get('content-type'), 'application/problem+json')
  t.deepEqual(JSON.parse(text), {
    type: 'about:blank',
    title: 'Conflict',
    status: 409,
    detail: 'It changed',
    code: 'conflict',
    requestId: headers.get('x-request-id'),
  })
})

test('Retry-After is sent', async t => {
  t.is((await get(t, { getX: failing(new Unavailable('away')) }, '/api/x')).headers.get('retry-after'), '5')
  t.is((await get(t, { getX: failing(new TooMany('slow down', 0.2)) }, '/api/x')).headers.get('retry-after'), '1')
})

test('a bug is a bare 500, and logged with its cause', async t => {
  const lines: unknown[] = []
  const log: Log = { ...silent, error: (_message, fields) => lines.push(fields) }
  const error = new Error('secret at /var/lib')
  for (const thrown of [error, 'text', undefined, { status: 404, code: 'x', message: 'not a problem' }]) {
    const { status, text } = await get(t, { getX: failing(thrown) }, '/api/x', {}, { options: { log } })
    t.is(status, 500)
    t.deepEqual(Object.keys(JSON.parse(text)), ['status', 'message', 'code', 'requestId'])
    t.notRegex(text, /secret|var|not a problem/)
  }
  t.like(lines[0], { error, path: '/api/x' })
})

test('an error whose status is not one of an error is a 500', async t => {
  const wrong = [
    new Problem('gone' as never, '', ''),
    new Problem(200, 'fine', 'fine'),
    Object.assign(new Error('no'), { status: 999, expose: true }),
  ]
  for (const error of wrong) {
    const { status, text } = await get(t, { getX: failing(error) }, '/api/x')
    t.like(JSON.parse(text), { status: 'error', code: 'internal' })
    t.is(status, 500)
  }
})

test('problems of 5xx are logged, refusals are not', async t => {
  const lines: unknown[] = []
  const log: Log = { ...silent, error: message => lines.push(message) }
  await get(t, { getX: failing(new Problem(500, 'content-corrupt', 'damaged')) }, '/api/x', {}, { options: { log } })
  await get(t, { getX: failing(new Conflict('no')) }, '/api/x', {}, { options: { log } })
  t.is(lines.length, 1)
})

test('browsers get no WWW-Authenticate, programs do', async t => {
  const me = {
    getX: route({
      method: 'GET',
      path: '/api/x',
      summary: 'x',
      permission: 'signedIn',
      responses: { 200: s.empty() },
      handle: async () => ({ status: 200, body: undefined }),
    }),
  }
  const { port } = await serve(t, me)
  const ask = async (headers: string): Promise<string> =>
    (await rawClient(port)).send(`GET /api/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`).closed()
  t.regex(await ask(''), /WWW-Authenticate: Basic/i)
  for (const headers of ['Cookie: a=b\r\n', 'X-Requested-With: XMLHttpRequest\r\n', 'Sec-Fetch-Mode: cors\r\n', 'Accept: text/html\r\n']) {
    t.notRegex(await ask(headers), /WWW-Authenticate/i, headers)
  }
})

test('a text body is a JSON string under JSON, and itself under text', async t => {
  const json = await get(t, { getX: answering(() => ({ status: 200, body: 'a "text"' }), { 200: s.String() }) }, '/api/x')
  t.deepEqual([json.text, json.headers.get('content-type')], ['"a \\"text\\""', 'application/json'])
  const text = await get(t, { getX: answering(() => ({ status: 200, body: 'größer' }), { 200: s.text() }) }, '/api/x')
  t.deepEqual([text.text, text.headers.get('content-type')], ['größer', 'text/plain; charset=utf-8'])
})

test('a header of a handler replaces the default one in any letter case', async t => {
  const { port } = await serve(t, {
    getX: answering(() => ({
      status: 200,
      body: 1,
      headers: { 'Cache-Control': 'no-store', 'CONTENT-TYPE': 'application/json; charset=utf-8', Link: '<x>; rel="next"' },
    })),
  })
  const received = await (await rawClient(port)).send('GET /api/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n').closed()
  t.deepEqual(received.match(/^(?:cache-control|content-type|link): .*$/gim)?.sort(), [
    'cache-control: no-store',
    'content-type: application/json; charset=utf-8',
    'link: <x>; rel="next"',
  ])
})

test('serialized JSON is sent unchanged', async t => {
  t.is((await get(t, { getX: answering(() => ({ status: 200, body: rawJson('[ {"a":1} ]') })) }, '/api/x')).text, '[ {"a":1} ]')
})

test('rows are one JSON list of any length', async t => {
  const rowsOf = (rows: AsyncIterable<unknown> | Iterable<unknown>): Route =>
    answering(() => ({ status: 200, body: rows }), { 200: s.rows(s.json()) })
  async function* numbers(count: number): AsyncGenerator<unknown> {
    for (let n = 0; n < count; n++) yield n % 2 === 0 ? { n } : new RawJson(`{"n":${n}}`)
  }
  t.is((await get(t, { getX: rowsOf(numbers(0)) }, '/api/x')).text, '[]')
  t.is((await get(t, { getX: rowsOf(numbers(2)) }, '/api/x')).text, '[{"n":0},{"n":1}]')
  t.is((JSON.parse((await get(t, { getX: rowsOf(numbers(50_000)) }, '/api/x')).text) as unknown[]).length, 50_000)
  async function* broken(): AsyncGenerator<unknown> {
    yield 'x'.repeat(100_000)
    throw new Error('gone')
  }
  await t.throwsAsync(get(t, { getX: rowsOf(broken()) }, '/api/x'))
})

test('lists by name are one JSON object of any length', async t => {
  async function* numbers(count: number): AsyncGenerator<unknown> {
    for (let n = 0; n < count; n++) yield n % 2 === 0 ? { n } : new RawJson(`{"n":${n}}`)
  }
  async function* lists(...counts: readonly number[]) {
    for (const count of counts) yield [`"${count}`, numbers(count)] as const
  }
  const textOf = async (...counts: readonly number[]) =>
    (await get(t, { getX: answering(() => ({ status: 200, body: lists(...counts) }), { 200: s.rowsByName(s.json()) }) }, '/api/x')).text
  t.is(await textOf(), '{}')
  t.is(await textOf(0, 1, 3), String.raw`{"\"0":[],"\"1":[{"n":0}],"\"3":[{"n":0},{"n":1},{"n":2}]}`)
  const long = JSON.parse(await textOf(20_000, 0, 30_000)) as Readonly<Record<string, readonly unknown[]>>
  t.deepEqual(
    Object.entries(long).map(([name, { length }]) => [name, length]),
    [
      ['"20000', 20_000],
      ['"0', 0],
      ['"30000', 30_000],
    ],
  )
})

test('long text is compressed where accepted, short never', async t => {
  const body = { text: 'compress me '.repeat(200) }
  const long = { getX: answering(() => ({ status: 200, body })) }
  const { port } = await serve(t, {
    ...long,
    getY: route({
      method: 'GET',
      path: '/api/y',
      ...anyone,
      responses: { 200: s.json() },
      handle: async () => ({ status: 200, body: 'short' }),
    }),
  })
  const ask = async (path: string, accept: string): Promise<{ head: string; body: Buffer }> => {
    const received = await (await rawClient(port))
      .send(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAccept-Encoding: ${accept}\r\n\r\n`)
      .closed()
    const at = received.indexOf('\r\n\r\n')
    return { head: received.slice(0, at).toLowerCase(), body: Buffer.from(received.slice(at + 4), 'latin1') }
  }
  const text = JSON.stringify(body)
  const zipped = await ask('/api/x', 'gzip, deflate')
  t.regex(zipped.head, /content-encoding: gzip[\s\S]*vary|vary[\s\S]*content-encoding: gzip/)
  t.is(gunzipSync(zipped.body).toString(), text)
  t.is(brotliDecompressSync((await ask('/api/x', 'gzip, br;q=0.5')).body).toString(), text)
  for (const accept of ['identity', 'gzip;q=0', 'deflate', 'xgzip'])
    t.notRegex((await ask('/api/x', accept)).head, /content-encoding/, accept)
  t.notRegex((await ask('/api/y', 'gzip')).head, /content-encoding/)
})

test('only configured origins are allowed', async t => {
  const origin = 'https://app.example.org'
  const ask = async (allowedOrigins: string[], method = 'GET') =>
    (await get(t, effects, '/api/plain/1', { method, headers: { origin } }, { config: { allowedOrigins } })).headers
  t.is((await ask([])).get('access-control-allow-origin'), null)
  t.is((await ask(['https://other.example'])).get('access-control-allow-origin'), null)
  const named = await ask([origin])
  t.is(named.get('access-control-allow-origin'), origin)
  t.is(named.get('access-control-allow-credentials'), null)
  t.regex(named.get('vary') ?? '', /Origin/)
  t.is((await ask(['*'])).get('access-control-allow-origin'), '*')
  const allowed = (await ask([origin], 'OPTIONS')).get('access-control-allow-headers')?.split(', ') ?? []
  const sent = ['X-API-Key', 'Range', 'If-Range', 'If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since']
  t.deepEqual(
    sent.filter(name => !allowed.includes(name)),
    [],
  )
})

test('health is public, readiness shows its details only to server admins', async t => {
  const report = { ready: false, plugins: [{ id: 'documents.sqlite', ok: false, message: 'disk I/O error' }], waiting: 3, parked: 1 }
  const away = { identify: async () => Promise.reject(new Unavailable('away')) }
  const options = { options: { readiness: async () => report } }
  t.is((await get(t, {}, '/healthz?key=x', {}, { ...options, callers: away })).text, 'healthy')
  const unknown = await get(t, {}, '/readyz', { headers: { 'x-api-key': 'admin' } }, { ...options, callers: away })
  t.deepEqual([unknown.status, JSON.parse(unknown.text)], [503, { ready: false }])
  const shown = await get(t, {}, '/readyz', { headers: { 'x-api-key': 'admin' } }, { ...options, callers })
  t.deepEqual(JSON.parse(shown.text), report)
  t.deepEqual(JSON.parse((await get(t, {}, '/readyz', { headers: { 'x-api-key': 'ann' } }, { ...options, callers })).text), {
    ready: false,
  })
})

test('the API is documented at /openapi.json and /docs, and / redirects there unless a plugin has that route', async t => {
  t.is((JSON.parse((await get(t, effects, '/openapi.json')).text) as { openapi: string }).openapi, '3.0.1')
  const page = await get(t, effects, '/docs')
  const [, nonce = ''] = /script-src 'nonce-([^']{20,})';/.exec(page.headers.get('content-security-policy') ?? '') ?? []
  t.deepEqual(
    [...page.text.matchAll(/<script nonce="([^"]+)" src="docs\/[\w.-]+"><\/script>/g)].map(found => found[1]),
    [nonce, nonce],
  )
  t.not((await get(t, effects, '/docs')).headers.get('content-security-policy'), page.headers.get('content-security-policy'))
  t.notRegex(page.text, /<script>|style=|onload/)
  for (const [, file = ''] of page.text.matchAll(/(?:src|href)="docs\/([^"]+)"/g))
    t.is((await get(t, effects, `/docs/${file}`)).status, 200, file)
  t.is((await get(t, effects, '/docs/..%2Fpackage.json')).status, 404)
  const root = await get(t, effects, '/')
  t.deepEqual([root.status, root.headers.get('location')], [302, 'docs'])
  const own = route({
    method: 'GET',
    path: '/',
    ...anyone,
    responses: { 200: s.text() },
    handle: async () => ({ status: 200, body: 'mine' }),
  })
  t.is((await get(t, { own }, '/')).text, 'mine')
})

test('metrics are served if enabled, to server admins or with the token', async t => {
  t.is((await get(t, {}, '/metrics')).status, 404)
  const scrape = async () => ({ contentType: 'text/plain; version=0.0.4', text: 'up 1\n' })
  const given: ServeOptions = { config: { metrics: true }, options: { scrape }, callers }
  const requested = async (headers: Record<string, string>, options: ServeOptions) =>
    (await get(t, {}, '/metrics', { headers }, options)).status
  const { text, headers } = await get(t, {}, '/metrics', { headers: { 'x-api-key': 'admin' } }, given)
  t.deepEqual([text, headers.get('content-type')], ['up 1\n', 'text/plain; version=0.0.4'])
  t.is(await requested({}, given), 401)
  t.is(await requested({ 'x-api-key': 'ann' }, given), 403)
  const withToken: ServeOptions = { ...given, options: { scrape, metricsToken: 'a token of the scraper' } }
  t.is(await requested({ authorization: 'Bearer a token of the scraper' }, withToken), 200)
  for (const authorization of ['Bearer a token of the scrapes', 'Bearer', 'Basic YTpi', 'a token of the scraper'])
    t.is(await requested({ authorization }, withToken), 401, authorization)
  t.is(await requested({}, withToken), 401)
})

test('a reverse proxy that is not configured is logged once', async t => {
  const warnings: string[] = []
  const log: Log = { ...silent, warn: message => void warnings.push(message) }
  const forwarded = { 'x-forwarded-for': '198.51.100.7' }
  for (const [trustedProxies, expected] of [
    [1, 0],
    [0, 1],
  ] as const) {
    const { url } = await serve(t, effects, { config: { trustedProxies }, options: { log } })
    for (const headers of [{}, forwarded, forwarded]) await (await fetch(`${url}/healthz`, { headers })).text()
    t.is(warnings.length, expected)
  }
  t.regex(warnings[0] ?? '', /http\.trustedProxies/)
})

test('neither a log line nor a response contains a key', async t => {
  const lines: string[] = []
  const keep = (message: string, fields?: object): void => {
    lines.push(JSON.stringify([message, fields, (fields as { error?: Error } | undefined)?.error?.stack]))
  }
  const log: Log = { debug: keep, info: keep, warn: keep, error: keep }
  const routes = { getX: failing(new Error('bug')), plain: effects['plain'] as Route }
  for (const path of ['/api/x?key=TopSecret', '/api/plain/1?a=1&key=TopSecret&b=2', '/api/nowhere?k%65y=TopSecret']) {
    t.notRegex((await get(t, routes, path, {}, { options: { log }, callers })).text, /TopSecret/)
  }
  t.true(lines.length >= 3)
  t.notRegex(lines.join('\n'), /TopSecret/)
})

test('a port in use gives a readable error', async t => {
  const { port } = await serve(t, {})
  const second = createHttp(httpOptions({}, { config: { port } }))
  await t.throwsAsync(second.listen(), { message: new RegExp(`Port ${port} of 127\\.0\\.0\\.1 is already in use`) })
})

test('a host without an address is reported by name', async t => {
  const server = createHttp(httpOptions({}, { config: { host: 'nowhere.invalid' } }))
  await t.throwsAsync(server.listen(), { message: /http\.host: nowhere\.invalid has no address/ })
})
