import test from 'ava'
import { KeyedMutex, Mutex, Semaphore } from './concurrency.ts'
import { Unavailable } from './problem.ts'

const queue = { maxWaiting: 2, maxWaitMs: 60_000, refusal: 'Too much at once' }
const options = { max: 1, queue }

test('permits are acquired in order and released only once', async t => {
  const semaphore = new Semaphore(options)
  const order: number[] = []
  const first = await semaphore.acquire()
  const noted = async (n: number) => {
    const release = await semaphore.acquire()
    order.push(n)
    return release
  }
  const second = noted(2)
  const third = noted(3)
  first()
  first()
  const release = await second
  t.deepEqual(order, [2])
  release()
  ;(await third)()
  t.deepEqual(order, [2, 3])
  t.is(await semaphore.use(() => 'free'), 'free')
})

test('a full queue and a long wait are refused with Retry-After', async t => {
  const semaphore = new Semaphore({ max: 1, queue: { ...queue, maxWaiting: 1, maxWaitMs: 1 } })
  const release = await semaphore.acquire()
  const waiting = semaphore.acquire()
  const refused = await t.throwsAsync(semaphore.acquire(), { instanceOf: Unavailable })
  t.is(refused?.message, 'Too much at once; try again in a few seconds')
  t.is(refused?.retryAfterSeconds, 5)
  await t.throwsAsync(waiting, { instanceOf: Unavailable })
  release()
  t.is(await semaphore.use(async () => 1), 1)
})

test('an aborted waiter leaves the queue, and failed work releases its permit', async t => {
  const semaphore = new Semaphore(options)
  const release = await semaphore.acquire()
  const leaving = new AbortController()
  const gone = semaphore.acquire(leaving.signal)
  const reason = new Error('gone')
  leaving.abort(reason)
  t.is(await t.throwsAsync(gone), reason)
  const failing = semaphore.use(() => Promise.reject(new Error('failed')))
  release()
  await t.throwsAsync(failing, { message: 'failed' })
  t.is(await semaphore.use(() => 1), 1)
})

test('without a bounded queue any number of callers wait, and leave when aborted', async t => {
  const semaphore = new Semaphore({ max: 2 })
  const held = [await semaphore.acquire(), await semaphore.acquire()]
  const leaving = new AbortController()
  const gone = semaphore.acquire(leaving.signal)
  const waiting = Array.from({ length: 100 }, (_, n) => semaphore.use(() => n))
  leaving.abort(new Error('gone'))
  await t.throwsAsync(gone, { message: 'gone' })
  for (const release of held) release()
  t.deepEqual(
    await Promise.all(waiting),
    Array.from({ length: 100 }, (_, n) => n),
  )
})

test('a mutex has one holder at a time, even after a failure', async t => {
  const mutex = new Mutex()
  const order: string[] = []
  const step = (name: string) => async () => {
    order.push(`${name} begins`)
    await new Promise(setImmediate)
    order.push(`${name} ends`)
    if (name === 'first') throw new Error('failed')
  }
  const first = mutex.use(step('first'))
  const second = mutex.use(step('second'))
  await t.throwsAsync(first, { message: 'failed' })
  await second
  t.deepEqual(order, ['first begins', 'first ends', 'second begins', 'second ends'])
})

test('work on a key waits for earlier work on it, even if that fails; other keys do not wait', async t => {
  const mutex = new KeyedMutex()
  const gate = Promise.withResolvers<void>()
  const order: string[] = []
  const noted =
    (name: string, until: Promise<void> = Promise.resolve()) =>
    async () => {
      await until
      order.push(name)
    }
  const failing = mutex.use('a', () => gate.promise.then(() => Promise.reject(new Error('failed'))))
  const both = mutex.use(['a', 'b'], noted('both'))
  const after = mutex.use('b', noted('after'))
  await mutex.use('c', noted('other'))
  t.deepEqual(order, ['other'])
  gate.resolve()
  await t.throwsAsync(failing, { message: 'failed' })
  await Promise.all([both, after])
  t.deepEqual(order, ['other', 'both', 'after'])
  await mutex.ended()
  t.is(await mutex.use([], async () => 1), 1)
})
