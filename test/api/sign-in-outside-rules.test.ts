import test from 'ava'
import { Users } from 'pounce/sdk'
import { type OutsideServer, outsideServer } from '../support/outside-server.ts'

const audience = 'https://data.example.org'
const withToken = async ({ server }: OutsideServer, token: string, path = '/api/me') =>
  server.as()(path, { headers: { authorization: `Bearer ${token}` } })
const idIn = async (answer: Response): Promise<string | undefined> => ((await answer.json()) as { id?: string }).id
const message = async (answer: Response): Promise<string> => ((await answer.json()) as { message: string }).message
const standingOf = async ({ server }: OutsideServer, email: string) => (await server.get(Users).byEmail(email))?.status

const ends: (() => Promise<void>)[] = []
const shared = await outsideServer({ teardown: end => void ends.push(end) }, { provider: { audience } })
test.after.always(async () => {
  for (const end of ends.reverse()) await end()
})
const token = (claims: object, signing?: 'none' | 'public' | 'stranger') =>
  shared.issuer.token({ sub: 'ada', aud: audience, ...claims }, signing)

test('a new account waits for an admin where configured, and admins are notified', async t => {
  const place = await outsideServer(t, { users: { outsideAccounts: 'approval' } })
  const { answer } = await place.signIn({ sub: 'new', email: 'new@example.org' })
  t.is(answer.status, 401)
  t.is(await message(answer), 'Account is not activated')
  t.is(answer.headers.getSetCookie().length, 0)
  await place.server.drained()
  t.is(place.mailer.sent.filter(({ to, text }) => to.includes(place.server.admin.email) && text.includes('new@example.org')).length, 1)
  const user = await place.server.get(Users).byEmail('new@example.org')
  await place.server.as(place.server.admin.key)('/api/admin/users', { method: 'POST', json: { active: [user?.id] } })
  const { browser } = await place.signIn()
  t.is((await place.whoIs(browser))?.id, user?.id)
  await place.server.as(place.server.admin.key)('/api/admin/users', { method: 'POST', json: { inactive: [user?.id] } })
  t.is(await place.whoIs(browser), undefined)
  t.is((await place.signIn()).answer.status, 401)
})

test('users whose account was erased, or unlinked from the provider, get another one at the next sign-in', async t => {
  const { server, signIn, whoIs } = await outsideServer(t)
  const visit = async (email: string) => (await whoIs((await signIn({ sub: 'back', email })).browser))?.id
  const first = await visit('back@example.org')
  t.is((await server.as(server.admin.key)(`/api/users/${first}`, { method: 'DELETE' })).status, 202)
  await server.drained()
  const second = await visit('back@example.org')
  t.truthy(second)
  t.not(second, first)
  t.is(await visit('back@example.org'), second)
  await server.get(Users).change(second ?? '', { pull: { identities: ['uni back'] } }, [])
  t.is(await visit('back@example.org'), undefined, 'the account with this address is not theirs any more')
  const third = await Promise.all([visit('elsewhere@example.org'), visit('elsewhere@example.org')])
  t.truthy(third[0])
  t.is(third[0], third[1])
  t.false([first, second].includes(third[0]))
})

test('browsers get pages about refusals and links also below the path of the base URL', async t => {
  const { server } = await outsideServer(t, { more: { http: { baseUrl: 'http://127.0.0.1/dm' } }, without: ['web'] })
  const pages = {
    '/api/login/uni/callback?state=x': 'Sign-in failed',
    '/setup?token=wrong': 'Set up Pounce',
    '/api/login/link?token=wrong': 'Link a sign-in to your account',
    '/api/password/reset/finish?token=wrong': '<form',
  }
  for (const prefix of ['', '/dm'])
    for (const [path, text] of Object.entries(pages)) {
      const page = await server.as()(`${prefix}${path}`, { headers: { accept: 'text/html' } })
      t.is(page.headers.get('content-type'), 'text/html; charset=utf-8', prefix + path)
      t.true((await page.text()).includes(text), prefix + path)
    }
})

test('if configured, no accounts are created, and existing ones can sign in', async t => {
  const place = await outsideServer(t, { users: { outsideAccounts: 'none' } })
  t.is((await place.signIn({ sub: 'new', email: 'new@example.org' })).answer.status, 401)
  t.is(await place.server.get(Users).byEmail('new@example.org'), undefined)
  const id = await place.account('known@example.org')
  await place.server.get(Users).change(id, { set: { identities: ['uni known'] } }, [])
  t.is((await place.whoIs((await place.signIn({ sub: 'known', email: 'known@example.org' })).browser))?.id, id)
})

