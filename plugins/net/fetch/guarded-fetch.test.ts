import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { Invalid, Unreachable } from 'pounce/sdk'
import { AllowedAddresses, GuardedFetch } from './guarded-fetch.ts'
import { HostLookup, type Lookup } from './host-lookup.ts'

const limits = { maxBytes: 1000, timeoutMs: 60_000 }

const serve = async (t: ExecutionContext, listener: RequestListener): Promise<string> => {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('non-public addresses are refused in every notation', t => {
  const allowed = new AllowedAddresses([])
  const inside = ['127.0.0.1', '10.1.2.3', '169.254.169.254', '192.168.0.1', '100.64.0.1', '0.0.0.0', '::1', '::', 'fe80::1', 'fd00::1']
  for (const address of [...inside, '::ffff:10.0.0.1', '::ffff:7f00:1', '64:ff9b::a00:1', '2002:a00:1::', '255.255.255.255', 'ff02::1'])
    t.false(allowed.has('example.org', address), address)
  for (const address of ['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946', '8.8.8.8'])
    t.true(allowed.has('example.org', address), address)
})

test('an invalid address is refused, also when an address is on the allow list', t => {
  for (const address of ['', 'nonsense', '8.8.8', '8.8.8.8.8', '::g', '010.0.0.1'])
    t.false(new AllowedAddresses(['10.1.2.3']).has('example.org', address), address)
})

test('the first and last addresses of special networks are refused, and adjacent addresses are not', t => {
  const allowed = new AllowedAddresses([])
  for (const address of ['100.64.0.0', '100.127.255.255', '172.31.255.255', '198.19.255.255', '::ffff:0:0:0', 'fe80::1%lo', 'febf:ffff::'])
    t.false(allowed.has('example.org', address), address)
  for (const address of ['100.63.255.255', '100.128.0.0', '172.32.0.0', '198.20.0.0', '223.255.255.255', '2003::1', '::ffff:8.8.8.8'])
    t.true(allowed.has('example.org', address), address)
})

test('hosts and networks on the allow list are allowed', t => {
  const allowed = new AllowedAddresses(['files.example.org', '10.1.0.0/16', '::1'])
  t.true(allowed.has('Files.Example.org', '192.168.0.1'))
  t.true(allowed.has('files.example.org.', '192.168.0.1'))
  t.true(allowed.has('x', '10.1.2.3'))
  t.true(allowed.has('x', '::1'))
  t.false(allowed.has('x', '10.2.0.1'))
})

test('an entry of the allow list that is neither a host name nor a network is an error', t => {
  const networks = [
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/1e1',
    '10.0.0.0/0x8',
    '10.0.0.0/-1',
    '10.0.0.0/8/9',
    '10.0.0.0/ ',
    '::1/129',
    '[::1]',
  ]
  const hosts = [
    '',
    ' ',
    'https://files.example.org',
    'files.example.org/x',
    'files.example.org:9000',
    '*.example.org',
    '010.0.0.1',
    '10.1',
    'a b',
  ]
  for (const entry of [...networks, ...hosts])
    t.throws(
      () => new GuardedFetch({ allow: ['10.1.2.3', entry] }),
      { instanceOf: Invalid, message: /outbound\.allow: ".*" is neither/ },
      entry,
    )
  const allowed = new AllowedAddresses([' 10.0.0.0/0 ', '::/0', 'Bücher.example', 'my_host', 'files.example.org.'])
  t.true(allowed.has('x', '127.0.0.1'))
  for (const host of ['xn--bcher-kva.example', 'my_host', 'files.example.org']) t.true(allowed.lists(host), host)
})

test('a private address is refused before anything is sent, also in other notations or after a redirect', async t => {
  let requested = 0
  const inner = await serve(t, (_, response) => {
    requested += 1
    response.end('secret')
  })
  const guarded = new GuardedFetch({ allow: [] })
  await t.throwsAsync(guarded.get(inner, limits), { message: /not a public address/ })
  await t.throwsAsync(guarded.get(inner.replace('127.0.0.1', '2130706433'), limits), { message: /not a public address/ })
  await t.throwsAsync(guarded.get(inner.replace('127.0.0.1', '[::ffff:127.0.0.1]'), limits), { message: /not a public address/ })
  const outer = await serve(t, (_, response) => response.writeHead(302, { location: inner.replace('127.0.0.1', '127.0.0.2') }).end())
  await t.throwsAsync(new GuardedFetch({ allow: ['127.0.0.1'] }).get(outer, limits), { message: /127\.0\.0\.2 is not a public address/ })
  t.is(requested, 0)
})

test('a host name of the internal network is refused with the same error as a nonexistent one', async t => {
  let requested = 0
  const inner = await serve(t, (_, response) => {
    requested += 1
    response.end('secret')
  })
  const { port } = new URL(inner)
  const messages: string[] = []
  for (const host of ['localhost', 'nowhere.invalid']) {
    const error = await t.throwsAsync(new GuardedFetch({ allow: [] }).get(`http://${host}:${port}/`, limits), { instanceOf: Unreachable })
    messages.push(JSON.stringify([error?.name, error?.message.replaceAll(host, 'HOST')]))
  }
  t.is(new Set(messages).size, 1, messages.join())
  t.is(requested, 0)
})

test('only http and https URLs without credentials are fetched', async t => {
  const guarded = new GuardedFetch({ allow: [] })
  for (const address of ['file:///etc/passwd', 'ftp://example.org/x', 'http://user:pass@example.org/', 'nonsense'])
    await t.throwsAsync(guarded.get(address, limits), { message: /Only http|user name|Invalid URL/ }, address)
})

test('a response has its content type, length and URL after redirects', async t => {
  const base = await serve(t, (request, response) => {
    if (request.url === '/old') response.writeHead(301, { location: '/new' }).end()
    else response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 5 }).end('hello')
  })
  const answer = await new GuardedFetch({ allow: ['127.0.0.1'] }).get(`${base}/old`, limits)
  t.like(answer, { status: 200, contentType: 'text/plain', sizeBytes: 5, url: `${base}/new` })
  t.is((await buffer(answer.body)).toString(), 'hello')
})

