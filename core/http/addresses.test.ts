import { request } from 'node:http'
import test from 'ava'
import { type Route, routesFor, s } from 'pounce/sdk'
import { callers } from './testing/people.ts'
import { httpOptions, serve } from './testing/serve.ts'

const route = routesFor('things', {})
const query = s.Object({ x: s.Optional(s.String()) })
const shown = async ({ caller, url, body }: { caller: { via: string }; url: URL; body: unknown }) => ({
  status: 200 as const,
  body: `${caller.via} ${url.href} ${JSON.stringify(body ?? null)}`,
})
const responses = { 200: s.text() }

const routes: Record<string, Route> = {
  list: route({ method: 'GET', path: '/api/things', summary: 'x', permission: 'anyone', query, responses, handle: shown }),
  add: route({
    method: 'POST',
    path: '/api/things',
    summary: 'x',
    permission: 'anyone',
    body: s.Object({ name: s.line() }),
    responses,
    handle: shown,
  }),
  item: route({
    method: 'GET',
    path: '/api/things/:id',
    summary: 'x',
    permission: 'anyone',
    params: s.Object({ id: s.line() }),
    responses,
    handle: shown,
  }),
}

interface Got {
  readonly status: number
  readonly location: string | undefined
  readonly text: string
}

/** Sends a path unchanged, including dots and double slashes. */
const raw = (port: number, path: string, method = 'GET', headers: Record<string, string> = {}, body = ''): Promise<Got> =>
  new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path, method, headers, agent: false }, answer => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (piece: string) => {
        text += piece
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, location: answer.headers.location, text }))
    })
    sent.on('error', reject)
    sent.end(body)
  })

const at = (baseUrl: string) => {
  const { installation } = httpOptions(routes)
  return { callers, options: { installation: { ...installation, baseUrl } }, config: { allowedHosts: ['*'] } }
}

test('a trailing slash redirects to the path without it, with the query', async t => {
  const { port, url } = await serve(t, routes, at('https://data.example.org'))
  const cases = [
    ['/api/things/', '/api/things'],
    ['/api/things//', '/api/things'],
    ['/api/things/?x=1&y=%2F', '/api/things?x=1&y=%2F'],
    ['/api/things/?key=ann&x=1', '/api/things?x=1&key=ann'],
    ['/api/things/?key=a%26b', '/api/things?key=a%26b'],
    ['/api/things/7/', '/api/things/7'],
    ['/docs/', '/docs'],
    ['/swagger/', '/swagger'],
  ] as const
  for (const [path, location] of cases)
    for (const method of ['GET', 'HEAD']) {
      const got = await raw(port, path, method)
      t.deepEqual([got.status, got.location], [301, location], `${method} ${path}`)
    }
  t.is(await (await fetch(`${url}/api/things/?key=ann&x=1`)).text(), 'key https://data.example.org/api/things?x=1 null')
})

test('a change is redirected with 308 to the path without the slash', async t => {
  const { port, url } = await serve(t, routes, at('https://data.example.org'))
  const json = { 'content-type': 'application/json' }
  const got = await raw(port, '/api/things/?key=ann', 'POST', json, '{"name":"leaf"}')
  t.deepEqual([got.status, got.location], [308, '/api/things?key=ann'])
  const answer = await fetch(`${url}/api/things/`, { method: 'POST', headers: json, body: '{"name":"leaf"}' })
  t.is(await answer.text(), 'nothing https://data.example.org/api/things {"name":"leaf"}')
})

test('slashes never redirect to another host, nor from unknown paths', async t => {
  for (const baseUrl of ['https://data.example.org', 'https://data.example.org/pounce']) {
    const { port } = await serve(t, routes, at(baseUrl))
    const paths = [
      ...['//evil.example/', '//evil.example//', '/\\evil.example/', '///evil.example/', '//api/things/', '/%2Fevil.example/'],
      ...['/api/nothing/', '/evil.example/', '//', '/pounce//evil.example/', '/pounce/\\evil.example/', '/pouncer/api/things/'],
    ]
    for (const path of paths) {
      const got = await raw(port, path)
      t.deepEqual([got.status, got.location], [404, undefined], path)
    }
    const complete = await raw(port, 'http://evil.example/api/things/')
    t.is(complete.location?.startsWith(`${new URL(baseUrl).pathname.replace(/\/$/, '')}/api/things`), true)
  }
})

test('a preflight works with and without the trailing slash', async t => {
  const given = at('https://data.example.org')
  const { port } = await serve(t, routes, { ...given, config: { ...given.config, allowedOrigins: ['https://viewer.example.org'] } })
  for (const path of ['/api/things', '/api/things/']) t.is((await raw(port, path, 'OPTIONS')).status, 200, path)
})

test('all routes are also served below the path of the base URL', async t => {
  const { port } = await serve(t, routes, at('https://data.example.org/pounce/dm'))
  const link = 'nothing https://data.example.org/pounce/dm/api/things?x=1 null'
  for (const base of ['', '/pounce/dm']) {
    t.is((await raw(port, `${base}/api/things?x=1`)).text, link, base)
    t.is((await raw(port, `${base}/healthz`)).text, 'healthy', base)
    t.deepEqual(
      await raw(port, `${base}/api/things/?x=1`).then(got => [got.status, got.location]),
      [301, '/pounce/dm/api/things?x=1'],
      base,
    )
    t.deepEqual(await raw(port, `${base}/`).then(got => [got.status, got.location]), [302, '/pounce/dm/docs'], base)
    t.is((await raw(port, `${base}/docs`)).status, 200, base)
    t.is((await raw(port, `${base}/docs/start.js`)).status, 200, base)
    t.is((await raw(port, `${base}/api/nothing`)).status, 404, base)
  }
  t.deepEqual(await raw(port, '/pounce/dm').then(got => [got.status, got.location]), [302, '/pounce/dm/docs'])
  for (const path of ['/pounce/api/things', '/pounce/dmx/api/things', '/pounce', '/dm/api/things'])
    t.is((await raw(port, path)).status, 404, path)
})

test('a base path that is a prefix of a route’s path does not hide the route', async t => {
  const { port } = await serve(t, routes, at('https://data.example.org/api'))
  for (const path of ['/api/things', '/api/api/things']) t.is((await raw(port, path)).status, 200, path)
})

test('the API documentation is at the paths of Clowder 1.x', async t => {
  const { port } = await serve(t, routes, at('https://data.example.org'))
  const document = (await raw(port, '/openapi.json')).text
  for (const path of ['/swagger', '/swagger.json'])
    t.deepEqual(await raw(port, path).then(got => [got.status, got.text]), [200, document], path)
})
