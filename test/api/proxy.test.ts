import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { Users } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { newKey, newPerson, type Person } from '../support/people.ts'
import { refusal } from '../support/scene.ts'
import { until } from '../support/until.ts'

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

let server: TestServer
let ann: Person
let port = 0
const seen: Seen[] = []
/** Responses that are still open. */
const open = new Set<ServerResponse>()

const behaviours: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void>> = {
  silent: () => undefined,
  slow: (_request, response) => {
    response.write('first')
    setTimeout(() => response.end('last'), 150)
  },
  huge: (_request, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  },
  announced: (_request, response) => response.writeHead(200, { 'content-length': 3_000_000 }).end(Buffer.alloc(3_000_000)),
  cut: (_request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('half')
    setTimeout(() => response.destroy(), 50)
  },
  redirect: (_request, response) => response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end('moved'),
  page: (_request, response) =>
    response
      .writeHead(409, {
        'content-type': 'text/html',
        'set-cookie': 'a=b',
        'x-secret': 'c',
        'content-disposition': 'inline; filename="p.html"',
      })
      .end('<script>alert(1)</script>'),
  nothing: (_request, response) => response.writeHead(204).end(),
  odd: (_request, response) => response.writeHead(499).end('odd'),
  barred: (_request, response) => response.writeHead(451).end('barred'),
  late: (_request, response) => response.writeHead(408).end('late'),
  looping: (_request, response) => response.writeHead(508).end('looping'),
  beyond: ({ socket }) => void socket.end('HTTP/1.1 999 Odd\r\nContent-Length: 3\r\n\r\nodd'),
  unchanged: ({ socket }) => void socket.end('HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n'),
  packed: (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end(gzipSync('unpacked')),
}

const service = createServer((request, response) => {
  open.add(response)
  response.on('close', () => open.delete(response))
  const behave = behaviours[(request.url ?? '').split('/').at(-1) ?? '']
  if (behave) return behave(request, response)
  buffer(request).then(
    body => {
      const { method, url, headers } = request
      seen.push({ method, url, headers, body: body.toString() })
      response.setHeader('content-type', 'text/plain')
      response.end(`${method} ${url} ${body.length}`)
    },
    () => response.destroy(),
  )
})

test.before(async () => {
  await new Promise<void>(resolve => service.listen(0, '127.0.0.1', resolve))
  port = (service.address() as AddressInfo).port
  const endpoints = {
    geo: `http://127.0.0.1:${port}/base`,
    bare: `http://127.0.0.1:${port}`,
    secret: `http://me:pass%20word@127.0.0.1:${port}/base/`,
    away: 'http://127.0.0.1:1/',
    plain: `http://me:pass@127.0.0.1:${port}/base`,
    closed: `http://me:pass@127.0.0.1:${port}/base`,
  }
  const all = { methods: ['GET', 'POST', 'PUT', 'DELETE'] }
  const rules = { geo: all, bare: all, secret: all, closed: { ...all, who: 'serverAdmin' } }
  server = await bootForTest({
    config: { resources: { proxy: { endpoints, rules, maxAnswerMiB: 2, maxRequestMiB: 1, silenceSeconds: 1 } } },
  })
  ann = await newPerson(server, 'ann')
})
test.after.always(async () => {
  await server?.stop()
  service.closeAllConnections()
  service.close()
})

const last = (): Seen => seen.at(-1) as Seen

test.serial('requests are forwarded below the prefix with method, query, content type and body', async t => {
  for (const [path, url] of [
    ['/api/proxy/geo', '/base'],
    ['/api/proxy/geo/', '/base/'],
    ['/api/proxy/geo/a/b%20c/%C3%A4?q=1&q=a%2Fb', '/base/a/b%20c/%C3%A4?q=1&q=a%2Fb'],
    ['/api/proxy/bare/x', '/x'],
    ['/api/proxy/secret/x', '/base/x'],
    ['/api/proxy/geo/with%2Fslash', '/base/with%2Fslash'],
  ] as const) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      const body = method === 'GET' ? {} : { body: 'some body', headers: { 'content-type': 'text/x' } }
      const answer = await ann.call(path, { method, ...body })
      t.is(await answer.text(), `${method} ${url} ${method === 'GET' ? 0 : 9}`)
      t.like(last(), { method, url, body: method === 'GET' ? '' : 'some body' })
      if (method !== 'GET') t.like(last().headers, { 'content-type': 'text/x', 'content-length': '9' })
    }
  }
  t.is((await ann.call('/api/proxy/geo/a', { method: 'DELETE' })).status, 200)
  t.is((await ann.call('/api/proxy/geo/a', { method: 'HEAD' })).status, 200)
  t.is(last().method, 'HEAD')
})

