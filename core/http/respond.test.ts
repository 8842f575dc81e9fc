import { createHash } from 'node:crypto'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import test, { type ExecutionContext } from 'ava'
import { type ByteRange, type Bytes, CorruptContent, type Route, routesFor, s, Unavailable } from 'pounce/sdk'
import { recordingLog } from '../../test/support/recording-log.ts'
import { rawClient } from './testing/raw-client.ts'
import { serve } from './testing/serve.ts'

const route = routesFor('files', {})
const content = Buffer.from('The quick brown fox jumps over the lazy dog')
const sha256 = createHash('sha256').update(content).digest('hex')
const etag = `"${sha256}"`
const lastModified = new Date('2026-01-05T10:00:00.500Z')

const stored: Bytes = {
  open: (range?: ByteRange) => Readable.from([range ? content.subarray(range.start, range.end + 1) : content]),
  sizeBytes: content.length,
  contentType: 'text/plain',
  sha256,
  lastModified,
}

const answering = (body: unknown, headers?: Record<string, string>): Route =>
  route({
    method: 'GET',
    path: '/bytes',
    summary: 'x',
    permission: 'anyone',
    responses: { 200: s.bytes<unknown>() },
    handle: async () => ({ status: 200, body, ...(headers ? { headers } : {}) }),
  })

