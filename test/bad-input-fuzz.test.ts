import test from 'ava'
import { type TestFetch, usualOrFull } from 'pounce/sdk/testing'
import { badGeometries, badTimes, hostileNames } from './support/bad-geo.ts'
import { type DeclaredRoute, declaredRoutes, fill, type Schema } from './support/declared-routes.ts'
import { furnish, furnished, type Ids } from './support/furnished.ts'
import { eachOf } from './support/killed-server.ts'
import { ok, unknownId, upload } from './support/scene.ts'
import { type SeededRandom, seededRandom } from './support/seeded-random.ts'

const requests = usualOrFull(600, 4000)
/** Number of requests after which one resource of each kind is created again. */
const refurnishAfter = 200

const texts = [
  ...['', ' ', 'x', '\u0000', 'a\nb', '../../etc/passwd', '..', 'a/b\\c', '%', '%00', "' OR 1=1 --", '" NEAR(a b) *', '{"$gt":""}'],
  ...['$where', '__proto__', 'constructor', 'NaN', 'Infinity', '-0', '1e999', '9007199254740993', '-1', '0x10', 'null', 'true'],
  ...[
    '2026-02-30',
    '9999-99-99T99:99:99Z',
    '0000-01-01',
    'é'.normalize('NFD'),
    '💥',
    '\ud800',
    '\u202e',
    'İ',
    'ß',
    '(((((',
    '*',
    'a:',
    ':b',
  ],
  ...['x'.repeat(300), 'y'.repeat(20_000), '-'.repeat(24), 'f'.repeat(24), 'F'.repeat(24), '[]', 'a|b|c', 'exists:', 'metadata.', 'in:x'],
] as const

const values: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e308,
    -1e308,
    2 ** 53,
    1e21,
    [],
    {},
    [[]],
    [null],
    [{}],
    { a: { b: [1, 'x'] } },
    { 'a.b': 1, $set: 2 },
  ],
]

/** Geometries, and locations and times in the format of queries. */
const places: readonly unknown[] = [
  ...badGeometries.slice(0, -2).map(([, geometry]) => geometry),
  ...[
    { type: 'Point', coordinates: [8, 47] },
    {
      type: 'LineString',
      coordinates: [
        [8, 47, 1],
        [9, 48, 2],
      ],
    },
  ],
]
const requested: readonly string[] = [
  ...[
    '47,8,5',
    '47,8,48,9',
    '47,8,48,9,48,8',
    '91,8,5',
    '47,8',
    '2020-05-01T00:00:00Z',
    '2020-05-01 00:00:00+02',
    'spring',
    'season',
    'PT90M',
    'P9999999D',
  ],
  ...[
    '{"site":"A1"}',
    'site:A1',
    'a:{"b":',
    "Datastreams('1:level')",
    'Things(1)',
    'phenomenonTime desc',
    "name eq 'x' or result gt 1e999",
  ],
  ...hostileNames.slice(0, -1),
  ...badTimes.map(([, time]) => String(time)),
]

const words = ['leaf', 'a title', 'PUBLIC', 'file', 'pounce.digest', 'x/y', '2026-01-05', '5', 'http://example.org/api/users/x'] as const

const junk = (random: SeededRandom): unknown => random.pick<unknown>(random.pick<readonly unknown[]>([texts, values, places]))

/** A value that mostly matches a schema, with occasional faults. */
const nearly = (random: SeededRandom, schema: Schema, known: readonly string[]): unknown => {
  if (random.oneIn(12)) return junk(random)
  if (schema.enum) return random.pick(schema.enum)
  if (schema.anyOf) return nearly(random, random.pick(schema.anyOf), known)
  switch (schema.type) {
    case 'string':
      if (random.oneIn(4)) return random.pick(known)
      if (random.oneIn(4)) return random.pick(requested)
      return random.oneIn(3) ? random.pick(texts) : random.pick(words)
    case 'integer':
    case 'number':
      return random.oneIn(3) ? random.int(2000) - 1000 : random.int(10)
    case 'boolean':
      return random.oneIn(2)
    case 'array':
      return Array.from({ length: random.int(4) }, () => nearly(random, schema.items ?? {}, known))
    case 'object': {
      const members = Object.entries(schema.properties ?? { any: {} }).filter(() => !random.oneIn(10))
      return Object.fromEntries(members.map(([name, member]) => [name, nearly(random, member, known)]))
    }
    default:
      return junk(random)
  }
}

