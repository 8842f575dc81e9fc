import { mock } from 'node:test'
import test, { type ExecutionContext } from 'ava'
import { type AnyEvent, type Class, type Handler, NoSpace, on, onBatch, Problem, Unavailable } from 'pounce/sdk'
import { MemoryOutbox } from '../../test/support/memory-outbox.ts'
import { recordingLog } from '../../test/support/recording-log.ts'
import { noMetrics } from '../services/metrics.ts'
import { systemClock } from '../services/services.ts'
import { usualRetry } from './consumer-loop.ts'
import { consumerName, EventDispatcher, type HandlerInstance } from './event-dispatcher.ts'

const quick = { ...usualRetry, firstMs: 1, maxMs: 5, outageMs: 5 }

const fileUpdated = (subject: string, at: number): AnyEvent => ({
  id: `${subject}-${at}`,
  type: 'file.updated',
  subject: { kind: 'file', id: subject },
  data: { fields: [`${at}`] },
  at: '2026-01-05T10:00:00.000Z',
})

class Recorder {
  async handle(): Promise<void> {
    return
  }
}

const oneByOne = (handle: (event: AnyEvent) => Promise<void>, name = 'one'): HandlerInstance => ({
  plugin: `test.${name}`,
  subscription: on('file.updated', Recorder as Class<Handler<'file.updated'>>, 'hear'),
  instance: { handle },
})

const inBatches = (handleAll: (events: readonly AnyEvent[]) => Promise<void>): HandlerInstance => ({
  plugin: 'test.batch',
  subscription: onBatch('*', Recorder as never, 'hear'),
  instance: { handleAll },
})

const dispatching = async (t: ExecutionContext, ...handlers: HandlerInstance[]) => {
  const outbox = new MemoryOutbox(systemClock)
  await outbox.declareConsumers(handlers.map(handler => ({ name: consumerName(handler), types: handler.subscription.types })))
  const { log, lines } = recordingLog()
  const dispatch = new EventDispatcher(handlers, { outbox, log, metrics: noMetrics, retry: quick })
  t.teardown(() => dispatch.stop())
  dispatch.start()
  return { outbox, dispatch, lines }
}

test('events of one subject are handled in order, one at a time, and different subjects concurrently', async t => {
  const order = new Map<string, string[]>()
  const running = new Set<string>()
  let most = 0
  const { outbox, dispatch } = await dispatching(
    t,
    oneByOne(async ({ id, subject }) => {
      t.false(running.has(subject.id), 'one at a time')
      running.add(subject.id)
      most = Math.max(most, running.size)
      await new Promise(resolve => setImmediate(resolve))
      running.delete(subject.id)
      order.set(subject.id, [...(order.get(subject.id) ?? []), id])
    }),
  )
  const subjects = Array.from({ length: 20 }, (_, at) => `s${at}`)
  outbox.add([0, 1, 2, 3, 4].flatMap(at => subjects.map(subject => fileUpdated(subject, at))))
  await dispatch.drained()
  for (const subject of subjects)
    t.deepEqual(
      order.get(subject),
      [0, 1, 2, 3, 4].map(at => `${subject}-${at}`),
    )
  t.true(most > 1 && most <= 8, `${most} concurrently`)
})

test.serial('an event that arrives while another one of its subject is handled follows immediately', async t => {
  // Without timers there is no polling.
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const began = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const followed = Promise.withResolvers<void>()
  const { outbox } = await dispatching(
    t,
    oneByOne(async ({ id }) => {
      if (id === 's-1') return followed.resolve()
      began.resolve()
      await goOn.promise
    }),
  )
  outbox.add([fileUpdated('s', 0)])
  await began.promise
  outbox.add([fileUpdated('s', 1)])
  await new Promise(resolve => setImmediate(resolve))
  goOn.resolve()
  await t.notThrowsAsync(followed.promise)
})

test('events handled in one turn are acknowledged in one call', async t => {
  const { outbox, dispatch } = await dispatching(
    t,
    oneByOne(async () => undefined),
  )
  outbox.add(Array.from({ length: 60 }, (_, at) => fileUpdated(`s${at}`, 0)))
  await dispatch.drained()
  t.is(outbox.doneCalls.flat().length, 60)
  t.true(outbox.doneCalls.length <= 10, `${outbox.doneCalls.length} calls`)
})

