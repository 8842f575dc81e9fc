import { buffer } from 'node:stream/consumers'
import test from 'ava'
import { byteBody, Conflict, type Route, routesFor, s } from 'pounce/sdk'
import { rawClient } from './testing/raw-client.ts'
import { serve } from './testing/serve.ts'

const route = routesFor('pieces', {})
const type = 'application/offset+octet-stream'

const routes = (seen: { failure?: unknown } = {}): Record<string, Route> => ({
  take: route({
    method: 'PATCH',
    path: '/take',
    summary: 'x',
    permission: 'anyone',
    body: byteBody('bytes', { contentType: type }),
    responses: { 200: s.json() },
    headers: { 'pieces-version': '1' },
    async handle({ body }) {
      try {
        const { length } = await buffer(body.open())
        return { status: 200, body: { length, announced: body.sizeBytes ?? null } }
      } catch (error) {
        seen.failure = error
        throw error
      }
    },
  }),
  refuse: route({
    method: 'POST',
    path: '/refuse',
    summary: 'x',
    permission: 'anyone',
    body: byteBody('bytes or none', { contentType: type, isOptional: true }),
    responses: { 200: s.json() },
    async handle({ body }) {
      if (body.isPresent) throw new Conflict('not now')
      return { status: 200, body: 'none' }
    },
  }),
})

test('a body of bytes reaches its handler with its length', async t => {
  const { url } = await serve(t, routes())
  const body = Buffer.alloc(300_000, 'a')
  const answer = await fetch(`${url}/take`, { method: 'PATCH', headers: { 'content-type': type }, body })
  t.deepEqual(await answer.json(), { length: 300_000, announced: 300_000 })
  const empty = await fetch(`${url}/take`, { method: 'PATCH', headers: { 'content-type': type } })
  t.deepEqual(await empty.json(), { length: 0, announced: 0 })
})

test('a chunked body has no length', async t => {
  const { url } = await serve(t, routes())
  const init = { method: 'PATCH', headers: { 'content-type': type }, body: new Blob(['abc']).stream(), duplex: 'half' }
  t.deepEqual(await (await fetch(`${url}/take`, init as RequestInit)).json(), { length: 3, announced: null })
})

test('another media type is 415, and each response has the headers of the route', async t => {
  const { url } = await serve(t, routes())
  const answer = await fetch(`${url}/take`, { method: 'PATCH', headers: { 'content-type': 'text/plain' }, body: 'x' })
  t.is(answer.status, 415)
  t.is(answer.headers.get('pieces-version'), '1')
  const described = await fetch(`${url}/take`, { method: 'OPTIONS' })
  t.is(described.headers.get('allow'), 'PATCH, OPTIONS')
  t.is(described.headers.get('pieces-version'), '1')
  t.is(
    (await fetch(`${url}/take`, { method: 'PATCH', headers: { 'content-type': type, 'content-encoding': 'gzip' }, body: 'x' })).status,
    415,
  )
})

test('an optional body may be omitted', async t => {
  const { url } = await serve(t, routes())
  t.is(await (await fetch(`${url}/refuse`, { method: 'POST' })).json(), 'none')
  t.is((await fetch(`${url}/refuse`, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' })).status, 415)
})

test('a refusal reaches a client that is still sending', async t => {
  const { url } = await serve(t, routes())
  const body = Buffer.alloc(5_000_000)
  t.is((await fetch(`${url}/refuse`, { method: 'POST', headers: { 'content-type': type }, body })).status, 409)
})

test('100 Continue is only sent when the handler reads the body', async t => {
  const { port } = await serve(t, routes())
  const head = (path: string, method: string): string =>
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n`
  const refused = await rawClient(port)
  t.regex(await refused.send(head('/refuse', 'POST')).closed(), /^HTTP\/1\.1 409/)
  const taken = await rawClient(port)
  await taken.send(head('/take', 'PATCH')).receives(/^HTTP\/1\.1 100/)
  t.regex(await taken.send('abc').receives(/"length":3/), /200 OK/)
  taken.socket.destroy()
})

test('reading a truncated body fails in the handler', async t => {
  const seen: { failure?: unknown } = {}
  const { port } = await serve(t, routes(seen))
  const client = await rawClient(port)
  client.send(`PATCH /take HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: 10\r\n\r\nabc`)
  client.socket.end()
  await client.closed()
  t.like(seen.failure, { status: 400, message: 'Unexpected end of the body' })
})
