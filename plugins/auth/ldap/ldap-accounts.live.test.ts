import { writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { createServer as createTlsServer } from 'node:tls'
import test, { type ExecutionContext } from 'ava'
import { Unavailable } from 'pounce/sdk'
import { liveTests, passwordProviderContract } from 'pounce/sdk/testing'
import { certificateFor } from '../../../test/support/certificate.ts'
import { flakyProxy } from '../../../test/support/flaky-proxy.ts'
import { recordingLog } from '../../../test/support/recording-log.ts'
import { tempFolder } from '../../../test/support/temp-folder.ts'
import { accountsOf, newGroup, newPerson, newReferral, newUnit, root } from './test-directory.ts'

const { test: live, url } = liveTests(test, 'LDAP')

passwordProviderContract(live, async () => {
  const account = await newPerson(url('LDAP'), 'une clé très secrète')
  return { provider: (await accountsOf(url('LDAP'))).provider, account }
})

live('the identity contains the groups of the user, and its address is unverified unless configured otherwise', async t => {
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

live('only members of the configured groups may sign in', async t => {
  const [member, other] = await Promise.all([newPerson(url('LDAP'), 'a good password'), newPerson(url('LDAP'), 'a good password')])
  const group = await newGroup(url('LDAP'), [member.dn])
  const { provider } = await accountsOf(url('LDAP'), { onlyGroups: [group.toUpperCase().replace(',', ' , ')] })
  t.truthy(await provider.password(member.email, member.password))
  t.is(await provider.password(other.email, other.password), undefined)
})

live('users may sign in with any name that the filter matches', async t => {
  const { email, password, dn } = await newPerson(url('LDAP'), 'a good password')
  const { provider } = await accountsOf(url('LDAP'), { userFilter: '(&(objectClass=inetOrgPerson)(|(mail={login})(uid={login})))' })
  const uid = /^uid=([^,]+)/.exec(dn)?.[1] ?? ''
  t.is((await provider.password(uid, password))?.email, email)
  t.is((await provider.password(email, password))?.email, email)
})

live('user input is escaped in the filter', async t => {
  const { email, password } = await newPerson(url('LDAP'), 'a good password')
  const { provider } = await accountsOf(url('LDAP'))
  for (const login of ['*', `${email})(uid=*`, `*)(mail=${email}`, email.replace('@', '*'), `${email}\\2a`, '(', '\\', '\0', `${email}\0`])
    t.is(await provider.password(login, password), undefined, login)
  const strange = `a*b(c)\\d${Date.now()}@example.org`
  await newPerson(url('LDAP'), 'a good password', { mail: strange })
  t.is((await provider.password(strange, 'a good password'))?.email, strange)
})

live('names may have letters of any language, also in the search for groups', async t => {
  const name = `Zoë.Łukasz.大樹.𠮷.${Date.now()}`
  const { dn, password } = await newPerson(url('LDAP'), 'un mot très long', { mail: `zoe-${Date.now()}@example.org` }, name)
  const group = await newGroup(url('LDAP'), [dn])
  const { provider } = await accountsOf(url('LDAP'), { userFilter: '(uid={login})', groupBaseDn: `ou=groups,${root}` })
  t.deepEqual((await provider.password(name, password))?.groups, [group])
  t.is(await provider.password(name.replace('ë', 'é'), password), undefined)
})

live('a name that matches two entries, and an entry without an address, are refused', async t => {
  const { log, lines } = recordingLog()
  const shared = `both-${Date.now()}@example.org`
  await Promise.all([1, 2].map(() => newPerson(url('LDAP'), 'a good password', { mail: shared })))
  const { provider } = await accountsOf(url('LDAP'), {}, log)
  t.is(await provider.password(shared, 'a good password'), undefined)
  const { dn } = await newPerson(url('LDAP'), 'a good password')
  const { provider: byTitle } = await accountsOf(url('LDAP'), { userFilter: '(uid={login})', emailAttribute: 'title' }, log)
  t.is(await byTitle.password(/^uid=([^,]+)/.exec(dn)?.[1] ?? '', 'a good password'), undefined)
  t.is(lines.length, 2)
})

live('a directory that is unreachable, unresponsive or refuses our bind is reported as Unavailable, not as a wrong password', async t => {
  const { email, password } = await newPerson(url('LDAP'), 'a good password')
  const { provider: unknown, directory } = await accountsOf(url('LDAP'), { bindPassword: 'wrong' })
  await t.throwsAsync(unknown.password(email, password), { instanceOf: Unavailable })
  await t.throwsAsync(directory.health(), { instanceOf: Unavailable })
  const { provider: away } = await accountsOf('ldap://127.0.0.1:1')
  await t.throwsAsync(away.password(email, password), { instanceOf: Unavailable })
  const proxy = await flakyProxy(t, url('LDAP'))
  const { provider: far } = await accountsOf(proxy.urlFor(url('LDAP')), { timeoutMs: 2000 })
  t.truthy(await far.password(email, password))
  await proxy.become('silent')
  await t.throwsAsync(far.password(email, password), { instanceOf: Unavailable })
  await proxy.become('cut')
  await t.throwsAsync(far.password(email, password), { instanceOf: Unavailable })
  await proxy.become('pass')
  t.truthy(await far.password(email, password))
  const { log, lines } = recordingLog()
  const { provider: nowhere } = await accountsOf(url('LDAP'), { baseDn: 'ou=nobody,dc=example,dc=com' }, log)
  await t.throwsAsync(nowhere.password(email, password), { instanceOf: Unavailable, message: 'The LDAP directory rejected the search' })
  t.regex(JSON.stringify(lines), /no entry auth\.ldap\.baseDn/)
})

live('an unknown name is a wrong password, also where the directory reports that it has no such entry', async t => {
  const target = new URL(url('LDAP'))
  const server = createServer(client => {
    const directory = connect(Number(target.port), target.hostname)
    client
      .pipe(directory)
      .pipe(
        new Transform({
          transform(chunk: Buffer, _encoding, done) {
            // The code of a BindResponse: `noSuchObject` (32) instead of `invalidCredentials` (49).
            const at = chunk.indexOf(Buffer.from('61070a0131', 'hex'))
            if (at >= 0) chunk[at + 4] = 32
            done(null, chunk)
          },
        }),
      )
      .pipe(client)
    for (const socket of [client, directory]) socket.on('error', () => undefined)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { provider } = await accountsOf(`ldap://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const { email, password } = await newPerson(url('LDAP'), 'a good password')
  t.is(await provider.password('nobody@example.org', password), undefined)
  t.is((await provider.password(email, password))?.email, email)
})

live('no password is sent to a directory without TLS, unless the settings allow it', async t => {
  const { email, password } = await newPerson(url('LDAP'), 'a good password')
  const { provider } = await accountsOf(url('LDAP'), { startTls: true })
  await t.throwsAsync(provider.password(email, password), { instanceOf: Unavailable })
})

live('the permanent identifier of a user may be an attribute other than the DN', async t => {
  const { email, password, dn } = await newPerson(url('LDAP'), 'a good password')
  const { provider } = await accountsOf(url('LDAP'), { idAttribute: 'entryUUID' })
  const subject = (await provider.password(email, password))?.subject
  t.regex(subject ?? '', /^[0-9a-f-]{36}$/)
  const { provider: byBytes } = await accountsOf(url('LDAP'), { idAttribute: 'userPassword', bindDn: dn, bindPassword: password })
  t.is((await byBytes.password(email, password))?.subject, Buffer.from(password).toString('hex'))
  const { provider: byNone } = await accountsOf(url('LDAP'), { idAttribute: 'title' })
  t.is(await byNone.password(email, password), undefined)
})

live('users whose DN contains special characters can sign in, and their groups are found', async t => {
  const mail = `special-${Date.now()}@example.org`
  const uid = 'a\\,b\\+c\\"d\\\\e\\<f\\>g\\;h\\#i\\=j (k)*'
  const { password, dn } = await newPerson(url('LDAP'), 'a good password', { mail }, `${uid}${Date.now()}`)
  const group = await newGroup(url('LDAP'), [dn])
  const { provider } = await accountsOf(url('LDAP'), { groupBaseDn: `ou=groups,${root}` })
  t.deepEqual((await provider.password(mail, password))?.groups, [group])
  t.is(await provider.password(mail, 'a wrong password'), undefined)
})

live('referrals to another directory are not followed', async t => {
  const strangers: unknown[] = []
  const stranger = createServer(socket => {
    strangers.push(socket)
    socket.destroy()
  })
  await new Promise<void>(resolve => stranger.listen(0, '127.0.0.1', resolve))
  t.teardown(() => void stranger.close())
  const unit = await newUnit(url('LDAP'))
  await newReferral(url('LDAP'), unit, `ldap://127.0.0.1:${(stranger.address() as AddressInfo).port}/ou=people,${root}`)
  const { email, password } = await newPerson(url('LDAP'), 'a good password', {}, undefined, unit)
  const { provider } = await accountsOf(url('LDAP'), { baseDn: unit })
  t.is((await provider.password(email, password))?.email, email)
  t.is(await provider.password(email, 'a wrong password'), undefined)
  t.is(await provider.password('unknown@example.org', password), undefined)
  const { provider: below } = await accountsOf(url('LDAP'), { baseDn: `ou=elsewhere,${unit}` })
  await t.throwsAsync(below.password(email, password), { instanceOf: Unavailable })
  t.deepEqual(strangers, [])
})

/** A TLS proxy for the directory, with a certificate for `localhost`; its address may use another host name. */
const encrypted = async (t: ExecutionContext): Promise<{ readonly port: number; readonly caFile: string }> => {
  const { cert, key } = certificateFor('localhost')
  const { hostname, port } = new URL(url('LDAP'))
  const server = createTlsServer({ cert, key }, socket => {
    const behind = connect(Number(port), hostname)
    socket.on('error', () => behind.destroy()).pipe(behind)
    behind.on('error', () => socket.destroy()).pipe(socket)
  })
  await new Promise<void>(resolve => server.listen(0, resolve))
  t.teardown(() => void server.close())
  const caFile = join(await tempFolder(t), 'ca.pem')
  await writeFile(caFile, cert)
  return { port: (server.address() as AddressInfo).port, caFile }
}

live('the certificate of the directory is verified: its host name, and its issuer against `caFile`', async t => {
  const { email, password } = await newPerson(url('LDAP'), 'a good password')
  const { port, caFile } = await encrypted(t)
  const { provider } = await accountsOf(`ldaps://localhost:${port}`, { caFile })
  t.is((await provider.password(email, password))?.email, email)
  const { provider: unknown } = await accountsOf(`ldaps://localhost:${port}`)
  await t.throwsAsync(unknown.password(email, password), { instanceOf: Unavailable })
  const { provider: misnamed } = await accountsOf(`ldaps://127.0.0.1:${port}`, { caFile })
  await t.throwsAsync(misnamed.password(email, password), { instanceOf: Unavailable })
  await t.throwsAsync(accountsOf(`ldaps://localhost:${port}`, { caFile: `${caFile}.absent` }), { message: /caFile/ })
})