// Regression: an acknowledgement that arrived just as the previous one ended waited for the next event of the consumer.
for (const turns of Array.from({ length: 40 }, (_, at) => at))
  test(`an event handled ${turns} microtasks before the end of another acknowledgement is acknowledged`, async t => {
    const isHandled = Promise.withResolvers<void>()
    const { outbox, dispatch } = await dispatching(
      t,
      oneByOne(({ subject }) => (subject.id === 'late' ? isHandled.promise : Promise.resolve())),
    )
    const done = outbox.done.bind(outbox)
    outbox.done = async (consumer, ids) => {
      await done(consumer, ids)
      isHandled.resolve()
      for (let turn = 0; turn < turns; turn += 1) await undefined
    }
    outbox.add([fileUpdated('early', 0), fileUpdated('late', 0)])
    await t.notThrowsAsync(dispatch.drained(2000))
  })

test('a failing handler is retried until it succeeds', async t => {
  let tries = 0
  const { outbox, dispatch } = await dispatching(
    t,
    oneByOne(async () => {
      tries += 1
      if (tries < 4) throw new Error('not yet')
    }),
  )
  outbox.add([fileUpdated('s', 0)])
  await dispatch.drained()
  t.is(tries, 4)
  t.deepEqual(await outbox.deadLetters({ limit: 10 }), [])
})

test('an event that fails five times is dead-lettered with its reason, and the others continue', async t => {
  const seen: string[] = []
  const { outbox, dispatch, lines } = await dispatching(
    t,
    oneByOne(async ({ id, subject }) => {
      seen.push(id)
      if (subject.id === 'bad') throw new Error('it is broken')
    }),
  )
  outbox.add([fileUpdated('bad', 0), fileUpdated('good', 0)])
  await dispatch.drained()
  t.is(seen.filter(id => id === 'bad-0').length, 5)
  t.true(seen.includes('good-0'))
  const deadLetters = await outbox.deadLetters({ limit: 10 })
  t.deepEqual(
    deadLetters.map(({ event, error, consumer }) => [event.id, error, consumer]),
    [['bad-0', 'it is broken', 'test.one/hear']],
  )
  t.true(lines.some(({ level, message }) => level === 'error' && String(message).includes('dead letter')))
})

test('an event whose error states when to retry is retried after that time, and the others continue', async t => {
  const seen: string[] = []
  const { outbox, dispatch } = await dispatching(
    t,
    oneByOne(async ({ subject }) => {
      seen.push(subject.id)
      if (subject.id === 'deferred') throw new Problem(502, 'mail-deferred', 'Greylisted', { retryAfterSeconds: 300 })
    }),
  )
  const delays: number[] = []
  const failed = outbox.failed.bind(outbox)
  outbox.failed = async (consumer, event, outcome) => {
    if (!('retryInMs' in outcome)) return failed(consumer, event, outcome)
    delays.push(outcome.retryInMs)
    // The test does not wait for that long.
    await failed(consumer, event, { ...outcome, retryInMs: 1 })
  }
  outbox.add([fileUpdated('deferred', 0), fileUpdated('good', 0)])
  await dispatch.drained()
  t.true(seen.includes('good'))
  t.is(seen.filter(id => id === 'deferred').length, 5)
  for (const [at, minutes] of [5, 40, 60, 60].entries())
    t.true((delays[at] ?? 0) >= minutes * 45_000 && (delays[at] ?? 0) <= minutes * 60_000, `${delays}`)
})

test('a retried dead letter gets five more attempts', async t => {
  let isBroken = true
  const { outbox, dispatch } = await dispatching(
    t,
    oneByOne(async () => {
      if (isBroken) throw new Error('broken')
    }),
  )
  outbox.add([fileUpdated('s', 0)])
  await dispatch.drained()
  isBroken = false
  await outbox.settleDeadLetter('test.one/hear', 's-0', 'retry')
  await dispatch.drained()
  t.deepEqual(await outbox.deadLetters({ limit: 10 }), [])
})

test('a backend that is unavailable never dead-letters an event', async t => {
  let tries = 0
  const { outbox, dispatch } = await dispatching(
    t,
    oneByOne(async () => {
      tries += 1
      if (tries <= 12) throw new Unavailable('search is unavailable')
      if (tries === 13) throw new Error('a hiccup of its own')
    }),
  )
  outbox.add([fileUpdated('s', 0)])
  await dispatch.drained()
  t.is(tries, 14)
  t.deepEqual(await outbox.deadLetters({ limit: 10 }), [])
})

