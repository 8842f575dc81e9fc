import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { FixedClock, type TestFetch } from 'pounce/sdk/testing'
import { type DeclaredRoute, declaredRoutes, fill, type Schema } from './support/declared-routes.ts'
import { changes, fingerprint } from './support/fingerprint.ts'
import { type Furnished, furnished } from './support/furnished.ts'
import { basic, newKey, signIn } from './support/people.ts'
import { unknownId } from './support/scene.ts'
import { sampleOf } from './support/seeded-random.ts'

let world: Furnished
let routes: readonly DeclaredRoute[]
let admin: TestFetch

test.before(async () => {
  world = await furnished({ config: { resources: { users: { wrongKeysPerAddress: 10_000 } } } })
  routes = await declaredRoutes(world.server)
  admin = world.server.as(world.server.admin.key)
})
test.after.always(() => world?.server.stop())

type Line = readonly [title: string, answer: () => Promise<Response>, status: number, code: string, says?: RegExp]
type Init = RequestInit & { readonly json?: unknown }

/** What is wrong with a refusal; undefined if it is as expected. */
const faultOf = async (answer: Response, status: number, code: string, says: RegExp): Promise<string | undefined> => {
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.startsWith('application/json')
  const body = isJson ? (JSON.parse(text) as Record<string, unknown>) : {}
  const isClear = typeof body['requestId'] === 'string' && says.test(String(body['message']))
  return answer.status === status && body['code'] === code && isClear ? undefined : `${answer.status} ${text.slice(0, 300)}`
}

const linesLeftOut = 5

/** A sample of similar requests that covers each route and each kind of fault. */
const someOf = (lines: readonly Line[]): readonly Line[] =>
  sampleOf(
    lines,
    ([title]) => {
      const [method, path, ...wrong] = title.split(' ')
      return [`${method} ${path}`, wrong.join(' ').replace(/^.*?=/, '')]
    },
    linesLeftOut,
  )

/** Sends the requests of a table, all of which must be refused and change nothing. */
const refused = async (t: ExecutionContext, lines: readonly Line[], { server } = world): Promise<void> => {
  const before = await fingerprint(server)
  const faults: string[] = []
  for (const [title, answer, status, code, says = /\w/] of lines) {
    const fault = await faultOf(await answer(), status, code, says)
    if (fault !== undefined) faults.push(`${title}: ${fault}`)
  }
  t.deepEqual(faults, [])
  t.true(lines.length > 0)
  t.log(`${lines.length} requests`)
  // Ended sessions are swept periodically, failed credentials are counted, and superadmin mode is recorded.
  const {
    'users.sessions': _swept,
    'users.tries': _counted,
    audit: _noted,
    'audit.chains': _anchored,
    ...changed
  } = changes(before, await fingerprint(server))
  t.deepEqual(changed, {})
}

/** Path and query with ids of existing resources and required parameters. */
const address = ({ path, query }: DeclaredRoute, without?: string): string => {
  const filled = fill(path, (kind, name) => world.ids[kind] ?? world.ids[name] ?? name)
  const needed = query.filter(({ name, required }) => required && name !== without)
  const id = String(world.ids['collection'])
  return `${filled}?${new URLSearchParams([['superAdmin', 'true'], ...needed.map(({ name, schema }): [string, string] => [name, String(schema.enum?.[0] ?? id)])])}`
}

const bytesOf = (text: string): Buffer<ArrayBuffer> => Buffer.from(text, 'latin1')
const json = { 'content-type': 'application/json' }
const nested = `{"content":${'['.repeat(64)}${']'.repeat(64)}}`

