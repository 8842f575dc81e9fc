import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { dataRoutes } from './data-routes.ts'
import { mergeHits, outcomeOf, readHits } from './hits.ts'
import { type ApiDocument, faultsOf, judge } from './judge.ts'
import { leftOut } from './left-out.ts'
import { platformRoutes } from './platform-routes.ts'
import { nameOf, type ReferenceRoute, referenceRoutes } from './reference-routes.ts'
import type { RouteGroup } from './route-groups.ts'
import { RouteMatcher, shapeOf } from './route-shape.ts'

const counts = (groups: readonly RouteGroup[]): Readonly<Record<string, number>> => {
  const rows = groups.flatMap(({ routes }) => routes)
  return Object.fromEntries(['S', 'C', 'R', 'X'].map(tier => [tier, rows.filter(([of]) => of === tier).length]))
}

test('the tables contain as many routes of each tier as the reference', t => {
  t.deepEqual(counts(dataRoutes), { S: 93, C: 8, R: 60, X: 56 })
  t.deepEqual(counts(platformRoutes), { S: 95, C: 3, R: 95, X: 15 })
})

test('no table lists a route twice, and every omitted route has a reason', t => {
  for (const groups of [dataRoutes, platformRoutes]) {
    const rows = groups.flatMap(({ routes }) => routes)
    const names = rows.map(([, method, path]) => `${method} ${path}`)
    t.deepEqual(
      names.filter((name, at) => names.indexOf(name) !== at),
      [],
    )
    t.deepEqual(
      rows.filter(([tier, , , reason]) => (tier === 'X') !== (reason !== undefined)),
      [],
    )
  }
})

test('every reason belongs to a route or group of the reference', t => {
  const routes = referenceRoutes()
  const names = new Set(routes.map(nameOf))
  const groups = new Set(routes.map(({ group }) => group))
  t.deepEqual(
    [...Object.keys(leftOut.routes), ...Object.keys(leftOut.neverRefuses)].filter(name => !names.has(name)),
    [],
  )
  t.deepEqual(
    Object.keys(leftOut.groups).filter(name => !groups.has(name)),
    [],
  )
})

test('a route that is listed twice counts once, with its stronger tier', t => {
  const routes = referenceRoutes()
  const of = (method: string, path: string) => routes.filter(one => one.method === method && shapeOf(one.path) === shapeOf(path))
  t.deepEqual(
    of('POST', '/api/datasets/:any/filesetUploadEvent').map(({ tier }) => tier),
    ['S'],
  )
  t.deepEqual(
    of('GET', '/api/vocabularies/list').map(({ tier }) => tier),
    ['R'],
  )
})

test('a request matches the most specific route', t => {
  const matcher = new RouteMatcher(referenceRoutes())
  const found = (method: string, path: string) => matcher.find(method, path)?.path
  t.is(found('GET', '/api/datasets/canEdit'), '/api/datasets/canEdit')
  t.is(found('GET', '/api/datasets/65f000000000000000000000'), '/api/datasets/:id')
  t.is(found('DELETE', '/api/datasets/65f000000000000000000000/tags'), '/api/datasets/:id/tags')
  t.is(found('DELETE', '/api/datasets/65f000000000000000000000/65f000000000000000000001'), '/api/datasets/:ds/:file')
  t.is(found('GET', '/api/previews/65f000000000000000000000_files/3/1_2.jpg'), '/api/previews/:dzi_files/:level/:filename')
  t.is(found('GET', '/api/proxy/geo/a/b/c'), '/api/proxy/:key/:path*')
  t.is(found('GET', '/api/nothing/of/the/kind'), undefined)
  t.is(found('HEAD', '/api/files/65f000000000000000000000'), undefined)
})

test('a status is a success, a refusal, an absent resource, or ignored', t => {
  t.deepEqual([200, 204, 206, 304, 400, 401, 403, 404, 413, 500, 503].map(outcomeOf), [
    'done',
    'done',
    'done',
    'done',
    'refused',
    'refused',
    'refused',
    'absent',
    'refused',
    undefined,
    undefined,
  ])
})

test('records of several workers are merged regardless of their order', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-hits-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const line = (route: string, outcome: string, file: string) => `${JSON.stringify({ route, outcome, file })}\n`
  await writeFile(join(folder, 'a.jsonl'), line('GET /b', 'done', 'two.test.ts') + line('GET /a', 'refused', 'two.test.ts'))
  await writeFile(join(folder, 'b.jsonl'), line('GET /b', 'absent', 'one.test.ts') + line('GET /b', 'done', 'one.test.ts'))
  const tested = await readHits(folder)
  t.deepEqual(Object.keys(tested), ['GET /a', 'GET /b'])
  t.deepEqual(tested['GET /b'], { done: ['one.test.ts', 'two.test.ts'], refused: true, absent: true })
  t.deepEqual(tested['GET /a'], { done: [], refused: true, absent: false })
})

test('a success in a test that covers all routes is ignored, its refusals are not', t => {
  const file = 'test/bad-input-fuzz.test.ts'
  const tested = mergeHits([
    { route: 'GET /a', outcome: 'done', file },
    { route: 'GET /a', outcome: 'absent', file },
  ])
  t.deepEqual(tested['GET /a'], { done: [], refused: true, absent: true })
})

const route = (tier: ReferenceRoute['tier'], reason?: string): ReferenceRoute => ({
  tier,
  method: 'GET',
  path: '/api/things/:id',
  group: 'things',
  reason,
})
const served: ApiDocument = {
  paths: { '/api/things/{thing}': { get: { parameters: [{ in: 'path', schema: { pattern: '^[0-9a-f]{24}$' } }] } } },
}
const hit = (outcome: 'done' | 'refused' | 'absent') => ({ route: 'GET /api/things/:id', outcome, file: 'a.test.ts' })

test('a route of the tiers S, C and R must be served or have a reason', t => {
  const faults = (one: ReferenceRoute) => faultsOf(judge([one], { paths: {} }, {}))
  for (const tier of ['S', 'C', 'R'] as const) {
    t.is(faults(route(tier)).length, 1)
    t.is(faults(route(tier, 'coming')).length, 0)
  }
  t.is(faults(route('N')).length, 0)
})

test('a served route needs a successful call, a refusal, and a 404 if its path contains an id', t => {
  const all = [hit('done'), hit('refused'), hit('absent')]
  const faults = (one: ReferenceRoute, hits: typeof all) => faultsOf(judge([one], served, mergeHits(hits)))
  t.deepEqual(faults(route('S'), all), [])
  t.deepEqual(faults(route('S'), [hit('done'), hit('refused')]), ['S GET /api/things/:id: no test had a 404 from it'])
  t.deepEqual(faults(route('S', 'a reason does not help'), []), ['S GET /api/things/:id: no test had a success, a refusal, a 404 from it'])
  t.is(faults(route('R'), [hit('absent')]).length, 1)
  t.is(faults(route('R', 'nobody can call it here'), []).length, 0)
})
