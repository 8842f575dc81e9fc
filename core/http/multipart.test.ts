import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { multipart, type Route, routesFor, s } from 'pounce/sdk'
import { rawClient } from './testing/raw-client.ts'
import { serve } from './testing/serve.ts'

const route = routesFor('files', {})
const responses = { 200: s.json() }

/** The result of an upload in the handler. */
interface Seen {
  failure: unknown
}

const uploads = (seen: Seen): Record<string, Route> => ({
  read: route({
    method: 'POST',
    path: '/read',
    summary: 'x',
    permission: 'anyone',
    body: multipart('parts', 5),
    responses,
    async handle({ body }) {
      const parts: unknown[] = []
      for await (const part of body) {
        if (part.kind === 'field') parts.push([part.field, part.value])
        else {
          const hash = createHash('sha256')
          let size = 0
          try {
            for await (const chunk of part.stream) {
              hash.update(chunk)
              size += chunk.length
            }
          } catch (error) {
            seen.failure = error
            throw error
          }
          parts.push([part.field, part.filename, part.contentType, size, hash.digest('hex').slice(0, 8)])
        }
      }
      return { status: 200, body: parts }
    },
  }),
  skip: route({
    method: 'POST',
    path: '/skip',
    summary: 'x',
    permission: 'anyone',
    body: multipart('parts'),
    responses,
    async handle({ body }) {
      const names: string[] = []
      for await (const part of body) {
        names.push(part.field)
        if (part.kind === 'file' && part.field === 'b') part.skip()
      }
      return { status: 200, body: names }
    },
  }),
  late: route({
    method: 'POST',
    path: '/late',
    summary: 'x',
    permission: 'anyone',
    body: multipart('parts'),
    responses,
    async handle({ body }) {
      for await (const part of body) {
        await pause(500)
        if (part.kind === 'file') for await (const _ of part.stream);
      }
      return { status: 200, body: 'all' }
    },
  }),
  first: route({
    method: 'POST',
    path: '/first',
    summary: 'x',
    permission: 'anyone',
    body: multipart('parts'),
    responses,
    async handle({ body }) {
      for await (const part of body) return { status: 200, body: part.field }
      return { status: 200, body: 'none' }
    },
  }),
})

const boundary = 'XyZ'
const type = { 'content-type': `multipart/form-data; boundary=${boundary}` }
const part = (disposition: string, content: string, more = ''): string =>
  `--${boundary}\r\nContent-Disposition: ${disposition}\r\n${more}\r\n${content}\r\n`
const end = `--${boundary}--\r\n`

const server = async (t: ExecutionContext, silentTransferMs = 60_000) => {
  const seen: Seen = { failure: undefined }
  const { url, port } = await serve(t, uploads(seen), { config: { silentTransferMs } })
  const post = async (body: RequestInit['body'], path = '/read', headers: Record<string, string> = type) => {
    const response = await fetch(url + path, { method: 'POST', headers, body: body ?? null })
    return { status: response.status, json: (await response.json()) as { message?: string; code?: string } }
  }
  return { post, port, url, seen }
}

test('fields and files come in order, with names and types as sent', async t => {
  const { post } = await server(t)
  const body = [
    part('form-data; name="first"', 'eins'),
    part('form-data; name="File"; filename="a.txt"', 'hello', 'Content-Type: text/plain; charset=utf-8\r\n'),
    part('form-data; name="naïve"', 'größer'),
    part('form-data; name=File; filename=b', ''),
  ].join('')
  const { json } = await post(body + end)
  t.deepEqual(json as unknown, [
    ['first', 'eins'],
    ['File', 'a.txt', 'text/plain; charset=utf-8', 5, '2cf24dba'],
    ['naïve', 'größer'],
    ['File', 'b', 'application/octet-stream', 0, 'e3b0c442'],
  ])
})

test('file names: UTF-8, encoded, with a path, with quotes', async t => {
  const { post } = await server(t)
  const expected: readonly [string, string][] = [
    ['filename="данные 数据.csv"', 'данные 数据.csv'],
    [`filename="x.txt"; filename*=UTF-8''na%C3%AFve%20%E2%82%AC.txt`, 'naïve €.txt'],
    [`filename*=utf-8''only.txt`, 'only.txt'],
    [`filename*=ISO-8859-1''caf%e9.txt`, 'café.txt'],
    ['filename="C:\\Users\\ann\\report.doc"', 'report.doc'],
    ['filename="../../etc/passwd"', 'passwd'],
    ['filename="with \\"quotes\\".txt"', 'with "quotes".txt'],
    ['filename="with %22quotes%22 of 100%.txt"', 'with "quotes" of 100%.txt'],
    ['filename="50%25 %2F %0A.txt"', '50%25 %2F %0A.txt'],
    ['filename=""', ''],
  ]
  for (const [sent, name] of expected) {
    const { status, json } = await post(part(`form-data; name="f"; ${sent}`, 'x') + end)
    t.is(status, 200, sent)
    t.is((json as unknown as string[][])[0]?.[1], name, sent)
  }
})

