import test from 'ava'
import { Commands, DocumentStore, type Permission } from 'pounce/sdk'
import { bootForTest, liveTests, type TestServer } from 'pounce/sdk/testing'
import { basic, byCookie, newPerson, type Person, signIn } from '../../../../test/support/people.ts'
import { placesOn } from '../../../../test/support/server-places.ts'
import { letIn, newDataset, newSpace, recordPlugins, somebody } from '../../../../test/support/spaces-and-people.ts'
import { until } from '../../../../test/support/until.ts'
import { roles } from '../collections.ts'

const { test: live, url } = liveTests(test, 'MONGODB', 'S3')

/** A change on one kernel takes effect on the other within a second (promises, P15); a busy machine may take longer. */
const soonMs = 30_000
const failuresPerAccount = 6
const endings: (() => Promise<void>)[] = []
/** Settings of both kernels. */
let env: Readonly<Record<string, string>>
let one: TestServer
let other: TestServer

const boot = (wrongKeysPerAddress: number) =>
  bootForTest({
    plugins: recordPlugins,
    env,
    config: {
      access: { private: true },
      resources: { users: { failuresPerAccount, failuresPerAddress: 10_000, wrongKeysPerAddress } },
    },
  })

/** Hooks run even when every test is skipped. */
const isLive = ['MONGODB', 'S3'].every(name => process.env[`POUNCE_TEST_${name}_URL`] !== undefined)
test.before(async () => {
  if (!isLive) return
  env = (await placesOn({ teardown: end => void endings.push(end) }, url, ['documents.mongodb', 'blobs.s3'])).settings
  one = await boot(10_000)
  other = await boot(10_000)
})
test.after.always(async () => {
  await one?.stop()
  await other?.stop()
  for (const end of endings) await end()
})

const elsewhere = (person: Person) => other.as(person.key)
const admin = (path: string, json: object) => one.as(one.admin.key)(path, { method: 'POST', json })
const becomes = (status: number, look: () => Promise<Response>) =>
  until(
    `status ${status}`,
    async () => (await look()).status,
    seen => seen === status,
    soonMs,
  )
const login = async (server: TestServer, email: string, password: string) =>
  (await server.as()('/api/login', { method: 'POST', json: { email, password } })).status

live('an account, a key and a session created on one kernel are valid on the other immediately', async t => {
  const person = await newPerson(one, 'both')
  t.is((await elsewhere(person)('/api/me')).status, 200)
  const cookie = await signIn(one, person.email, person.password)
  t.is((await byCookie(other, cookie)('/api/me')).status, 200)
  t.is((await byCookie(other, cookie)('/api/logout', { method: 'POST' })).status, 200)
  t.is(await becomes(401, () => byCookie(one, cookie)('/api/me')), 401)
})

live('a key that is revoked on one kernel is refused by the other', async t => {
  const person = await newPerson(one, 'revoked')
  t.is((await elsewhere(person)('/api/me')).status, 200)
  const headers = { authorization: basic(person.email, person.password) }
  t.is((await one.as()('/api/users/keys/test', { method: 'DELETE', headers })).status, 204)
  t.is(await becomes(401, () => elsewhere(person)('/api/me')), 401)
})

live('status changes of an account apply to keys, sessions and passwords on the other kernel', async t => {
  const person = await newPerson(one, 'suspended')
  const cookie = await signIn(other, person.email, person.password)
  const byPassword = () => other.as()('/api/me', { headers: { authorization: basic(person.email, person.password) } })
  const byKey = () => elsewhere(person)('/api/me')
  const bySession = () => byCookie(other, cookie)('/api/me')
  for (const look of [byKey, bySession, byPassword]) t.is((await look()).status, 200)
  await admin('/api/admin/users', { inactive: [person.id] })
  for (const look of [byKey, bySession, byPassword]) t.is(await becomes(401, look), 401)
  await admin('/api/admin/users', { readonly: [person.id] })
  for (const look of [byKey, byPassword]) t.is(await becomes(200, look), 200)
  t.is((await bySession()).status, 401)
  t.is((await elsewhere(person)('/api/spaces', { method: 'POST', json: { name: 'S', description: '' } })).status, 403)
  await admin('/api/admin/users', { admin: [person.id] })
  t.is(await becomes(200, () => elsewhere(person)('/api/users')), 200)
  await admin('/api/admin/users', { active: [person.id] })
  t.is(await becomes(403, () => elsewhere(person)('/api/users')), 403)
})

live('a new password ends the sessions on the other kernel, and the previous one is refused there', async t => {
  const person = await newPerson(one, 'changed')
  const cookie = await signIn(other, person.email, person.password)
  const byPassword = () => other.as()('/api/me', { headers: { authorization: basic(person.email, person.password) } })
  t.is((await byPassword()).status, 200)
  const command = one
    .get(Commands)
    .all()
    .find(({ name }) => name === 'user passwd')
  await command?.run({ arguments: { email: person.email }, options: {} }, () => undefined)
  t.is(await becomes(401, byPassword), 401)
  t.is(await becomes(401, () => byCookie(other, cookie)('/api/me')), 401)
})