test('accounts are not linked by address by default, and repeated invalid callbacks are throttled', async t => {
  const place = await outsideServer(t, { users: { wrongKeysPerAddress: 3 } })
  const id = await place.account('known@example.org')
  t.is((await place.signIn({ sub: 'known', email: 'known@example.org' })).answer.status, 401)
  t.is((await place.server.get(Users).get(id))?.identities, undefined)
  const statuses: number[] = []
  for (let at = 0; at < 3; at += 1) statuses.push((await place.server.as()('/api/login/uni/callback?code=x&state=y')).status)
  t.deepEqual(statuses, [401, 401, 429])
})

test.serial('an account with an unverified address cannot be linked by that address', async t => {
  const place = shared
  const id = await place.account('waiting@example.org')
  await place.server.get(Users).change(id, { set: { provider: 'ldap', isEmailUnverified: true, identities: ['ldap uid=mallory'] } }, [])
  t.is((await place.signIn({ sub: 'owner', email: 'waiting@example.org' })).answer.status, 401)
  t.deepEqual((await place.server.get(Users).get(id))?.identities, ['ldap uid=mallory'])
})

test('an address asserted by a provider does not make a server admin', async t => {
  const admins = ['chief@example.org', 'deputy@example.org']
  const place = await outsideServer(t, { provider: { audience }, more: { admins } as object })
  const token = (email_verified: boolean, sub: string, email: string) => place.issuer.token({ sub, email, email_verified, aud: audience })
  t.is((await withToken(place, await token(false, 'mallory', 'deputy@example.org'))).status, 401)
  t.is(await standingOf(place, 'deputy@example.org'), undefined)
  t.is((await place.signIn({ sub: 'chief', email: 'Chief@example.org' })).answer.status, 200)
  t.is(await standingOf(place, 'chief@example.org'), 'Active')
  await place.server.restart()
  t.is(await standingOf(place, 'chief@example.org'), 'Active')
})

test.serial('a token authenticates the account linked to its subject, whatever its address, and no other', async t => {
  const place = shared
  t.is((await withToken(place, await token({}))).status, 401)
  const { browser } = await place.signIn({ sub: 'ada', email: 'ada@example.org' })
  const me = await place.whoIs(browser)
  const answer = await withToken(place, await token({}))
  t.is(answer.status, 200)
  t.is(await idIn(answer), me?.id)
  t.is(await idIn(await withToken(place, await token({ email: 'elsewhere@example.org', email_verified: true }))), me?.id)
  t.is((await withToken(place, await token({ sub: 'grace', email: 'ada@example.org', email_verified: false }))).status, 401)
  t.is((await withToken(place, await token({ sub: 'grace', email: 'ada@example.org', email_verified: true }))).status, 401)
  t.is((await withToken(place, await token({}), `/api/users/${me?.id}`)).status, 200)
  await place.server.get(Users).change(me?.id ?? '', { set: { status: 'Inactive' } }, [])
  t.is((await withToken(place, await token({}))).status, 401)
})

test.serial('forged and expired tokens and those for other audiences are refused on every route', async t => {
  const place = shared
  await place.signIn({ sub: 'bea', email: 'bea@example.org' })
  const over = Math.floor(Date.now() / 1000) - 60
  const wrong = await Promise.all([
    ...(['none', 'public', 'stranger'] as const).map(signing => token({ sub: 'bea' }, signing)),
    ...[{ aud: 'app' }, { iss: 'https://evil.example' }, { exp: over }, { nbf: over + 600 }, { sub: '' }].map(claims =>
      token({ sub: 'bea', ...claims }),
    ),
  ])
  for (const each of [...wrong, 'x', 'a.b.c', '...', 'ey.ey.ey']) {
    t.is((await withToken(place, each)).status, 401)
    t.is((await withToken(place, each, '/api/users/keys')).status, 401)
  }
  t.is((await withToken(place, await token({ sub: 'bea' }))).status, 200)
})

test.serial('while the provider is unavailable its tokens get 503 and other credentials are accepted', async t => {
  const place = shared
  const held = await token({ sub: 'bea' })
  await place.server.restart()
  await place.issuer.close()
  t.is((await withToken(place, held)).status, 503)
  t.is((await place.server.as(place.server.admin.key)('/api/me')).status, 200)
  await place.issuer.open()
})