const get = async (
  t: ExecutionContext,
  body: unknown,
  headers: Record<string, string> = {},
  more: { method?: string; reply?: Record<string, string> } = {},
) => {
  const { url } = await serve(t, { getBytes: answering(body, more.reply) })
  const response = await fetch(`${url}/bytes`, { headers, method: more.method ?? 'GET' })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

test('complete bytes are sent with length, digest and caching headers', async t => {
  const { status, text, headers } = await get(t, stored)
  t.is(status, 200)
  t.is(text, content.toString())
  t.is(headers.get('content-length'), String(content.length))
  t.is(headers.get('etag'), etag)
  t.is(headers.get('repr-digest'), `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`)
  t.is(headers.get('last-modified'), 'Mon, 05 Jan 2026 10:00:00 GMT')
  t.is(headers.get('accept-ranges'), 'bytes')
  t.regex(headers.get('cache-control') ?? '', /private/)
})

test('uploaded bytes are not served as scripts or styles, and other sites cannot embed them', async t => {
  const uploaded = { ...stored, contentType: 'text/javascript', inline: true }
  const { status, headers } = await get(t, uploaded)
  t.is(status, 200)
  t.is(headers.get('cross-origin-resource-policy'), 'same-origin')
  t.regex(headers.get('content-security-policy') ?? '', /^sandbox/)
  for (const destination of ['script', 'worker', 'serviceworker', 'style']) {
    const refused = await get(t, uploaded, { 'sec-fetch-dest': destination })
    t.is(refused.status, 403, destination)
    t.false(refused.text.includes('quick'))
  }
  for (const destination of ['image', 'empty', 'document']) t.is((await get(t, uploaded, { 'sec-fetch-dest': destination })).status, 200)
  t.is((await get(t, { ...uploaded, isTrusted: true }, { 'sec-fetch-dest': 'script' })).status, 200)
})

test('our pages run the scripts that their policy allows, and no uploaded ones', async t => {
  const { headers } = await get(t, { ...stored, contentType: 'text/html', isTrusted: true })
  t.regex(headers.get('content-security-policy') ?? '', /script-src 'none'/)
  t.is(headers.get('cross-origin-opener-policy'), 'same-origin')
  t.is(headers.get('referrer-policy'), 'same-origin')
  t.is(headers.get('strict-transport-security'), 'max-age=31536000')
})

test('a range request gets the range', async t => {
  const last = content.length - 1
  const expected: readonly [string, string, string][] = [
    ['bytes=4-8', 'quick', `bytes 4-8/${content.length}`],
    ['bytes=40-', content.subarray(40).toString(), `bytes 40-${last}/${content.length}`],
    ['bytes=-3', 'dog', `bytes ${content.length - 3}-${last}/${content.length}`],
    ['bytes=-9999', content.toString(), `bytes 0-${last}/${content.length}`],
    ['bytes=0-0', 'T', `bytes 0-0/${content.length}`],
    ['bytes=40-99999', content.subarray(40).toString(), `bytes 40-${last}/${content.length}`],
  ]
  for (const [range, text, contentRange] of expected) {
    const answer = await get(t, stored, { range })
    t.deepEqual([answer.status, answer.text, answer.headers.get('content-range')], [206, text, contentRange], range)
    t.is(answer.headers.get('content-length'), String(text.length))
  }
})

test('an unsatisfiable range is 416 with the length', async t => {
  for (const range of [`bytes=${content.length}-`, 'bytes=99999-', 'bytes=-0']) {
    const { status, headers, text } = await get(t, stored, { range })
    t.is(status, 416, range)
    t.is(headers.get('content-range'), `bytes */${content.length}`)
    t.is((JSON.parse(text) as { code: string }).code, 'no-such-range')
  }
})

test('unsupported ranges get the complete bytes', async t => {
  for (const range of ['bytes=0-1,4-5', 'bytes=5-2', 'lines=1-2', 'bytes=a-b', 'bytes=-', ''])
    t.is((await get(t, stored, { range })).status, 200, range)
})

test('a range is only served for the version that the client has', async t => {
  const range = 'bytes=4-8'
  for (const [condition, status] of [
    [etag, 206],
    ['"other"', 200],
    [`W/${etag}`, 200],
    ['Mon, 05 Jan 2026 10:00:00 GMT', 206],
    ['Mon, 05 Jan 2026 09:00:00 GMT', 200],
  ] as const) {
    t.is((await get(t, stored, { range, 'if-range': condition })).status, status, condition)
  }
})

test('bytes that do not match the precondition are refused without opening them', async t => {
  const closed: Bytes = { ...stored, open: () => t.fail('opened') as never }
  for (const headers of [
    { 'if-match': '"other"' },
    { 'if-match': `W/${etag}` },
    { 'if-unmodified-since': 'Mon, 05 Jan 2026 09:00:00 GMT' },
  ]) {
    const answer = await get(t, closed, headers as Record<string, string>)
    t.deepEqual([answer.status, (JSON.parse(answer.text) as { code: string }).code, answer.headers.get('etag')], [412, 'changed', etag])
  }
  for (const headers of [
    { 'if-match': `"other", ${etag}` },
    { 'if-match': '*' },
    { 'if-unmodified-since': 'Mon, 05 Jan 2026 10:00:00 GMT' },
    { 'if-unmodified-since': 'nonsense' },
    { 'want-repr-digest': 'sha-512=10, sha-256=0' },
  ]) {
    t.is((await get(t, stored, headers as Record<string, string>)).status, 200)
  }
})

test('generated bytes have the given tag, and no digest', async t => {
  const { sha256: _, lastModified: _at, ...rest } = stored
  const generated = { ...rest, etag: 'x-1_' }
  const whole = await get(t, generated)
  t.deepEqual([whole.headers.get('etag'), whole.headers.get('repr-digest')], ['"x-1_"', null])
  t.is((await get(t, generated, { 'if-none-match': '"x-1_"' })).status, 304)
  t.is((await get(t, generated, { 'if-none-match': '"x-1_y"' })).status, 200)
  t.is((await get(t, generated, { range: 'bytes=4-8', 'if-range': '"x-1_"' })).status, 206)
  t.is((await get(t, generated, { range: 'bytes=4-8', 'if-range': '"x"' })).status, 200)
})

test('HEAD returns the headers of the complete response, even with a range', async t => {
  const { status, headers } = await get(t, stored, { range: 'bytes=4-8' }, { method: 'HEAD' })
  t.deepEqual([status, headers.get('content-length'), headers.get('content-range')], [200, String(content.length), null])
})

test('bytes that the client already has are neither sent nor opened', async t => {
  const closed: Bytes = { ...stored, open: () => t.fail('opened') as never }
  for (const headers of [
    { 'if-none-match': etag },
    { 'if-none-match': `"x", W/${etag}` },
    { 'if-none-match': '*' },
    { 'if-modified-since': 'Mon, 05 Jan 2026 10:00:00 GMT' },
  ]) {
    const answer = await get(t, closed, headers as Record<string, string>)
    t.deepEqual([answer.status, answer.text, answer.headers.get('etag')], [304, '', etag])
  }
  t.is((await get(t, stored, { 'if-none-match': '"x"', 'if-modified-since': 'Mon, 05 Jan 2027 10:00:00 GMT' })).status, 200)
  t.is((await get(t, stored, { 'if-modified-since': 'nonsense' })).status, 200)
})

test('HEAD sends all headers and opens nothing', async t => {
  const closed: Bytes = { ...stored, open: () => t.fail('opened') as never }
  const { status, text, headers } = await get(t, closed, {}, { method: 'HEAD' })
  t.deepEqual([status, text, headers.get('content-length'), headers.get('etag')], [200, '', String(content.length), etag])
})

test('bytes are sandboxed and sent as attachments; harmless types may be displayed', async t => {
  const shown = async (contentType: string, inline: boolean): Promise<string | null> =>
    (await get(t, { ...stored, contentType, inline })).headers.get('content-disposition')
  for (const type of ['image/png', 'image/jpeg', 'video/mp4', 'text/plain; charset=utf-8', 'application/pdf']) {
    t.is(await shown(type, true), 'inline', type)
    t.is(await shown(type, false), 'attachment', type)
  }
  for (const type of [
    'text/html',
    'image/svg+xml',
    'application/xhtml+xml',
    'text/xml',
    'application/javascript',
    'nonsense',
    'text/html\r\nx: y',
    'image/png, text/html',
  ]) {
    t.is(await shown(type, true), 'attachment', type)
  }
  const { headers } = await get(t, { ...stored, contentType: 'text/html' })
  t.is(headers.get('x-content-type-options'), 'nosniff')
  t.is(headers.get('content-security-policy'), "sandbox; default-src 'none'")
  t.is((await get(t, { ...stored, contentType: 'no type' })).headers.get('content-type'), 'application/octet-stream')
})

test('download names are sent in both forms, and cannot inject into the header', async t => {
  const named = async (filename: string, inline = false): Promise<string | null> =>
    (await get(t, { ...stored, filename, inline, contentType: 'image/png' })).headers.get('content-disposition')
  t.is(await named('plain name.txt'), `attachment; filename="plain name.txt"; filename*=UTF-8''plain%20name.txt`)
  t.is(await named('plain name.png', true), 'inline; filename="plain name.png"')
  t.is(await named('naïve.png', true), `inline; filename="na_ve.png"; filename*=UTF-8''na%C3%AFve.png`)
  t.is(await named('naïve €.txt'), `attachment; filename="na_ve _.txt"; filename*=UTF-8''na%C3%AFve%20%E2%82%AC.txt`)
  t.is(await named('a"b\\c/d%.txt'), `attachment; filename="a_b_c_d_.txt"; filename*=UTF-8''a%22b_c_d%25.txt`)
  t.is(await named("o'neill (1)*.txt"), `attachment; filename="o'neill (1)*.txt"; filename*=UTF-8''o%27neill%20%281%29%2A.txt`)
  t.is(await named("é'()*"), `attachment; filename="_'()*"; filename*=UTF-8''%C3%A9%27%28%29%2A`)
  t.is(await named('a\r\nSet-Cookie: x'), `attachment; filename="a__Set-Cookie: x"; filename*=UTF-8''a__Set-Cookie%3A%20x`)
  t.is(await named('\ud800.txt'), `attachment; filename="_.txt"; filename*=UTF-8''%EF%BF%BD.txt`)
})

test('files of plugins are served with the policy for pages', async t => {
  const page: Bytes = { open: () => Readable.from(['<p>']), contentType: 'text/html; charset=utf-8', isTrusted: true }
  const { headers, text } = await get(t, page, {}, { reply: { 'Cache-Control': 'private, max-age=60' } })
  t.is(text, '<p>')
  t.regex(headers.get('content-security-policy') ?? '', /^default-src 'self'; (?!.*unsafe)/)
  t.is(headers.get('content-disposition'), null)
  t.is(headers.get('cache-control'), 'private, max-age=60')
})

test('a stream of unknown length is sent completely, without ranges', async t => {
  const { sizeBytes: _known, ...unsized } = stored
  const { status, text, headers } = await get(t, unsized, { range: 'bytes=0-1' })
  t.deepEqual([status, text, headers.get('accept-ranges'), headers.get('transfer-encoding')], [200, content.toString(), 'none', 'chunked'])
})

test('bytes may be a buffer or a stream', async t => {
  t.is((await get(t, content)).text, content.toString())
  t.is((await get(t, content, { range: 'bytes=4-8' })).text, 'quick')
  t.is((await get(t, Readable.from([content]))).text, content.toString())
  t.is((await get(t, Buffer.alloc(0))).headers.get('content-length'), '0')
  t.is((await get(t, 'text')).status, 500)
})

test('the error of a source that fails before its first byte is sent as a problem', async t => {
  const failing = (error: Error): Bytes => ({
    ...stored,
    open: () =>
      new Readable({
        read() {
          this.destroy(error)
        },
      }),
  })
  const away = await get(t, failing(new Unavailable('The bytes are unavailable')))
  t.is(away.status, 503)
  t.is(away.headers.get('etag'), null)
  t.is((JSON.parse((await get(t, failing(new CorruptContent()))).text) as { code: string }).code, 'content-corrupt')
  t.is((await get(t, { ...stored, open: () => Promise.reject(new Unavailable('away')) })).status, 503)
  t.is((await get(t, failing(new Error('bug')))).status, 500)
})

test('a stream that has already failed, or yields objects, is a 500', async t => {
  const failed = new Readable({ read: () => undefined }).on('error', () => undefined)
  failed.destroy(new Error('The file disappeared'))
  await new Promise(setImmediate)
  t.is((await get(t, failed)).status, 500)
  t.is((await get(t, Readable.from([{ name: 'a row' }]))).status, 500)
})

/** The result of a download for the client. */
const ending = (url: string): Promise<string> =>
  new Promise(resolve => {
    request(`${url}/bytes`, response => {
      let size = 0
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
      })
      response.on('error', () => resolve('broken'))
      response.on('end', () => resolve(`${response.statusCode} with ${size} bytes`))
    }).end()
  })