/** Bodies that every route with a JSON body refuses. */
const badBodies: readonly (readonly [title: string, init: Init, status: number, code: string, says: RegExp])[] = [
  ['no JSON', { body: '{"name":', headers: json }, 400, 'invalid', /not valid JSON/],
  ['JSON with a comment', { body: '{} // x', headers: json }, 400, 'invalid', /not valid JSON/],
  ['NaN', { body: '{"a":NaN}', headers: json }, 400, 'invalid', /not valid JSON/],
  ['65 levels', { body: nested, headers: json }, 400, 'invalid', /deeper than 64/],
  ['__proto__', { body: '{"__proto__":{"isAdmin":true}}', headers: json }, 400, 'invalid', /__proto__/],
  ['constructor', { body: '{"a":[{"constructor":{"prototype":{}}}]}', headers: json }, 400, 'invalid', /constructor|prototype/],
  ['invalid UTF-8', { body: bytesOf('{"name":"\xff\xfe"}'), headers: json }, 400, 'invalid', /UTF-8/],
  ['text', { body: '{}', headers: { 'content-type': 'text/plain' } }, 415, 'unsupported-media-type', /json/],
  ['a form', { body: new URLSearchParams({ name: 'x' }) }, 415, 'unsupported-media-type', /json/],
  ['Latin-1', { body: '{}', headers: { 'content-type': 'application/json; charset=iso-8859-1' } }, 415, 'unsupported-media-type', /UTF-8/],
  ['a compressed body', { body: 'x', headers: { ...json, 'content-encoding': 'gzip' } }, 415, 'unsupported-media-type', /Content-Encoding/],
]

test('no route accepts a body that is malformed, too deep, of another type, or that sets a prototype', async t => {
  const withBody = routes.filter(({ body }) => body)
  t.true(withBody.length > 30)
  const lines = withBody.flatMap(route =>
    badBodies.map(([title, init, status, code, says]) => {
      const { method, path } = route
      return [`${method} ${path} ${title}`, () => admin(address(route), { ...init, method }), status, code, says] as const
    }),
  )
  await refused(t, someOf(lines))
  t.is(({} as Record<string, unknown>)['isAdmin'], undefined)
})

/** Values that do not match the type of a schema. */
const misfits = (schema: Schema): readonly unknown[] => {
  if (schema.enum || schema.anyOf || schema.type === undefined) return []
  const all: Readonly<Record<string, unknown>> = { string: 'x', integer: 3.5, boolean: true, array: ['x'], object: { a: 1 } }
  return Object.entries(all)
    .filter(([type]) => type !== schema.type && !(schema.type === 'number' && type === 'integer'))
    .map(([, value]) => value)
}

test('a property of the wrong type is refused with its name', async t => {
  const lines = routes.flatMap(route =>
    Object.entries(route.body?.properties ?? {}).flatMap(([name, schema]) =>
      misfits(schema).map(value => {
        const { method, path, body } = route
        const sample = Object.fromEntries((body?.required ?? []).map(each => [each, fitting(body?.properties?.[each] ?? {})]))
        const answer = () => admin(address(route), { method, json: { ...sample, [name]: value } })
        return [`${method} ${path} ${name}=${JSON.stringify(value)}`, answer, 400, 'invalid', new RegExp(`\\b${name}\\b`)] as const
      }),
    ),
  )
  await refused(t, someOf(lines))
})

/** A value that matches a schema. */
const fitting = (schema: Schema): unknown => {
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf) return fitting(schema.anyOf.at(-1) ?? {})
  if (schema.type === 'array') return [fitting(schema.items ?? {})]
  if (schema.type === 'object')
    return Object.fromEntries((schema.required ?? []).map(name => [name, fitting(schema.properties?.[name] ?? {})]))
  return schema.type === 'boolean' ? true : schema.type === 'string' ? 'some text' : 1
}

test('a malformed id gets the same response as an unknown one, on every route and in every position', async t => {
  const malformed = ['nonsense', '123', 'F'.repeat(24), `${world.ids['file']}0`, '\u0000', '../../x', '💥', '$ne', '__proto__']
  const lines = routes.flatMap(({ method, path, ids, takesParts, body }) =>
    ids.flatMap(wrong =>
      malformed.map(id => {
        const at = `${fill(path, (kind, name) => (name === wrong ? id : (world.ids[kind] ?? world.ids[name] ?? name)))}?superAdmin=true`
        const init: Init = takesParts ? { method, body: new FormData() } : body ? { method, json: {} } : { method }
        return [`${method} ${path} ${wrong}=${id}`, () => admin(at, init), 404, 'not-found', /not found/] as const
      }),
    ),
  )
  await refused(t, someOf(lines))
})

