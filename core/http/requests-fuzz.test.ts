import test from 'ava'
import fc from 'fast-check'
import { type Bytes, type Log, multipart, type Route, routesFor, s } from 'pounce/sdk'
import { silent, usualOrFull } from 'pounce/sdk/testing'
import { callers } from './testing/people.ts'
import { rawClient } from './testing/raw-client.ts'
import { serve } from './testing/serve.ts'

const route = routesFor('things', {})
const anyone = { summary: 'x', permission: 'anyone' } as const

const routes: Record<string, Route> = {
  list: route({
    method: 'GET',
    path: '/api/things/:id',
    ...anyone,
    params: s.Object({ id: s.String({ maxLength: 20 }) }),
    query: s.Object({
      limit: s.Integer({ default: 1, maximum: 9 }),
      tag: s.Optional(s.repeated(s.String())),
      deep: s.flag(false),
      space: s.Optional(s.id()),
    }),
    responses: { 200: s.json() },
    handle: async ({ params, query, url }) => ({ status: 200, body: { params, query, url: url.href } }),
  }),
  bytes: route({
    method: 'GET',
    path: '/api/bytes/:rest*',
    ...anyone,
    params: s.Object({ rest: s.String() }),
    responses: { 200: s.bytes<Bytes>() },
    handle: async ({ params }) => {
      const bytes = Buffer.from('0123456789')
      const { Readable } = await import('node:stream')
      return {
        status: 200,
        body: {
          open: range => Readable.from([range ? bytes.subarray(range.start, range.end + 1) : bytes]),
          sizeBytes: 10,
          contentType: params.rest,
          filename: params.rest,
          sha256: 'ab'.repeat(32),
          inline: true,
        },
      }
    },
  }),
  make: route({
    method: 'POST',
    path: '/api/things',
    ...anyone,
    body: s.Object({ name: s.line() }),
    responses: { 200: s.json() },
    handle: async ({ body }) => ({ status: 200, body }),
  }),
  send: route({
    method: 'PUT',
    path: '/api/things',
    ...anyone,
    body: multipart('anything'),
    responses: { 200: s.json() },
    async handle({ body }) {
      let count = 0
      for await (const part of body) count += part.kind === 'file' ? (await part.stream.toArray()).length : 1
      return { status: 200, body: count }
    },
  }),
}

const piece = fc.constantFrom(
  '/',
  '/api',
  '/things',
  '/bytes',
  '/docs',
  '%2F',
  '%00',
  '%zz',
  '..',
  '?',
  '&',
  '=',
  'limit',
  'tag',
  'key',
  'deep',
  '1',
  '-1',
  'true',
  '__proto__',
  'constructor',
  '+',
  ';',
  '#',
  '\\',
  'ä',
  '*',
  ':',
  '//x',
  'a'.repeat(24),
)
const target = fc.oneof(
  fc.array(piece, { maxLength: 8 }).map(pieces => `/${pieces.join('')}`),
  fc.array(piece, { maxLength: 4 }).map(pieces => `/api/things/1?${pieces.join('')}`),
  fc.array(piece, { maxLength: 4 }).map(pieces => `/api/bytes/${pieces.join('')}`),
  fc.constantFrom('*', 'http://other.example/api/things/1', '/api/things'),
)
const value = fc.oneof(
  fc.constantFrom(
    '',
    'bytes=0-4',
    'bytes=-',
    'bytes=99-',
    'Basic x',
    'Bearer ',
    'application/json',
    'multipart/form-data; boundary=x',
    'multipart/form-data; boundary=""',
    'text/html',
    'gzip;q=0, br',
    '"abc"',
    'Mon, 99 Foo',
    '__Host-pounce_session=x; =; superAdmin=true',
    '100-continue',
    'null',
  ),
  fc.stringMatching(/^[\x21-\x7e]{0,30}$/),
)
const names = [
  'Range',
  'If-Range',
  'If-None-Match',
  'If-Modified-Since',
  'Authorization',
  'X-API-Key',
  'Cookie',
  'Accept',
  'Accept-Encoding',
  'Content-Type',
  'Content-Encoding',
  'Origin',
  'Expect',
  'X-Forwarded-For',
]
const headers = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 4 })
const body = fc.oneof(
  fc.constant(''),
  fc.json(),
  fc.string(),
  fc.constantFrom('--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n', '--x--', '{"__proto__":1}', '{"name":', '[[[['),
)
const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE')

test('no request makes the server fail or hang', async t => {
  const bugs: unknown[] = []
  const log: Log = { ...silent, error: (message, fields) => bugs.push(message, fields) }
  const { port } = await serve(t, routes, { callers, config: { trustedProxies: 1, allowedOrigins: ['null'] }, options: { log } })
  const property = fc.asyncProperty(method, target, headers, body, async (verb, path, fields, text) => {
    const client = await rawClient(port)
    const lines = [
      `${verb} ${path} HTTP/1.1`,
      'Host: x',
      'Connection: close',
      `Content-Length: ${Buffer.byteLength(text)}`,
      ...fields.map(([name, content]) => `${name}: ${content}`),
    ]
    client.send(`${lines.join('\r\n')}\r\n\r\n${text}`)
    const received = await client.closed()
    const [, status = ''] = /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 (\d{3}) /.exec(received) ?? []
    if (!/^[234]/.test(status) || bugs.length > 0)
      throw new Error(
        `${received.slice(0, 300)} ${JSON.stringify(bugs)} ${String((bugs[1] as { error?: Error } | undefined)?.error?.stack)}`,
      )
  })
  await t.notThrowsAsync(fc.assert(property, { numRuns: usualOrFull(400, 1500) }))
})
