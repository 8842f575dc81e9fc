import test from 'ava'
import { inTurns } from './in-turns.ts'

const busyFor = (ms: number): void => {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('a few are done at a time, all in their order', async t => {
  let [running, most] = [0, 0]
  const ended: number[] = []
  const ask = inTurns(3, 1000, async (n: number) => {
    running += 1
    most = Math.max(most, running)
    await new Promise(setImmediate)
    running -= 1
    ended.push(n)
    return n * 2
  })
  t.deepEqual(await Promise.all([1, 2, 3, 4, 5, 6, 7].map(ask)), [2, 4, 6, 8, 10, 12, 14])
  t.is(most, 3)
  t.deepEqual(ended, [1, 2, 3, 4, 5, 6, 7])
})

test('what resolves at once lets others have their turn', async t => {
  const ask = inTurns(2, 5, async (ms: number) => busyFor(ms))
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all(Array.from({ length: 40 }, () => ask(2)))
  isOver = true
  // 80 ms in stints of 5, which may be 2 longer for each of the two.
  t.true(turns >= 5, `${turns} turns`)
})

test('one that fails takes nobody with it', async t => {
  const ask = inTurns(1, 1000, async (n: number) => {
    if (n === 1) throw new Error('one')
    return n
  })
  const [one, two, three] = await Promise.allSettled([ask(1), ask(2), ask(3)])
  t.is(one?.status, 'rejected')
  t.deepEqual(
    [two, three],
    [2, 3].map(value => ({ status: 'fulfilled', value })),
  )
})
