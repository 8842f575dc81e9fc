import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { Commands, Invalid, Taken, Users } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'

const server = await bootForTest({ plugins: ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users'] })
test.after.always(() => server.stop())

const run = async (name: string, args: Record<string, string>, options: Record<string, string | boolean> = {}) => {
  const command = server
    .get(Commands)
    .all()
    .find(each => each.name === name)
  if (!command) throw new Error(`there is no command ${name}`)
  return (await command.run({ arguments: args, options }, () => undefined)) as Record<string, unknown>
}
const canSignIn = async (email: string, password: unknown) =>
  (await server.as()('/api/login', { method: 'POST', json: { email, password } })).status === 200

test('an account created on the command line has a generated password', async t => {
  const made = await run('user create', { email: 'Cli@example.org' }, { 'first-name': 'Ada' })
  t.is(made['email'], 'cli@example.org')
  t.is(made['status'], 'Active')
  t.true(String(made['password']).length >= 20)
  t.true(await canSignIn('cli@example.org', made['password']))
  await t.throwsAsync(run('user create', { email: 'cli@example.org' }), { instanceOf: Taken })
  await t.throwsAsync(run('user create', { email: 'nonsense' }), { instanceOf: Invalid })
})

test('a password read from a file is not printed', async t => {
  const file = join(server.folder, 'password.txt')
  await writeFile(file, 'from the file\nsecond line\n')
  const made = await run('user create', { email: 'file@example.org' }, { 'password-file': file, admin: true })
  t.deepEqual(Object.keys(made), ['id', 'email', 'status'])
  t.is(made['status'], 'Admin')
  t.true(await canSignIn('file@example.org', 'from the file'))
  await t.throwsAsync(run('user create', { email: 'nofile@example.org' }, { 'password-file': `${file}.not` }), { instanceOf: Invalid })
  t.is(await server.get(Users).byEmail('nofile@example.org'), undefined)
})

test('`user promote` makes an account a server admin', async t => {
  const { id } = await run('user create', { email: 'rising@example.org' })
  await run('user promote', { email: 'Rising@Example.org' })
  t.is((await server.get(Users).get(String(id)))?.status, 'Admin')
  await t.throwsAsync(run('user promote', { email: 'unknown@example.org' }), { message: 'No account found for unknown@example.org' })
})

test('a new password invalidates the previous one', async t => {
  const { password } = await run('user create', { email: 'forgetful@example.org' })
  const changed = await run('user passwd', { email: 'forgetful@example.org' })
  t.false(await canSignIn('forgetful@example.org', password))
  t.true(await canSignIn('forgetful@example.org', changed['password']))
})

test('accounts and keys are listed without their secrets', async t => {
  await run('user create', { email: 'listed@example.org' })
  const { key } = await run('key create', { email: 'listed@example.org', name: 'robot' }, { scope: 'extraction' })
  const users = JSON.stringify(await run('user list', {}))
  t.true(users.includes('listed@example.org'))
  t.false(users.includes('argon2'))
  const keys = (await run('key list', { email: 'listed@example.org' })) as unknown as Record<string, unknown>[]
  t.is(keys.length, 1)
  t.is(keys[0]?.['name'], 'robot')
  t.is(keys[0]?.['scope'], 'extraction')
  t.false(JSON.stringify(keys).includes(String(key)))
})

test('a key revoked on the command line is refused', async t => {
  await run('user create', { email: 'revoking@example.org' })
  const { key } = await run('key create', { email: 'revoking@example.org', name: 'once' })
  t.is((await server.as(String(key))('/api/me')).status, 200)
  await run('key revoke', { email: 'revoking@example.org', name: 'once' })
  t.is((await server.as(String(key))('/api/me')).status, 401)
  await t.throwsAsync(run('key revoke', { email: 'revoking@example.org', name: 'once' }), { instanceOf: Invalid })
  await t.throwsAsync(run('key create', { email: 'revoking@example.org', name: 'x' }, { scope: 'all' }), { instanceOf: Invalid })
})

test('an external identity can be linked to one account on the command line, and unlinked', async t => {
  const link = (email: string, provider: string, subject: string) => run('user link', { email, provider, subject })
  const { id } = await run('user create', { email: 'linked@example.org' })
  await run('user create', { email: 'other@example.org' })
  t.deepEqual(await link('linked@example.org', 'uni', 'ada'), { email: 'linked@example.org', identities: 'uni ada' })
  t.deepEqual(await link('Linked@example.org', 'uni', 'ada'), { email: 'linked@example.org', identities: 'uni ada' })
  await link('linked@example.org', 'ldap', 'uid=ada,dc=example')
  await t.throwsAsync(link('other@example.org', 'uni', 'ada'), { instanceOf: Invalid })
  await t.throwsAsync(link('nobody@example.org', 'uni', 'x'), { instanceOf: Invalid })
  for (const [provider, subject] of [
    ['userpass', 'x'],
    ['UNI', 'x'],
    ['', 'x'],
    ['uni', ' '],
  ] as const)
    await t.throwsAsync(link('other@example.org', provider, subject), { instanceOf: Invalid })
  await run('user unlink', { email: 'linked@example.org', provider: 'uni' })
  t.deepEqual((await server.get(Users).get(String(id)))?.identities, ['ldap uid=ada,dc=example'])
  await run('user unlink', { email: 'linked@example.org', provider: 'uni' })
  await link('other@example.org', 'uni', 'ada')
})
