import { createRequire } from 'node:module'
import { Readable } from 'node:stream'
import test, { type ExecutionContext } from 'ava'
import helmet from 'koa-helmet'
import { type KoaMiddleware, type MiddlewareContext, type MiddlewarePhase, type Route, routesFor, s, Unavailable } from 'pounce/sdk'
import { callers } from './testing/people.ts'
import { plainRoutes } from './testing/plain-routes.ts'
import { type ServeOptions, serve } from './testing/serve.ts'

const require = createRequire(import.meta.url)
/** A package without types. */
const rateLimit = require('koa-ratelimit') as (options: object) => KoaMiddleware

const route = routesFor('things', {})
const routes: Record<string, Route> = {
  ...plainRoutes,
  things: route({
    method: 'GET',
    path: '/things',
    summary: 'x',
    permission: 'anyone',
    responses: { 200: s.Array(s.String()) },
    handle: async () => ({ status: 200, body: ['a thing'] }),
  }),
  mine: route({
    method: 'GET',
    path: '/mine',
    summary: 'x',
    permission: 'signedIn',
    query: s.Object({ n: s.Optional(s.Integer()) }),
    responses: { 200: s.text() },
    handle: async () => ({ status: 200, body: 'mine' }),
  }),
}

const own = (use: (context: MiddlewareContext, next: () => Promise<unknown>) => unknown): KoaMiddleware => use

const server = async (t: ExecutionContext, phase: MiddlewarePhase, use: KoaMiddleware, more: ServeOptions = {}) => {
  const { url } = await serve(t, routes, { ...more, callers, options: { middleware: [{ phase, use }] } })
  return async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(url + path, init)
    return { status: answer.status, statusText: answer.statusText, headers: answer.headers, text: await answer.text() }
  }
}

