import { setTimeout } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { byteBody, type Route, routesFor, s } from 'pounce/sdk'
import type { HttpConfig } from './config.ts'
import { plainRoutes } from './testing/plain-routes.ts'
import { type RawClient, rawClient } from './testing/raw-client.ts'
import { serve } from './testing/serve.ts'

const route = routesFor('things', {})
const anyone = { summary: 'x', permission: 'anyone' } as const

const routes: Record<string, Route> = {
  ...plainRoutes,
  count: route({
    method: 'POST',
    path: '/count',
    ...anyone,
    body: byteBody('Bytes'),
    responses: { 200: s.json() },
    async handle({ body }) {
      let bytes = 0
      for await (const chunk of body.open()) bytes += (chunk as Buffer).length
      return { status: 200, body: bytes }
    },
  }),
}

const server = async (t: ExecutionContext, config: Partial<HttpConfig> = {}) => {
  const { port, url } = await serve(t, routes, { config })
  const connect = async (text: string): Promise<RawClient> => {
    const client = await rawClient(port)
    t.teardown(() => client.socket.destroy())
    return client.send(text)
  }
  return { url, connect }
}

/** Sends a byte at a time until the server closes the connection. */
const drip = (t: ExecutionContext, client: RawClient, everyMs: number): void => {
  const timer = setInterval(() => client.socket.writable && client.send('x'), everyMs)
  t.teardown(() => clearInterval(timer))
  client.socket.on('close', () => clearInterval(timer))
}

const octets = 'POST /count HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\nContent-Length: 1000000\r\n\r\n'
const json = 'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'

test('a slow body gets 408 and a closed connection, although it never stalls', async t => {
  const { connect } = await server(t, { bodyRateWindowMs: 400, minBodyRate: 1024, silentTransferMs: 60_000 })
  const client = await connect(octets)
  drip(t, client, 20)
  const answer = await client.receives(/"code":"too-slow"/)
  t.regex(answer, /^HTTP\/1\.1 408 /)
  t.regex(answer, /at least 1024 bytes per second/)
})

test('a JSON body has a total time limit, regardless of its rate', async t => {
  const { connect } = await server(t, { bodyRateWindowMs: 60_000, jsonBodyTimeoutMs: 400 })
  for (const framing of ['Content-Length: 60000', 'Transfer-Encoding: chunked']) {
    const client = await connect(`${json}${framing}\r\n\r\n${framing.startsWith('T') ? '' : '"'}`)
    if (!framing.startsWith('T')) drip(t, client, 20)
    const answer = await client.receives(/"code":"too-slow"/)
    t.regex(answer, /^HTTP\/1\.1 408 /, framing)
    t.regex(answer, /must be complete within/)
  }
})

test('newline-delimited JSON, which is read line by line, has no total time limit', async t => {
  const { connect } = await server(t, { jsonBodyTimeoutMs: 100 })
  const client = await connect(octets.replace('octet-stream', 'x-ndjson').replace('1000000', '60'))
  for (let sent = 0; sent < 60; sent += 6) {
    client.send('"abc"\n')
    await setTimeout(100)
  }
  t.regex(await client.receives(/60$|"code"/), /^HTTP\/1\.1 200 /)
})

test('a body with a sufficient rate may take longer than a window', async t => {
  const { connect } = await server(t, { bodyRateWindowMs: 1000, minBodyRate: 1 })
  const client = await connect(octets.replace('1000000', '600'))
  for (let sent = 0; sent < 600; sent += 24) {
    client.send('y'.repeat(24))
    await setTimeout(100)
  }
  t.regex(await client.receives(/600$/), /^HTTP\/1\.1 200 /)
})

test('connections per address are limited, with 429 beyond the limit until one ends', async t => {
  const { connect, url } = await server(t, { maxConnectionsPerAddress: 3, keepAliveTimeoutMs: 60_000 })
  const held = [await connect(octets), await connect(octets), await connect('GET /hel')]
  const refused = await (await connect('GET /hello HTTP/1.1\r\nHost: x\r\n\r\n')).closed()
  t.regex(refused, /^HTTP\/1\.1 429 /)
  t.regex(refused, /Retry-After: \d/)
  t.regex(refused, /"code":"too-many-connections"/)
  held[0]?.socket.destroy()
  const answered = async (): Promise<string> => {
    const answer = await fetch(`${url}/hello`)
    return answer.status === 429 ? answered() : answer.text()
  }
  t.is(await answered(), 'hello')
})

test('connections of a trusted proxy are not limited per address', async t => {
  const { connect } = await server(t, { maxConnectionsPerAddress: 1, trustedProxies: 1 })
  const clients = [await connect(octets), await connect('GET /hello HTTP/1.1\r\nHost: x\r\n\r\n')]
  t.regex(await (clients[1] as RawClient).receives(/hello$/), /^HTTP\/1\.1 200 /)
})

test('a host name that is not configured is refused', async t => {
  const { connect } = await server(t, { allowedHosts: ['files.example.net'] })
  const requested = async (host: string) => (await connect(`GET /hello HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).closed()
  for (const host of [
    'data.example.org',
    'DATA.example.org:9000',
    'data.example.org.',
    'files.example.net',
    '127.0.0.1:9000',
    '[::1]:9000',
    'localhost:1',
    'proxy',
    'a.localhost',
  ])
    t.regex(await requested(host), /^HTTP\/1\.1 200 /, host)
  for (const host of [
    'rebound.example.com',
    'rebound.example.com:9000',
    'data.example.org.evil.example',
    'x.files.example.net',
    '127.0.0.1.nip.io',
  ]) {
    const answer = await requested(host)
    t.regex(answer, /^HTTP\/1\.1 421 /, host)
    t.regex(answer, /"code":"unknown-host"/)
  }
  const open = await server(t, { allowedHosts: ['*'] })
  t.regex(
    await (await open.connect('GET /hello HTTP/1.1\r\nHost: any.example.com\r\nConnection: close\r\n\r\n')).closed(),
    /^HTTP\/1\.1 200 /,
  )
})
