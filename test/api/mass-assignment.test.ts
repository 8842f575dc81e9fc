import test from 'ava'
import type { TestFetch } from 'pounce/sdk/testing'
import { type DeclaredRoute, declaredRoutes, fill, type Schema } from '../support/declared-routes.ts'
import { fingerprint } from '../support/fingerprint.ts'
import { type Furnished, furnished } from '../support/furnished.ts'

let world: Furnished
let routes: readonly DeclaredRoute[]
let admin: TestFetch

test.before(async () => {
  world = await furnished()
  routes = (await declaredRoutes(world.server)).filter(({ method, body }) => method !== 'GET' && body !== undefined)
  admin = world.server.as(world.server.admin.key)
})
test.after.always(() => world?.server.stop())

/** Members set by the server only, as named in records and responses. */
const decided = [
  ...['id', '_id', 'author', 'authorId', 'creator', 'user', 'userId', 'owner', 'email', 'actor'],
  ...['status', 'state', 'role', 'roles', 'permissions', 'scope', 'verbs', 'limits', 'admin', 'isAdmin', 'superAdmin', 'serverAdmin'],
  ...['memberships', 'members', 'groups', 'identities', 'spaces', 'collections', 'rootSpaces', 'parents', 'places', 'isPublic', 'access'],
  ...[
    'created',
    'modified',
    'trashedAt',
    'posted',
    'lastLogin',
    'termsAccepted',
    'expires',
    'revision',
    'statistics',
    'views',
    'downloads',
  ],
  ...['blob', 'path', 'filepath', 'storageKey', 'sizeBytes', 'length', 'sha256', 'contentType', 'passwordHash', 'hash', 'key', 'provider'],
  ...['datasetCount', 'counts', 'requests', 'source', 'thumbnail', 'revoked', 'extractor', 'dataset', 'file', 'target', 'parent'],
]

/** Routes whose members are free-form content, stored unchanged. */
const free: readonly RegExp[] = [
  /metadata/,
  /^\/api\/sections$/,
  /^\/api\/previews\//,
  /\/previews\/\{/,
  /^\/api\/extractors$/,
  /extractions?$/,
  /\/contexts$/,
  /submit/,
  /[aA]rchiv/,
  /geostreams\/streams\/\{/,
]

const idNames = /(?:^|_)(?:id|space|collection|dataset|file|folder|user)s?$|Ids?$/

/** A value valid for a schema, with IDs of existing resources. */
const fitting = (schema: Schema, name = ''): unknown => {
  if (schema.default !== undefined) return schema.default
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf) return fitting(schema.anyOf.at(-1) ?? {}, name)
  if (schema.type === 'array') return [fitting(schema.items ?? {}, name)]
  if (schema.type === 'object')
    return Object.fromEntries((schema.required ?? []).map(each => [each, fitting(schema.properties?.[each] ?? {}, each)]))
  if (schema.type === 'boolean') return true
  if (schema.type === 'integer' || schema.type === 'number') return 1
  const kind = name.replace(/_?ids?$/i, '').toLowerCase()
  return idNames.test(name) || schema.pattern?.includes('24') ? (world.ids[kind] ?? world.ids['dataset']) : 'text'
}

const needed = ({ query }: DeclaredRoute): URLSearchParams =>
  new URLSearchParams([
    ['superAdmin', 'true'],
    ...query.filter(each => each.required).map(({ name, schema }): [string, string] => [name, String(fitting(schema, name))]),
  ])

test('no route accepts server-controlled members from a body', async t => {
  const markers = new Map<string, string>()
  let taken = 0
  // Deletions come last.
  const rank = ({ method, path }: DeclaredRoute): number => (method === 'DELETE' || /remove|delete|logout|password/i.test(path) ? 1 : 0)
  for (const route of routes.toSorted((one, other) => rank(one) - rank(other))) {
    const { method, path, body } = route
    const declared = new Set(Object.keys(body?.properties ?? {}))
    if (body?.type !== 'object' || free.some(each => each.test(path))) continue
    const names = decided.filter(name => !declared.has(name))
    const extra = Object.fromEntries(
      names.map((name, at) => {
        const marker = `zqmass${markers.size}x${at}x`
        markers.set(marker, `${name} of ${method} ${path}`)
        return [name, /s$/.test(name) && at % 2 === 0 ? [marker] : marker]
      }),
    )
    const at = `${fill(path, (kind, name) => world.ids[kind] ?? world.ids[name] ?? name)}?${needed(route)}`
    const json = { ...(fitting(body) as object), ...extra }
    for (const call of [world.call, admin]) {
      const answer = await call(at, { method, json })
      const text = await answer.text()
      if (answer.ok) taken += 1
      t.true(answer.status < 500, `${method} ${path} ${answer.status} ${text}`)
      t.notRegex(text, /zqmass/, `${method} ${path}`)
    }
  }
  const stored = Object.entries(await fingerprint(world.server)).flatMap(([name, documents]) =>
    documents.flatMap(document => [...document.matchAll(/zqmass\d+x\d+x/g)].map(([marker]) => `${name}: ${markers.get(marker)}`)),
  )
  t.deepEqual(stored, [])
  t.true(taken > 30, `only ${taken} requests succeeded`)
  t.log(`${markers.size} members on ${routes.length} routes, ${taken} requests done`)
})

test('creating or changing an account sets no status, membership or id from the body', async t => {
  const account = { email: 'mass@example.org', password: 'a long password', firstName: 'M', lastName: 'A' }
  const json = {
    ...account,
    id: 'f'.repeat(24),
    status: 'Admin',
    memberships: [{ space: world.ids['space'], role: 'x' }],
    provider: 'other',
  }
  const { id } = (await (await admin('/api/users', { method: 'POST', json })).json()) as { id: string }
  t.not(id, 'f'.repeat(24))
  const { users } = await import('../../plugins/resources/users/collections.ts')
  const { DocumentStore } = await import('pounce/sdk')
  const made = await world.server.get(DocumentStore).get(users, id)
  t.like(made, { status: 'Active', provider: 'userpass' })
  t.deepEqual(made?.memberships, [])
  const change = { firstName: 'N', status: 'Admin', memberships: [{ space: world.ids['space'], role: 'x' }], email: 'other@example.org' }
  await admin(`/api/users/${id}?superAdmin=true`, { method: 'PUT', json: change })
  const now = await world.server.get(DocumentStore).get(users, id)
  t.like(now, { status: 'Active', email: 'mass@example.org' })
  t.deepEqual(now?.memberships, [])
})
