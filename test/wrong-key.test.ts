import test from 'ava'
import { declaredRoutes, fill } from './support/declared-routes.ts'
import { type Furnished, furnished } from './support/furnished.ts'

/** What is the same for everybody, and what is itself the way to credentials: none are read there. */
const openToAll = new Set([
  ...['/healthz', '/readyz', '/openapi.json', '/docs', '/docs/{file}', '/', '/contexts/metadata.jsonld'],
  ...['/api/login', '/api/logout', '/setup', '/files/links/{link}'],
  ...['/api/login/providers', '/api/login/{provider}', '/api/login/{provider}/callback'],
  ...['/api/signup', '/api/signup/finish', '/api/password/reset', '/api/password/reset/finish'],
])

let world: Furnished
test.before(async () => {
  world = await furnished({ config: { resources: { users: { wrongKeysPerAddress: 100_000 } } } })
})
test.after.always(() => world?.server.stop())

test('a key that nobody has is refused on every route, also where nobody in particular would be let in', async t => {
  const { server, ids } = world
  const nobody = server.as('unknown')
  const faults: string[] = []
  for (const { method, path, query, body } of await declaredRoutes(server)) {
    if (openToAll.has(path)) continue
    const needed = query
      .filter(({ required }) => required)
      .map(({ name, schema }): [string, string] => [name, String(schema.enum?.[0] ?? ids['dataset'])])
    const address = `${fill(path, (kind, name) => ids[kind] ?? ids[name] ?? name)}?${new URLSearchParams(needed)}`
    const answer = await nobody(address, { method, ...(body === undefined ? {} : { json: {} }) })
    if (answer.status !== 401) faults.push(`${method} ${path}: ${answer.status} ${(await answer.text()).slice(0, 200)}`)
    else await answer.body?.cancel()
  }
  t.deepEqual(faults, [])
})