test('a source that fails later, or is shorter or longer than announced, closes the connection', async t => {
  const piece = Buffer.alloc(300_000, 'x')
  async function* failing(pieces: number): AsyncGenerator<Buffer> {
    for (let n = 0; n < pieces; n++) yield piece
    throw new CorruptContent()
  }
  const contentType = 'text/plain'
  const sources: readonly Bytes[] = [
    { open: () => Readable.from(failing(2)), sizeBytes: 900_000, contentType },
    // The number of bytes is correct, but the digest at the end is not.
    { open: () => Readable.from(failing(2)), sizeBytes: 600_000, contentType },
    { open: () => Readable.from([piece, piece]), sizeBytes: 900_000, contentType },
    { open: () => Readable.from([piece, piece, piece]), sizeBytes: 600_000, contentType },
    { open: () => Readable.from(failing(1)), contentType },
  ]
  for (const bytes of sources) {
    const { url } = await serve(t, { getBytes: answering(bytes) })
    t.is(await ending(url), 'broken')
  }
  const lengthInHeader = await serve(t, { getBytes: answering(Readable.from([piece, piece]), { 'Content-Length': '900000' }) })
  t.is(await ending(lengthInHeader.url), 'broken')
  const { url } = await serve(t, { getBytes: answering({ open: () => Readable.from([piece, piece]), sizeBytes: 600_000, contentType }) })
  t.is(await ending(url), '200 with 600000 bytes')
})

