import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import { NoSpace, Unavailable } from 'pounce/sdk'
import type { IndexChange } from 'pounce/sdk/search'
import { FtsWriteQueue } from './fts-write-queue.ts'

const removal = (n: number): IndexChange => ({ remove: String(n) })

/** A queue whose writes are recorded, each as the ids that it took; `fail` may throw instead. */
function watched(fail: (ids: readonly string[]) => void = () => undefined, sync = () => Promise.resolve()) {
  const writes: (readonly string[])[] = []
  const write = (changes: Iterable<IndexChange>): void => {
    const ids = [...changes].map(change => ('remove' in change ? change.remove : change.put.id))
    fail(ids)
    writes.push(ids)
  }
  const queue = new FtsWriteQueue({ write, sync })
  return { queue, writes }
}

test('callers of one turn share a write, in order', async t => {
  const { queue, writes } = watched()
  await Promise.all([queue.add([removal(1), removal(2)]), queue.add([removal(3)])])
  await queue.add([removal(4)])
  t.deepEqual(writes, [['1', '2', '3'], ['4']])
})

test('a write that fails fails its callers and nobody after them', async t => {
  const { queue, writes } = watched(ids => {
    if (ids.includes('2')) throw Object.assign(new Error('database or disk is full'), { errcode: 13 })
  })
  const failed = Promise.all([
    t.throwsAsync(queue.add([removal(1), removal(2)]), { instanceOf: NoSpace }),
    t.throwsAsync(queue.add([removal(3)])),
  ])
  await failed
  await queue.add([removal(4)])
  t.deepEqual(writes, [['4']])
  await queue.settled()
})

test('an I/O error means that the index is unavailable, any other error is passed on', async t => {
  const wrong = new TypeError('a bug')
  const errors: readonly Error[] = [Object.assign(new Error('disk I/O error'), { errcode: 10 | (3 << 8) }), wrong]
  const failures = await Promise.all(
    errors.map(error =>
      watched(() => {
        throw error
      })
        .queue.add([removal(1)])
        .catch((caught: unknown) => caught),
    ),
  )
  t.true(failures[0] instanceof Unavailable)
  t.is(failures[1], wrong)
})

test('nothing is answered before it is durable, and what comes meanwhile shares the next write', async t => {
  const syncs: (() => void)[] = []
  const { queue, writes } = watched(undefined, () => new Promise(resolve => syncs.push(resolve)))
  let answered = 0
  const answers = [1, 2, 3].map(async n => {
    if (n > 1) await setImmediate()
    await queue.add([removal(n)])
    answered += 1
  })
  while (syncs.length === 0) await setImmediate()
  await setImmediate()
  await setImmediate()
  t.is(answered, 0)
  t.deepEqual(writes, [['1']])
  syncs[0]?.()
  while (syncs.length === 1) await setImmediate()
  t.is(answered, 1)
  t.deepEqual(writes, [['1'], ['2', '3']])
  syncs[1]?.()
  await Promise.all(answers)
})

test('a sync that fails fails those whose changes it was for, and nobody after them', async t => {
  const errors = [
    Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'fdatasync' }),
    Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'fdatasync' }),
  ]
  const { queue } = watched(undefined, () => {
    const error = errors.shift()
    return error ? Promise.reject(error) : Promise.resolve()
  })
  await t.throwsAsync(queue.add([removal(1)]), { instanceOf: Unavailable })
  await t.throwsAsync(queue.add([removal(1)]), { instanceOf: NoSpace })
  await t.notThrowsAsync(queue.add([removal(1)]))
})
