import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { Forbidden, multipart, type Route, routesFor, s } from 'pounce/sdk'
import type { HttpConfig } from './config.ts'
import { plainRoutes } from './testing/plain-routes.ts'
import { type RawClient, rawClient } from './testing/raw-client.ts'
import { serve } from './testing/serve.ts'

// @separate-process: connections are closed after milliseconds.
const route = routesFor('things', {})
const anyone = { summary: 'x', permission: 'anyone' } as const

/** A server whose `/slow` responds when `finish` is called. */
const server = async (t: ExecutionContext, config: Partial<HttpConfig> = {}) => {
  const begun = Promise.withResolvers<AbortSignal>()
  const finish = Promise.withResolvers<void>()
  const routes: Record<string, Route> = {
    ...plainRoutes,
    slow: route({
      method: 'GET',
      path: '/slow',
      ...anyone,
      responses: { 200: s.text() },
      async handle({ signal }) {
        begun.resolve(signal)
        await finish.promise
        return { status: 200, body: 'done' }
      },
    }),
    store: route({
      method: 'POST',
      path: '/store',
      ...anyone,
      body: multipart('one file'),
      responses: { 200: s.text() },
      async handle({ body, signal }) {
        begun.resolve(signal)
        await finish.promise
        let length = 0
        for await (const part of body) if (part.kind === 'file') for await (const chunk of part.stream) length += (chunk as Buffer).length
        return { status: 200, body: String(length) }
      },
    }),
    refuse: route({
      method: 'POST',
      path: '/refuse',
      ...anyone,
      body: multipart('nothing'),
      responses: { 200: s.text() },
      async handle() {
        throw new Forbidden('No')
      },
    }),
  }
  const { port, http, url } = await serve(t, routes, { config })
  const send = async (text: string): Promise<RawClient> => {
    const client = await rawClient(port)
    t.teardown(() => client.socket.destroy())
    return client.send(text)
  }
  return { port, http, url, send, begun: begun.promise, finish: () => finish.resolve() }
}

/** The response as a problem with the request id in head and body. */
const refused = (t: ExecutionContext, received: string): { readonly status: number; readonly code: string } => {
  const [, first = '', body = ''] = /^HTTP\/1\.1 (\d+) [\s\S]*?\r\n\r\n([\s\S]*)$/.exec(received) ?? []
  const { status, message, code, requestId } = JSON.parse(body) as Readonly<Record<string, string>>
  t.is(status, 'error', received)
  t.truthy(message)
  t.regex(requestId ?? '', /^[0-9a-f]{24}$/)
  t.is(/^x-request-id: (.*)$/im.exec(received)?.[1]?.trim(), requestId)
  return { status: Number(first), code: code ?? '' }
}

const hello = 'GET /hello HTTP/1.1\r\nHost: x\r\n\r\n'

test('request smuggling attempts are 400 and close the connection', async t => {
  const { send } = await server(t)
  const start = 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
  const shapes = [
    `${start}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${start}Content-Length: 4\r\nContent-Length: 5\r\n\r\n"ab"x`,
    `${start}Content-Length: +4\r\n\r\n"ab"`,
    `${start}Transfer-Encoding: chunked, identity\r\n\r\n`,
    `${start}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    `${start}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
    `${start}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n""\r\n0\r\n\r\n${hello}`,
    `${start.replace('1.1', '1.0')}Transfer-Encoding: chunked\r\n\r\n2\r\n""\r\n0\r\n\r\n`,
    `${start}Host: y\r\nContent-Length: 2\r\n\r\n""${hello}`,
    'GET /hello HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n',
    `${start}Host: y\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`,
    'GET /hello HTTP/2.0\r\nHost: x\r\n\r\n',
    'GET /he llo HTTP/1.1\r\nHost: x\r\n\r\n',
    'nonsense\r\n\r\n',
    'GET /hello HTTP/1.1\r\nHost: x\r\nBad\u0000Name: x\r\n\r\n',
  ]
  for (const shape of shapes) {
    const received = await (await send(shape)).closed()
    t.regex(received, /^HTTP\/1\.1 400 [\s\S]*Connection: close/i, JSON.stringify(shape))
    t.is(refused(t, received).status, 400, JSON.stringify(shape))
    t.is(received.match(/^HTTP/gm)?.length, 1, JSON.stringify(shape))
  }
  t.regex(
    await (await send(`${start}Transfer-Encoding: Chunked\r\nConnection: close\r\n\r\n2\r\n""\r\n0\r\n\r\n`)).closed(),
    /^HTTP\/1\.1 200 /,
  )
})