test('a batch has at most 200 events, acknowledged in one call', async t => {
  const sizes: number[] = []
  const { outbox, dispatch } = await dispatching(
    t,
    inBatches(async events => {
      sizes.push(events.length)
    }),
  )
  outbox.add(Array.from({ length: 450 }, (_, at) => fileUpdated('s', at)))
  await dispatch.drained()
  t.deepEqual(sizes, [200, 200, 50])
  t.deepEqual(
    outbox.doneCalls.map(ids => ids.length),
    [200, 200, 50],
  )
})

test('a poison event in a batch is dead-lettered alone', async t => {
  const handled = new Set<string>()
  const { outbox, dispatch } = await dispatching(
    t,
    inBatches(async events => {
      if (events.some(({ id }) => id === 's-17')) throw new Error('poison')
      for (const { id } of events) handled.add(id)
    }),
  )
  outbox.add(Array.from({ length: 40 }, (_, at) => fileUpdated('s', at)))
  await dispatch.drained()
  t.is(handled.size, 39)
  t.deepEqual(
    (await outbox.deadLetters({ limit: 10 })).map(({ event }) => event.id),
    ['s-17'],
  )
})

test('one consumer that fails does not block another', async t => {
  const received: string[] = []
  const { outbox, dispatch } = await dispatching(
    t,
    oneByOne(async () => {
      throw new Error('never')
    }, 'broken'),
    oneByOne(async ({ id }) => void received.push(id), 'well'),
  )
  outbox.add([fileUpdated('s', 0), fileUpdated('s', 1)])
  await dispatch.drained()
  t.deepEqual(received, ['s-0', 's-1'])
})

test('a store that is unavailable for a while delays events and loses none', async t => {
  const received: string[] = []
  const { outbox, dispatch } = await dispatching(
    t,
    oneByOne(async ({ id }) => void received.push(id)),
  )
  outbox.fault = new Unavailable('the store is unavailable')
  outbox.add([fileUpdated('s', 0)])
  await new Promise(resolve => setImmediate(resolve))
  outbox.fault = undefined
  await dispatch.drained()
  t.deepEqual(received, ['s-0'])
})

test('an event that fails while the store is full is redelivered once there is space, not only when its lease expires', async t => {
  const received: string[] = []
  const { outbox, dispatch } = await dispatching(
    t,
    oneByOne(async ({ id }) => {
      if (outbox.fault === undefined && received.length > 0) return void received.push(id)
      outbox.fault = new NoSpace()
      received.push('full')
      setTimeout(() => {
        outbox.fault = undefined
      }, 30)
      throw outbox.fault
    }),
  )
  outbox.add([fileUpdated('s', 0)])
  while (received.length === 0 || outbox.fault !== undefined) await new Promise(resolve => setImmediate(resolve))
  await dispatch.drained(5_000)
  t.deepEqual(received, ['full', 's-0'])
})

test('a stop waits for the running handler and releases events that have not started', async t => {
  let finish: () => void = () => undefined
  const began = Promise.withResolvers<void>()
  const received: string[] = []
  const { outbox, dispatch } = await dispatching(
    t,
    oneByOne(async ({ id }) => {
      began.resolve()
      await new Promise<void>(resolve => {
        finish = resolve
      })
      received.push(id)
    }),
  )
  outbox.add([fileUpdated('s', 0), fileUpdated('s', 1)])
  await began.promise
  const stopped = dispatch.stop()
  finish()
  await stopped
  t.deepEqual(received, ['s-0'])
  const [next] = await outbox.claim('test.one/hear', { limit: 10, leaseMs: 1000 })
  t.is(next?.event.id, 's-1')
})

test('drained rejects after its time limit, naming waiting consumers and dead letters', async t => {
  const { outbox, dispatch } = await dispatching(
    t,
    oneByOne(() => new Promise(resolve => t.teardown(() => resolve())), 'slow'),
    oneByOne(async () => {
      throw new Error('broken')
    }, 'broken'),
  )
  outbox.add([fileUpdated('s', 0)])
  const error = await t.throwsAsync(dispatch.drained(2000))
  t.regex(error.message, /test\.slow\/hear 1/)
  t.regex(error.message, /dead letter: file\.updated for test\.broken\/hear: broken/)
})

test('a consumer is named after its plugin and subscription, not its class', t => {
  class Renamed extends Recorder {}
  const subscription = on('file.updated', Renamed as Class<Handler<'file.updated'>>, 'index-changes')
  t.is(consumerName({ plugin: 'resources.search', subscription }), 'resources.search/index-changes')
})
