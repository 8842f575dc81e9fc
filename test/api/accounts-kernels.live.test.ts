import { randomBytes } from 'node:crypto'
import test from 'ava'
import { MongoClient } from 'mongodb'
import { Mailer } from 'pounce/sdk'
import { advanceClock, bootForTest, liveTests, MemoryMailer, type TestServer } from 'pounce/sdk/testing'
import { tokenIn } from '../support/mails.ts'
import { byCookie, newPerson, signIn } from '../support/people.ts'
import { ok } from '../support/scene.ts'
import { until } from '../support/until.ts'

const { test: live, url } = liveTests(test, 'MONGODB')

const soonMs = 1000
const database = `pounce-${randomBytes(6).toString('hex')}`
const mailer = new MemoryMailer()
const password = 'a good password'
let one: TestServer
let other: TestServer

const boot = () =>
  bootForTest({
    plugins: ['documents.mongodb', 'access.policy', 'auth.local', 'resources.users', 'resources.admin'],
    overrides: { [Mailer]: mailer },
    config: { documents: { mongodb: { uri: url('MONGODB'), database } }, auth: { local: { linksPerNetwork: 1000 } } },
  })

/** Hooks run even where every test is skipped. */
const isLive = process.env['POUNCE_TEST_MONGODB_URL'] !== undefined
test.before(async () => {
  if (!isLive) return
  one = await boot()
  other = await boot()
})
test.after.always(async () => {
  await one?.stop()
  await other?.stop()
  if (!isLive) return
  const client = new MongoClient(url('MONGODB'))
  await client.db(database).dropDatabase()
  await client.close()
})

const post = (server: TestServer, path: string, json: unknown) => server.as()(path, { method: 'POST', json })
/** The token from the mail, whichever kernel sends it. */
const tokenFor = async (email: string): Promise<string> => {
  const isTheirs = ({ to, text }: (typeof mailer.sent)[number]) => to.includes(email) && text.includes('?token=')
  return tokenIn(
    (await until(
      'the mail to be sent',
      () => mailer.sent.findLast(isTheirs),
      mail => mail !== undefined,
    ))!,
  )
}

live.serial('a link requested from one kernel creates a single account when used concurrently on several kernels', async t => {
  await ok(post(one, '/api/signup', { email: 'both@example.org' }))
  const token = await tokenFor('both@example.org')
  const json = { token, firstName: 'B', lastName: 'K', password }
  const answers = await Promise.all([one, other, one, other].map(server => post(server, '/api/signup/finish', json)))
  t.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 403, 403, 403])
})

live.serial('a password reset on one kernel ends the sessions of the other, and its link is valid once across kernels', async t => {
  const person = await newPerson(one, 'moved')
  const session = byCookie(other, await signIn(other, person.email, person.password))
  t.is((await session('/api/me')).status, 200)
  await ok(post(other, '/api/password/reset', { email: person.email }))
  const token = await tokenFor(person.email)
  const statuses = await Promise.all(
    [one, other].map(async server => (await post(server, '/api/password/reset/finish', { token, password })).status),
  )
  t.deepEqual(statuses.toSorted(), [200, 403])
  t.is((await session('/api/me')).status, 401)
  t.is((await post(other, '/api/login', { email: person.email, password })).status, 200)
})

live.serial('the limit on link requests is shared by all kernels', async t => {
  const statuses: number[] = []
  for (const server of [one, other, one, other, one, other])
    statuses.push((await post(server, '/api/signup', { email: 'often@example.org' })).status)
  t.deepEqual(statuses, [200, 200, 200, 200, 200, 429])
})

live.serial('new terms apply on the other kernel within a second, and acceptance there applies here at once', async t => {
  const person = await newPerson(one, 'bound')
  const [here, there] = [one.as(person.key), other.as(person.key)]
  t.is((await there('/api/sessions')).status, 200)
  await ok(one.as(one.admin.key)('/api/admin/configuration', { method: 'POST', json: { tosText: 'Be kind.' } }))
  t.is((await here('/api/sessions')).status, 403)
  advanceClock(soonMs)
  t.is((await there('/api/sessions')).status, 403)
  await ok(there('/api/users/acceptTerms', { method: 'POST' }))
  t.is((await here('/api/sessions')).status, 200)
})