/** A query value: an existing id, a nearly valid value, or an arbitrary string. */
const queryText = (random: SeededRandom, schema: Schema, ids: readonly string[]): string => {
  if (random.oneIn(3)) return random.pick(ids)
  const value = nearly(random, schema, ids)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  // Longer URLs are refused before routing.
  return text.slice(0, 2000)
}

/** Routes that would end the test's own session, or delete the geostreams while another request creates them. */
const isSpared = ({ method, path }: DeclaredRoute): boolean =>
  (path.startsWith('/api/users/keys') && method !== 'GET') || path === '/api/geostreams/dropall'

const formOf = (random: SeededRandom): FormData => {
  const form = new FormData()
  for (let part = random.int(4); part > 0; part -= 1) {
    if (random.oneIn(2)) form.append(random.pick(texts), random.pick(texts))
    else form.append(random.pick(['File', ...texts]), new Blob([random.pick(texts)], { type: random.pick(texts) }), random.pick(texts))
  }
  return form
}

/** A random request of a route. */
const requestOf = (random: SeededRandom, route: DeclaredRoute, ids: Ids): [path: string, init: RequestInit & { json?: unknown }] => {
  const known = [...Object.values(ids), unknownId]
  const path = fill(route.path, kind =>
    random.oneIn(4) ? random.pick([...texts, ...known]).slice(0, 2000) || 'x' : (ids[kind] ?? random.pick(known)),
  )
  const query = new URLSearchParams()
  for (const { name, schema } of route.query)
    for (let times = Math.max(0, random.int(6) - 3); times > 0; times -= 1) query.append(name, queryText(random, schema, known))
  const search = query.size > 0 ? `?${query}` : ''
  const headers: Record<string, string> = random.oneIn(8) ? { 'content-type': random.pick(['application/json', 'x', 'text/plain']) } : {}
  if (route.takesParts) return [path + search, { method: route.method, body: formOf(random) }]
  if (!route.body) return [path + search, { method: route.method, headers }]
  if (random.oneIn(12)) return [path + search, { method: route.method, body: random.pick(texts), headers }]
  return [path + search, { method: route.method, json: nearly(random, route.body, known) }]
}

/** What is wrong with a response; undefined if nothing is. */
const faultOf = async (call: TestFetch, path: string, init: RequestInit & { json?: unknown }): Promise<string | undefined> => {
  let answer: Response
  let text: string
  try {
    answer = await call(path, init)
    text = await answer.text()
  } catch (error) {
    return `${init.method} ${path.slice(0, 300)} was cut: ${error instanceof Error ? error.cause : error}`
  }
  if (answer.status < 400) return undefined
  // A browser gets an HTML page for an absent resource.
  if (
    answer.status === 404 &&
    answer.headers.get('content-type')?.startsWith('text/html') &&
    /^\/(?:spaces|collections?|datasets|files)\//.test(path)
  )
    return undefined
  const shown = `${init.method} ${path} ${JSON.stringify(init.json)?.slice(0, 300)} → ${answer.status} ${text.slice(0, 300)}`
  if (answer.status >= 500 || !answer.headers.get('content-type')?.startsWith('application/json')) return shown
  const { status, message, reason, code, requestId } = JSON.parse(text) as Record<string, unknown>
  // Clowder's message at `/api/extractors/:name`.
  const isClear =
    (status === 'error' || status === 'KO') && [reason ?? message, code, requestId].every(each => typeof each === 'string' && each !== '')
  return isClear ? undefined : shown
}

test('every random request of a route gets a success or a clear refusal', async t => {
  t.timeout(120_000)
  const random = seededRandom()
  t.log(`seed ${random.seed}`)
  const world = await furnished({ t })
  const routes = (await declaredRoutes(world.server)).filter(route => !isSpared(route))
  t.true(routes.length > 100)
  const admin = world.server.as(world.server.admin.key)
  const faults: string[] = []
  let { ids } = world
  const numbers = Array.from({ length: requests }, (_, n) => n)
  await eachOf(
    numbers,
    async n => {
      if (n % refurnishAfter === 0) ids = { ...world.ids, ...(await furnish(world.person)) }
      const [path, init] = requestOf(random, random.pick(routes), ids)
      const fault = await faultOf(random.oneIn(3) ? admin : world.call, path, init)
      if (fault !== undefined) faults.push(fault)
    },
    4,
  )
  t.deepEqual(faults, [])
  await world.server.drained(30_000)
  t.like(await ok<object>(admin('/readyz')), { ready: true, parked: 0 })
  await upload(admin, (await ok<{ id: string }>(admin('/api/datasets/createempty', { method: 'POST', json: { name: 'after' } }))).id)
})
