import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { createGunzip, gunzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { type Bytes, Invalid, type Route, routesFor, s } from 'pounce/sdk'
import { type RawClient, rawClient } from './testing/raw-client.ts'
import { type ServeOptions, serve } from './testing/serve.ts'

const route = routesFor('things', {})
const common = { method: 'GET', path: '/x', summary: 'x', permission: 'anyone' } as const

const bytesOf = (bytes: () => Bytes, headers: Record<string, string> = {}): Route =>
  route({ ...common, responses: { 200: s.bytes<unknown>() }, handle: async () => ({ status: 200, body: bytes(), headers }) })

const rowsOf = (rows: () => AsyncIterable<unknown>, headers: Record<string, string> = {}): Route =>
  route({ ...common, responses: { 200: s.rows(s.json()) }, handle: async () => ({ status: 200, body: rows() as never, headers }) })

const csv = (source: () => AsyncIterable<unknown>, more: Partial<Bytes> = {}): Bytes => ({
  open: () => Readable.from(source()),
  contentType: 'text/csv; charset=utf-8',
  ...more,
})

interface Got {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly raw: Buffer
  readonly isWhole: boolean
}

/** A response, not decoded. */
const ask = (url: string, accept: string | undefined, more: { method?: string; headers?: Record<string, string> } = {}): Promise<Got> =>
  new Promise((resolve, reject) => {
    const headers = { ...more.headers, ...(accept === undefined ? {} : { 'accept-encoding': accept }) }
    const sent = request(`${url}/x`, { method: more.method ?? 'GET', headers, agent: false }, response => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('error', () => undefined)
      response.on('close', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          raw: Buffer.concat(pieces),
          isWhole: response.complete,
        }),
      )
    })
    sent.on('error', reject)
    sent.end()
  })

const from = async (t: ExecutionContext, declared: Route, options: ServeOptions = {}): Promise<string> =>
  (await serve(t, { getX: declared }, options)).url

async function* numbered(count: number): AsyncGenerator<{ n: number; name: string }> {
  for (let n = 0; n < count; n += 1) yield { n, name: `Station ${n % 7} é` }
}

async function* lines(count: number): AsyncGenerator<string> {
  for (let n = 0; n < count; n += 1) yield `${n},2021-03-04T05:06:07Z,"Größe ${n % 11}"\r\n`
}

const joined = async (text: AsyncIterable<string>): Promise<string> => (await Array.fromAsync(text)).join('')

test('a long list and long generated text are sent as gzip if accepted, with the same content', async t => {
  const rows = JSON.stringify(await Array.fromAsync(numbered(40_000)))
  const table = await joined(lines(40_000))
  for (const [declared, text] of [
    [rowsOf(() => numbered(40_000)), rows],
    [bytesOf(() => csv(() => lines(40_000))), table],
  ] as const) {
    const url = await from(t, declared)
    for (const accept of ['gzip', 'br;q=1, gzip;q=0.2', 'deflate, GZIP']) {
      const { headers, raw, isWhole } = await ask(url, accept)
      t.deepEqual([headers['content-encoding'], headers.vary, headers['x-content-type-options']], ['gzip', 'Accept-Encoding', 'nosniff'])
      t.is(headers['content-length'], undefined)
      t.true(isWhole)
      t.true(raw.length < text.length / 4)
      t.true(gunzipSync(raw).equals(Buffer.from(text)))
    }
    for (const accept of [undefined, 'identity', 'gzip;q=0', 'br', 'deflate']) {
      const { headers, raw } = await ask(url, accept)
      t.deepEqual([headers['content-encoding'], headers.vary], [undefined, 'Accept-Encoding'], String(accept))
      t.true(raw.equals(Buffer.from(text)))
    }
    const never = await ask(await from(t, declared, { config: { compress: false } }), 'gzip')
    t.deepEqual([never.headers['content-encoding'], never.headers.vary, never.raw.length], [undefined, undefined, Buffer.byteLength(text)])
  }
})

