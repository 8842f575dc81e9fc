import test from 'ava'
import { Unavailable } from 'pounce/sdk'
import { liveTests, passwordProviderContract } from 'pounce/sdk/testing'
import { keptLog } from '../../../core/testing-fixtures/boot.ts'
import { flakyProxy } from '../../../test/support/flaky-proxy.ts'
import { accountsOf, newGroup, newPerson, root } from './test-directory.ts'

const { test: live, url } = liveTests(test, 'LDAP')

passwordProviderContract(live, async () => {
  const account = await newPerson(url('LDAP'), 'une clé très secrète')
  return { provider: (await accountsOf(url('LDAP'))).provider, account }
})

live('the identity carries the groups of the person, and an address that nobody vouches for unless the settings say so', async t => {
  const { dn, email, password } = await newPerson(url('LDAP'), 'a good password')
  const group = await newGroup(url('LDAP'), [dn])
  const { provider } = await accountsOf(url('LDAP'))
  const identity = await provider.password(email, password)
  t.deepEqual(identity?.groups, [group])
  t.false(identity?.isEmailVerified)
  t.is(identity?.subject, dn.toLowerCase())
  const { provider: trusting } = await accountsOf(url('LDAP'), { trustsEmail: true })
  t.true((await trusting.password(email, password))?.isEmailVerified)
})

live('groups may be entries that list their members', async t => {
  const { dn, email, password } = await newPerson(url('LDAP'), 'a good password')
  const group = await newGroup(url('LDAP'), [dn])
  const { provider } = await accountsOf(url('LDAP'), { groupBaseDn: `ou=groups,${root}` })
  t.deepEqual((await provider.password(email, password))?.groups, [group])
})

live('only members of the groups of the settings may sign in', async t => {
  const [member, other] = await Promise.all([newPerson(url('LDAP'), 'a good password'), newPerson(url('LDAP'), 'a good password')])
  const group = await newGroup(url('LDAP'), [member.dn])
  const { provider } = await accountsOf(url('LDAP'), { onlyGroups: [group.toUpperCase().replace(',', ' , ')] })
  t.truthy(await provider.password(member.email, member.password))
  t.is(await provider.password(other.email, other.password), undefined)
})

live('people may sign in by another name when the filter finds them by it', async t => {
  const { email, password, dn } = await newPerson(url('LDAP'), 'a good password')
  const { provider } = await accountsOf(url('LDAP'), { userFilter: '(&(objectClass=inetOrgPerson)(|(mail={login})(uid={login})))' })
  const uid = /^uid=([^,]+)/.exec(dn)?.[1] ?? ''
  t.is((await provider.password(uid, password))?.email, email)
  t.is((await provider.password(email, password))?.email, email)
})

live('what people type stays a value of the filter', async t => {
  const { email, password } = await newPerson(url('LDAP'), 'a good password')
  const { provider } = await accountsOf(url('LDAP'))
  for (const login of ['*', `${email})(uid=*`, `*)(mail=${email}`, email.replace('@', '*'), `${email}\\2a`, '(', '\\', '\0', `${email}\0`])
    t.is(await provider.password(login, password), undefined, login)
  const { email: strange } = await newPerson(url('LDAP'), 'a good password', { mail: 'a*b(c)\\d@example.org' })
  t.not(strange, 'a*b(c)\\d@example.org')
  t.is((await provider.password('a*b(c)\\d@example.org', 'a good password'))?.email, 'a*b(c)\\d@example.org')
})

live('a name that two entries answer to, and an entry without an address, open nothing', async t => {
  const { log, lines } = keptLog()
  const shared = `both-${Date.now()}@example.org`
  await Promise.all([1, 2].map(() => newPerson(url('LDAP'), 'a good password', { mail: shared })))
  const { provider } = await accountsOf(url('LDAP'), {}, log)
  t.is(await provider.password(shared, 'a good password'), undefined)
  const { dn } = await newPerson(url('LDAP'), 'a good password')
  const { provider: byTitle } = await accountsOf(url('LDAP'), { userFilter: '(uid={login})', emailAttribute: 'title' }, log)
  t.is(await byTitle.password(/^uid=([^,]+)/.exec(dn)?.[1] ?? '', 'a good password'), undefined)
  t.is(lines.length, 2)
})

live('a directory that is away, silent or does not know us is no wrong password', async t => {
  const { email, password } = await newPerson(url('LDAP'), 'a good password')
  const { provider: unknown, directory } = await accountsOf(url('LDAP'), { bindPassword: 'wrong' })
  await t.throwsAsync(unknown.password(email, password), { instanceOf: Unavailable })
  await t.throwsAsync(directory.health(), { instanceOf: Unavailable })
  const { provider: away } = await accountsOf('ldap://127.0.0.1:1')
  await t.throwsAsync(away.password(email, password), { instanceOf: Unavailable })
  const proxy = await flakyProxy(t, url('LDAP'))
  const { provider: far } = await accountsOf(proxy.urlFor(url('LDAP')), { timeoutMs: 300 })
  t.truthy(await far.password(email, password))
  await proxy.become('silent')
  await t.throwsAsync(far.password(email, password), { instanceOf: Unavailable })
  await proxy.become('cut')
  await t.throwsAsync(far.password(email, password), { instanceOf: Unavailable })
  await proxy.become('pass')
  t.truthy(await far.password(email, password))
  const { provider: nowhere } = await accountsOf(url('LDAP'), { baseDn: 'ou=nobody,dc=example,dc=com' })
  await t.throwsAsync(nowhere.password(email, password), { instanceOf: Unavailable })
})

live('a directory that cannot encrypt never sees a password, unless the settings allow it', async t => {
  const { email, password } = await newPerson(url('LDAP'), 'a good password')
  const { provider } = await accountsOf(url('LDAP'), { startTls: true })
  await t.throwsAsync(provider.password(email, password), { instanceOf: Unavailable })
})
