import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import type { Fetch } from '../ports/kernel.ts'
import { Forbidden, Invalid, TooLarge, Unreachable } from '../problem.ts'
import { contractTest, type TestContext, type TestRunner } from './any-runner.ts'

/** Creates a Fetch that may also access the given hosts and networks, such as `127.0.0.1`. */
export type MakeFetch = (allow: readonly string[]) => Fetch

const limits = { maxBytes: 1000, timeoutMs: 5000 }

/** Serves on 127.0.0.1 until the test ends; `seen` are the received requests. */
async function serve(t: TestContext, listener: RequestListener): Promise<{ port: number; url: string; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = []
  const server = createServer((request, response) => {
    seen.push(request)
    listener(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, url: `http://127.0.0.1:${port}`, seen }
}

/** Spellings of loopback addresses. */
const loopback = [
  ...[
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '127.0.1',
    '127.255.255.254',
    '2130706433',
    '0x7f000001',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '017700000001',
  ],
  ...[
    '0',
    '0.0.0.0',
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[::7f00:1]',
    '[::127.0.0.1]',
    '[::ffff:0:7f00:1]',
    '[::ffff:0:127.0.0.1]',
  ],
  ...['%31%32%37.0.0.1', '１２７.０.０.１', '127。0。0。1'],
]

/** Addresses of private, link-local, shared, documentation and multicast networks. */
const inside = [
  ...['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.254', '192.168.1.1', '100.64.0.1', '169.254.169.254', '0xa9fea9fe', '0xa.1'],
  ...['198.18.0.1', '192.0.2.1', '224.0.0.1', '255.255.255.255', '0300.0250.1.1', '[::ffff:10.0.0.1]', '[::ffff:a9fe:a9fe]'],
  ...['[fe80::1]', '[fd00::1]', '[fc00::1]', '[fec0::1]', '[ff02::1]', '[2001:db8::1]', '[64:ff9b::a9fe:a9fe]', '[2002:a00:1::]'],
  ...[
    '[::a00:1]',
    '[::a9fe:a9fe]',
    '[::ffff:0:a00:1]',
    '[64:ff9b:1::1]',
    '[100::1]',
    '[100:0:0:1::1]',
    '[2001::1]',
    '[3fff::1]',
    '[5f00::1]',
  ],
  ...[
    '0.1.2.3',
    '100.127.255.255',
    '192.0.0.8',
    '192.88.99.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '239.255.255.255',
    '240.0.0.1',
  ],
  ...['[febf::1]', '[fdff::1]', '[ffff::1]', '[::ffff:100.64.0.1]', '[::ffff:198.18.0.1]', '[::ffff:240.0.0.1]', '[2002:c0a8:101::]'],
]

const readable = async (fetch: Fetch, url: string, options: Parameters<Fetch['get']>[1] = limits): Promise<string> =>
  (await buffer((await fetch.get(url, options)).body)).toString()

/** The contract of Fetch. Uses only the loopback interface. */
export function fetchContract(runner: TestRunner, make: MakeFetch): void {
  const test = contractTest(runner)
  test('fetch: addresses that are not public are refused before anything is sent, however they are written', async t => {
    const { port, seen } = await serve(t, (_request, response) => response.end('secret'))
    const fetch = make([])
    for (const host of loopback) await t.throwsAsync(fetch.get(`http://${host}:${port}/`, limits), { instanceOf: Forbidden }, host)
    for (const host of inside)
      await t.throwsAsync(fetch.get(`http://${host}/`, { ...limits, timeoutMs: 300 }), { instanceOf: Forbidden }, host)
    for (const host of ['localhost', 'LOCALHOST'])
      await t.throwsAsync(fetch.get(`http://${host}:${port}/`, limits), { instanceOf: Unreachable }, host)
    t.deepEqual(seen, [])
  })

  test('fetch: apart from public addresses only the listed ones are reachable', async t => {
    const { port, url } = await serve(t, (_request, response) => response.end('hello'))
    t.is(await readable(make(['127.0.0.1']), url), 'hello')
    t.is(await readable(make(['127.0.0.0/24']), url), 'hello')
    for (const allow of ['127.0.0.2', '10.0.0.0/8', 'example.org'])
      await t.throwsAsync(make([allow]).get(`http://127.0.0.1:${port}/`, limits), { instanceOf: Forbidden }, allow)
  })

  test('fetch: only http and https without credentials are requested', async t => {
    const fetch = make(['127.0.0.1'])
    const { port, seen } = await serve(t, (_request, response) => response.end())
    const wrong = [
      ...['file:///etc/passwd', `ftp://127.0.0.1:${port}/`, `gopher://127.0.0.1:${port}/_x`, 'data:text/plain,x', 'blob:x', 'javascript:1'],
      ...[
        `http://user:pass@127.0.0.1:${port}/`,
        `http://user@127.0.0.1:${port}/`,
        '',
        'nonsense',
        '//127.0.0.1/',
        'http://',
        'http://[::1',
      ],
    ]
    for (const address of wrong) await t.throwsAsync(fetch.get(address, limits), { instanceOf: Invalid }, address)
    t.deepEqual(seen, [])
  })

  test('fetch: the target of a redirect is checked like a requested URL', async t => {
    const inner = await serve(t, (_request, response) => response.end('secret'))
    let location = ''
    const outer = await serve(t, (_request, response) => response.writeHead(302, { location }).end())
    const fetch = make(['127.0.0.1'])
    for (const host of [
      '127.0.0.2',
      '127.2',
      '2130706434',
      '[::1]',
      '[::ffff:127.0.0.2]',
      '[::ffff:7f00:2]',
      '10.0.0.1',
      '169.254.169.254',
    ]) {
      location = `http://${host}:${inner.port}/`
      await t.throwsAsync(fetch.get(outer.url, limits), { instanceOf: Forbidden }, location)
    }
    location = `//127.0.0.2:${inner.port}/`
    await t.throwsAsync(fetch.get(outer.url, limits), { instanceOf: Forbidden }, location)
    for (location of ['file:///etc/passwd', `ftp://127.0.0.1:${inner.port}/`, `http://user:pass@127.0.0.1:${inner.port}/`, 'http://[::1'])
      await t.throwsAsync(fetch.get(outer.url, limits), { instanceOf: Invalid }, location)
    t.deepEqual(inner.seen, [])
  })

  test('fetch: redirects are followed, but not endlessly', async t => {
    const { url } = await serve(t, (request, response) => {
      if (request.url === '/new') response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 5 }).end('hello')
      else response.writeHead(request.url === '/loop' ? 302 : 308, { location: request.url === '/loop' ? '/loop' : '/new' }).end()
    })
    const answer = await make(['127.0.0.1']).get(`${url}/old`, limits)
    t.like(answer, { status: 200, contentType: 'text/plain', sizeBytes: 5, url: `${url}/new` })
    t.is((await buffer(answer.body)).toString(), 'hello')
    await t.throwsAsync(make(['127.0.0.1']).get(`${url}/loop`, limits), { instanceOf: Unreachable })
  })

  test('fetch: headers are only sent to their own origin, and cannot inject others', async t => {
    const other = await serve(t, (_request, response) => response.end())
    const { url, seen } = await serve(t, (_request, response) => response.writeHead(307, { location: other.url }).end())
    const fetch = make(['127.0.0.1'])
    await buffer((await fetch.get(url, { ...limits, headers: { 'x-token': 'abc' } })).body)
    t.is(seen[0]?.headers['x-token'], 'abc')
    t.is(other.seen[0]?.headers['x-token'], undefined)
    await t.throwsAsync(fetch.get(url, { ...limits, headers: { 'x-token': 'a\r\nx-more: b' } }))
    t.is(seen.length, 1)
  })

  test('fetch: an error response of the other server is returned with its status', async t => {
    const { url } = await serve(t, (_request, response) => response.writeHead(404).end('gone'))
    const { status, body } = await make(['127.0.0.1']).get(url, limits)
    t.is(status, 404)
    t.is((await buffer(body)).toString(), 'gone')
  })

  test('fetch: a response above the limit ends with TooLarge, declared or not; one at the limit is returned', async t => {
    const { url } = await serve(t, (request, response) => {
      const size = Number(request.url?.slice(2))
      if (request.url?.startsWith('/d')) response.writeHead(200, { 'content-length': size })
      else response.write(Buffer.alloc(Math.floor(size / 2)))
      response.end(Buffer.alloc(request.url?.startsWith('/d') ? size : Math.ceil(size / 2)))
    })
    const fetch = make(['127.0.0.1'])
    for (const kind of ['d', 'c']) {
      t.is((await readable(fetch, `${url}/${kind}1000`)).length, 1000)
      t.is((await readable(fetch, `${url}/${kind}0`)).length, 0)
      await t.throwsAsync(readable(fetch, `${url}/${kind}1001`), { instanceOf: TooLarge }, kind)
      await t.throwsAsync(readable(fetch, `${url}/${kind}5000000`), { instanceOf: TooLarge }, kind)
    }
  })

  test('fetch: a silent, slow or absent server ends with Unreachable at the timeout', async t => {
    const { url } = await serve(t, (request, response) => {
      if (request.url === '/silent') return
      response.writeHead(200)
      const drip = setInterval(() => response.write('.'), 20)
      response.on('close', () => clearInterval(drip))
    })
    const fetch = make(['127.0.0.1'])
    for (const path of ['/silent', '/drip'])
      await t.throwsAsync(readable(fetch, url + path, { maxBytes: 1 << 20, timeoutMs: 300 }), { instanceOf: Unreachable }, path)
    await t.throwsAsync(readable(fetch, 'http://127.0.0.1:1/'), { instanceOf: Unreachable })
  })

  test('fetch: a silent transfer is ended, and an active one may take longer', async t => {
    const { url } = await serve(t, (request, response) => {
      if (request.url === '/silent') return
      response.writeHead(200, { 'content-disposition': 'attachment; filename="a.txt"' }).write('.')
      if (request.url === '/stuck') return
      let left = 8
      const drip = setInterval(() => {
        if (left-- > 0) response.write('.')
        else response.end()
      }, 500)
      response.on('close', () => clearInterval(drip))
    })
    // The silence that ends a transfer is several times longer than the pauses of an active one, and shorter than that transfer.
    const options = { maxBytes: 1000, timeoutMs: 60_000, silenceMs: 3000 }
    const fetch = make(['127.0.0.1'])
    const moves = async (): Promise<void> => {
      const moving = await fetch.get(`${url}/drip`, options)
      t.is(moving.disposition, 'attachment; filename="a.txt"')
      t.is((await buffer(moving.body)).length, 9)
    }
    const ends = (path: string) => t.throwsAsync(readable(fetch, url + path, options), { instanceOf: Unreachable }, path)
    await Promise.all([moves(), ends('/silent'), ends('/stuck')])
  })

  test('fetch: a signal closes the connection before the response, also after a redirect, and during its body', async t => {
    const { url, seen } = await serve(t, (request, response) => {
      if (request.url === '/moved') response.writeHead(302, { location: '/silent' }).end()
      if (request.url === '/stuck') response.writeHead(200).write('.')
    })
    const fetch = make(['127.0.0.1'])
    const options = { maxBytes: 1000, timeoutMs: 60_000 }
    const closed = () => new Promise(resolve => seen.at(-1)?.socket.on('close', resolve))
    for (const path of ['/silent', '/moved']) {
      const abort = new AbortController()
      const failing = t.throwsAsync(fetch.get(url + path, { ...options, signal: abort.signal }), { instanceOf: Unreachable }, path)
      while (seen.at(-1)?.url !== '/silent') await new Promise(resolve => setImmediate(resolve))
      const closing = closed()
      abort.abort()
      await Promise.all([failing, closing])
      seen.length = 0
    }
    const abort = new AbortController()
    const { body } = await fetch.get(`${url}/stuck`, { ...options, signal: abort.signal })
    const [failing, closing] = [t.throwsAsync(buffer(body), { instanceOf: Unreachable }), closed()]
    abort.abort()
    await Promise.all([failing, closing])
    await t.throwsAsync(fetch.get(url, { ...options, signal: abort.signal }), { instanceOf: Unreachable })
    t.is(seen.length, 1)
  })

  test('fetch: a response that switches to another protocol is Unreachable at once', async t => {
    const { url } = await serve(t, ({ socket }) =>
      socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
    )
    await t.throwsAsync(make(['127.0.0.1']).get(url, limits), { instanceOf: Unreachable, message: /is not HTTP/ })
  })

  test('fetch: a body that the server compressed is decompressed; a compressed file and an unknown coding are returned as they are', async t => {
    const text = 'a line of text\n'.repeat(50)
    const bodies: Readonly<Record<string, Buffer>> = {
      ...{
        gzip: gzipSync(text),
        'X-GZIP': gzipSync(text),
        deflate: deflateSync(text),
        br: brotliCompressSync(text),
        zstd: zstdCompressSync(text),
      },
    }
    const { url } = await serve(t, (request, response) => {
      const [, coding = '', name = '', type] = request.url?.split('/') ?? []
      const body = name === 'empty' ? Buffer.alloc(0) : (bodies[coding] ?? Buffer.from(text))
      const sent = name === 'cut' ? body.subarray(0, body.length - 9) : body
      response.writeHead(200, {
        'content-encoding': coding,
        'content-type': type ? `application/${type}` : 'text/plain',
        'content-length': sent.length,
      })
      response.end(sent)
    })
    const fetch = make(['127.0.0.1'])
    for (const coding of [...Object.keys(bodies), 'identity', 'aws-chunked']) {
      t.is(await readable(fetch, `${url}/${coding}/x`), text, coding)
      t.is(
        (
          await buffer((await fetch.below(url, { path: `/${coding}/x`, search: '' }, { method: 'GET', headers: {}, ...limits })).body)
        ).toString(),
        text,
        coding,
      )
      t.is(await readable(fetch, `${url}/${coding}/empty`), '', coding)
    }
    for (const path of ['/gzip/x.csv.gz', '/gzip/x/x-gzip', '/gzip/x.tgz']) {
      const { body, sizeBytes } = await fetch.get(url + path, limits)
      t.is(sizeBytes, bodies['gzip']?.length, path)
      t.deepEqual(await buffer(body), bodies['gzip'], path)
    }
    t.is((await fetch.get(`${url}/gzip/x`, limits)).sizeBytes, undefined)
    await t.throwsAsync(readable(fetch, `${url}/gzip/cut`), { instanceOf: Unreachable })
    await t.throwsAsync(readable(fetch, `${url}/br/x`, { ...limits, maxBytes: 100 }), { instanceOf: TooLarge })
  })

  test('fetch: a small body that decompresses to a huge one ends with TooLarge', async t => {
    const bomb = gzipSync(Buffer.alloc(110 * 1024 * 1024))
    const { url } = await serve(t, (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb))
    const { body } = await make(['127.0.0.1']).get(url, { maxBytes: Number.MAX_SAFE_INTEGER, timeoutMs: 60_000 })
    const read = async (): Promise<void> => {
      for await (const _ of body);
    }
    await t.throwsAsync(read(), { instanceOf: TooLarge })
  })

  test('fetch: a truncated response is an error', async t => {
    const { url } = await serve(t, (request, response) => {
      response.writeHead(200, request.url === '/declared' ? { 'content-length': 100 } : {}).write('half')
      setImmediate(() => response.destroy())
    })
    for (const path of ['/declared', '/chunked'])
      await t.throwsAsync(readable(make(['127.0.0.1']), url + path), { instanceOf: Unreachable }, path)
  })
}
