import test, { type ExecutionContext } from 'ava'
import { silent } from 'pounce/sdk/testing'
import { DowntimeLog } from './downtime-log.ts'
import { temporaryDocuments } from './fixtures/rabbit-under-test.ts'

const at = (time: string): Date => new Date(`2026-11-21T${time}Z`)

async function setUp(t: ExecutionContext) {
  const documents = await temporaryDocuments(t)
  const kernel = (isServing = true) => {
    const clock = { now: at('10:00:00') }
    const outages = new DowntimeLog(documents, isServing, () => clock.now, silent)
    t.teardown(() => outages.stop())
    return { clock, outages }
  }
  return { documents, kernel }
}

test('after a restart the log shows when no kernel was running', async t => {
  const { kernel } = await setUp(t)
  const first = kernel()
  await first.outages.start()
  const second = kernel()
  second.clock.now = at('10:05:00')
  await second.outages.start()
  t.true(second.outages.include(at('10:02:00')))
  t.true(second.outages.include(at('10:05:10')))
  t.false(second.outages.include(at('09:59:59')))
  t.false(second.outages.include(at('10:06:00')))
})

test('there is no outage while one of several kernels is running', async t => {
  const { kernel } = await setUp(t)
  const [first, second] = [kernel(), kernel()]
  await first.outages.start()
  for (let seconds = 5; seconds < 60; seconds += 5) {
    first.clock.now = at(`10:00:${String(seconds).padStart(2, '0')}`)
    await first.outages.look()
  }
  second.clock.now = at('10:00:59')
  await second.outages.start()
  t.false(second.outages.include(at('10:00:30')))
})

test('a kernel that serves no requests detects outages and does not count as running', async t => {
  const { kernel } = await setUp(t)
  const [first, worker, later] = [kernel(), kernel(false), kernel()]
  await first.outages.start()
  worker.clock.now = at('10:01:00')
  await worker.outages.start()
  later.clock.now = at('10:02:00')
  await later.outages.start()
  await worker.outages.look()
  t.true(worker.outages.include(at('10:01:30')))
})

test('a period in which the store is unavailable is an outage, not an error', async t => {
  const { documents, kernel } = await setUp(t)
  const { clock, outages } = kernel()
  await outages.start()
  const { get } = documents
  documents.get = () => Promise.reject(new Error('away'))
  clock.now = at('10:00:20')
  await outages.look()
  documents.get = get
  clock.now = at('10:00:40')
  await outages.look()
  t.true(outages.include(at('10:00:20')))
})
