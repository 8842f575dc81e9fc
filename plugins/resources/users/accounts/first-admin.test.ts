import { createHash } from 'node:crypto'
import { Script } from 'node:vm'
import test, { type ExecutionContext } from 'ava'
import { Commands, StartupMessages, Users } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'

const plugins = ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users']
const account = { email: 'first@example.org', password: 'the first password', firstName: 'First', lastName: 'Admin' }

/** A server without an admin, and its setup link. */
const bootWithout = async (t: ExecutionContext, users: object = {}): Promise<{ server: TestServer; link: string; token: string }> => {
  const server = await bootForTest({ t, plugins, config: { resources: { users } } })
  await server.get(Users).change(server.admin.id, { set: { status: 'Active' } }, [])
  const link = await linkOf(server)
  return { server, link, token: new URL(link).searchParams.get('token') ?? '' }
}
const linesOf = async (server: TestServer): Promise<readonly string[]> =>
  (
    await Promise.all(
      server
        .get(StartupMessages)
        .all()
        .map(message => message.lines()),
    )
  ).flat()
const linkOf = async (server: TestServer): Promise<string> => (await linesOf(server)).at(-1)?.trim() ?? ''
const claim = (server: TestServer, json: object) => server.as()('/setup', { method: 'POST', json })

test('a server with an admin prints no setup link', async t => {
  const server = await bootForTest({ t, plugins })
  t.deepEqual(await linesOf(server), [])
  t.is((await server.get(Users).byEmail(server.admin.email))?.status, 'Admin')
})

test('a second start creates no second admin and keeps a changed password', async t => {
  const server = await bootForTest({ t, plugins })
  const before = await server.get(Users).get(server.admin.id)
  await server.restart()
  t.deepEqual(await server.get(Users).get(server.admin.id), before)
})

test('configured accounts are admins after a start, unless their address is unverified', async t => {
  const names = ['named@example.org', 'claimed@example.org']
  const server = await bootForTest({ t, plugins, config: { admins: names } })
  const users = server.get(Users)
  for (const email of names) {
    const { id } = await users.create({ email, firstName: 'A', lastName: 'B', status: 'Active' })
    await users.change(id, { set: { status: 'Active', ...(email === 'claimed@example.org' ? { isEmailUnverified: true } : {}) } }, [])
  }
  await server.restart()
  const now = await Promise.all(names.map(async email => (await server.get(Users).byEmail(email))?.status))
  t.deepEqual(now, ['Admin', 'Active'])
})

test('a configured account that is being erased stays locked after a start, and commands do not find it', async t => {
  const email = 'leaving@example.org'
  const server = await bootForTest({ t, plugins, config: { admins: [email] } })
  const users = server.get(Users)
  const { id } = await users.create({ email, firstName: 'A', lastName: 'B', status: 'Active' })
  const erasure = { requested: '2026-03-01T09:00:00.000Z', heir: null, done: null }
  await users.change(id, { set: { status: 'Inactive', erasure } }, [])
  await server.restart()
  t.is((await server.get(Users).get(id))?.status, 'Inactive')
  const promote = server
    .get(Commands)
    .all()
    .find(({ name }) => name === 'user promote')
  await t.throwsAsync(async () => promote?.run({ arguments: { email }, options: {} }, () => undefined), {
    message: `No account found for ${email}`,
  })
  t.is((await server.get(Users).get(id))?.status, 'Inactive')
})

test('the setup link opens a page that runs only its own script', async t => {
  const { server, link } = await bootWithout(t)
  t.true(link.startsWith(`${server.url}/setup?token=`))
  const page = await fetch(link)
  t.is(page.status, 200)
  t.regex(page.headers.get('content-type') ?? '', /^text\/html/)
  t.regex(page.headers.get('content-security-policy') ?? '', /default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'/)
  t.false((page.headers.get('content-security-policy') ?? '').includes('unsafe'))
  t.is(page.headers.get('referrer-policy'), 'no-referrer')
  t.is(page.headers.get('cache-control'), 'no-store')
  const html = await page.text()
  t.false(html.includes(new URL(link).searchParams.get('token') ?? 'token'))
  for (const tag of ['script', 'style']) {
    const [, text = ''] = new RegExp(`<${tag}>([^]*)</${tag}>`).exec(html) ?? []
    const hash = createHash('sha256').update(text).digest('base64')
    t.true(page.headers.get('content-security-policy')?.includes(`${tag}-src 'sha256-${hash}'`), tag)
    if (tag === 'script') t.notThrows(() => new Script(text))
  }
})

test('the setup link creates one admin and is then invalid', async t => {
  const { server, link, token } = await bootWithout(t)
  const made = await claim(server, { token, ...account })
  t.is(made.status, 200)
  const { id } = (await made.json()) as { id: string }
  t.is((await server.get(Users).get(id))?.status, 'Admin')
  t.is((await claim(server, { token, ...account, email: 'second@example.org' })).status, 403)
  t.is((await fetch(link)).status, 403)
  t.is(await server.get(Users).byEmail('second@example.org'), undefined)
  t.deepEqual(await linesOf(server), [])
})

test('of many concurrent uses of the link, one creates an admin', async t => {
  const { server, token } = await bootWithout(t)
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, at) => claim(server, { token, ...account, email: `racer${at}@example.org` })),
  )
  t.deepEqual(answers.map(({ status }) => status).toSorted(), [200, ...Array<number>(7).fill(403)])
})

