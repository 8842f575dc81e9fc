import test from 'ava'
import { declaredRoutes, fill } from '../support/declared-routes.ts'
import { type Furnished, furnished } from '../support/furnished.ts'
import { oldClient } from './old-client.ts'

let world: Furnished
test.before(async () => {
  world = await furnished()
})
test.after.always(() => world?.server.stop())

/** Not tested: responses of another site, and paths that already end with a slash. */
const left = (path: string): boolean => path.startsWith('/api/proxy/') || path.endsWith('/') || path.includes('/login/')

test('every GET route responds to an old script as to other clients, also with a trailing slash', async t => {
  const { server, ids } = world
  const old = oldClient(server.url, server.admin.key)
  const faults: string[] = []
  let good = 0
  for (const { method, path, query } of await declaredRoutes(server)) {
    if (method !== 'GET' || left(path)) continue
    const needed = query
      .filter(({ required }) => required)
      .map(({ name, schema }): [string, string] => [name, String(schema.enum?.[0] ?? ids['dataset'])])
    const sent = fill(path, (kind, name) => ids[kind] ?? ids[name] ?? name)
    const search = `?${new URLSearchParams(needed)}`
    const statusOf = async (answer: Response): Promise<number> => {
      // A stream of events has no end.
      if (answer.headers.get('content-type') === 'text/event-stream') await answer.body?.cancel()
      else await answer.arrayBuffer()
      return answer.status
    }
    const plain = await statusOf(await server.as(server.admin.key)(sent + search, { redirect: 'manual' }))
    const got = await statusOf(await old.call(sent + search, { redirect: 'manual' }))
    const slashed = await statusOf(await old.call(`${sent}/${search}`))
    if (plain < 300) good += 1
    if (got !== plain || (plain < 300 && slashed !== plain)) faults.push(`${path}: ${plain}, ${got}, with a slash ${slashed}`)
  }
  t.deepEqual(faults, [])
  t.true(good > 100, String(good))
})
