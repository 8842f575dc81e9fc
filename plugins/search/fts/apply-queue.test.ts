import test from 'ava'
import { type IndexChange, NoSpace, Unavailable } from 'pounce/sdk'
import { ApplyQueue } from './apply-queue.ts'

const removal = (n: number): IndexChange => ({ remove: String(n) })

/** A queue whose writes are remembered, each as the ids that it took; `fail` may throw instead. */
function watched(fail: (ids: readonly string[]) => void = () => undefined) {
  const writes: (readonly string[])[] = []
  const queue = new ApplyQueue(changes => {
    const ids = [...changes].map(change => ('remove' in change ? change.remove : change.put.id))
    fail(ids)
    writes.push(ids)
  })
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

test('an I/O error means that the index is away, any other error is passed on', async t => {
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