test('a request without a Host is 400, and an unknown expectation is ignored', async t => {
  const { send } = await server(t)
  const received = await (await send('GET /hello HTTP/1.1\r\nConnection: close\r\n\r\n')).closed()
  t.deepEqual(refused(t, received), { status: 400, code: 'invalid' })
  t.regex(await (await send('GET /hello HTTP/1.0\r\n\r\n')).closed(), /^HTTP\/1\.1 200 /)
  t.regex(await (await send(`GET /hello HTTP/1.1\r\nHost: x\r\nExpect: more\r\nConnection: close\r\n\r\n`)).closed(), /^HTTP\/1\.1 200 /)
})

test('headers of 40 kB are accepted, and larger ones are 431', async t => {
  const { send } = await server(t)
  const received = await (await send(`GET /hello HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(41_000)}\r\n\r\n`)).closed()
  t.deepEqual(refused(t, received), { status: 431, code: 'headers-too-large' })
  t.regex(await (await send(`GET /hello?${'x'.repeat(41_000)} HTTP/1.1\r\nHost: x\r\n\r\n`)).closed(), /^HTTP\/1\.1 431 /)
  const thousand = `id=${'f'.repeat(24)}&`.repeat(1000)
  t.regex(await (await send(`GET /hello?${thousand} HTTP/1.0\r\nHost: x\r\n\r\n`)).closed(), /^HTTP\/1\.1 200 /)
})

test('headers that are not received in time are 408', async t => {
  const { send } = await server(t, { headersTimeoutMs: 200 })
  const received = await (await send('GET /hello HTTP/1.1\r\nHost: x\r\nX-')).closed()
  t.deepEqual(refused(t, received), { status: 408, code: 'too-slow' })
})

test('an idle connection is closed after its timeout', async t => {
  const { send } = await server(t, { keepAliveTimeoutMs: 100, silentTransferMs: 100 })
  const client = await send(hello)
  t.regex(await client.closed(), /hello$/)
})

test('the connection of a stalled JSON body is closed', async t => {
  const { send } = await server(t, { silentTransferMs: 200 })
  const client = await send('POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n"ab')
  t.is(await client.closed(), '')
})

