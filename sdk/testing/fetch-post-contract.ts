import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import type { Fetch } from '../ports/kernel.ts'
import { Forbidden, Invalid, Unreachable } from '../problem.ts'
import { contractTest, type TestContext, type TestRunner } from './any-runner.ts'

const message = { headers: { 'content-type': 'application/json', 'x-word': 'one' }, body: Buffer.from('{"a":1}') }
const limits = { ...message, maxBytes: 1000, timeoutMs: 5000 }

interface Seen {
  readonly method: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
  readonly socket: Socket
}

const serve = async (
  t: TestContext,
  listener: RequestListener,
): Promise<{ readonly port: number; readonly url: string; readonly seen: Seen[] }> => {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    buffer(request).then(
      body => {
        const { method, headers, socket } = request
        seen.push({ method, headers, body: body.toString(), socket })
        listener(request, response)
      },
      () => response.destroy(),
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, url: `http://127.0.0.1:${port}`, seen }
}

/** The contract of `post` and `check`. Uses only the loopback interface. */
export function fetchPostContract(runner: TestRunner, make: (allow: readonly string[]) => Fetch & { dispose?(): void }): void {
  const test = contractTest(runner)
  const made = (t: TestContext, allow: readonly string[]): Fetch => {
    const fetch = make(allow)
    t.teardown(() => fetch.dispose?.())
    return fetch
  }

  test('fetch.post: body and headers are sent unchanged, and the response is returned completely', async t => {
    const { url, seen } = await serve(t, (_request, response) => response.writeHead(202, { 'retry-after': '7' }).end('thanks'))
    const answer = await made(t, ['127.0.0.1']).post(`${url}/hook?a=b`, limits)
    t.like(answer, { status: 202, isCut: false })
    t.is(answer.headers['retry-after'], '7')
    t.is(answer.body.toString(), 'thanks')
    const [request] = seen
    t.is(request?.method, 'POST')
    t.is(request?.body, '{"a":1}')
    t.like(request?.headers, { 'content-type': 'application/json', 'x-word': 'one', 'content-length': '7' })
  })

  test('fetch.post: addresses that are not public are refused before anything is sent', async t => {
    const { port, seen } = await serve(t, (_request, response) => response.end('secret'))
    const fetch = made(t, [])
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0']) {
      await t.throwsAsync(fetch.post(`http://${host}:${port}/`, limits), { instanceOf: Forbidden }, host)
      t.throws(() => fetch.check(`http://${host}:${port}/`), { instanceOf: Forbidden }, host)
    }
    await t.throwsAsync(fetch.post(`http://localhost:${port}/`, limits), { instanceOf: Unreachable })
    t.deepEqual(seen, [])
  })

  test('fetch.check: addresses that are never allowed are refused, others pass', t => {
    const fetch = made(t, ['10.1.2.3'])
    for (const url of ['ftp://example.org/', 'file:///etc/passwd', 'https://user:word@example.org/', 'nonsense'])
      t.throws(() => fetch.check(url), { instanceOf: Invalid }, url)
    for (const url of ['https://example.org/hook?a=b', 'http://10.1.2.3:8080/', 'http://localhost/'])
      t.notThrows(() => fetch.check(url), url)
  })

  test('fetch.post: redirects are returned and not followed', async t => {
    const inner = await serve(t, (_request, response) => response.end('secret'))
    const { url } = await serve(t, (_request, response) => response.writeHead(307, { location: inner.url }).end())
    const answer = await made(t, ['127.0.0.1']).post(url, limits)
    t.is(answer.status, 307)
    t.is(answer.headers['location'], inner.url)
    t.deepEqual(inner.seen, [])
  })

  test('fetch.post: an endless body is truncated after the first bytes', async t => {
    let isClosed: (() => void) | undefined
    const closed = new Promise<void>(resolve => {
      isClosed = resolve
    })
    const { url } = await serve(t, (_request, response) => {
      response.on('close', () => isClosed?.())
      const more = (): void => {
        if (!response.destroyed) response.write(Buffer.alloc(512, 'x'), () => setImmediate(more))
      }
      more()
    })
    const answer = await made(t, ['127.0.0.1']).post(url, limits)
    t.like(answer, { status: 200, isCut: true })
    t.is(answer.body.length, 1000)
    await closed
  })

  test('fetch.post: a slow response is truncated at the timeout, and silence ends with Unreachable', async t => {
    const { url } = await serve(t, ({ url: path }, response) => {
      if (path === '/drip') response.writeHead(200).write('first')
    })
    const fetch = made(t, ['127.0.0.1'])
    const answer = await fetch.post(`${url}/drip`, { ...limits, timeoutMs: 2000 })
    t.like(answer, { status: 200, isCut: true })
    t.is(answer.body.toString(), 'first')
    await t.throwsAsync(fetch.post(`${url}/silent`, { ...limits, timeoutMs: 300 }), { instanceOf: Unreachable })
  })

  test('fetch.post: an encoded response is not decoded', async t => {
    const bomb = gzipSync(Buffer.alloc(10_000_000))
    const { url, seen } = await serve(t, (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb))
    const answer = await made(t, ['127.0.0.1']).post(url, { ...limits, maxBytes: 64 * 1024 })
    t.true(answer.body.equals(bomb.subarray(0, 64 * 1024)))
    t.is(seen[0]?.headers['accept-encoding'], 'identity')
  })

  test('fetch.post: connections are reused, and one closed meanwhile causes no failure', async t => {
    const { url, seen } = await serve(t, (_request, response) => response.end())
    const fetch = made(t, ['127.0.0.1'])
    for (let time = 0; time < 3; time += 1) await fetch.post(url, limits)
    t.is(new Set(seen.map(({ socket }) => socket)).size, 1)
    for (const { socket } of seen) socket.destroy()
    t.is((await fetch.post(url, limits)).status, 200)
  })

  test('fetch.post: a request lost on a reused connection is sent again on a new one, and is Unreachable if lost there too', async t => {
    let resets = (_isUsed: boolean): boolean => false
    const used = new Set<Socket>()
    const { url } = await serve(t, ({ socket }, response) => {
      if (resets(used.has(socket))) socket.destroy()
      else setTimeout(() => response.end(), 50)
      used.add(socket)
    })
    const fetch = made(t, ['127.0.0.1'])
    const keepFour = () => Promise.all(Array.from({ length: 4 }, () => fetch.post(url, limits)))
    await keepFour()
    resets = isUsed => isUsed
    t.is((await fetch.post(url, limits)).status, 200)
    resets = () => false
    await keepFour()
    resets = () => true
    await t.throwsAsync(fetch.post(url, limits), { instanceOf: Unreachable })
  })

  test('fetch.post: a response that switches to another protocol is Unreachable at once', async t => {
    const { url } = await serve(t, ({ socket }) =>
      socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
    )
    await t.throwsAsync(made(t, ['127.0.0.1']).post(url, limits), { instanceOf: Unreachable, message: /is not HTTP/ })
  })

  test('fetch.post: a closed port is Unreachable, and a signal aborts the request', async t => {
    const fetch = made(t, ['127.0.0.1'])
    await t.throwsAsync(fetch.post('http://127.0.0.1:1/', limits), { instanceOf: Unreachable })
    const { url } = await serve(t, () => undefined)
    const stop = new AbortController()
    const waiting = fetch.post(url, { ...limits, signal: stop.signal })
    stop.abort()
    await t.throwsAsync(waiting)
  })
}
