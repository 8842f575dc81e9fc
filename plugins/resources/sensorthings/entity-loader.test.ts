import test from 'ava'
import { batched, inTurns } from './entity-loader.ts'

test('keys requested in one turn are loaded in batches, each once', async t => {
  const queryOptions: (readonly number[])[] = []
  const double = batched<number, number>(3, async keys => {
    queryOptions.push(keys)
    return new Map(keys.filter(key => key !== 4).map(key => [key, key * 2]))
  })
  t.deepEqual(await Promise.all([1, 2, 3, 4, 1].map(double)), [2, 4, 6, undefined, 2])
  t.is(await double(2), 4)
  t.is(await double(5), 10)
  t.deepEqual(queryOptions, [[1, 2, 3], [4], [5]])
})

test('a failure reaches all callers of its batch, and no others', async t => {
  const fails = batched<number, number>(10, async keys => {
    if (keys.includes(1)) throw new Error('away')
    return new Map(keys.map(key => [key, key]))
  })
  const [first, second] = await Promise.allSettled([fails(1), fails(2)])
  t.deepEqual([first.status, second.status], ['rejected', 'rejected'])
  t.is(await fails(3), 3)
})

const busyFor = (ms: number): void => {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('at most three run concurrently, in order', async t => {
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

test('work that resolves immediately yields to other requests', async t => {
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
  // 80 ms in slices of 5 ms, each of which may overrun by 2 ms.
  t.true(turns >= 5, `${turns} turns`)
})

test('a failure does not affect the others', async t => {
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
