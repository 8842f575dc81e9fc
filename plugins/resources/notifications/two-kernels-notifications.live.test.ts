import { randomBytes } from 'node:crypto'
import test from 'ava'
import { MongoClient } from 'mongodb'
import { Mailer } from 'pounce/sdk'
import { bootForTest, FixedClock, liveTests, MemoryMailer, type TestServer } from 'pounce/sdk/testing'
import { ok } from '../../../test/support/scene.ts'
import { letIn, newDataset, newSpace, recordPlugins, somebody } from '../../../test/support/spaces-and-people.ts'

const { test: live, url } = liveTests(test, 'MONGODB')
const hourMs = 3_600_000
const task = 'resources.notifications/ask-digests'
const database = `pounce-${randomBytes(6).toString('hex')}`
const [clock, mailer] = [new FixedClock(new Date().toISOString()), new MemoryMailer()]
const more = [
  'resources.admin',
  'resources.activity',
  'resources.notifications',
  'resources.audit',
  'resources.comments',
  'resources.sections',
]
const plugins = [...recordPlugins.map(id => (id === 'documents.sqlite' ? 'documents.mongodb' : id)), ...more]
let kernels: readonly TestServer[] = []

const boot = () => {
  const mongodb = { uri: url('MONGODB'), database }
  return bootForTest({ plugins, clock, overrides: { [Mailer]: mailer }, config: { access: { private: true }, documents: { mongodb } } })
}

/** Hooks run even when every test is skipped. */
const isLive = process.env['POUNCE_TEST_MONGODB_URL'] !== undefined
test.before(async () => {
  if (isLive) kernels = [await boot(), await boot()]
})
test.after.always(async () => {
  for (const kernel of kernels) await kernel.stop()
  if (!isLive) return
  const client = new MongoClient(url('MONGODB'))
  await client.db(database).dropDatabase()
  await client.close()
})

live.serial('two concurrent kernels send a digest once', async t => {
  const [one] = kernels as readonly [TestServer]
  const [ann, bob] = [await somebody(one, 'ann'), await somebody(one, 'bob')]
  const space = await newSpace(ann, 'Forest')
  await letIn(ann, space, 'Viewer', bob)
  await bob.post(`/api/spaces/${space}/follow`)
  t.is((await bob.put(`/api/users/${bob.id}`, { notifications: 'hourly' })).status, 200)
  for (const kernel of kernels) await kernel.drained(30_000)
  clock.advance(1000)
  mailer.sent.length = 0
  for (let round = 1; round <= 3; round += 1) {
    await newDataset(ann, { name: `Set ${round}`, space: [space] })
    for (const kernel of kernels) await kernel.drained(30_000)
    clock.advance(hourMs + 1000)
    await Promise.all(kernels.flatMap(kernel => [kernel.runPeriodic(task), kernel.runPeriodic(task)]))
    for (const kernel of kernels) await kernel.drained(30_000)
    t.is(mailer.sent.length, round)
    t.regex(mailer.sent.at(-1)?.text ?? '', new RegExp(`dataset Set ${round} to`))
  }
})

live.serial('failed sign-ins on two kernels are counted in one entry, each once', async t => {
  const [one] = kernels as readonly [TestServer]
  const cid = await somebody(one, 'cid')
  const json = { email: cid.email, password: 'a wrong one' }
  const tries = kernels.flatMap(kernel => Array.from({ length: 6 }, () => kernel.as()('/api/login', { method: 'POST', json })))
  const statuses = (await Promise.all(tries)).map(({ status }) => status)
  const lines = await ok<{ count: number }[]>(one.as(one.admin.key)(`/api/admin/audit?user=${cid.id}&type=sign-in.refused`))
  t.deepEqual(
    lines.map(({ count }) => count),
    [statuses.filter(status => status === 401).length],
  )
  t.true((lines[0]?.count ?? 0) > 1)
})
