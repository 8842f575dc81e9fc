import test from 'ava'
import { Users } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { allIds, callsOf } from '../support/calls.ts'
import { newPerson, signIn } from '../support/people.ts'
import { ok, refusal } from '../support/scene.ts'

const server = await bootForTest()
const admin = callsOf(server.as(server.admin.key))
test.after.always(() => server.stop())

const people = [
  ['ada.byron@example.org', 'Ada', 'Lovelace'],
  ['grace@navy.example', 'Grace', 'Hopper'],
  ['g.smith@example.org', 'Gracia', 'SMITH'],
  ['anna@example.net', 'Anna Maria', 'Ångström-Grace'],
] as const
const ids = new Map<string, string>()
test.before(async () => {
  for (const [email, firstName, lastName] of people)
    ids.set(email, (await server.get(Users).create({ email, firstName, lastName, status: 'Inactive' })).id)
})

const found = async (query: string): Promise<readonly string[]> => {
  const { status, body } = await admin.get(`/api/admin/users?${query}`)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return (body as { email: string }[]).map(({ email }) => email)
}

test('accounts are found by any part of their address or name, ignoring case', async t => {
  t.deepEqual(await found('text=GRACE'), ['grace@navy.example', 'anna@example.net'])
  t.deepEqual(await found('text=ada.by'), ['ada.byron@example.org'])
  t.deepEqual(await found('text=smi'), ['g.smith@example.org'])
  t.deepEqual(await found('text=gr%20smith'), ['g.smith@example.org'], 'all words must match')
  t.deepEqual(await found(`text=${encodeURIComponent('ångström')}`), ['anna@example.net'])
  t.deepEqual(await found('text=nobody'), [])
  t.deepEqual(await found('text=%25%2e%2a'), [], 'text is not a pattern')
})

test('accounts waiting for approval are listed in pages', async t => {
  const waiting = await allIds(admin.get, '/api/admin/users?status=Inactive&limit=1')
  t.deepEqual(waiting, [...ids.values()])
  t.deepEqual(await allIds(admin.get, '/api/admin/users?status=Inactive&text=example.org&limit=1'), [
    ids.get('ada.byron@example.org'),
    ids.get('g.smith@example.org'),
  ])
  t.deepEqual(await found('status=Admin'), [server.admin.email])
  t.is((await found('')).length >= 5, true)
})

test('status, provider and last sign-in are shown', async t => {
  const bob = await newPerson(server, 'bob')
  const one = async () => (await ok<Record<string, unknown>[]>(server.as(server.admin.key)(`/api/admin/users?text=${bob.email}`)))[0] ?? {}
  t.like(await one(), { id: bob.id, email: bob.email, status: 'Active', provider: 'userpass', lastLogin: null, termsAccepted: null })
  await signIn(server, bob.email, bob.password)
  const seen = await one()
  t.true(Date.parse(String(seen['lastLogin'])) >= Date.parse(String(seen['created'])))
  t.false(JSON.stringify(seen).includes('argon2'))
  t.is((await bob.call('/api/admin/users')).status, 403)
  t.is((await server.as()('/api/admin/users')).status, 401)
})

test('a query that no index supports is refused, and so is an invalid filter', async t => {
  for (const query of ['text=ab', 'text=a%20b%20c', 'status=Odd', 'after=x', 'limit=0', 'limit=1001'])
    t.is((await refusal(server.as(server.admin.key)(`/api/admin/users?${query}`))).status, 400, query)
})
