import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { Fetch } from '../ports/kernel.ts'
import { Invalid, TooLarge, Unreachable } from '../problem.ts'
import { contractTest, type TestContext, type TestRunner } from './any-runner.ts'

const limits = { method: 'GET', headers: {}, maxBytes: 1000, timeoutMs: 5000 }

interface Seen {
  readonly request: IncomingMessage
  readonly body: string
}

const serve = async (t: TestContext, listener: RequestListener): Promise<{ readonly url: string; readonly seen: Seen[] }> => {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    buffer(request).then(
      body => {
        seen.push({ request, body: body.toString() })
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
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

const textOf = async (answer: ReturnType<Fetch['below']>): Promise<string> => (await buffer((await answer).body)).toString()

/** Paths that are requested unchanged. */
const harmless = ['', '/', '/a', '/a/', '/a/b.c', '/a%20b', '/@me', '/a%2Fb', '/%C3%A4', '/...', '/a..b', '/a:b;c=1', "/it's"]

/** Paths that leave the base path, or may do so if decoded again. */
const leadingOut = [
  ...[
    '/..',
    '/../x',
    '/a/../../x',
    '/.',
    '/./x',
    '/a/..',
    '/%2e%2e/x',
    '/%2E%2e',
    '/.%2e/x',
    '/%2e/x',
    '/a/%2e%2e/%2e%2e/x',
    '/..%2fx',
    '/..%2Fx',
  ],
  ...[
    '/%252e%252e/x',
    '/%25252e%25252e/x',
    '/..;/x',
    '/..;a=b/x',
    '/%2e%2e;x/y',
    '/a\\..\\x',
    '/..\\x',
    '/..%5cx',
    '/..%255cx',
    '/\\\\host/x',
  ],
  ...[
    '//host/x',
    '//',
    '/a//b',
    '/%2fhost',
    '/%2f%2fhost',
    'http://host/x',
    '@host/x',
    '.host/x',
    '/a%00',
    '/%0d%0aX: y',
    '/%',
    '/%zz',
    '/%c0%ae',
  ],
]

/** The contract of `below`. */
export function fetchBelowContract(runner: TestRunner, make: (allow: readonly string[]) => Fetch): void {
  const test = contractTest(runner)
  test('fetch: paths below a configured URL may be requested, even in a private network', async t => {
    const { url, seen } = await serve(t, (_request, response) => response.end('hello'))
    const fetch = make([])
    for (const path of harmless) {
      t.is(await textOf(fetch.below(`${url}/base`, { path, search: '?q=a%20b&q=/../x' }, limits)), 'hello')
      t.is(seen.at(-1)?.request.url, `/base${path}?q=a%20b&q=/../x`)
    }
    t.is(await textOf(fetch.below(`${url}/base/`, { path: '/a', search: '' }, limits)), 'hello')
    t.is(seen.at(-1)?.request.url, '/base/a')
  })

  test('fetch: no path leaves the base URL', async t => {
    const { url, seen } = await serve(t, (_request, response) => response.end('secret'))
    for (const server of [url, `${url}/base`, `${url}/base/`]) {
      for (const path of leadingOut)
        await t.throwsAsync(make([]).below(server, { path, search: '' }, limits), { instanceOf: Invalid }, path)
    }
    t.deepEqual(seen, [])
  })

  test('fetch: a user and password in the address are sent to that server', async t => {
    const { url, seen } = await serve(t, (_request, response) => response.end())
    await textOf(make([]).below(url.replace('//', '//me%40x:p%3A%20w@'), { path: '', search: '' }, limits))
    t.is(seen[0]?.request.headers.authorization, `Basic ${Buffer.from('me@x:p: w').toString('base64')}`)
    await textOf(make([]).below(url, { path: '', search: '' }, limits))
    t.is(seen[1]?.request.headers.authorization, undefined)
  })

  test('fetch: a redirect from below the base URL is returned, not followed', async t => {
    const { url, seen } = await serve(t, (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end('moved'))
    const answer = await make([]).below(url, { path: '/a', search: '' }, limits)
    t.is(answer.status, 302)
    t.is((await buffer(answer.body)).toString(), 'moved')
    t.is(seen.length, 1)
  })

  test('fetch: bodies are sent unchanged, up to their limit', async t => {
    const { url, seen } = await serve(t, (request, response) => response.end(request.method))
    const send = (text: string, sizeBytes?: number, method = 'POST') =>
      textOf(
        make([]).below(
          url,
          { path: '/in', search: '' },
          {
            ...limits,
            method,
            headers: { 'content-type': 'text/x' },
            body: { stream: Readable.from([Buffer.from(text)]), maxBytes: 10, ...(sizeBytes === undefined ? {} : { sizeBytes }) },
          },
        ),
      )
    t.is(await send('1234567890', 10), 'POST')
    t.like(seen[0], { body: '1234567890' })
    t.like(seen[0]?.request.headers, { 'content-length': '10', 'content-type': 'text/x' })
    t.is(await send('123', undefined, 'PUT'), 'PUT')
    t.is(seen[1]?.body, '123')
    await t.throwsAsync(send('12345678901'), { instanceOf: TooLarge })
    t.is(seen.length, 2)
  })

  test('fetch: a body that fails ends the request with its own error', async t => {
    const { url, seen } = await serve(t, (_request, response) => response.end())
    const stream = new Readable({ read: () => undefined })
    stream.push('half')
    const requested = make([]).below(
      url,
      { path: '', search: '' },
      { ...limits, method: 'POST', headers: {}, body: { stream, maxBytes: 100 } },
    )
    stream.destroy(new Invalid('cut'))
    await t.throwsAsync(requested, { instanceOf: Invalid, message: 'cut' })
    t.deepEqual(seen, [])
  })

  test('fetch: a request below the base URL is aborted on silence, on timeout, or by its signal', async t => {
    const { url } = await serve(t, (request, response) => {
      if (request.url === '/long') response.end(Buffer.alloc(1001))
    })
    const fetch = make([])
    const at = (path: string) => ({ path, search: '' })
    await t.throwsAsync(fetch.below(url, at('/silent'), { ...limits, silenceMs: 50 }), { instanceOf: Unreachable })
    await t.throwsAsync(fetch.below(url, at('/silent'), { ...limits, timeoutMs: 50 }), { instanceOf: Unreachable })
    await t.throwsAsync(fetch.below(url, at('/silent'), { ...limits, signal: AbortSignal.timeout(50) }), { instanceOf: Unreachable })
    await t.throwsAsync(textOf(fetch.below(url, at('/long'), limits)), { instanceOf: TooLarge })
    await t.throwsAsync(fetch.below('http://127.0.0.1:1', at('/'), limits), { instanceOf: Unreachable })
  })
}