test.serial('our credentials are not forwarded, and the service gets its own', async t => {
  const headers = { cookie: 'other=1', 'x-other': 'y', accept: 'text/x' }
  await server.as()(`/api/proxy/geo/a?key=${ann.key}&b=1`, { headers: { ...headers, authorization: '' } })
  t.is(last().url, '/base/a?b=1')
  await ann.call('/api/proxy/geo/b', { headers })
  const { connection: _one, host: _two, 'accept-encoding': _three, ...rest } = last().headers
  t.deepEqual(rest, { accept: 'text/x' })
  await ann.call('/api/proxy/secret/c', { headers })
  t.is(last().headers.authorization, `Basic ${Buffer.from('me:pass word').toString('base64')}`)
})

test.serial('hostile paths never leave the prefix', async t => {
  const before = seen.length
  const paths = [
    ...['..', '../x', 'a/../../x', '.', 'a/..', '%2e%2e/x', '.%2e/x', '..%2fx', '%252e%252e/x', '..;/x', '%2e%2e;a/x', '..\\x', '..%5cx'],
    ...['/host/x', '//', 'a//b', '%2f%2fhost', 'a%00', '%0d%0aX:%20y', '%', '%zz'],
  ]
  for (const path of paths) {
    // A raw request: fetch would normalize the path.
    const status = await new Promise<number>((resolve, reject) => {
      const { hostname, port: to } = new URL(server.url)
      const requested = send({ hostname, port: to, path: `/api/proxy/geo/${path}`, headers: { 'x-api-key': ann.key } }, answer => {
        answer.resume()
        resolve(answer.statusCode ?? 0)
      })
      requested.on('error', reject)
      requested.end()
    })
    t.true(status === 400 || status === 404, `${path}: ${status}`)
  }
  t.is(seen.length, before)
  await ann.call('/api/proxy/geo/@evil/http://evil:80')
  t.is(seen.length, before)
  t.is((await ann.call('/api/proxy/geo/@evil')).status, 200)
  t.is(last().url, '/base/@evil')
})

test.serial('unknown services are 404, and callers without permission are refused', async t => {
  t.like(await refusal(ann.call('/api/proxy/nobody/x')), { status: 404, code: 'not-found', message: 'Not found: nobody' })
  for (const name of ['__proto__', 'constructor', 'toString', '%2e%2e']) t.is((await ann.call(`/api/proxy/${name}/x`)).status, 404, name)
  t.is((await server.as()('/api/proxy/geo/x')).status, 401)
  const extraction = await newKey(server, ann.email, ann.password, 'name=extractor&scope=extraction')
  t.is((await server.as(extraction)('/api/proxy/geo/x')).status, 403)
  const reader = await newPerson(server, 'reader')
  await server.get(Users).change(reader.id, { set: { status: 'ReadOnly' } }, [])
  t.is((await reader.call('/api/proxy/geo/x')).status, 200)
  t.is((await reader.call('/api/proxy/geo/x', { method: 'POST', body: 'x' })).status, 403)
})

test.serial('without a rule, a service accepts GET and HEAD only, from any caller', async t => {
  t.is((await ann.call('/api/proxy/plain/x')).status, 200)
  t.is((await ann.call('/api/proxy/plain/x', { method: 'HEAD' })).status, 200)
  const before = seen.length
  for (const method of ['POST', 'PUT', 'DELETE'])
    for (const call of [ann.call, server.as(server.admin.key)])
      t.like(await refusal(call('/api/proxy/plain/x', { method, body: 'x' })), { status: 405, code: 'method-not-allowed' }, method)
  t.is(seen.length, before)
})

test.serial('a rule specifies the callers of a service: server admins, or roles of one space', async t => {
  const admin = server.as(server.admin.key)
  t.like(await refusal(ann.call('/api/proxy/closed/x')), { status: 403, message: 'The service closed is for server admins' })
  t.is((await admin('/api/proxy/closed/x', { method: 'POST', body: 'x' })).status, 200)
  const endpoints = { geo: `http://me:pass@127.0.0.1:${port}/base` }
  const rule = { methods: ['GET', 'POST'], who: 'members', space: '5f9d88b4e4b0c0a5d0a5b0aa' }
  await t.throwsAsync(bootForTest({ t, config: { resources: { proxy: { endpoints, rules: { geo: { who: 'members' } } } } } }), {
    message: /rules\.geo\.space/,
  })
  await t.throwsAsync(bootForTest({ t, config: { resources: { proxy: { endpoints, rules: { other: rule } } } } }), {
    message: /rules\.other/,
  })
})

