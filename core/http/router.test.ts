import test from 'ava'
import { type Method, type Route, ref, routesFor, s } from 'pounce/sdk'
import type { PluginRoute } from './router.ts'
import { PrefixRouter, RegisteredRoute, registerRoutes } from './router.ts'

const route = routesFor('things', {})

/** A table of `GET /path` lines; each route is named by its line. */
const tableOf = (...lines: readonly string[]): PrefixRouter =>
  new PrefixRouter(
    lines.map(line => {
      const [method = '', path = ''] = line.split(' ')
      const declared = route({
        method: method as Method,
        path,
        summary: 'x',
        permission: 'anyone',
        responses: { 200: s.text() },
        handle: async () => ({ status: 200, body: '' }),
      })
      return new RegisteredRoute({ plugin: 'a.b', name: line, route: declared, needs: {} })
    }),
  )

const nameOf = (table: PrefixRouter, method: string, path: string): string | undefined => table.find(method, path)?.route.name

test('fixed segments take precedence over parameters in any order of declaration', t => {
  for (const lines of [
    ['GET /api/files/:id', 'GET /api/files/all', 'GET /api/:group/all'],
    ['GET /api/:group/all', 'GET /api/files/all', 'GET /api/files/:id'],
  ]) {
    const table = tableOf(...lines)
    t.is(nameOf(table, 'GET', '/api/files/all'), 'GET /api/files/all')
    t.is(nameOf(table, 'GET', '/api/files/x'), 'GET /api/files/:id')
    t.is(nameOf(table, 'GET', '/api/spaces/all'), 'GET /api/:group/all')
  }
})

test('a fixed segment after a parameter takes precedence', t => {
  const table = tableOf('GET /api/files/:id/:what', 'GET /api/files/:id/blob', 'GET /api/files/:id/:rest*')
  t.is(nameOf(table, 'GET', '/api/files/1/blob'), 'GET /api/files/:id/blob')
  t.is(nameOf(table, 'GET', '/api/files/1/other'), 'GET /api/files/:id/:what')
  t.is(nameOf(table, 'GET', '/api/files/1/a/b'), 'GET /api/files/:id/:rest*')
})

test('a tail matches at least one remaining segment, decoded', t => {
  const table = tableOf('GET /docs/:rest*', 'GET /:any*')
  t.deepEqual({ ...table.find('GET', '/docs/a/b%20c')?.params }, { rest: 'a/b c' })
  t.is(nameOf(table, 'GET', '/docs'), 'GET /:any*')
  t.is(nameOf(table, 'GET', '/docs/x'), 'GET /docs/:rest*')
})

test('parameters are decoded; invalid encodings are left unchanged', t => {
  const table = tableOf('GET /api/names/:name')
  t.is(table.find('GET', '/api/names/na%C3%AFve%2Fx')?.params['name'], 'naïve/x')
  t.is(table.find('GET', '/api/names/%zz')?.params['name'], '%zz')
})

test('methods are distinguished, and listed for a path', t => {
  const table = tableOf('GET /api/x/:id', 'DELETE /api/x/:id', 'POST /api/x/:id/y', 'PUT /api/:a/:b')
  t.is(nameOf(table, 'POST', '/api/x/1'), undefined)
  t.deepEqual(table.methodsOf('/api/x/1'), ['GET', 'PUT', 'DELETE'])
  t.deepEqual(table.methodsOf('/api/x/1/y'), ['POST'])
  t.deepEqual(table.methodsOf('/nowhere/at/all'), [])
})

test('a trailing slash, an empty segment and another case are different paths', t => {
  const table = tableOf('GET /api/files', 'GET /api/files/:id', 'GET /')
  for (const path of ['/api/files/', '/api//files', '/API/files', '/api/files/1/', '//', ''])
    t.is(nameOf(table, 'GET', path), undefined, path)
  t.is(nameOf(table, 'GET', '/'), 'GET /')
})

test('names of Object.prototype are ordinary names', t => {
  const table = tableOf('GET /api/names/:name')
  t.is(table.find('GET', '/api/names/__proto__')?.params['name'], '__proto__')
  t.is(table.find('constructor', '/api/names/x'), undefined)
})

const get = (path: string, more: object = {}): Route => {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, s.String()])
  const params = names.length > 0 ? { params: s.Object(Object.fromEntries(names)) } : {}
  const declaration = { method: 'GET', path, summary: 'x', permission: 'anyone', ...params, responses: { 200: s.text() } }
  return route({ ...declaration, handle: async () => undefined, ...more } as never)
}

const mounted = (plugin: string, name: string, declared: Route): PluginRoute => ({ plugin, name, route: declared, needs: {} })

const refusal = (...routes: PluginRoute[]): string => {
  try {
    registerRoutes(routes, true)
    return ''
  } catch (error) {
    return String(error)
  }
}

test('valid routes are mounted with their aliases', t => {
  const [route] = registerRoutes(
    [mounted('a.b', 'getX', get('/api/x/:id', { aliases: [{ path: '/api/y/:id' }, { method: 'POST', path: '/api/y/:id' }] }))],
    false,
  )
  t.deepEqual(route?.addresses, [
    { method: 'GET', path: '/api/x/:id' },
    { method: 'GET', path: '/api/y/:id' },
    { method: 'POST', path: '/api/y/:id' },
  ])
})

test('a route without a permission is refused', t => {
  t.regex(
    refusal(mounted('a.b', 'getX', get('/x', { permission: undefined }))),
    /route getX of a\.b declares no permission: anyone, reader, /,
  )
  t.regex(
    refusal(mounted('a.b', 'getX', get('/x', { permission: 'signedin' as never }))),
    /unknown permission signedin \(did you mean signedIn\?\)/,
  )
})