test('request headers are not sent to another origin after a redirect', async t => {
  let seen: string | undefined
  const other = await serve(t, (request, response) => {
    seen = request.headers['x-token'] as string | undefined
    response.end()
  })
  const base = await serve(t, (_, response) => response.writeHead(307, { location: other }).end())
  const answer = await new GuardedFetch({ allow: ['127.0.0.1'] }).get(base, { ...limits, headers: { 'x-token': 'abc' } })
  await buffer(answer.body)
  t.is(seen, undefined)
})

test('a response longer than the limit is aborted, whether its length is declared or not', async t => {
  const base = await serve(t, (request, response) => {
    if (request.url === '/declared') response.writeHead(200, { 'content-length': 5000 }).end(Buffer.alloc(5000))
    else {
      response.write(Buffer.alloc(2500))
      response.end(Buffer.alloc(2500))
    }
  })
  const guarded = new GuardedFetch({ allow: ['127.0.0.1'] })
  await t.throwsAsync(guarded.get(`${base}/declared`, limits), { message: /has 5000 bytes; the limit is 1000/ })
  const { body } = await guarded.get(`${base}/chunked`, limits)
  await t.throwsAsync(buffer(body), { message: /longer than 1000 bytes/ })
})

test('redirect loops, timeouts, interrupted responses and unreachable hosts are errors', async t => {
  const base = await serve(t, (request, response) => {
    if (request.url === '/loop') response.writeHead(302, { location: '/loop' }).end()
    if (request.url === '/cut') {
      response.writeHead(200, { 'content-length': 100 }).write('half')
      setImmediate(() => response.destroy())
    }
  })
  const guarded = new GuardedFetch({ allow: ['127.0.0.1'] })
  await t.throwsAsync(guarded.get(`${base}/loop`, limits), { message: /redirects more than 5 times/ })
  await t.throwsAsync(guarded.get(`${base}/silent`, { ...limits, timeoutMs: 200 }), { message: /timed out/ })
  const { body } = await guarded.get(`${base}/cut`, limits)
  await t.throwsAsync(buffer(body), { message: /was interrupted/ })
  await t.throwsAsync(guarded.get('http://127.0.0.1:1/', limits), { message: /is unreachable/ })
})