live('sessions that are ended on one kernel, by their owner or by an admin, end on the other', async t => {
  const person = await newPerson(one, 'signed-in')
  const [here, there] = [await signIn(one, person.email, person.password), await signIn(other, person.email, person.password)]
  const listed = (await (await byCookie(other, there)('/api/sessions')).json()) as readonly { id: string; isCurrent: boolean }[]
  t.is(listed.length, 2)
  const id = listed.find(({ isCurrent }) => !isCurrent)?.id
  t.is((await byCookie(other, there)(`/api/sessions/${id}`, { method: 'DELETE' })).status, 204)
  t.is(await becomes(401, () => byCookie(one, here)('/api/me')), 401)
  t.is((await byCookie(one, there)('/api/me')).status, 200)
  t.is((await one.as(one.admin.key)(`/api/users/${person.id}/sessions`, { method: 'DELETE' })).status, 204)
  t.is(await becomes(401, () => byCookie(other, there)('/api/me')), 401)
  const third = await signIn(one, person.email, person.password)
  t.is((await byCookie(other, third)('/api/logout', { method: 'POST' })).status, 200)
  t.is(await becomes(401, () => byCookie(one, third)('/api/me')), 401)
})

live('a limited key has the same limits on the other kernel', async t => {
  const person = await newPerson(one, 'limited')
  const headers = { authorization: basic(person.email, person.password) }
  const made = await one.as()('/api/users/keys?name=held&verbs=read&expires=2099-01-01', { method: 'POST', headers })
  const { key } = (await made.json()) as { key: string }
  t.is((await other.as(key)('/api/me')).status, 200)
  t.is((await other.as(key)('/api/users/keys')).status, 403)
  t.is((await other.as(key)('/api/spaces', { method: 'POST', json: { name: 'S', description: '' } })).status, 403)
})

live('joining a space, removal from it and changes of a role take effect on the other kernel', async t => {
  const [ann, bob] = [await somebody(one, 'ann'), await somebody(one, 'bob')]
  const space = await newSpace(ann)
  const dataset = await newDataset(ann, { space: [space] })
  const look = () => elsewhere(bob)(`/api/datasets/${dataset}`)
  t.is((await look()).status, 404)
  await letIn(ann, space, 'Viewer', bob)
  t.is(await becomes(200, look), 200)
  const documents = one.get(DocumentStore)
  const viewer = (await one
    .as(ann.key)('/api/roles')
    .then(answer => answer.json())) as { id: string; name: string }[]
  const id = viewer.find(({ name }) => name === 'Viewer')?.id ?? ''
  const viewing: Permission = 'ViewDataset'
  await documents.commit({ update: id, in: roles, pull: { permissions: [viewing] } })
  t.is(await becomes(404, look), 404)
  await documents.commit({ update: id, in: roles, addToSet: { permissions: [viewing] } })
  t.is(await becomes(200, look), 200)
  await letIn(ann, space, 'Viewer')
  t.is(await becomes(404, look), 404)
})

live('password attempts are counted across all kernels', async t => {
  const person = await newPerson(one, 'attacked')
  const statuses = await Promise.all(
    Array.from({ length: 24 }, (_, at) => login(at % 2 === 0 ? one : other, person.email, `guess number ${at}`)),
  )
  const count = (wanted: number) => statuses.filter(status => status === wanted).length
  // An overloaded store causes 503 responses; the attempt may or may not have been counted.
  t.true(count(401) <= failuresPerAccount && count(429) > 0, String(statuses))
  t.is(count(401) + count(429) + count(503), 24)
  for (const server of [one, other]) t.is(await login(server, person.email, person.password), 429)
  const careful = await newPerson(one, 'careful')
  for (let at = 1; at < failuresPerAccount; at += 1) t.is(await login(at % 2 === 0 ? one : other, careful.email, 'wrong password'), 401)
  t.is(await login(one, careful.email, careful.password), 200)
  t.is(await login(other, careful.email, 'wrong password'), 401)
})

live('wrong keys are counted across all kernels', async t => {
  const strict = [await boot(20), await boot(20)] as const
  const statuses: number[] = []
  try {
    for (let at = 0; at < 30; at += 1) statuses.push((await strict[at % 2 === 0 ? 0 : 1].as(`wrong key ${at}`)('/api/me')).status)
  } finally {
    for (const server of strict) await server.stop()
  }
  // Other tests in this file, from the same address, send wrong keys as well.
  t.true(statuses.filter(status => status === 401).length <= 20)
  t.deepEqual([...new Set(statuses.slice(20))], [429])
})
