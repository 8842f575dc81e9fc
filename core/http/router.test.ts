import test from 'ava'
import { type Method, routesFor, s } from 'pounce/sdk'
import { PrefixRouter, RegisteredRoute } from './router.ts'

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

test('fixed segments win over parameters, in whatever order they are declared', t => {
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

test('deeper segments count too: a fixed one after a parameter wins', t => {
  const table = tableOf('GET /api/files/:id/:what', 'GET /api/files/:id/blob', 'GET /api/files/:id/:rest*')
  t.is(nameOf(table, 'GET', '/api/files/1/blob'), 'GET /api/files/:id/blob')
  t.is(nameOf(table, 'GET', '/api/files/1/other'), 'GET /api/files/:id/:what')
  t.is(nameOf(table, 'GET', '/api/files/1/a/b'), 'GET /api/files/:id/:rest*')
})

test('a tail takes the remaining segments, one at least, decoded', t => {
  const table = tableOf('GET /docs/:rest*', 'GET /:any*')
  t.deepEqual({ ...table.find('GET', '/docs/a/b%20c')?.params }, { rest: 'a/b c' })
  t.is(nameOf(table, 'GET', '/docs'), 'GET /:any*')
  t.is(nameOf(table, 'GET', '/docs/x'), 'GET /docs/:rest*')
})

test('parameters are decoded; what cannot be decoded stays', t => {
  const table = tableOf('GET /api/names/:name')
  t.is(table.find('GET', '/api/names/na%C3%AFve%2Fx')?.params['name'], 'naïve/x')
  t.is(table.find('GET', '/api/names/%zz')?.params['name'], '%zz')
})

test('methods are apart, and known for a path', t => {
  const table = tableOf('GET /api/x/:id', 'DELETE /api/x/:id', 'POST /api/x/:id/y', 'PUT /api/:a/:b')
  t.is(nameOf(table, 'POST', '/api/x/1'), undefined)
  t.deepEqual(table.methodsOf('/api/x/1'), ['GET', 'PUT', 'DELETE'])
  t.deepEqual(table.methodsOf('/api/x/1/y'), ['POST'])
  t.deepEqual(table.methodsOf('/nowhere/at/all'), [])
})

test('a trailing slash, an empty segment and another case are other addresses', t => {
  const table = tableOf('GET /api/files', 'GET /api/files/:id', 'GET /')
  for (const path of ['/api/files/', '/api//files', '/API/files', '/api/files/1/', '//', ''])
    t.is(nameOf(table, 'GET', path), undefined, path)
  t.is(nameOf(table, 'GET', '/'), 'GET /')
})

test('names that objects have by birth are names like others', t => {
  const table = tableOf('GET /api/names/:name')
  t.is(table.find('GET', '/api/names/__proto__')?.params['name'], '__proto__')
  t.is(table.find('constructor', '/api/names/x'), undefined)
})
