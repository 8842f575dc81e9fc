import test from 'ava'
import { Users } from 'pounce/sdk'
import { bootForTest, liveTests } from 'pounce/sdk/testing'
import { newGroup, newPerson, root } from '../../plugins/auth/ldap/test-directory.ts'

const { test: live, url } = liveTests(test, 'LDAP')

const settings = (own: object = {}) => ({
  url: url('LDAP'),
  startTls: false,
  bindDn: `cn=admin,${root}`,
  bindPassword: 'admin',
  baseDn: `ou=people,${root}`,
  userFilter: '(|(mail={login})(uid={login}))',
  ...own,
})
const boot = (t: { teardown(end: () => Promise<void>): void }, own: object = {}, more: object = {}) =>
  bootForTest({ t, also: ['auth.ldap'], config: { auth: { ldap: settings(own) }, resources: more } })
type Server = Awaited<ReturnType<typeof boot>>

const login = async (server: Server, email: string, password: string) => {
  const answer = await server.as()('/api/login', { method: 'POST', json: { email, password } })
  return { status: answer.status, body: (await answer.json()) as { id: string; email: string; fullName: string; message: string } }
}

live('the first sign-in by LDAP creates an account and later ones use it, by any name that matches the filter', async t => {
  const server = await boot(t)
  const { email, password, dn } = await newPerson(url('LDAP'), 'a good password')
  const first = await login(server, email, password)
  t.is(first.status, 200)
  t.like(first.body, { email, fullName: 'Zoë Müller' })
  const uid = /^uid=([^,]+)/.exec(dn)?.[1] ?? ''
  t.is((await login(server, uid, password)).body.id, first.body.id)
  t.is((await login(server, email.toUpperCase(), password)).body.id, first.body.id)
  t.is((await login(server, email, 'a wrong password')).status, 401)
  t.is((await login(server, email, '')).status, 401)
  t.like(await server.get(Users).get(first.body.id), {
    provider: 'ldap',
    isEmailUnverified: true,
    identities: [`ldap ${dn.toLowerCase()}`],
  })
  const basic = { authorization: `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}` }
  t.is((await server.as()('/api/me', { headers: basic })).status, 401)
})

live('LDAP does not sign in to a local account with the same email address, trusted or not', async t => {
  const { email, password } = await newPerson(url('LDAP'), 'a good password')
  const wary = await boot(t)
  const local = { email, firstName: 'Local', lastName: 'Person', status: 'Active', password: 'the local password' } as const
  const { id } = await wary.get(Users).create(local)
  t.is((await login(wary, email, password)).status, 401)
  t.is((await wary.get(Users).get(id))?.identities, undefined)
  t.is((await login(wary, email, 'the local password')).body.id, id)
  const trusting = await boot(t, { trustsEmail: true })
  const trusted = await trusting.get(Users).create(local)
  t.is((await login(trusting, email, password)).status, 401)
  t.is((await trusting.get(Users).get(trusted.id))?.identities, undefined)
  t.is((await login(trusting, email, 'the local password')).body.id, trusted.id)
})

live('names with LDAP filter or DN syntax are rejected with 401', async t => {
  const server = await boot(t)
  const { email, password } = await newPerson(url('LDAP'), 'a good password')
  for (const name of [
    '*',
    '*)(uid=*',
    `${email})(uid=*`,
    `*)(|(mail=${email}`,
    `${email}\0`,
    '\0',
    `uid=alice,ou=people,${root}`,
    'a,b+c"d\\e<f>g;h#i=j',
    '\\2a',
  ])
    t.is((await login(server, name, password)).status, 401, name)
})

live('only members of a configured group can sign in, and groups have roles in spaces', async t => {
  const [member, stranger] = await Promise.all([newPerson(url('LDAP'), 'a good password'), newPerson(url('LDAP'), 'a good password')])
  const group = await newGroup(url('LDAP'), [member.dn])
  const space = '5f0000000000000000000001'
  const roles = [{ provider: 'ldap', group, space, role: 'Editor' }]
  const server = await boot(t, { onlyGroups: [group] }, { groups: { roles } })
  t.is((await login(server, stranger.email, stranger.password)).status, 401)
  const { body } = await login(server, member.email, member.password)
  const user = await server.get(Users).get(body.id)
  const caller = user && (await server.get(Users).callerOf(user))
  t.deepEqual(
    caller?.user?.memberships.map(held => [held.space, held.roleName]),
    [[space, 'Editor']],
  )
  t.deepEqual(user?.memberships, [])
})

live('a first sign-in waits for approval by an admin if configured', async t => {
  const server = await boot(t, {}, { users: { outsideAccounts: 'approval' } })
  const { email, password } = await newPerson(url('LDAP'), 'a good password')
  const waiting = await login(server, email, password)
  t.is(waiting.status, 401)
  t.is(waiting.body.message, 'Account is not activated')
  const { id = '' } = (await server.get(Users).byEmail(email)) ?? {}
  const activated = await server.as(server.admin.key)('/api/admin/users', { method: 'POST', json: { active: [id] } })
  t.is(activated.status, 200)
  t.is((await login(server, email, password)).status, 200)
})