test('a query parameter of the wrong type is refused with its name', async t => {
  const wrongTexts = (schema: Schema): readonly string[] => {
    if (schema.enum || schema.anyOf) return ['nonsense']
    if (schema.type === 'integer') return ['abc', '1.5', 'NaN', 'Infinity', '1e999', '0x10', '--1', '١']
    if (schema.type === 'boolean') return ['maybe', '2']
    return []
  }
  const lines = routes.flatMap(route =>
    route.query.flatMap(({ name, schema }) =>
      wrongTexts(schema).map(text => {
        const { method, path, takesParts, body } = route
        const init: Init = takesParts ? { method, body: new FormData() } : body ? { method, json: {} } : { method }
        const answer = () => admin(`${address(route, name)}&${name}=${encodeURIComponent(text)}`, init)
        return [`${method} ${path} ${name}=${text}`, answer, 400, 'invalid', new RegExp(`(?<!\\w)${RegExp.escape(name)}(?!\\w)`)] as const
      }),
    ),
  )
  await refused(t, someOf(lines))
})

const long = (length: number): string => 'x'.repeat(length)
const control = ['a\u0000b', 'a\nb', 'a\u007fb', '\u001b[31m']
const blank = ['  ', '\u3000']

test('names that are empty, blank, too long, or hold control or path characters are refused', async t => {
  const { space, dataset, folder, file, collection, user } = world.ids
  const parent = { parentId: dataset, parentType: 'dataset' }
  const named: readonly [method: string, path: string, member: string, longest: number, rest: object][] = [
    ['POST', '/api/spaces', 'name', 500, { description: '' }],
    ['POST', `/api/spaces/${space}/update`, 'name', 500, { description: '', timetolive: 1, enabled: false }],
    ['POST', '/api/collections', 'name', 500, {}],
    ['PUT', `/api/collections/${collection}/title`, 'name', 500, {}],
    ['POST', '/api/datasets/createempty', 'name', 500, {}],
    ['PUT', `/api/datasets/${dataset}/title`, 'name', 500, {}],
    ['POST', `/api/datasets/${dataset}/creator`, 'creator', 300, {}],
    ['POST', `/api/datasets/${dataset}/newFolder`, 'name', 255, parent],
    ['PUT', `/api/datasets/${dataset}/updateName/${folder}`, 'name', 255, {}],
    ['PUT', `/api/files/${file}/filename`, 'name', 255, {}],
    ['POST', '/api/users', 'firstName', 200, { email: 'x@example.org', lastName: 'x' }],
  ]
  const lines = named.flatMap(([method, path, member, longest, rest]) => {
    const inPaths = /newFolder|updateName|filename/.test(path) ? ['.', '..', 'a/b', '../x', 'a\\b', '/', 'a\u0085b'] : []
    const line = (name: string, says: RegExp): Line => {
      const answer = () => admin(`${path}?superAdmin=true`, { method, json: { ...rest, [member]: name } })
      return [`${method} ${path} ${JSON.stringify(name).slice(0, 20)}`, answer, 400, 'invalid', says]
    }
    return [
      ...['', long(longest + 1), ...control].map(name => line(name, new RegExp(member))),
      ...blank.map(name => line(name, new RegExp(`^${member} must not be blank$`))),
      ...inPaths.map(name => line(name, /^name must .*slashes, backslashes or control characters, and is not `\.` or `\.\.`/)),
    ]
  })
  const queries: readonly [path: string, member: string][] = [
    ['/api/users/keys?', 'name'],
    [`/api/users/${user}/updateName?lastName=x&superAdmin=true&`, 'firstName'],
  ]
  for (const [path, member] of queries)
    for (const name of ['', long(501), ...control, ...blank])
      lines.push([
        `${path} ${member}=${JSON.stringify(name).slice(0, 20)}`,
        () => admin(`${path}${member}=${encodeURIComponent(name)}`, { method: 'POST' }),
        400,
        'invalid',
        new RegExp(member),
      ])
  await refused(t, lines)
})

