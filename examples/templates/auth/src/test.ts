import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bootForTest, passwordProviderContract } from 'pounce/sdk/testing'
import { plugin } from './index.ts'
import { hashOf, ListedAccounts } from './listed-accounts.ts'

const password = 'une clé très secrète'
const person = { email: 'Ada@example.org', firstName: 'Ada', lastName: 'Lovelace' }
const accounts = [{ ...person, passwordHash: await hashOf(password) }]

passwordProviderContract(test, async () => ({ provider: new ListedAccounts({ accounts }), account: { ...person, password } }))

test('a listed person signs in to the server', async t => {
  const server = await bootForTest({ t, also: [plugin], config: { example: { template: { accounts } } } })
  const signIn = (guess: string) => server.as()('/api/login', { method: 'POST', json: { email: person.email, password: guess } })
  assert.equal((await signIn('wrong')).status, 401)
  assert.equal((await signIn(password)).status, 200)
})