test('a role gives access to a service in the space of the rule only', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-proxy-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const first = await bootForTest({ folder })
  const [bob, eve] = [await newPerson(first, 'bob'), await newPerson(first, 'eve')]
  const spaceOf = async ({ call }: Person) =>
    ((await (await call('/api/spaces', { method: 'POST', json: { name: 'Station', description: '' } })).json()) as { id: string }).id
  const space = await spaceOf(bob)
  await spaceOf(eve)
  await first.stop()
  const endpoints = { geo: `http://me:pass@127.0.0.1:${port}/base` }
  const rules = { geo: { methods: ['GET', 'POST'], who: 'members', space, roles: ['Admin'] } }
  const second = await bootForTest({ t, folder, config: { resources: { proxy: { endpoints, rules } } } })
  const asking = (key: string) => second.as(key)('/api/proxy/geo/x', { method: 'POST', body: 'x' })
  t.is((await asking(bob.key)).status, 200)
  t.like(await refusal(asking(eve.key)), { status: 403, message: 'The service geo is for members of a space with the role Admin' })
  t.is((await asking(second.admin.key)).status, 200)
  const elsewhere = await newKey(
    second,
    bob.email,
    bob.password,
    `name=elsewhere&spaces=${await spaceOf({ ...bob, call: second.as(bob.key) })}`,
  )
  t.is((await asking(elsewhere)).status, 403)
})

test.serial('only content type, length, disposition and body are returned, and nothing runs in a browser', async t => {
  const answer = await ann.call('/api/proxy/geo/page')
  t.is(answer.status, 409)
  t.is(await answer.text(), '<script>alert(1)</script>')
  t.is(answer.headers.get('content-type'), 'text/html')
  t.is(answer.headers.get('content-disposition'), 'inline; filename="p.html"')
  t.is(answer.headers.get('set-cookie'), null)
  t.is(answer.headers.get('x-secret'), null)
  t.is(answer.headers.get('x-content-type-options'), 'nosniff')
  t.regex(answer.headers.get('content-security-policy') ?? '', /sandbox/)
  t.is((await ann.call('/api/proxy/geo/nothing')).status, 204)
  for (const [path, status] of [
    ['barred', 451],
    ['late', 408],
    ['looping', 508],
  ] as const)
    t.is((await ann.call(`/api/proxy/geo/${path}`)).status, status)
  t.is((await ann.call('/api/proxy/geo/odd')).status, 400)
  const beyond = await ann.call('/api/proxy/geo/beyond')
  t.deepEqual([beyond.status, await beyond.text()], [500, 'odd'])
  t.is((await ann.call('/api/proxy/geo/unchanged')).status, 300)
  t.is(await (await ann.call('/api/proxy/geo/packed')).text(), 'unpacked')
  const part = await ann.call('/api/proxy/geo/a', { headers: { range: 'bytes=0-1' } })
  t.is(part.status, 200)
  t.is(await part.text(), 'GET /base/a 0')
})

test.serial('redirects are not followed', async t => {
  const answer = await ann.call('/api/proxy/geo/redirect', { redirect: 'manual' })
  t.is(answer.status, 302)
  t.is(answer.headers.get('location'), null)
  t.is(await answer.text(), 'moved')
})

test.serial('a slow service succeeds; silent, unavailable, endless and aborting ones fail', async t => {
  t.is(await (await ann.call('/api/proxy/geo/slow')).text(), 'firstlast')
  t.like(await refusal(ann.call('/api/proxy/geo/silent')), { status: 503, code: 'unavailable' })
  t.like(await refusal(ann.call('/api/proxy/away')), { status: 503, code: 'unavailable' })
  t.like(await refusal(ann.call('/api/proxy/geo/announced')), { status: 413, code: 'too-large' })
  for (const path of ['huge', 'cut'])
    await t.throwsAsync(
      ann.call(`/api/proxy/geo/${path}`).then(answer => answer.arrayBuffer()),
      undefined,
      path,
    )
  await until(
    'all connections to the service to end',
    () => open.size,
    size => size === 0,
  )
})

test.serial('bodies beyond the limit are refused', async t => {
  t.like(await refusal(ann.call('/api/proxy/geo/a', { method: 'POST', body: new Uint8Array(1024 * 1024 + 1) })), { status: 413 })
  t.is((await ann.call('/api/proxy/geo/a', { method: 'POST', body: new Uint8Array(1024 * 1024) })).status, 200)
})

test.serial('a client that disconnects ends the request to the service', async t => {
  const leaving = new AbortController()
  const requested = ann.call('/api/proxy/geo/huge', { signal: leaving.signal })
  const reader = (await requested).body?.getReader()
  await reader?.read()
  leaving.abort()
  t.is(
    await until(
      'the connection to the service to end',
      () => open.size,
      size => size === 0,
    ),
    0,
  )
})

test('an invalid endpoint URL prevents the start', async t => {
  const starts = (address: string, context: ExecutionContext) =>
    bootForTest({ t: context, config: { resources: { proxy: { endpoints: { x: address } } } } })
  for (const address of ['nonsense', 'file:///etc', 'http://host/?a=b', 'http://host/#x'])
    await t.throwsAsync(starts(address, t), { message: /resources\.proxy\.endpoints\.x/ }, address)
})