test('invalid tags, comments, descriptions and metadata are refused', async t => {
  const at = (path: string, init: Init) => () => admin(`${path}?superAdmin=true`, init)
  const agent = { '@type': 'cat:extractor', name: 'x', extractor_id: 'https://example.org/extractors/x/1.0' }
  const lines = (['files', 'datasets'] as const).flatMap((group): Line[] => {
    const thing = `/api/${group}/${world.ids[group.slice(0, -1)]}`
    const post = (path: string, json: unknown) => at(thing + path, { method: 'POST', json })
    const tags = [[long(1001)], Array.from({ length: 1001 }, (_, n) => `t${n}`), ['a\u0000b'], ['ok', 'a\u001bb']]
    const metadata = [
      { content: {} },
      { agent, content: 'text' },
      { agent: { ...agent, extractor_id: 'x' }, content: {} },
      { agent: { '@type': 'cat:user', user_id: 'x' }, content: {} },
      { agent, content: null },
    ]
    const contexts = [5, true].map(context => ({ '@context': context, agent, content: {} }))
    return [
      ...tags.map((each, n): Line => [`${group} tags ${n}`, post('/tags', { tags: each }), 400, 'invalid', /[tT]ag/]),
      ...[...metadata, ...contexts].map((each, n): Line => [`${group} metadata ${n}`, post('/metadata.jsonld', each), 400, 'invalid']),
      [`${group} comment with control characters`, post('/comment', { text: 'a\u0000b' }), 400, 'invalid', /text/],
      [`${group} comment too long`, post('/comment', { text: long(10_001) }), 400, 'invalid', /text/],
      ...[{}, { text: null }, { text: '' }].map(
        (each, n): Line => [`${group} comment without text ${n}`, post('/comment', each), group === 'files' ? 404 : 400, 'no-text', /text/],
      ),
      [
        `${group} extractor unknown`,
        post('/extractions', { extractor: 'nobody.knows' }),
        400,
        'invalid',
        /Unknown extractor nobody\.knows/,
      ],
      [`${group} extractor missing`, post('/extractions', {}), 400, 'invalid', /extractor is missing/],
    ]
  })
  for (const json of [{}, { description: null }]) {
    const undescribed = at(`/api/files/${world.ids['file']}/updateDescription`, { method: 'PUT', json })
    lines.push([`description missing: ${JSON.stringify(json)}`, undescribed, 404, 'no-description', /^description data is missing/])
  }
  await refused(t, lines)
})

test('wrong, expired and malformed credentials are refused with 401, also on routes open to anonymous callers', async t => {
  const clock = new FixedClock(new Date().toISOString())
  const config = { resources: { users: { wrongKeysPerAddress: 10_000 } } }
  const another = await furnished({ t, clock, config })
  const { server, person, ids } = another
  const { email, password } = person
  const expired = await signIn(server, email, password)
  clock.advance(40 * 24 * 60 * 60 * 1000)
  // Run the sweeps that are due at that time now, rather than during the requests below.
  const swept = ['previews/unattached', 'uploads/expiry', 'spaces/forget-invitations', 'spaces/forget-quotas']
  for (const name of [...swept.map(each => `resources.${each}`), 'auth.local/forget-links']) await server.runPeriodic(name)
  const ended = await signIn(server, email, password)
  await server.as()('/api/logout', { method: 'POST', headers: { cookie: ended } })
  const revoked = await newKey(server, email, password, 'name=revoked')
  await person.call('/api/users/keys/revoked', { method: 'DELETE' })
  const wrong: readonly [title: string, headers: Record<string, string>, query?: string][] = [
    ['an unknown key', { 'x-api-key': 'unknown' }],
    ['a revoked key', { 'x-api-key': revoked }],
    ['an empty-looking key', { 'x-api-key': '0' }],
    ['a key in the query', {}, 'key=unknown'],
    ['a wrong password', { authorization: basic(email, `${password}x`) }],
    ['an unknown account', { authorization: basic('nobody@example.org', password) }],
    ['Basic without a colon', { authorization: `Basic ${Buffer.from('x').toString('base64')}` }],
    ['Basic that is no Base64', { authorization: 'Basic ***' }],
    ['another scheme', { authorization: 'Digest username="x"' }],
    ['an unknown bearer', { authorization: 'Bearer x.y.z' }],
    ['an expired session', { cookie: expired }],
    ['a session that was ended', { cookie: ended }],
    ['a session that never was', { cookie: 'pounce_session=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' }],
  ]
  const requested: readonly [method: string, path: string, json?: unknown][] = [
    ['GET', '/api/me'],
    ['GET', `/api/files/${ids['file']}/blob`],
    ['POST', '/api/datasets/createempty', { name: 'x' }],
    ['DELETE', `/api/files/${ids['file']}`],
    ['GET', '/api/users/keys'],
  ]
  const lines = wrong.flatMap(([title, headers, query]) =>
    requested.map(([method, path, json]): Line => {
      const answer = () => server.as()(query === undefined ? path : `${path}?${query}`, { method, headers, json })
      return [`${method} ${path} with ${title}`, answer, 401, 'not-signed-in']
    }),
  )
  await refused(t, lines, another)
})

