import test from 'ava'
import { declaredRoutes, fill } from './support/declared-routes.ts'
import { type Furnished, furnished } from './support/furnished.ts'

/** Routes that ignore credentials: their response is the same for everyone, or they are used to obtain credentials. */
const openToAll = new Set([
  ...['/healthz', '/readyz', '/openapi.json', '/swagger.json', '/swagger', '/docs', '/docs/{file}', '/', '/contexts/metadata.jsonld'],
  ...[
    '/api/login',
    '/api/logout',
    '/setup',
    '/api/setup',
    '/web/assets/{file}',
    '/web/sample/{file}',
    '/web/parts/{digest}/{file}',
    '/previewers/{name}/{file}',
    '/files/links/{link}',
  ],
  ...['/api/login/providers', '/api/login/{provider}', '/api/login/{provider}/callback'],
  ...['/api/login/second-factor', '/api/login/passkey', '/api/login/passkey/options', '/api/avatars/{picture}'],
  ...['/api/login/link', '/api/signup', '/api/signup/finish', '/api/password/reset', '/api/password/reset/finish'],
  // HTML pages for browsers, which have no keys: a hidden resource has the same page as an absent one.
  ...['/collection/{id}', '/collections/{id}', '/datasets/{id}', '/files/{id}', '/spaces/{id}'],
])

let world: Furnished
test.before(async () => {
  world = await furnished({ config: { resources: { users: { wrongKeysPerAddress: 100_000 } } } })
})
test.after.always(() => world?.server.stop())

test('an unknown key is ignored on routes open to everyone, and refused elsewhere', async t => {
  const { server, ids } = world
  const nobody = server.as('unknown')
  const anonymous = server.as()
  const faults: string[] = []
  let open = 0
  for (const { method, path, query, body } of await declaredRoutes(server)) {
    if (openToAll.has(path)) continue
    const needed = query
      .filter(({ required }) => required)
      .map(({ name, schema }): [string, string] => [name, String(schema.enum?.[0] ?? ids['dataset'])])
    const address = `${fill(path, (kind, name) => ids[kind] ?? ids[name] ?? name)}?${new URLSearchParams(needed)}`
    const ask = async (call: typeof nobody) => {
      const answer = await call(address, { method, redirect: 'manual', ...(body === undefined ? {} : { json: {} }) })
      return { status: answer.status, text: await answer.text() }
    }
    const as = await ask(anonymous)
    const got = await ask(nobody)
    const isRefused = [401, 403, 404].includes(as.status)
    if (!isRefused) open += 1
    if (got.status !== (isRefused ? 401 : as.status))
      faults.push(`${method} ${path}: ${as.status}, ${got.status} ${got.text.slice(0, 200)}`)
    else if (isRefused && !got.text.includes('The API key is not valid')) faults.push(`${method} ${path}: ${got.text.slice(0, 200)}`)
  }
  t.deepEqual(faults, [])
  t.true(open > 20, String(open))
})