test('short responses are not compressed, and a list that fits one piece is compressed at once', async t => {
  const short = await ask(
    await from(
      t,
      rowsOf(() => numbered(3)),
    ),
    'gzip',
  )
  t.deepEqual([short.headers['content-encoding'], short.headers['content-length']], [undefined, String(short.raw.length)])
  const middling = await ask(
    await from(
      t,
      rowsOf(() => numbered(200)),
    ),
    'gzip',
  )
  t.deepEqual([middling.headers['content-encoding'], middling.headers['content-length']], ['gzip', String(middling.raw.length)])
  t.is((JSON.parse(gunzipSync(middling.raw).toString()) as unknown[]).length, 200)
  t.is(
    (
      await ask(
        await from(
          t,
          rowsOf(() => numbered(200)),
        ),
        'br, gzip',
      )
    ).headers['content-encoding'],
    'br',
  )
  for (const [count, coding] of [
    [0, undefined],
    [20, undefined],
    [60, 'gzip'],
  ] as const) {
    const { headers, raw, isWhole } = await ask(
      await from(
        t,
        bytesOf(() => csv(() => lines(count))),
      ),
      'gzip',
    )
    t.is(headers['content-encoding'], coding)
    t.true(isWhole)
    t.is((coding ? gunzipSync(raw) : raw).toString(), await joined(lines(count)))
  }
})

test('only generated text is compressed', async t => {
  const coded = async (bytes: Partial<Bytes>, headers: Record<string, string> = {}): Promise<unknown> =>
    (
      await ask(
        await from(
          t,
          bytesOf(() => csv(() => lines(300), bytes), headers),
        ),
        'gzip',
      )
    ).headers['content-encoding']
  for (const contentType of [
    ...['text/plain', 'text/csv', 'application/json', 'application/geo+json; charset=utf-8', 'application/x-ndjson'],
    ...['application/ld+json', 'application/xml', 'application/vnd.ogc.sensorthings+json'],
  ])
    t.is(await coded({ contentType }), 'gzip', contentType)
  for (const contentType of ['image/png', 'application/zip', 'application/octet-stream', 'text/event-stream', 'application/jsonish'])
    t.is(await coded({ contentType }), undefined, contentType)
  t.is(await coded({ sizeBytes: Buffer.byteLength(await joined(lines(300))) }), undefined)
  t.is(await coded({ sha256: 'a'.repeat(64) }), undefined)
  t.is(await coded({}, { 'cache-control': 'private, no-transform' }), undefined)
  t.is(await coded({}, { 'content-encoding': 'br' }), 'br')
  t.is(await coded({}, { 'content-type': 'image/png' }), undefined)
})

test('Vary includes the headers for CORS and those of handlers', async t => {
  const url = await from(
    t,
    rowsOf(() => numbered(5000), { Vary: 'Accept' }),
    { config: { allowedOrigins: ['https://a.example'] } },
  )
  const { headers } = await ask(url, 'gzip', { headers: { origin: 'https://a.example' } })
  t.is(headers.vary, 'Accept, Accept-Encoding, Origin')
})

test('compressed bytes have a weak tag, which matches conditional requests', async t => {
  const url = await from(
    t,
    bytesOf(() => csv(() => lines(300), { etag: 'one' })),
  )
  t.is((await ask(url, undefined)).headers.etag, '"one"')
  const { headers } = await ask(url, 'gzip')
  t.is(headers.etag, 'W/"one"')
  const known = await ask(url, 'gzip', { headers: { 'if-none-match': 'W/"one"' } })
  t.deepEqual([known.status, known.headers.vary, known.raw.length], [304, 'Accept-Encoding', 0])
})

test('HEAD of a list sends the same headers and no body', async t => {
  for (const count of [3, 200, 40_000]) {
    const url = await from(
      t,
      rowsOf(() => numbered(count)),
    )
    for (const accept of ['gzip', undefined]) {
      const [whole, head] = [await ask(url, accept), await ask(url, accept, { method: 'HEAD' })]
      for (const name of ['content-encoding', 'vary', 'content-type']) t.is(head.headers[name], whole.headers[name], `${count} ${accept}`)
      const length = head.headers['content-length']
      if (length !== undefined) t.is(whole.headers['content-length'], length)
      t.is(head.raw.length, 0)
    }
  }
  const { headers } = await ask(
    await from(
      t,
      bytesOf(() => csv(() => lines(300))),
    ),
    'gzip',
    { method: 'HEAD' },
  )
  t.is(headers.vary, 'Accept-Encoding')
})

