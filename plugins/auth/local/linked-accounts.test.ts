import test from 'ava'
import { AuthProviders, Users } from 'pounce/sdk'
import { bootForTest, passwordProviderContract } from 'pounce/sdk/testing'

const server = await bootForTest({ plugins: ['documents.sqlite', 'access.policy', 'auth.local', 'resources.users'] })
test.after.always(() => server.stop())

const local = () => {
  const provider = server
    .get(AuthProviders)
    .all()
    .find(({ id }) => id === 'userpass')
  if (!provider) throw new Error('auth.local contributes no provider')
  return provider
}
let made = 0
const newAccount = async (password?: string) => {
  made += 1
  const account = { email: `local${made}@example.org`, firstName: 'Zoë', lastName: 'Müller' }
  const user = await server.get(Users).create({ ...account, status: 'Active', ...(password === undefined ? {} : { password }) })
  return { ...account, id: user.id, password: password ?? '' }
}

passwordProviderContract(test, async () => ({ provider: local(), account: await newAccount('une clé très secrète') }))

test('the email address of a local account is unverified, so no other provider can be linked by it', async t => {
  const account = await newAccount('a good password')
  t.false((await local().password?.(account.email, account.password))?.isEmailVerified)
})

test('password sign-in fails for an account without a password or of another provider', async t => {
  const bare = await newAccount()
  const foreign = await newAccount('a good password')
  await server.get(Users).change(foreign.id, { set: { provider: 'ldap' } }, [])
  t.is(await local().password?.(bare.email, ''), undefined)
  t.is(await local().password?.(bare.email, 'undefined'), undefined)
  t.is(await local().password?.(foreign.email, foreign.password), undefined)
})

test('local accounts accept no tokens', t => {
  t.is(local().bearer, undefined)
})
