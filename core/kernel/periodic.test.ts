import test, { type ExecutionContext } from 'ava'
import { FixedClock } from 'pounce/sdk/testing'
import { MemoryDocuments } from '../../test/support/memory-documents.ts'
import { recordingLog } from '../../test/support/recording-log.ts'
import { until } from '../../test/support/until.ts'
import { noMetrics } from '../services/metrics.ts'
import { ObjectIds } from '../services/services.ts'
import { idOfName, leaseRecords } from './kernel-records.ts'
import { Leases } from './leases.ts'
import { type PeriodicTask, PeriodicWork } from './periodic.ts'

// @separate-process: leases are renewed every few milliseconds.
const setUp = () => {
  const clock = new FixedClock()
  const documents = new MemoryDocuments(clock, new ObjectIds(clock))
  return { clock, documents }
}

test('of two kernels one holds a lease, and the other gets it after its release, or when it has not changed for its period of validity', async t => {
  const { clock, documents } = setUp()
  let nowMs = 0
  const [one, two] = [new Leases(documents, clock, () => nowMs), new Leases(documents, clock, () => nowMs)]
  const held = await one.take('sweep', 1000)
  t.is(held?.fence, 1)
  t.is(await two.take('sweep', 1000), undefined)
  nowMs = 1099
  t.is(await two.take('sweep', 1000), undefined)
  t.truthy(held && (await one.renew(held)))
  nowMs = 2000
  t.is(await two.take('sweep', 1000), undefined, 'a renewal restarts the wait')
  nowMs = 3100
  const next = await two.take('sweep', 1000)
  t.is(next?.fence, 2)
  t.is(held && (await one.renew(held)), undefined, 'the previous owner cannot renew it')
  if (next) await two.release(next)
  t.is((await one.take('sweep', 1000))?.fence, 3)
})

test('a lease is exclusive even if the clocks of machines differ by years', async t => {
  const { clock, documents } = setUp()
  const late = new FixedClock('2031-01-01T00:00:00.000Z')
  const [one, two] = [new Leases(documents, clock), new Leases(documents, late)]
  t.truthy(await one.take('sweep', 1000))
  t.is(await two.take('sweep', 1000), undefined)
})

test('work in a process suspended for longer than its lease is aborted first', async t => {
  const { clock, documents } = setUp()
  let nowMs = 0
  const leases = new Leases(documents, clock, () => nowMs)
  const lease = await leases.take('sweep', 60)
  if (!lease) return t.fail('no lease')
  const held = leases.hold(lease, () => t.fail('unexpected renewal'))
  t.teardown(() => held.end())
  const requested = documents.commit
  documents.commit = () => Promise.reject(new Error('asked'))
  nowMs = 60
  await until('the lease to be aborted', () => held.signal.aborted)
  documents.commit = requested
  t.is(held.signal.reason.message, 'The lease of sweep was not renewed in time')
})

test('a failed renewal is logged and is harmless if the next one succeeds in time; a lease held by another kernel is lost immediately', async t => {
  const { clock, documents } = setUp()
  const leases = new Leases(documents, clock)
  const lease = await leases.take('sweep', 3000)
  if (!lease) return t.fail('no lease')
  const troubles: unknown[] = []
  const { commit } = documents
  documents.commit = () => Promise.reject(new Error('away'))
  const held = leases.hold({ ...lease, forMs: 3000 }, error => troubles.push(error))
  t.teardown(() => held.end())
  await until('a renewal to fail', () => troubles.length > 0)
  t.false(held.signal.aborted)
  documents.commit = commit
  await documents.commit({ update: idOfName('sweep'), in: leaseRecords, set: { owner: 'somebody else' } })
  await until('the lease to be aborted', () => held.signal.aborted)
  t.is(held.signal.reason.message, 'The lease of sweep was lost')
})

test('a lease released with a delay cannot be taken before the delay has elapsed', async t => {
  const { clock, documents } = setUp()
  const leases = new Leases(documents, clock)
  const held = await leases.take('sweep', 1000)
  if (held) await leases.release(held, 5000)
  t.is(await leases.take('sweep', 1000), undefined)
  clock.advance(5000)
  t.truthy(await leases.take('sweep', 1000))
})

test('a lease released before the clock was set back can be taken without waiting for the former time', async t => {
  const { clock, documents } = setUp()
  const leases = new Leases(documents, clock)
  const earlier = new Leases(documents, new FixedClock('2031-01-01T00:00:00.000Z'))
  for (const restMs of [0, 5000]) {
    const held = await earlier.take(`sweep ${restMs}`, 1000)
    if (held) await earlier.release(held, restMs)
    t.truthy(await leases.take(`sweep ${restMs}`, 1000))
  }
})

test('one of a hundred concurrent attempts gets the lease', async t => {
  const { clock, documents } = setUp()
  const tries = await Promise.all(Array.from({ length: 100 }, () => new Leases(documents, clock).take('sweep', 1000)))
  t.is(tries.filter(one => one !== undefined).length, 1)
})

const working = (t: ExecutionContext, task: PeriodicTask, { clock, documents } = setUp()) => {
  const { log, lines } = recordingLog()
  const work = new PeriodicWork([task], new Leases(documents, clock), log, noMetrics)
  t.teardown(() => work.stop())
  return { work, lines }
}

test('two kernels run a task once per interval', async t => {
  const shared = setUp()
  let runs = 0
  const ran = Promise.withResolvers<void>()
  const task = {
    name: 'a/sweep',
    everyMs: 5,
    run: async () => {
      runs += 1
      ran.resolve()
    },
  }
  const [one, two] = [working(t, task, shared), working(t, task, shared)]
  one.work.start()
  two.work.start()
  await ran.promise
  await Promise.all([one.work.stop(), two.work.stop()])
  t.is(runs, 1)
})

test('a failed run is logged, and the task runs again', async t => {
  let runs = 0
  const twice = Promise.withResolvers<void>()
  const shared = setUp()
  const task = {
    name: 'a/sweep',
    everyMs: 5,
    run: async () => {
      runs += 1
      shared.clock.advance(10)
      if (runs === 2) twice.resolve()
      throw new Error('no')
    },
  }
  const { work, lines } = working(t, task, shared)
  work.start()
  const ticking = setInterval(() => shared.clock.advance(10), 1)
  await twice.promise
  clearInterval(ticking)
  await work.stop()
  t.true(lines.some(({ level, message }) => level === 'error' && String(message).startsWith('a/sweep failed')))
})

test('a stop aborts the running task and waits for it', async t => {
  const began = Promise.withResolvers<void>()
  let hasEnded = false
  const task = {
    name: 'a/long',
    everyMs: 1,
    run: async (signal: AbortSignal) => {
      began.resolve()
      await new Promise(resolve => signal.addEventListener('abort', resolve))
      hasEnded = true
    },
  }
  const { work } = working(t, task)
  work.start()
  await began.promise
  await work.stop()
  t.true(hasEnded)
})

test('a task can be run immediately by name, and an unknown name lists the tasks', async t => {
  let runs = 0
  const { work } = working(t, { name: 'a/sweep', everyMs: 1e6, run: async () => void runs++ })
  await work.runNow('a/sweep')
  t.is(runs, 1)
  await t.throwsAsync(work.runNow('a/swep'), { message: 'Unknown periodic task a/swep; known: a/sweep' })
})