test('a wrong token or invalid account data does not use up the link', async t => {
  const { server, token } = await bootWithout(t)
  t.is((await claim(server, { token: 'wrong', ...account })).status, 403)
  t.is((await claim(server, { token: `${token}x`, ...account })).status, 403)
  t.is((await claim(server, account)).status, 400)
  t.is((await claim(server, { token, ...account, password: 'short' })).status, 400)
  t.is((await claim(server, { token, ...account, email: 'no address' })).status, 400)
  t.is((await claim(server, { token, ...account, email: server.admin.email })).status, 409)
  // Eight characters as sent, seven after normalization, which is checked after the token is consumed.
  t.is((await claim(server, { token, ...account, password: 'secrete\u0301' })).status, 400)
  t.is((await server.as()('/setup?token=wrong')).status, 403)
  t.is((await server.as()('/setup')).status, 400)
  t.is((await claim(server, { token, ...account })).status, 200)
})

test('with a missing or invalid token, browsers get an HTML page and other clients get JSON', async t => {
  const { server, token } = await bootWithout(t)
  for (const [query, status] of [
    ['', 400],
    ['?token=wrong', 403],
  ] as const) {
    const page = await server.as()(`/setup${query}`, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })
    t.is(page.status, status)
    t.regex(page.headers.get('content-type') ?? '', /^text\/html/)
    t.regex(page.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    t.regex(await page.text(), /setup link/)
    const json = await server.as()(`/setup${query}`)
    t.is(json.status, status)
    t.like(await json.json(), { status: 'error' })
  }
  t.is((await server.as()(`/setup?token=${token}`)).status, 200)
})

test('a new link invalidates the previous one', async t => {
  const { server, token } = await bootWithout(t)
  const newer = new URL(await linkOf(server)).searchParams.get('token')
  t.is((await claim(server, { token, ...account })).status, 403)
  t.is((await claim(server, { token: newer, ...account })).status, 200)
})

test('the link is invalid once there is an admin', async t => {
  const { server, token } = await bootWithout(t)
  await server.get(Users).change(server.admin.id, { set: { status: 'Admin' } }, [])
  t.is((await claim(server, { token, ...account })).status, 403)
})

test('configured accounts become admins, when created and at the next start', async t => {
  const server = await bootForTest({ t, plugins, config: { admins: ['Chief@example.org', 'admin@example.org'] } })
  const users = server.get(Users)
  const chief = await users.create({ email: 'chief@example.org', firstName: 'C', lastName: 'H', status: 'Active' })
  t.is(chief.status, 'Admin')
  await users.change(chief.id, { set: { status: 'Inactive' } }, [])
  await server.restart()
  t.is((await server.get(Users).get(chief.id))?.status, 'Admin')
})

test('a custom setup page can check the link and use it through the API', async t => {
  const { server, token } = await bootWithout(t, { setUpPage: '/welcome' })
  t.regex(await linkOf(server), /\/welcome\?token=/)
  const newer = new URL(await linkOf(server)).searchParams.get('token')
  t.is((await server.as()(`/api/setup?token=${token}`)).status, 403)
  t.deepEqual(await (await server.as()(`/api/setup?token=${newer}`)).json(), { isOpen: true, private: null })
  const pending = async () =>
    ((await (await server.as()('/api/session')).json()) as { capabilities: { setupPending: boolean } }).capabilities
  t.true((await pending()).setupPending)
  t.is((await server.as()('/api/setup', { method: 'POST', json: { token: newer, ...account } })).status, 200)
  t.false((await pending()).setupPending)
  t.is((await server.as()(`/api/setup?token=${newer}`)).status, 403)
})