test('a handler may take longer than a transfer may stall', async t => {
  const { send, begun, finish, http } = await server(t, { silentTransferMs: 100 })
  const client = await send('GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  await begun
  // Another connection is closed meanwhile: the timeout has elapsed for both.
  t.is(await (await send('GET /hel')).closed(), '')
  finish()
  t.regex(await client.closed(), /done$/)
  await http.drain(0)
})

test('an upload is not cut while the server reads it slowly', async t => {
  const { send, begun, finish } = await server(t, { silentTransferMs: 100 })
  const head = 'POST /store HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\nConnection: close\r\n'
  const body = `--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n${'y'.repeat(4_000_000)}\r\n--x--\r\n`
  const client = await send(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
  await begun
  // Another connection is closed meanwhile: the timeout has elapsed for both.
  t.is(await (await send('GET /hel')).closed(), '')
  finish()
  t.regex(await client.closed(), /4000000$/)
})

test('an upload is not cut because the process was paused', async t => {
  const { send } = await server(t, { silentTransferMs: 100 })
  const client = await send(
    'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 4\r\n\r\n"a',
  )
  await new Promise(resolve => setTimeout(resolve, 20))
  // After immediates, timers that became due during the pause fire before sockets are read.
  await new Promise(setImmediate)
  for (const begun = performance.now(); performance.now() < begun + 300; );
  client.send('b"')
  t.regex(await client.closed(), /"ab"$/)
})

test('a refused upload gets its response, although its client sends the complete body first', async t => {
  const { port } = await server(t)
  const total = 30_000_000
  const client = await rawClient(port)
  client.send(`POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: ${total}\r\n\r\n`)
  client.socket.pause()
  const chunk = Buffer.alloc(1_000_000)
  for (let sent = 0; sent < total; sent += chunk.length) if (!client.socket.write(chunk)) await once(client.socket, 'drain')
  client.socket.resume()
  const received = await client.closed()
  t.regex(received, /^HTTP\/1\.1 403 [\s\S]*Connection: close[\s\S]*"code":"forbidden"/i)
})

test('a client that expects 100-continue gets no 100 for a refused upload', async t => {
  const { send } = await server(t)
  const refused = await send(
    'POST /refuse HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 99\r\n\r\n',
  )
  t.regex(await refused.closed(), /^HTTP\/1\.1 403 /)
  const large = await send(
    'POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n',
  )
  t.regex(await large.closed(), /^HTTP\/1\.1 413 /)
  const taken = await send(
    'POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\n',
  )
  await taken.receives(/^HTTP\/1\.1 100 Continue\r\n\r\n$/)
  t.regex(await taken.send('"ab"').closed(), /200 OK[\s\S]*"ab"$/)
})

test('pipelined requests are answered in order', async t => {
  const { send, finish } = await server(t)
  const client = await send(`GET /slow HTTP/1.1\r\nHost: x\r\n\r\n${hello}GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  finish()
  t.regex(await client.closed(), /200 OK[\s\S]*done[\s\S]*200 OK[\s\S]*hello[\s\S]*404 Not Found/)
})

test('pipelined requests are processed one after the other, and not after a disconnect', async t => {
  const begun: number[] = []
  const signals: AbortSignal[] = []
  const finish: (() => void)[] = []
  const step = route({
    method: 'GET',
    path: '/step/:number',
    ...anyone,
    params: s.Object({ number: s.Integer() }),
    responses: { 200: s.text() },
    async handle({ params, signal }) {
      begun.push(params.number)
      signals.push(signal)
      const { promise, resolve } = Promise.withResolvers<void>()
      finish.push(resolve)
      await promise
      return { status: 200, body: `end ${params.number};` }
    },
  })
  const { port, url } = await serve(t, { ...plainRoutes, step })
  const client = await rawClient(port)
  client.send([0, 1, 2, 3].map(number => `GET /step/${number} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
  for (const number of [0, 1]) {
    while (begun.length <= number) await turn()
    // A second request, on another connection, is answered meanwhile.
    t.is(await (await fetch(`${url}/hello`)).text(), 'hello')
    t.deepEqual(begun, [0, 1].slice(0, number + 1))
    finish[number]?.()
    await client.receives(new RegExp(`end ${number};$`))
  }
  while (begun.length < 3) await turn()
  client.socket.destroy()
  while (!signals[2]?.aborted) await turn()
  finish[2]?.()
  t.is(await (await fetch(`${url}/hello`)).text(), 'hello')
  t.deepEqual(begun, [0, 1, 2])
})

test.serial('a connection is not read any further while many of its requests wait; then all are answered', async t => {
  const { send, begun, finish, port } = await server(t)
  let received = 0
  const count = (message: unknown) => {
    const { request } = message as { readonly request: IncomingMessage }
    if (request.socket.localPort === port && request.url === '/hello') received += 1
  }
  subscribe('http.server.request.start', count)
  t.teardown(() => unsubscribe('http.server.request.start', count))
  const many = 20_000
  const client = await send('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
  await begun
  client.send(`${hello.repeat(many)}GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  while (received === 0) await turn()
  for (let round = 0; round < 100; round += 1) await fetch(`http://127.0.0.1:${port}/hello2`)
  t.true(received < 10_000, `${received} requests were read`)
  finish()
  const answers = await client.closed()
  t.is(answers.match(/\r\n\r\nhello/g)?.length, many)
  t.regex(answers, /404 Not Found[\s\S]*$/)
})

test('the signal of a request is aborted when its client disconnects, not after the response', async t => {
  const { send, begun, finish, url } = await server(t)
  const client = await send('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
  const signal = await begun
  t.false(signal.aborted)
  client.socket.destroy()
  await once(signal, 'abort')
  finish()
  const answered = await server(t)
  const response = fetch(`${answered.url}/slow`)
  const kept = await answered.begun
  answered.finish()
  await (await response).text()
  t.false(kept.aborted)
  t.is(await (await fetch(`${url}/hello`)).text(), 'hello')
})

test('connections beyond the limit are dropped', async t => {
  const { port, send } = await server(t, { maxConnections: 1 })
  const first = await send(hello)
  await first.receives(/hello$/)
  const second = connect(port, '127.0.0.1')
  second.on('error', () => undefined)
  await once(second, 'close')
  t.regex(await first.send(hello).receives(/hello[\s\S]*hello$/), /hello$/)
})

test('a stopping server still serves requests, with Connection: close and 503 at /readyz', async t => {
  const { send, http } = await server(t)
  const client = await send(hello)
  await client.receives(/hello$/)
  http.setStopping()
  client.send('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n')
  t.regex(await client.closed(), /503 Service Unavailable[\s\S]*Connection: close/i)
})

test('draining waits for a running request; until then others are served, and none afterwards', async t => {
  const { send, http, begun, finish, port } = await server(t)
  const idle = await send(hello)
  await idle.receives(/hello$/)
  const running = await send('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
  await begun
  const drained = http.drain(10_000)
  const late = await send('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n')
  t.regex(await late.closed(), /503 Service Unavailable[\s\S]*Connection: close/i)
  finish()
  t.regex(await running.closed(), /Connection: close[\s\S]*done$/i)
  await drained
  await idle.closed()
  const [error] = (await once(connect(port, '127.0.0.1'), 'error')) as [NodeJS.ErrnoException]
  t.is(error.code, 'ECONNREFUSED')
})

test('draining aborts requests that take too long, and the signals of their handlers', async t => {
  const { send, http, begun, finish } = await server(t)
  const running = await send('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
  const signal = await begun
  await http.drain(50)
  t.true(signal.aborted)
  t.is(await running.closed(), '')
  finish()
  await http.drain(0)
})
