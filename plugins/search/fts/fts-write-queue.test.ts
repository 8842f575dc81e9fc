import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import { NoSpace, Unavailable } from 'pounce/sdk'
import type { IndexChange } from 'pounce/sdk/search'
import { FtsWriteQueue } from './fts-write-queue.ts'

const removal = (n: number): IndexChange => ({ remove: String(n) })

const idsOf = (changes: readonly IndexChange[]): readonly string[] =>
  changes.map(change => ('remove' in change ? change.remove : change.put.id))

const removals = (from: number, to: number): readonly IndexChange[] => Array.from({ length: to - from + 1 }, (_, at) => removal(from + at))

/** A queue whose writes are recorded, each as its list of IDs; `fail` may throw instead. Its time stands still unless `nowMs` is given. */
function watched(fail: (ids: readonly string[]) => void = () => undefined, sync = () => Promise.resolve(), nowMs = () => 0) {
  const writes: (readonly string[])[] = []
  const write = (changes: Iterable<IndexChange>): void => {
    const ids = idsOf([...changes])
    fail(ids)
    writes.push(ids)
  }
  const elsewhere: (readonly string[])[] = []
  const writeMany = async (changes: readonly IndexChange[]): Promise<void> => {
    const ids = idsOf(changes)
    await setImmediate()
    fail(ids)
    elsewhere.push(ids)
  }
  const queue = new FtsWriteQueue({ write, writeMany, sync }, nowMs)
  return { queue, writes, elsewhere }
}

test('calls in the same turn of the event loop share a write, in order', async t => {
  const { queue, writes } = watched()
  await Promise.all([queue.add([removal(1), removal(2)]), queue.add([removal(3)])])
  await queue.add([removal(4)])
  t.deepEqual(writes, [['1', '2', '3'], ['4']])
})

test('a write that takes long is continued in further ones, and no call resolves before its last change is written', async t => {
  let now = 0
  const { queue, writes } = watched(undefined, undefined, () => {
    now += 3
    return now
  })
  await Promise.all([queue.add(removals(1, 4)), queue.add([removal(5)]).then(() => t.deepEqual(writes.flat(), ['1', '2', '3', '4', '5']))])
  t.deepEqual(writes, [['1', '2'], ['3', '4'], ['5']])
})

test('a failed write rejects its callers and no later ones', async t => {
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

test('an I/O error is reported as Unavailable, any other error is passed on', async t => {
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

test('no call resolves before it is durable, and calls that arrive meanwhile share the next write', async t => {
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

test('a failed sync rejects the callers of its changes, and no later ones', async t => {
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

test('many changes are written at once in another thread, and changes that arrive meanwhile in the next write', async t => {
  const { queue, writes, elsewhere } = watched()
  const first = Promise.all([queue.add(removals(1, 6)), queue.add(removals(7, 9))])
  await Promise.resolve()
  await Promise.resolve()
  const second = queue.add(removals(10, 11))
  await Promise.all([first, second])
  t.deepEqual(elsewhere, [['1', '2', '3', '4', '5', '6', '7', '8', '9']])
  t.deepEqual(writes, [['10', '11']])
})

test('a failed write in another thread rejects its callers and no later ones', async t => {
  const { queue, elsewhere } = watched(ids => {
    if (ids.includes('2')) throw Object.assign(new Error('database or disk is full'), { errcode: 13 })
  })
  const failed = t.throwsAsync(queue.add(removals(1, 9)), { instanceOf: NoSpace })
  await Promise.resolve()
  await Promise.resolve()
  const next = queue.add(removals(11, 19))
  await failed
  await next
  t.is(elsewhere.length, 1)
  await queue.settled()
})
