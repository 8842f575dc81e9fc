import test from 'ava'
import { Unavailable } from 'pounce/sdk'
import type { IndexChange } from 'pounce/sdk/search'
import { BulkWriteQueue } from './bulk-write-queue.ts'

const changes = (count: number, first = 0): IndexChange[] => Array.from({ length: count }, (_, n) => ({ remove: String(first + n) }))

/** A queue whose batches are pending until the test resolves or rejects them. */
function heldQueue(everyMs = 0) {
  const batches: (readonly IndexChange[])[] = []
  const held: PromiseWithResolvers<void>[] = []
  const queue = new BulkWriteQueue(batch => {
    batches.push(batch)
    const hold = Promise.withResolvers<void>()
    held.push(hold)
    return hold.promise
  }, everyMs)
  const begun = async (count: number): Promise<void> => {
    while (batches.length < count) await new Promise(setImmediate)
  }
  return { queue, batches, held, begun }
}

test('changes that arrive while a batch is written share the next one, in order', async t => {
  const { queue, batches, held, begun } = heldQueue()
  const first = queue.add(changes(1))
  await begun(1)
  const others = [queue.add(changes(2, 1)), queue.add(changes(1, 3))]
  held[0]?.resolve()
  await first
  await begun(2)
  t.deepEqual(batches[1], changes(3, 1))
  held[1]?.resolve()
  await Promise.all(others)
  await queue.settled()
})

test('a batch has at most 1,000 changes unless a single caller adds more', async t => {
  const { queue, batches, held, begun } = heldQueue()
  const all = [queue.add(changes(600)), queue.add(changes(600)), queue.add(changes(1500))]
  for (const size of [600, 600, 1500]) {
    await begun(batches.length === 0 ? 1 : batches.length)
    t.is(batches.at(-1)?.length, size)
    const next = batches.length + 1
    held.at(-1)?.resolve()
    if (size !== 1500) await begun(next)
  }
  await Promise.all(all)
})

test('a failure rejects the callers of the batch, and the queue continues', async t => {
  const { queue, held, begun } = heldQueue()
  const failing = queue.add(changes(1))
  await begun(1)
  const next = queue.add(changes(1))
  held[0]?.reject(new Error('no'))
  await t.throwsAsync(failing, { message: 'no' })
  await begun(2)
  held[1]?.resolve()
  await t.notThrowsAsync(next)
})

test('when the server is unavailable, waiting callers are rejected at once', async t => {
  const { queue, batches, held, begun } = heldQueue()
  const failing = [queue.add(changes(1))]
  await begun(1)
  failing.push(queue.add(changes(1)), queue.add(changes(1)))
  held[0]?.reject(new Unavailable('away'))
  for (const each of failing) await t.throwsAsync(each, { instanceOf: Unavailable })
  t.is(batches.length, 1)
  const later = queue.add(changes(1))
  await begun(2)
  held[1]?.resolve()
  await t.notThrowsAsync(later)
})

test('batches start at least the minimum interval apart', async t => {
  const begins: number[] = []
  const queue = new BulkWriteQueue(() => Promise.resolve(void begins.push(performance.now())), 30)
  for (let n = 0; n < 4; n += 1) await queue.add(changes(1))
  for (const [at, begin] of begins.entries()) t.true(at === 0 || begin - (begins[at - 1] ?? 0) >= 28)
})
