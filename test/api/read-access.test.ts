import test, { type ExecutionContext } from 'ava'
import { StartupMessages } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'

const account = { email: 'first@example.org', password: 'the first password', firstName: 'First', lastName: 'Admin' }

/** A server without accounts. */
const newServer = (t: ExecutionContext, access: object = {}): Promise<TestServer> => bootForTest({ t, admin: 'none', config: { access } })

const tokenOf = async (server: TestServer): Promise<string> => {
  const lines = await Promise.all(
    server
      .get(StartupMessages)
      .all()
      .map(message => message.lines()),
  )
  return /token=(\S+)/.exec(lines.flat().join('\n'))?.[1] ?? ''
}

const sessionOf = async (server: TestServer) =>
  ((await (await server.as()('/api/session')).json()) as { capabilities: { private: boolean; accessOrigin: string } }).capabilities

const reading = async (server: TestServer): Promise<number> => (await server.as()('/api/datasets')).status

const signedIn = async (server: TestServer) => {
  const answer = await server.as()('/api/login', { method: 'POST', json: { email: account.email, password: account.password } })
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  return (path: string, init: Parameters<ReturnType<TestServer['as']>>[1] = {}) =>
    server.as()(path, { ...init, headers: { cookie, 'sec-fetch-site': 'same-origin' } })
}

test('a new server is private until the first admin has chosen the read access', async t => {
  const server = await newServer(t)
  t.is(await reading(server), 401)
  t.like(await sessionOf(server), { private: true, accessOrigin: 'pending' })
  const token = await tokenOf(server)
  t.regex(await (await server.as()(`/setup?token=${token}`)).text(), /name="private"/)
  t.deepEqual(await (await server.as()(`/api/setup?token=${token}`)).json(), { isOpen: true, private: null })
  t.is((await server.as()('/api/setup', { method: 'POST', json: { token, ...account, private: 'no' } })).status, 400)
  t.is((await server.as()('/api/setup', { method: 'POST', json: { token, ...account, lastName: ' ' } })).status, 400)
  t.is((await server.as()('/api/setup', { method: 'POST', json: { token, ...account, private: false } })).status, 200)
  t.is(await reading(server), 200)
  t.like(await sessionOf(server), { private: false, accessOrigin: 'admin' })
  await server.restart()
  t.is(await reading(server), 200)
})

test('without a choice a server stays private across restarts until an admin chooses; the choice can be changed', async t => {
  const server = await newServer(t)
  t.is((await server.as()('/setup', { method: 'POST', json: { token: await tokenOf(server), ...account } })).status, 200)
  await server.restart()
  t.like(await sessionOf(server), { private: true, accessOrigin: 'pending' })
  const admin = await signedIn(server)
  const choose = (isPrivate: boolean) => admin('/api/admin/access', { method: 'PUT', json: { private: isPrivate } })
  t.deepEqual(await (await choose(false)).json(), { private: false, origin: 'admin' })
  t.is(await reading(server), 200)
  t.deepEqual(await (await choose(true)).json(), { private: true, origin: 'admin' })
  t.is(await reading(server), 401)
  t.is((await admin('/api/datasets')).status, 200)
  await server.restart()
  t.is(await reading(server), 401)
})

test('only server admins set the read access', async t => {
  const server = await bootForTest({ t })
  const body = { method: 'PUT', json: { private: true } }
  t.is((await server.as()('/api/admin/access', body)).status, 401)
  t.is((await server.as(server.admin.key)('/api/admin/access', { method: 'PUT', json: {} })).status, 400)
  t.is(await reading(server), 200)
})

test('configured read access cannot be changed: 400 in setup, 409 for an admin', async t => {
  const server = await newServer(t, { private: true })
  const token = await tokenOf(server)
  t.like(await sessionOf(server), { private: true, accessOrigin: 'configuration' })
  t.notRegex(await (await server.as()(`/setup?token=${token}`)).text(), /name="private"/)
  t.deepEqual(await (await server.as()(`/api/setup?token=${token}`)).json(), { isOpen: true, private: true })
  t.is((await server.as()('/api/setup', { method: 'POST', json: { token, ...account, private: false } })).status, 400)
  t.is((await server.as()('/api/setup', { method: 'POST', json: { token, ...account } })).status, 200)
  const admin = await signedIn(server)
  t.is((await admin('/api/admin/access', { method: 'PUT', json: { private: false } })).status, 409)
  t.is(await reading(server), 401)
})

test('an installation with accounts but without a choice stays public', async t => {
  const server = await bootForTest({ t })
  t.like(await sessionOf(server), { private: false, accessOrigin: 'default' })
  await server.restart()
  t.like(await sessionOf(server), { private: false, accessOrigin: 'default' })
  t.is(await reading(server), 200)
})
