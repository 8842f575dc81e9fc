import test from 'ava'
import { Mailer } from 'pounce/sdk'
import { bootForTest, FixedClock, liveTests, MemoryMailer, type TestServer } from 'pounce/sdk/testing'
import { ok } from '../../../test/support/scene.ts'
import { placesOn } from '../../../test/support/server-places.ts'
import { letIn, newDataset, newSpace, recordPlugins, somebody } from '../../../test/support/spaces-and-people.ts'

const { test: live, url } = liveTests(test, 'MONGODB', 'S3')
const hourMs = 3_600_000
const task = 'resources.notifications/ask-digests'
const endings: (() => Promise<void>)[] = []
const [clock, mailer] = [new FixedClock(new Date().toISOString()), new MemoryMailer()]
const more = [
  'resources.admin',
  'resources.activity',
  'resources.notifications',
  'resources.audit',
  'resources.comments',
  'resources.sections',
]
const plugins = [...recordPlugins, ...more]
const kernels: TestServer[] = []

/** Hooks run even when every test is skipped. */
const isLive = ['MONGODB', 'S3'].every(name => process.env[`POUNCE_TEST_${name}_URL`] !== undefined)
test.before(async () => {
  if (!isLive) return
  const { settings } = await placesOn({ teardown: end => void endings.push(end) }, url, ['documents.mongodb', 'blobs.s3'])
  const boot = () => bootForTest({ plugins, clock, overrides: { [Mailer]: mailer }, env: settings, config: { access: { private: true } } })
  for (let n = 0; n < 2; n += 1) kernels.push(await boot())
})
test.after.always(async () => {
  for (const kernel of kernels) await kernel.stop()
  for (const end of endings) await end()
})

live.serial('two concurrent kernels send a digest once', async t => {
  const one = kernels[0] as TestServer
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
  const one = kernels[0] as TestServer
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