test('a header that cannot be sent is a 500', async t => {
  t.is((await get(t, stored, {}, { reply: { 'x-name': 'a\nb' } })).status, 500)
  t.is(
    (
      await get(
        t,
        { ...stored, open: () => Readable.from([content, content]), sizeBytes: content.length * 2 },
        {},
        { reply: { 'x-name': '€' } },
      )
    ).status,
    500,
  )
})

test('a client that disconnects ends the source', async t => {
  const source = Readable.from(endless())
  const { port } = await serve(t, { getBytes: answering({ open: () => source, contentType: 'text/plain' }) })
  const client = await rawClient(port)
  client.send('GET /bytes HTTP/1.1\r\nHost: x\r\n\r\n')
  await client.receives(/200 OK/)
  client.socket.destroy()
  while (!source.destroyed) await new Promise(setImmediate)
  t.true(source.destroyed)
})

test('a source that opens after its client has disconnected is ended', async t => {
  const source = Readable.from(endless())
  let requested: (signal: AbortSignal) => void = () => undefined
  const opening = new Promise<AbortSignal>(resolve => {
    requested = resolve
  })
  const getBytes = route({
    method: 'GET',
    path: '/bytes',
    summary: 'x',
    permission: 'anyone',
    responses: { 200: s.bytes<unknown>() },
    handle: async ({ signal }) => {
      const open = async (): Promise<Readable> => {
        requested(signal)
        while (!signal.aborted) await new Promise(setImmediate)
        return source
      }
      return { status: 200, body: { open, sizeBytes: 1_000_000, contentType: 'text/plain' } }
    },
  })
  const { port } = await serve(t, { getBytes })
  const client = await rawClient(port)
  client.send('GET /bytes HTTP/1.1\r\nHost: x\r\n\r\n')
  await opening
  client.socket.destroy()
  while (!source.destroyed) await new Promise(setImmediate)
  t.true(source.destroyed)
})

