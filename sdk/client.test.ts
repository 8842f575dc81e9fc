import { Readable } from 'node:stream'
import test from 'ava'
import { serve } from '../core/http/testing/serve.ts'
import { CallFailed, clientOf } from './client.ts'
import { type Bytes, byteBody, multipart, NotFound, type Route, routesFor, s } from './index.ts'

const route = routesFor('things', {})
const anyone = { summary: 'x', permission: 'anyone' } as const

const routes = {
  getThing: route({
    method: 'GET',
    path: '/api/things/:id',
    ...anyone,
    params: s.Object({ id: s.String() }),
    query: s.Object({ limit: s.Integer({ default: 5 }), tag: s.Optional(s.repeated(s.String())) }),
    responses: { 200: s.Object({ id: s.String(), limit: s.Integer(), tags: s.Array(s.String()) }) },
    async handle({ params, query }) {
      if (params.id === 'none') throw new NotFound('thing')
      return { status: 200, body: { id: params.id, limit: query.limit, tags: query.tag ?? [] } }
    },
  }),
  makeThing: route({
    method: 'POST',
    path: '/api/things',
    ...anyone,
    body: s.Object({ name: s.line() }),
    responses: { 201: s.Object({ name: s.String() }) },
    handle: async ({ body }) => ({ status: 201, body }),
  }),
  sendFiles: route({
    method: 'POST',
    path: '/api/files',
    ...anyone,
    body: multipart('files'),
    responses: { 200: s.Array(s.String()) },
    async handle({ body }) {
      const names: string[] = []
      for await (const part of body) names.push(part.kind === 'file' ? part.filename : part.value)
      return { status: 200, body: names }
    },
  }),
  sendLines: route({
    method: 'POST',
    path: '/api/lines',
    ...anyone,
    body: byteBody('lines', { takes: ['application/x-ndjson', 'application/json'] }),
    responses: { 200: s.text() },
    handle: async ({ headers }) => ({ status: 200, body: String(headers['content-type']) }),
  }),
  getBytes: route({
    method: 'GET',
    path: '/api/bytes/:rest*',
    ...anyone,
    params: s.Object({ rest: s.String() }),
    responses: { 200: s.bytes<Bytes>() },
    handle: async ({ params }) => ({
      status: 200,
      body: { open: () => Readable.from([Buffer.from(params.rest)]), contentType: 'text/plain' },
    }),
  }),
  getText: route({
    method: 'GET',
    path: '/api/text',
    ...anyone,
    responses: { 200: s.text() },
    handle: async ({ headers }) => ({ status: 200, body: String(headers['x-mine']) }),
  }),
  remove: route({
    method: 'DELETE',
    path: '/api/things',
    ...anyone,
    responses: { 204: s.empty() },
    handle: async () => ({ status: 204, body: undefined }),
  }),
  getRows: route({
    method: 'GET',
    path: '/api/rows',
    ...anyone,
    responses: { 200: s.rows(s.Integer()) },
    async handle() {
      async function* rows(): AsyncGenerator<number> {
        yield* [1, 2, 3]
      }
      return { status: 200, body: rows() }
    },
  }),
  notARoute: 5,
}

const connected = async (t: Parameters<typeof serve>[0]) => {
  const { notARoute: _no, ...served } = routes
  const { url } = await serve(t, served as Readonly<Record<string, Route>>)
  return clientOf(routes, { url })
}

test('parameters, queries and bodies are sent as declared, and responses are typed', async t => {
  const client = await connected(t)
  const { status, body } = await client.getThing({ params: { id: 'a/b ü' }, query: { tag: ['x', 'y&z'] } })
  t.is(status, 200)
  t.deepEqual(body, { id: 'a/b ü', limit: 5, tags: ['x', 'y&z'] })
  const made = await client.makeThing({ body: { name: 'x' } })
  t.is(made.status, 201)
  t.is(made.body.name, 'x')
})

test('files are sent as a form, bytes are returned as a response', async t => {
  const client = await connected(t)
  const form = new FormData()
  form.append('note', 'first')
  form.append('File', new Blob(['x']), 'größe.txt')
  t.deepEqual((await client.sendFiles({ body: form })).body, ['first', 'größe.txt'])
  const { body } = await client.getBytes({ params: { rest: 'a b/c' } })
  t.is(await body.text(), 'a b/c')
})

test('byte bodies have the first media type that the route accepts, by default', async t => {
  const client = await connected(t)
  const body = new Blob(['{}'])
  t.is((await client.sendLines({ body })).body, 'application/x-ndjson')
  t.is((await client.sendLines({ body, headers: { 'content-type': 'application/json' } })).body, 'application/json')
})

test('text, empty and row bodies are parsed accordingly', async t => {
  const client = await connected(t)
  t.is((await client.getText({ headers: { 'x-mine': 'yes' } })).body, 'yes')
  t.is((await client.remove()).body, undefined)
  const { body } = await client.getRows()
  t.deepEqual(body, [1, 2, 3])
})

test('a refusal is thrown with its code', async t => {
  const client = await connected(t)
  const failure = await t.throwsAsync(client.getThing({ params: { id: 'none' } }), { instanceOf: CallFailed })
  t.like(failure, { status: 404, code: 'not-found' })
  t.regex(failure.message, /^getThing: 404 Thing not found/)
})

test('exports that are not routes are not in the client', async t => {
  t.false('notARoute' in (await connected(t)))
})

test('undeclared parameters and responses do not compile', async t => {
  const client = await connected(t)
  // @ts-expect-error the id is missing
  await t.throwsAsync(client.makeThing({}))
  // @ts-expect-error a name is text
  await t.throwsAsync(client.makeThing({ body: { name: 5 } }))
})