test('a server that does not speak TLS is reported as such', async t => {
  const base = await serve(t, (_, response) => response.end())
  const guarded = new GuardedFetch({ allow: ['127.0.0.1'] })
  await t.throwsAsync(guarded.get(base.replace('http:', 'https:'), limits), {
    instanceOf: Unreachable,
    message: /^The TLS handshake with 127\.0\.0\.1:\d+ failed \(\w+\)$/,
  })
})

const unknownName: Lookup = (host, _options, done) => setImmediate(done, Object.assign(new Error(host), { code: 'ENOTFOUND' }), [])

/** A DNS server with these IPv4 addresses. It does not respond to queries for names that begin with `silent`. */
const serveNames = async (
  t: ExecutionContext,
  names: Readonly<Record<string, () => readonly string[]>>,
  types: number[] = [],
): Promise<string> => {
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const end = query.indexOf(0, 12)
    const name = query.toString('latin1', 13, end).replaceAll(/[\x01-\x1f]/g, '.')
    if (name.startsWith('silent')) return
    const type = query.readUInt16BE(end + 1)
    types.push(type)
    const found = type === 1 ? (names[name]?.() ?? []) : []
    const head = Buffer.from(query.subarray(0, end + 5))
    head.writeUInt16BE(name in names ? 0x8180 : 0x8183, 2)
    head.writeUInt16BE(found.length, 6)
    head.writeUInt32BE(0, 8)
    const records = found.map(one => Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...one.split('.').map(Number)]))
    socket.send(Buffer.concat([head, ...records]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  return `127.0.0.1:${socket.address().port}`
}

/** An allowed server on 127.0.0.2 and a forbidden one on the same port of 127.0.0.1, behind a name with configurable resolution. */
const rebinding = async (t: ExecutionContext, listener: RequestListener) => {
  const requested = { outer: 0, inner: 0 }
  const answers: (readonly string[])[] = []
  const server = await serveNames(t, { 'rebind.test': () => answers.shift() ?? ['127.0.0.1'] })
  const inner = createServer((_, response) => {
    requested.inner += 1
    response.end('secret')
  })
  const outer = createServer((request, response) => {
    requested.outer += 1
    listener(request, response)
  })
  await new Promise<void>(done => inner.listen(0, '127.0.0.1', done))
  const { port } = inner.address() as AddressInfo
  await new Promise<void>(done => outer.listen(port, '127.0.0.2', done))
  t.teardown(() => {
    for (const server of [inner, outer]) {
      server.closeAllConnections()
      server.close()
    }
  })
  const guarded = new GuardedFetch({ allow: ['127.0.0.2'] }, new HostLookup({ servers: () => [server], system: unknownName }))
  t.teardown(() => guarded.dispose())
  return { requested, answers, guarded, outer, url: `http://rebind.test:${port}/` }
}

const message = { headers: {}, body: Buffer.from('{}'), ...limits }

test('a host name that later resolves to a private address is not contacted there, by a new or kept-alive connection', async t => {
  const { requested, answers, guarded, outer, url } = await rebinding(t, (_, response) => response.end('hello'))
  answers.push(['127.0.0.2'])
  for (let n = 0; n < 3; n += 1) t.is((await guarded.post(url, message)).body.toString(), 'hello')
  outer.closeAllConnections()
  await t.throwsAsync(guarded.post(url, message), { message: /unreachable or has no public address/ })
  await t.throwsAsync(guarded.get(url, limits), { message: /unreachable or has no public address/ })
  t.deepEqual(requested, { outer: 3, inner: 0 })
})

test('a name that resolves to a private address at the next hop of a redirect is refused there', async t => {
  const { requested, answers, guarded, url } = await rebinding(t, (_, response) => response.writeHead(302, { location: '/again' }).end())
  answers.push(['127.0.0.2'], ['127.0.0.1'])
  await t.throwsAsync(guarded.get(url, limits), { message: /unreachable or has no public address/ })
  t.deepEqual(requested, { outer: 1, inner: 0 })
})

test('a name with a private address among its addresses is refused', async t => {
  const { requested, answers, guarded, url } = await rebinding(t, (_, response) => response.end('hello'))
  answers.push(['127.0.0.2', '127.0.0.1'], ['127.0.0.1', '127.0.0.2'])
  for (let n = 0; n < 2; n += 1) await t.throwsAsync(guarded.post(url, message), { message: /unreachable or has no public address/ })
  t.deepEqual(requested, { outer: 0, inner: 0 })
})

test('names whose DNS server is silent do not delay requests to others, and time out themselves', async t => {
  const base = await serve(t, (_, response) => response.end('hello'))
  const server = await serveNames(t, { 'files.test': () => ['127.0.0.1'] })
  const guarded = new GuardedFetch({ allow: ['127.0.0.1'] }, new HostLookup({ servers: () => [server], system: unknownName }))
  const silent = Array.from({ length: 20 }, (_, n) =>
    t.throwsAsync(guarded.get(`http://silent-${n}.test/`, { ...limits, timeoutMs: 2000 }), { message: /timed out/ }),
  )
  const { body } = await guarded.get(base.replace('127.0.0.1', 'files.test'), { ...limits, timeoutMs: 1500 })
  t.is((await buffer(body)).toString(), 'hello')
  await Promise.all(silent)
})

test('names that DNS does not know are resolved by the system, one at a time; names on the allow list and without a dot only there', async t => {
  const base = await serve(t, (_, response) => response.end('hello'))
  const server = await serveNames(t, { 'listed.test': () => ['192.0.2.1'] })
  const [requested, concurrent]: [string[], number[]] = [[], []]
  let running = 0
  const system: Lookup = (host, _options, done) => {
    requested.push(host)
    concurrent.push(++running)
    setImmediate(() => {
      running -= 1
      done(null, [{ address: '127.0.0.1', family: 4 }])
    })
  }
  const guarded = new GuardedFetch({ allow: ['127.0.0.1', 'listed.test'] }, new HostLookup({ servers: () => [server], system }))
  const read = async (host: string) => (await buffer((await guarded.get(base.replace('127.0.0.1', host), limits)).body)).toString()
  t.deepEqual(await Promise.all(['a.hosts.test', 'b.hosts.test'].map(read)), ['hello', 'hello'])
  t.deepEqual(concurrent, [1, 1])
  t.is(await read('listed.test'), 'hello')
  t.is(await read('minio'), 'hello')
  t.deepEqual(requested, ['a.hosts.test', 'b.hosts.test', 'listed.test', 'minio'])
})

test('a change of the DNS servers is noticed after a failure', async t => {
  const base = await serve(t, (_, response) => response.end('hello'))
  const servers = ['127.0.0.1:9', await serveNames(t, { 'files.test': () => ['127.0.0.1'] })]
  const hosts = new HostLookup({ servers: () => servers.splice(0, 1), system: unknownName })
  const guarded = new GuardedFetch({ allow: ['127.0.0.1'] }, hosts)
  const url = base.replace('127.0.0.1', 'files.test')
  await t.throwsAsync(guarded.get(url, limits), { message: /unreachable/ })
  t.is((await buffer((await guarded.get(url, limits)).body)).toString(), 'hello')
})

test('IPv6 addresses are requested only where the system can reach them', async t => {
  const base = await serve(t, (_, response) => response.end('hello'))
  for (const [hasIPv6, expected] of [
    [false, [1]],
    [true, [1, 28]],
  ] as const) {
    const types: number[] = []
    const server = await serveNames(t, { 'files.test': () => ['127.0.0.1'] }, types)
    const hosts = new HostLookup({ servers: () => [server], system: unknownName, hasIPv6: () => hasIPv6 })
    const { body } = await new GuardedFetch({ allow: ['127.0.0.1'] }, hosts).get(base.replace('127.0.0.1', 'files.test'), limits)
    t.is((await buffer(body)).toString(), 'hello')
    t.deepEqual(types.sort(), expected)
  }
})