test('koa-helmet sets its headers on every response, and ours take precedence', async t => {
  const ask = await server(t, 'beforeRouting', helmet())
  for (const path of ['/hello', '/nowhere', '/docs']) {
    const { headers } = await ask(path)
    t.is(headers.get('x-frame-options'), 'SAMEORIGIN', path)
    t.is(headers.get('x-dns-prefetch-control'), 'off', path)
    t.is(headers.get('strict-transport-security'), 'max-age=31536000', path)
  }
  t.regex((await ask('/docs')).headers.get('content-security-policy') ?? '', /script-src 'nonce-/)
  t.is((await ask('/hello')).text, 'hello')
})

test('koa-ratelimit counts per client, and its response has the common headers', async t => {
  const limit = rateLimit({ driver: 'memory', db: new Map(), duration: 60_000, max: 2 })
  const ask = await server(t, 'beforeRouting', limit, { config: { trustedProxies: 1 } })
  const from = (address: string, method = 'GET') => ask('/hello', { method, headers: { 'x-forwarded-for': address } })
  t.is((await from('203.0.113.1')).headers.get('x-ratelimit-remaining'), '1')
  t.is((await from('203.0.113.1')).status, 200)
  const { status, headers, text } = await from('203.0.113.1')
  t.is(status, 429)
  t.regex(text, /Rate limit exceeded/)
  t.truthy(headers.get('retry-after'))
  t.truthy(headers.get('x-request-id'))
  t.is(headers.get('x-content-type-options'), 'nosniff')
  t.is((await from('203.0.113.1', 'HEAD')).status, 429)
  t.is((await from('203.0.113.2')).status, 200)
})

test('middleware sees the status of the response after next, and can set headers, the status and another body', async t => {
  const seen: unknown[] = []
  for (const phase of ['beforeRouting', 'afterAuthentication', 'beforeHandler'] as const) {
    const ask = await server(
      t,
      phase,
      own(async (context, next) => {
        await next()
        seen.push([context.status, context.body])
        context.set('x-response-time', '1 ms')
        if (context.get('x-want') === 'status') context.status = 203
        if (context.get('x-want') === 'body') context.body = { other: true }
      }),
    )
    const [plain, status, body, json] = [
      await ask('/hello'),
      await ask('/hello', { headers: { 'x-want': 'status' } }),
      await ask('/hello', { headers: { 'x-want': 'body' } }),
      await ask('/things'),
    ]
    for (const { headers } of [plain, status, body, json]) t.is(headers.get('x-response-time'), '1 ms', phase)
    t.deepEqual([plain.status, plain.statusText, plain.text], [200, 'OK', 'hello'])
    t.deepEqual([status.status, status.statusText, status.text], [203, 'Non-Authoritative Information', 'hello'])
    t.deepEqual([body.status, body.text], [200, '{"other":true}'])
    t.regex(body.headers.get('content-type') ?? '', /^application\/json/)
    const known = await ask('/things', { headers: { 'if-none-match': json.headers.get('etag') ?? '' } })
    t.deepEqual([known.status, known.statusText], [304, 'Not Modified'])
  }
  t.deepEqual(
    seen,
    seen.map(() => [200, undefined]),
  )
})

test('an error thrown by middleware after next is answered instead of the reply', async t => {
  const ask = await server(
    t,
    'beforeRouting',
    own(async (context, next) => {
      await next()
      if (context.get('x-want') === 'error') throw new Unavailable('Not now')
    }),
  )
  t.is((await ask('/hello')).status, 200)
  const { status, text } = await ask('/hello', { headers: { 'x-want': 'error' } })
  t.is(status, 503)
  t.like(JSON.parse(text), { message: 'Not now' })
})

test('an error thrown by ctx.throw is a problem with its status, message and headers', async t => {
  const limit = rateLimit({ driver: 'memory', db: new Map(), duration: 60_000, max: 1, throw: true })
  const ask = await server(t, 'beforeRouting', limit)
  t.is((await ask('/hello')).status, 200)
  const { status, headers, text } = await ask('/hello')
  t.is(status, 429)
  t.truthy(headers.get('retry-after'))
  t.like(JSON.parse(text), { status: 'error', code: 'refused', requestId: headers.get('x-request-id') })
})

test('any other error in middleware is a bug, of which no details are sent', async t => {
  const ask = await server(
    t,
    'beforeRouting',
    own(() => {
      throw Object.assign(new Error('secret'), { status: 400 })
    }),
  )
  const { status, text } = await ask('/hello')
  t.is(status, 500)
  t.false(text.includes('secret'))
})

test('middleware after authentication has the caller, and runs before rights and input are checked', async t => {
  const seen: unknown[] = []
  const ask = await server(
    t,
    'afterAuthentication',
    own(({ state }, next) => {
      seen.push(state.request.caller.user?.email ?? null)
      return next()
    }),
  )
  t.is((await ask('/mine?n=x', { headers: { 'x-api-key': 'ann' } })).status, 400)
  t.is((await ask('/mine')).status, 401)
  t.is((await ask('/nowhere')).status, 404)
  t.deepEqual(seen, ['ann@example.org', null])
})

test('middleware before the handler only runs for permitted requests, and may respond instead of it', async t => {
  const ask = await server(
    t,
    'beforeHandler',
    own((context, next) => {
      if (context.get('x-want') === '') return next()
      context.status = 418
      context.body = context.get('x-want') === 'stream' ? Readable.from(['a pot']) : { pot: context.ip }
      return undefined
    }),
  )
  t.is((await ask('/hello')).text, 'hello')
  t.is((await ask('/mine', { headers: { 'x-want': 'object' } })).status, 401)
  const object = await ask('/hello', { headers: { 'x-want': 'object' } })
  t.deepEqual([object.status, object.text], [418, '{"pot":"127.0.0.1"}'])
  t.regex(object.headers.get('content-type') ?? '', /^application\/json/)
  const stream = await ask('/hello', { headers: { 'x-want': 'stream' } })
  t.deepEqual([stream.status, stream.text], [418, 'a pot'])
})

test('a response of middleware reaches a client that is still sending', async t => {
  const ask = await server(
    t,
    'beforeRouting',
    own(context => {
      context.status = 503
      context.body = 'later'
    }),
  )
  const { status, text } = await ask('/echo', { method: 'POST', body: Buffer.alloc(5_000_000) })
  t.deepEqual([status, text], [503, 'later'])
})

test('a key in the URL is hidden from middleware', async t => {
  const seen: unknown[] = []
  const ask = await server(
    t,
    'beforeRouting',
    own((context, next) => {
      const { originalUrl, url, query } = context as unknown as Record<string, unknown>
      seen.push(originalUrl, url, { ...(query as object) })
      return next()
    }),
  )
  await ask('/hello?key=ann&x=1')
  t.deepEqual(seen, ['/hello?x=1', '/hello?x=1', { x: '1' }])
})