test('invalid paths, methods and queries are refused', async t => {
  const { file, dataset } = world.ids
  const get = (path: string) => () => admin(path)
  const by = (method: string, path: string) => () => admin(path, { method })
  const lines: Line[] = [
    ['no address', get('/api/nothing'), 404, 'no-such-address'],
    ['double slashes', get(`/api//files/${file}`), 404, 'no-such-address'],
    ['a path that cannot be decoded', get('/api/files/%E0%A4%A'), 404, 'not-found'],
    ['PATCH', by('PATCH', `/api/files/${file}`), 405, 'method-not-allowed', /GET, HEAD, DELETE|DELETE, GET, HEAD/],
    ['PUT where there is none', by('PUT', `/api/datasets/${dataset}/files`), 405, 'method-not-allowed'],
    ['an operator without a value', get('/api/search?query=depth>'), 400, 'invalid', /value/],
    ['an operator without a field', get('/api/search?query=%3E%3D5'), 400, 'invalid', /a word.*but found >/],
    ['a quotation mark alone', get('/api/search?query=%22open'), 400, 'invalid', /quotation mark/],
    ['a date that is none', get('/api/search?query=created:2026-02-99'), 400, 'invalid', /date/],
    ['a sort order that is none', get('/api/search?query=x&order=sideways'), 400, 'invalid', /order/],
    ['a page too large', get('/api/search?query=x&size=1001'), 400, 'invalid', /size/],
    ['an unknown node type', get('/api/tree/getChildrenOfNode?nodeType=planet'), 400, 'invalid', /nodeType/],
    ['a cursor that is none', get('/api/tree/getChildrenOfNode?nodeType=root&after=xyz'), 400, 'invalid', /after/],
    ['a cursor from elsewhere', get('/api/datasets?after=xyz'), 400, 'invalid', /after/],
    ['a folder of another dataset', by('DELETE', `/api/datasets/${dataset}/deleteFolder/${unknownId}?superAdmin=true`), 404, 'not-found'],
  ]
  await refused(t, lines)
})

/** The response to raw bytes on a connection. */
const raw = async (bytes: string): Promise<string> => {
  const { hostname, port } = new URL(world.server.url)
  const socket = connect(Number(port), hostname)
  socket.end(bytes)
  return text(socket)
}

test('malformed HTTP is refused with JSON, and the connection closed', async t => {
  const key = `Host: x\r\nX-API-Key: ${world.server.admin.key}\r\n`
  const before = await fingerprint(world.server)
  for (const [bytes, status, code] of [
    [`GET /api/me HTTP/1.1\r\n${key}X-Huge: ${long(50_000)}\r\n\r\n`, 431, 'headers-too-large'],
    [`GET /api/me?x=${long(50_000)} HTTP/1.1\r\n${key}\r\n`, 431, 'headers-too-large'],
    [`BREW /api/me HTTP/1.1\r\n${key}\r\n`, 400, 'invalid'],
    [`GET /api/me HTTP/9.9\r\n${key}\r\n`, 400, 'invalid'],
    [`DELETE /api/files/${world.ids['file']} HTTP/1.1\r\n${key}Bad Header: x\r\n\r\n`, 400, 'invalid'],
    [`POST /api/spaces HTTP/1.1\r\n${key}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400, 'invalid'],
    ['\u0016\u0003\u0001 hello TLS', 400, 'invalid'],
  ] as const) {
    const [head = '', body = ''] = (await raw(bytes)).split('\r\n\r\n')
    t.regex(head, new RegExp(`^HTTP/1\\.1 ${status} `), bytes.slice(0, 60))
    t.regex(head, /Content-Type: application\/json/i)
    t.regex(head, /Connection: close/i)
    t.like(JSON.parse(body), { status: 'error', code })
  }
  const { audit: _noted, 'audit.chains': _anchored, ...changed } = changes(before, await fingerprint(world.server))
  t.deepEqual(changed, {})
})