test('writing to a response after the client has disconnected is no error', async t => {
  const bytes: Bytes = { open: () => Readable.from(endless()), contentType: 'text/plain' }
  const { http, port } = await serve(t, { getBytes: answering(bytes) })
  const client = await rawClient(port)
  client.send('GET /bytes HTTP/1.1\r\nHost: x\r\n\r\n')
  await client.receives(/200 OK/)
  client.socket.resetAndDestroy()
  await http.drain(5000)
  t.true(client.socket.destroyed)
})

test('the connection of a stalled reader is closed, and the source ended', async t => {
  const source = Readable.from(endless())
  const { port } = await serve(
    t,
    { getBytes: answering({ open: () => source, contentType: 'text/plain' }) },
    { config: { silentTransferMs: 300 } },
  )
  const client = await rawClient(port)
  client.send('GET /bytes HTTP/1.1\r\nHost: x\r\n\r\n')
  await client.receives(/200 OK/)
  client.socket.pause()
  while (!source.destroyed) await new Promise(resolve => setTimeout(resolve, 20))
  t.true(source.destroyed)
  client.socket.destroy()
})

async function* endless(): AsyncGenerator<Buffer> {
  const chunk = Buffer.alloc(100_000)
  for (;;) yield chunk
}

test('only requests for complete attachments are redirected', async t => {
  const body = { ...stored, elsewhere: async () => 'https://elsewhere.example.org/bytes?signature=1' }
  const { url } = await serve(t, { getBytes: answering(body) })
  const ask = async (headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(`${url}/bytes`, { headers, method, redirect: 'manual' })
    await response.arrayBuffer()
    return response
  }
  const sent = await ask()
  t.is(sent.status, 302)
  t.is(sent.headers.get('location'), 'https://elsewhere.example.org/bytes?signature=1')
  t.is(sent.headers.get('cache-control'), 'no-store')
  t.is((await ask({ range: 'bytes=0-3' })).status, 206)
  t.is((await ask({ 'if-none-match': etag })).status, 304)
  t.is((await ask({}, 'HEAD')).status, 200)
  const shown = await serve(t, { getBytes: answering({ ...body, inline: true }) })
  t.is((await fetch(`${shown.url}/bytes`, { redirect: 'manual' })).status, 200)
  const none = await serve(t, { getBytes: answering({ ...stored, elsewhere: async () => undefined }) })
  t.is((await fetch(`${none.url}/bytes`, { redirect: 'manual' })).status, 200)
})

test('a handler that returns nothing gives 500, and its route is logged', async t => {
  const { log, lines } = recordingLog()
  const forgetful = answering(undefined)
  const declaration = { ...forgetful.declaration, handle: async () => undefined as never }
  const { url } = await serve(t, { getNothing: { ...forgetful, declaration } }, { options: { log } })
  t.is((await fetch(`${url}/bytes`)).status, 500)
  t.regex(JSON.stringify(lines), /The handler of the route getNothing of resources\.test returned nothing: it must return/)
})