test('bad part headers are refused', async t => {
  const { post } = await server(t)
  const bad: readonly [string, RegExp][] = [
    [part('form-data; name="f"; filename="a\u0007b"', 'x'), /control characters/],
    [part(`form-data; name="f"; filename*=UTF-8''a%00b`, 'x'), /control characters/],
    [part(`form-data; name="f"; filename*=UTF-8''%zz`, 'x'), /RFC 5987/],
    [part(`form-data; name="f"; filename="${'a'.repeat(256)}"`, 'x'), /at most 255 characters/],
    [part('form-data; name="f"; filename=".."', 'x'), /cannot be named/],
    [part(`form-data; name="${'n'.repeat(256)}"`, 'x'), /at most 255 characters/],
    [part('form-data', 'x'), /with a name/],
    [part('attachment; name="f"', 'x'), /with a name/],
    [`--${boundary}\r\nContent-Type: text/plain\r\n\r\nx\r\n`, /Content-Disposition/],
    [`--${boundary}\r\n`, /header|complete/],
  ]
  for (const [body, message] of bad) {
    const { status, json } = await post(body + end)
    t.is(status, 400, body.slice(0, 80))
    t.regex(json.message ?? '', message)
  }
})

test('a field that is not UTF-8 or too large is refused', async t => {
  const { post } = await server(t)
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="f"\r\n\r\n`
  const latin = Buffer.concat([Buffer.from(head), Buffer.from([0xe9]), Buffer.from(`\r\n${end}`)])
  t.is((await post(latin)).status, 400)
  const large = await post(part('form-data; name="f"', 'x'.repeat(1024 * 1024 + 1)) + end)
  t.is(large.status, 413)
  t.is((await post(part('form-data; name="f"', 'x'.repeat(1024 * 1024)) + end)).status, 200)
})

test('parts beyond the limit are refused', async t => {
  const { post } = await server(t)
  const field = part('form-data; name="f"', 'x')
  t.is((await post(field.repeat(5) + end)).status, 200)
  const { status, json } = await post(field.repeat(6) + end)
  t.is(status, 413)
  t.regex(json.message ?? '', /at most 5 parts/)
})

/** The status of an upload whose chunks are sent one after another. */
const sendChunks = (url: string, chunks: readonly string[]): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const sending = request(url, { method: 'POST', headers: { ...type, 'content-length': chunks.join('').length } }, response => {
      response.resume()
      resolve(response.statusCode)
    })
    sending.on('error', reject)
    const send = async (): Promise<void> => {
      for (const chunk of chunks) {
        sending.write(chunk)
        await pause(30)
      }
      sending.end()
    }
    void send()
  })

/** Splits a body at offsets. */
const cutAt = (body: string, ...cuts: readonly number[]): readonly string[] =>
  [...cuts, body.length].map((cut, at) => body.slice(cuts[at - 1] ?? 0, cut))

test('chunks that each end inside the header of another part are no endless header', async t => {
  const { url } = await server(t)
  const file = part('form-data; name="f"; filename="a"', 'x'.repeat(20_000))
  // Each begins and ends in the middle of a line of a header.
  const cuts = [0, 1, 2, 3, 4].map(at => at * file.length + 30)
  t.is(await sendChunks(`${url}/read`, cutAt(file.repeat(5) + end, ...cuts)), 200)
})

test('chunks that wait behind a slow handler inside a header are no endless header', async t => {
  const { url } = await server(t)
  const [large, small] = [135_000, 60_000].map(size => part('form-data; name="f"; filename="a"', 'x'.repeat(size))) as [string, string]
  // The parser pauses in the chunk that ends inside the second header; the next ones contain the end of the header.
  const cuts = [60_000, 66_000, 120_000, large.length + 30, large.length + 20_000, large.length + 40_000]
  t.is(await sendChunks(`${url}/late`, cutAt(large + small + end, ...cuts)), 200)
})

test('part headers beyond the limits are refused, even if they never end', async t => {
  const { post } = await server(t)
  const file = (headers: string): string => part('form-data; name="f"; filename="a"', 'x', headers)
  t.is((await post(file(`X: ${'a'.repeat(16_000)}\r\n`) + end)).status, 200)
  t.is((await post(file('X: a\r\n'.repeat(49)) + end)).status, 200)
  for (const headers of [`X: ${'a'.repeat(17_000)}\r\n`, `X: ${'a'.repeat(4 * 1024 * 1024)}\r\n`, 'X: a\r\n'.repeat(50)]) {
    const { status, json } = await post(file(headers) + end)
    t.is(status, 413, `${headers.length} characters`)
    t.regex(json.message ?? '', /headers of a part must be at most/)
  }
})

test('another media type is 415, a missing boundary 400', async t => {
  const { post } = await server(t)
  t.is((await post('{}', '/read', { 'content-type': 'application/json' })).status, 415)
  t.is((await post('x', '/read', { 'content-type': 'multipart/form-data' })).status, 400)
  t.is((await post('x', '/read', { ...type, 'content-encoding': 'gzip' })).status, 415)
})

test('a body that ends before its last boundary is refused, and so is the open file', async t => {
  const { post, seen } = await server(t)
  const file = part('form-data; name="f"; filename="a"', 'x'.repeat(100_000))
  for (const body of [
    '',
    'no boundary at all',
    `--${boundary}`,
    `--${boundary}\r\nContent-Disp`,
    file,
    file.slice(0, 500),
    `${file}--${boundary}`,
  ]) {
    const { status, json } = await post(body)
    t.is(status, 400, body.slice(-30))
    t.is(json.code, 'invalid')
  }
  t.is((seen.failure as { code?: string }).code, 'invalid')
})

test('reading a file fails if its client disconnects before the end', async t => {
  const { port, seen } = await server(t)
  const client = await rawClient(port)
  client.send(`POST /read HTTP/1.1\r\nHost: x\r\nContent-Type: ${type['content-type']}\r\nContent-Length: 100000\r\n\r\n`)
  client.send(part('form-data; name="f"; filename="a"', 'half of it'))
  client.socket.end()
  await client.closed()
  while (seen.failure === undefined) await new Promise(setImmediate)
  t.is((seen.failure as { code?: string }).code, 'invalid')
})

test('the connection of a client that stalls mid-file is closed', async t => {
  const { port, seen } = await server(t, 500)
  const client = await rawClient(port)
  client.send(`POST /read HTTP/1.1\r\nHost: x\r\nContent-Type: ${type['content-type']}\r\nContent-Length: 100000\r\n\r\n`)
  client.send(part('form-data; name="f"; filename="a"', 'half of it'))
  t.is(await client.closed(), '')
  while (seen.failure === undefined) await new Promise(setImmediate)
  t.is((seen.failure as { code?: string }).code, 'invalid')
})

test('an unread part is skipped', async t => {
  const { post } = await server(t)
  const big = 'x'.repeat(2_000_000)
  const body =
    [part('form-data; name="a"; filename="a"', big), part('form-data; name="b"; filename="b"', big), part('form-data; name="c"', 'y')].join(
      '',
    ) + end
  t.deepEqual((await post(body, '/skip')).json as unknown, ['a', 'b', 'c'])
})

test('a handler that stops early responds immediately, and the client gets the response while it is still sending', async t => {
  const { port } = await server(t)
  const client = await rawClient(port)
  client.send(`POST /first HTTP/1.1\r\nHost: x\r\nContent-Type: ${type['content-type']}\r\nContent-Length: 5000000\r\n\r\n`)
  client.send(part('form-data; name="a"; filename="a"', ''))
  await client.receives(/"a"$/)
  client.send(Buffer.alloc(1_000_000))
  t.regex(client.received, /^HTTP\/1\.1 200 OK\r\n[\s\S]*Connection: close/i)
  client.socket.destroy()
})

test('content similar to a boundary is preserved, regardless of chunk boundaries', async t => {
  const { port } = await server(t)
  const content = `\r\n--Xy\r\n--${boundary}\r--${boundary.slice(1)}\r\n-`
  const body = part('form-data; name="f"; filename="a"', content.replaceAll(`\r\n--${boundary}`, '\r\n--Xy')) + end
  const client = await rawClient(port)
  client.send(
    `POST /read HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ${type['content-type']}\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  for (const byte of body) {
    client.send(byte)
    await new Promise(setImmediate)
  }
  t.regex(
    await client.closed(),
    new RegExp(`"a","application/octet-stream",${content.replaceAll(`\r\n--${boundary}`, '\r\n--Xy').length},`),
  )
})

