import test, { type ExecutionContext } from 'ava'
import { Keys } from 'pounce/sdk'
import { declaredRoutes, fill } from '../support/declared-routes.ts'
import { changes, fingerprint } from '../support/fingerprint.ts'
import { type Furnished, furnished } from '../support/furnished.ts'
import { newKey } from '../support/people.ts'
import { ok } from '../support/scene.ts'

let world: Furnished
/** An extractor key created by a user, and the key of a job. */
let keys: readonly string[]

test.before(async () => {
  world = await furnished()
  const { server } = world
  // Keys of a server admin, so that refusals are due to the limits of the key, not of the account.
  keys = [await newKey(server, server.admin.email, server.admin.password, 'name=extractor&scope=extraction'), await keyOfJob(world)]
})
test.after.always(() => world?.server.stop())

const keyOfJob = async ({ server, ids }: Furnished): Promise<string> => {
  const asAdmin = server.as(server.admin.key)
  const target = { kind: 'dataset', id: String(ids['dataset']) } as const
  const json = { extractor: 'pounce.digest' }
  const requested = asAdmin(`/api/datasets/${target.id}/extractions?superAdmin=true`, { method: 'POST', json })
  const { job_id: id } = await ok<{ job_id: string }>(requested)
  await server.drained()
  return String(await server.get(Keys).jobKey({ id, target, user: server.admin.id, message: {} }))
}

/** Routes that change accounts, credentials, roles, membership or the installation. Following is left out: it grants no rights. */
const ruling =
  /^\/api\/(?:users(?!\/(?:un)?follow)|roles|groups|sessions|password|admin|changeAppearance|sensors\/config|invitations|reports|reindex|deleteindex|logout)|\/(?:members|invite|invitations|requests?|groups|acceptRequest|rejectRequest|removeUser|updateUsers|verify|update|sessions)(?:\/|$)|\/extractors\/(?:labels|enabled)|\/extractions\/(?:failed|queues|pending|jobs|requests)|emptyTrash|clearOld/

test('an extractor key cannot change keys, accounts, roles, memberships or settings, even that of a server admin', async t => {
  const { server, ids } = world
  const routes = (await declaredRoutes(server)).filter(
    ({ method, path, permission }) => permission === 'serverAdmin' || (method !== 'GET' && ruling.test(path)),
  )
  const before = await fingerprint(server)
  const done: string[] = []
  for (const [key, { method, path, query, body, permission }] of keys.flatMap(each => routes.map(route => [each, route] as const))) {
    const needed = query
      .filter(({ required }) => required)
      .map(({ name, schema }): [string, string] => [name, String(schema.enum?.[0] ?? ids['user'])])
    const search = new URLSearchParams([['superAdmin', 'true'], ...needed])
    const at = `${fill(path, (kind, name) => ids[kind] ?? ids[name] ?? 'test')}?${search}`
    const json =
      body === undefined ? {} : { json: { active: [ids['user']], admin: [ids['user']], role: 'Admin', name: 'x', description: 'x' } }
    const answer = await server.as(key)(at, { method, ...json })
    const text = await answer.text()
    // Signing out ends a session; a key has none.
    if (answer.ok && path !== '/api/logout') done.push(`${method} ${path} (${permission}): ${answer.status} ${text.slice(0, 100)}`)
    t.true(answer.status < 500, `${method} ${path}: ${answer.status}`)
  }
  t.deepEqual(done, [])
  t.true(routes.length > 60, String(routes.length))
  const { 'users.tries': _counted, 'users.sessions': _swept, ...changed } = changes(before, await fingerprint(server))
  t.deepEqual(
    Object.keys(changed).filter(name => !/audit/.test(name)),
    [],
  )
  t.log(`${routes.length} routes`)
})

test('an extractor key has no superadmin mode, however it is requested', async t => {
  for (const key of keys) await hasNoSuperAdminMode(t, key)
})

const hasNoSuperAdminMode = async (t: ExecutionContext, key: string): Promise<void> => {
  const { server } = world
  for (const init of [{}, { headers: { cookie: 'superAdmin=true' } }])
    for (const path of [
      '/api/users?superAdmin=true',
      '/api/admin/users?superAdmin=true',
      '/api/reports/metrics/users?superAdmin=true',
      '/api/previews?superAdmin=true',
    ])
      t.is((await server.as(key)(path, init)).status, 403, path)
  const { ids } = world
  t.is((await server.as(key)(`/api/spaces/${ids['space']}?superAdmin=true`, { method: 'DELETE' })).status, 403)
  t.is((await server.as(key)(`/api/datasets/${ids['dataset']}?superAdmin=true`, { method: 'DELETE' })).status, 403)
}
