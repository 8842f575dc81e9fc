import test from 'ava'
import { type AuthProvider, AuthProviders, definePlugin, provide, Unavailable, Users, type VerifiedIdentity, wire } from 'pounce/sdk'
import { bearerProviderContract, bootForTest, type TestServer } from 'pounce/sdk/testing'

const identity = (subject: string, email: string, isEmailVerified: boolean): VerifiedIdentity => ({
  provider: 'university',
  subject,
  email,
  isEmailVerified,
  firstName: 'Ada',
  lastName: 'Lovelace',
  groups: [],
})

/** An external provider with three tokens. */
class University implements AuthProvider {
  readonly id = 'university'
  readonly #known = new Map([
    ['token-verified', identity('s1', 'ada@example.org', true)],
    ['token-unverified', identity('s3', 'ada@example.org', false)],
    ['token-stranger', identity('s2', 'stranger@example.org', true)],
    ['token-nameless', identity('s4', '', false)],
    ['token-nameless-ada', identity('s1', '', false)],
  ])

  async bearer(token: string): Promise<VerifiedIdentity | undefined> {
    return this.#known.get(token)
  }
}
wire(University)

const university = definePlugin({ id: 'auth.university', summary: 'For tests.', provides: [provide(AuthProviders, University)] })
const plugins = ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users', university]
const server = await bootForTest({ plugins, config: { resources: { users: { wrongKeysPerAddress: 200 } } } })
const ada = await server.get(Users).create({ email: 'ada@example.org', firstName: 'Ada', lastName: 'L', status: 'Active' })
test.after.always(() => server.stop())

const withToken = (on: TestServer, token: string) => on.as()('/api/me', { headers: { authorization: `Bearer ${token}` } })

bearerProviderContract(test, async () => ({
  provider: new University(),
  token: 'token-verified',
  subject: 's1',
  refused: ['token-forged'],
}))

const link = (on: TestServer, id: string) => on.get(Users).change(id, { addToSet: { identities: ['university s1'] } }, [])

test('a token gives access to the account linked to its subject, and to none by a verified address alone', async t => {
  t.is((await withToken(server, 'token-verified')).status, 401)
  await link(server, ada.id)
  const answer = await withToken(server, 'token-verified')
  t.is(answer.status, 200)
  t.is(((await answer.json()) as { id: string }).id, ada.id)
})

test('an unverified email address gives no access to an account of another provider', async t => {
  t.is((await withToken(server, 'token-unverified')).status, 401)
})

test('a token without an address gives access to the account linked to its subject, and to no other', async t => {
  const own = await bootForTest({ t, plugins })
  const { id } = await own.get(Users).create({ email: 'ada@example.org', firstName: 'Ada', lastName: 'L', status: 'Active' })
  t.is((await withToken(own, 'token-nameless-ada')).status, 401)
  await link(own, id)
  t.is((await withToken(own, 'token-verified')).status, 200)
  const answer = await withToken(own, 'token-nameless-ada')
  t.is(((await answer.json()) as { id: string }).id, id)
  t.is((await withToken(own, 'token-nameless')).status, 401)
})

class Unreachable implements AuthProvider {
  readonly id = 'unreachable'
  async bearer(): Promise<never> {
    throw new Unavailable('The provider is unreachable')
  }
}

test('a provider that fails does not affect the tokens of others', async t => {
  const unreachable = definePlugin({ id: 'auth.unreachable', summary: 'For tests.', provides: [provide(AuthProviders, Unreachable)] })
  const own = await bootForTest({ t, plugins: [unreachable, ...plugins] })
  t.is((await withToken(own, 'token-stranger')).status, 200)
  t.is((await withToken(own, 'token-forged')).status, 503)
})

test('a new user gets one account despite concurrent requests, unless the settings forbid it', async t => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => withToken(server, 'token-stranger')))
  const people = (await Promise.all(answers.map(answer => answer.json()))) as { id: string; email: string }[]
  t.deepEqual([...new Set(people.map(({ email }) => email))], ['stranger@example.org'])
  t.is(new Set(people.map(({ id }) => id)).size, 1)
  for (const outsideAccounts of ['none', 'approval'])
    t.is(
      (await withToken(await bootForTest({ t, plugins, config: { resources: { users: { outsideAccounts } } } }), 'token-stranger')).status,
      401,
    )
})

test('a forged token is refused', async t => {
  t.is((await withToken(server, 'token-forged')).status, 401)
})

test('a token gives no access to a suspended account', async t => {
  const own = await bootForTest({ t, plugins })
  const { id } = await own.get(Users).create({ email: 'ada@example.org', firstName: 'Ada', lastName: 'L', status: 'Active' })
  await link(own, id)
  t.is((await withToken(own, 'token-verified')).status, 200)
  await own.get(Users).change(id, { set: { status: 'Inactive' } }, [])
  t.is((await withToken(own, 'token-verified')).status, 401)
})

test('forged tokens are throttled', async t => {
  const own = await bootForTest({ t, plugins, config: { resources: { users: { wrongKeysPerAddress: 2 } } } })
  const statuses: number[] = []
  for (let at = 0; at < 3; at += 1) statuses.push((await withToken(own, `forged${at}`)).status)
  t.deepEqual(statuses, [401, 401, 429])
})