test('a slow handler causes back-pressure on the sender', async t => {
  const gate = Promise.withResolvers<void>()
  const slow = route({
    method: 'POST',
    path: '/slow',
    summary: 'x',
    permission: 'anyone',
    body: multipart('parts'),
    responses,
    async handle({ body }) {
      let size = 0
      for await (const each of body) {
        if (each.kind !== 'file') continue
        await gate.promise
        for await (const chunk of each.stream) size += chunk.length
      }
      return { status: 200, body: size }
    },
  })
  const { port } = await serve(t, { slow })
  const client = await rawClient(port)
  const total = 64 * 1024 * 1024
  const head = part('form-data; name="f"; filename="a"', '').slice(0, -2)
  const tail = `\r\n${end}`
  client.send(
    `POST /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ${type['content-type']}\r\nContent-Length: ${head.length + total + tail.length}\r\n\r\n${head}`,
  )
  const chunk = Buffer.alloc(1024 * 1024, 'x')
  let sent = 0
  while (client.socket.write(chunk)) sent += chunk.length
  // The operating system's buffers hold some megabytes; the rest waits on the client's side.
  t.true(client.socket.bytesWritten - client.socket.writableLength < total / 2)
  gate.resolve()
  await once(client.socket, 'drain')
  sent += chunk.length
  while (sent < total) {
    if (!client.socket.write(chunk)) await once(client.socket, 'drain')
    sent += chunk.length
  }
  client.send(tail)
  t.regex(await client.closed(), new RegExp(`\r\n\r\n${total}$`))
})
