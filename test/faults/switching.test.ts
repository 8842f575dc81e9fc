import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { bootForTest, type TestFetch, usualOrFull } from 'pounce/sdk/testing'
import { adminKey, type ChildServer, dataFolder, type StartingServer, startChild } from '../support/child-server.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { Switching, switchedPlugin } from './switching.ts'

const clients = 4

test('a plugin that is switched under load responds correctly or as if absent, and loses no event', async t => {
  t.timeout(600_000)
  const server = await bootForTest({ t, also: [switchedPlugin] })
  const switching = new Switching(server.as(server.admin.key))
  const working = switching.work(clients)
  t.teardown(() => switching.stop())
  for (let n = 0; n < usualOrFull(12, 180) && switching.faults.length === 0; n += 1) {
    await switching.switch()
    await switching.answered(8)
  }
  switching.stop()
  await working
  await switching.finish()
  t.log(JSON.stringify(switching.counts))
  t.deepEqual(switching.faults, [])
  t.true(switching.counts.on > 0 && switching.counts.off > 0 && switching.counts.datasets > 0)
})

/** Without a plugin that starts slowly and is not used here. */
const settings = { POUNCE_PLUGINS: `+${switchedPlugin},-web` }

test('random kills lose neither an acknowledged switch nor an event', async t => {
  t.timeout(900_000)
  const random = seededRandom()
  t.log(`seed ${random.seed}`)
  const folder = await dataFolder(t)
  let starting: StartingServer | undefined
  let up = Promise.withResolvers<ChildServer>()
  let key = ''
  t.teardown(async () => {
    starting?.signal('SIGKILL')
    await starting?.ended
  })
  const start = async (): Promise<ChildServer> => {
    starting = startChild(folder, settings)
    const server = await starting.ready
    up.resolve(server)
    return server
  }
  const call: TestFetch = async (path, init) => (await up.promise).as(key)(path, init)
  key = await adminKey(await start())
  const switching = new Switching(call)
  const working = switching.work(clients)
  t.teardown(() => switching.stop())
  for (let n = 0; n < usualOrFull(3, 30) && switching.faults.length === 0; n += 1) {
    for (let whole = random.int(4); whole > 0; whole -= 1) {
      await switching.switch()
      await switching.answered(random.int(8))
    }
    const cut = switching.switch()
    await pause(random.int(30))
    switching.killed()
    up = Promise.withResolvers()
    starting?.signal('SIGKILL')
    await Promise.all([starting?.ended, cut])
    // Its response may have been received before the kill.
    switching.killed()
    await start()
    await switching.returned()
  }
  switching.stop()
  await working
  await switching.finish()
  t.log(JSON.stringify(switching.counts))
  t.deepEqual(switching.faults, [])
})