test('a route with an unknown permission is refused, even in an additional check', t => {
  t.regex(
    refusal(mounted('a.b', 'getX', get('/x', { permission: { right: 'ViewEverything', unscoped: 'x' } }))),
    /unknown permission ViewEverything/,
  )
  const alsoRequires = [{ right: 'Fly', on: ref('file', 'id') }]
  t.regex(refusal(mounted('a.b', 'getX', get('/x', { alsoRequires }))), /unknown permission Fly/)
})

test('a right without a resource is refused with the remedy, unless the route gives a reason', t => {
  const on = ref('file', 'id')
  const withId = (more: object): string => refusal(mounted('a.b', 'getX', get('/x/:id', more)))
  for (const permission of ['ViewFile', { right: 'ViewFile' }, { right: 'ViewFile', unscoped: ' ' }, { right: 'ViewFile', on: 'file' }]) {
    const message = withId({ permission })
    t.regex(message, /route getX of a\.b requires ViewFile without a resource/)
    t.regex(message, /\{ right: 'ViewFile', on: ref\('dataset', 'id'\) \}, or .*\{ right: 'ViewFile', unscoped: /)
  }
  t.regex(withId({ permission: { right: 'ViewFile', on, unscoped: 'x' } }), /requires ViewFile/, 'both at once')
  const alsoRequires = [{ right: 'EditFile', unscoped: 'x' }]
  t.regex(withId({ alsoRequires }), /requires EditFile without a resource: .* on: ref\('dataset', 'id'\) \}$/)
  t.is(withId({ permission: { right: 'ViewFile', on } }), '')
  t.is(withId({ permission: { right: 'ViewFile', unscoped: 'The list holds only files that the caller may see.' } }), '')
})

test('a route that requires a right is refused without a policy', t => {
  t.throws(() => registerRoutes([mounted('a.b', 'getX', get('/x', { permission: { right: 'ViewFile', unscoped: 'x' } }))], false), {
    message: /no plugin provides policy/,
  })
})

test('two routes with the same path are refused, naming both plugins', t => {
  const message = refusal(mounted('a.one', 'getX', get('/api/x/:id')), mounted('a.two', 'getY', get('/api/x/:other')))
  t.regex(message, /GET \/api\/x\/:other is declared by both a\.one \(getX\) and a\.two \(getY\)/)
})

test('an alias cannot shadow a route', t => {
  const message = refusal(
    mounted('a.one', 'getX', get('/api/x')),
    mounted('a.two', 'getY', get('/api/y', { aliases: [{ path: '/api/x' }] })),
  )
  t.regex(message, /a\.one \(getX\) and a\.two \(getY\)/)
})

test('a tail and a parameter at the same position are different paths', t => {
  t.is(refusal(mounted('a.one', 'getX', get('/api/x/:id')), mounted('a.two', 'getY', get('/api/x/:rest*'))), '')
})

test('two routes with the same name are refused', t => {
  t.regex(
    refusal(mounted('a.one', 'getX', get('/x')), mounted('a.two', 'getX', get('/y'))),
    /the route name getX is declared by both a\.one and a\.two/,
  )
})

test('parameters of path and schema must agree', t => {
  const params = s.Object({ id: s.id(), other: s.id() })
  t.regex(refusal(mounted('a.b', 'getX', get('/x/:id', { params }))), /has the parameters id in \/x\/:id and id, other in params/)
  t.regex(refusal(mounted('a.b', 'getX', get('/x/:id', { params: undefined }))), /and none in params/)
  t.regex(refusal(mounted('a.b', 'getX', get('/x/:id', { aliases: [{ path: '/y' }] }))), /has the parameters none in \/y/)
})

test('invalid paths are refused', t => {
  const reserved = ['/x?', '/x/y+', '/x(y)', '/x{y}', '/x[y]', '/x!', '/x\\y']
  for (const path of ['x', '/x/', '/x//y', '/x*', '/:rest*/x', '/x/:id//', '/x/:rest*/', ...reserved])
    t.regex(refusal(mounted('a.b', 'getX', get(path))), /invalid path/, path)
})

test('an alias may end in a slash', t => {
  const [route] = registerRoutes([mounted('a.b', 'getX', get('/x/y', { aliases: [{ path: '/x/y/' }] }))], false)
  const paths = route?.addresses.map(({ path }) => path)
  t.deepEqual(paths, ['/x/y', '/x/y/'])
  for (const path of ['/x/y//', '/x/:rest*/', '//', 'x/'])
    t.regex(refusal(mounted('a.b', 'getX', get('/x/y', { aliases: [{ path }] }))), /invalid path/, path)
})

test('a route without a response is refused', t => {
  t.regex(refusal(mounted('a.b', 'getX', get('/x', { responses: {} }))), /declares no response/)
})

test('a declaration with a missing, unknown or wrong member is refused', t => {
  const refused = (more: object): string => refusal(mounted('a.b', 'getX', get('/x', more)))
  t.is(refused({}), '')
  t.regex(refused({ handle: undefined }), /route getX of a\.b has no function handle/)
  t.regex(refused({ path: undefined }), /route getX of a\.b has no path/)
  t.regex(refused({ summary: undefined }), /route getX of a\.b has no summary/)
  t.regex(refused({ method: 'get' }), /route getX of a\.b has the unknown method get: one of GET, POST, PUT, PATCH, DELETE/)
})

test('all errors are reported together', t => {
  const message = refusal(
    mounted('a.b', 'getX', get('/x', { permission: { right: 'Nothing', unscoped: 'x' } })),
    mounted('a.c', 'getY', get('/y', { permission: undefined })),
  )
  t.regex(message, /Nothing[\s\S]*declares no permission/)
})