test('a source that fails closes the connection, and the gzip stream is incomplete', async t => {
  async function* broken(): AsyncGenerator<string> {
    for (let n = 0; n < 3000; n += 1) yield `${n} ${Math.sin(n)}\n`.repeat(9)
    throw new Error('gone')
  }
  for (const declared of [rowsOf(broken), bytesOf(() => csv(broken))]) {
    const { status, headers, raw, isWhole } = await ask(await from(t, declared), 'gzip')
    t.deepEqual([status, headers['content-encoding'], isWhole], [200, 'gzip', false])
    t.throws(() => gunzipSync(raw), { code: 'Z_BUF_ERROR' })
  }
})

test('the error of a source that fails while its bytes are held is sent as a problem', async t => {
  async function* broken(): AsyncGenerator<string> {
    yield 'x'.repeat(500)
    throw new Invalid('not like this')
  }
  for (const declared of [rowsOf(broken), bytesOf(() => csv(broken))]) {
    const { status, headers, isWhole } = await ask(await from(t, declared), 'gzip')
    t.deepEqual([status, headers['content-encoding'], isWhole], [400, undefined, true])
  }
  t.is(
    (
      await ask(
        await from(
          t,
          bytesOf(() => csv(() => lines(300)), { 'x-name': '€' }),
        ),
        'gzip',
      )
    ).status,
    500,
  )
})

/** A connection whose client sends a request and then stops reading. */
const slowReader = async (port: number): Promise<RawClient> => {
  const client = await rawClient(port)
  client.send('GET /x HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n')
  await client.receives(/200 OK/)
  client.socket.pause()
  return client
}

test('a slow reader pauses the source, and a disconnect ends it', async t => {
  let [given, freed] = [0, 0]
  async function* endless(): AsyncGenerator<string> {
    try {
      for (;;) {
        given += 1
        yield Array.from({ length: 4000 }, () => Math.random()).join()
      }
    } finally {
      freed += 1
    }
  }
  for (const declared of [rowsOf(endless), bytesOf(() => csv(endless))]) {
    given = 0
    freed = 0
    const { port } = await serve(t, { getX: declared })
    const client = await slowReader(port)
    for (let last = -1; last !== given; ) {
      last = given
      for (let turns = 0; turns < 50; turns += 1) await new Promise(resolve => setTimeout(resolve, 4))
    }
    t.true(given < 2000, `${given} chunks of 70 kB`)
    client.socket.destroy()
    while (freed === 0) await new Promise(setImmediate)
    t.is(freed, 1)
  }
})

test('the number of responses compressed concurrently is limited, not counting disconnected ones', async t => {
  let go = (): void => undefined
  const waiting = new Promise<void>(resolve => {
    go = resolve
  })
  async function* slow(): AsyncGenerator<string> {
    yield 'first '.repeat(300)
    await waiting
  }
  const { port, http } = await serve(t, { getX: bytesOf(() => csv(slow)) })
  const readers = await Promise.all(Array.from({ length: 256 }, () => slowReader(port)))
  const isGzip = async (): Promise<boolean> => {
    const client = await rawClient(port)
    const head = await client.send('GET /x HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n').receives(/\r\n\r\n/)
    client.socket.destroy()
    return /content-encoding: gzip/i.test(head)
  }
  t.false(await isGzip())
  for (const { socket } of readers) socket.destroy()
  while (!(await isGzip())) await new Promise(setImmediate)
  go()
  await http.drain(5000)
})

test('data of a slow source is sent before its end', async t => {
  let go = (): void => undefined
  const waiting = new Promise<void>(resolve => {
    go = resolve
  })
  async function* slow(): AsyncGenerator<string> {
    yield 'first '.repeat(300)
    await waiting
    yield 'last'
  }
  const url = await from(
    t,
    bytesOf(() => csv(slow)),
  )
  const response = await new Promise<IncomingMessage>(resolve => {
    request(`${url}/x`, { headers: { 'accept-encoding': 'gzip' }, agent: false }, resolve).end()
  })
  const text = response.pipe(createGunzip()).setEncoding('utf8')
  const [first] = (await once(text, 'data')) as [string]
  t.regex(first, /^first /)
  go()
  t.is((await text.toArray()).join(''), 'last')
})
