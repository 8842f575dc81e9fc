import test from 'ava'
import { CachedCounts } from './cached-counts.ts'

test('small containers are counted on every call, large ones once a minute', async t => {
  let [now, size] = [0, 7]
  const requested: number[] = []
  const counting = async (upTo: number) => {
    requested.push(upTo)
    return Math.min(upTo, size)
  }
  const counts = new CachedCounts(() => now)
  t.is(await counts.count('a', counting), 7)
  size = 9999
  t.is(await counts.count('a', counting), 9999)
  size = 1_500_000
  t.deepEqual(await Promise.all([counts.count('a', counting), counts.count('a', counting)]), [size, size])
  t.is(requested.filter(upTo => upTo > 10_000).length, 1)
  size = 1_500_001
  t.is(await counts.count('a', counting), 1_500_000)
  t.is(await counts.count('b', counting), 1_500_001)
  now = 61_000
  t.is(await counts.count('a', counting), 1_500_001)
  size = 3
  t.is(await counts.count('a', counting), 3)
})

test('a failed count is repeated for the next caller', async t => {
  const counts = new CachedCounts()
  let isAway = true
  const counting = async (upTo: number) => {
    if (upTo > 10_000 && isAway) throw new Error('away')
    return Math.min(upTo, 20_000)
  }
  await t.throwsAsync(counts.count('a', counting), { message: 'away' })
  isAway = false
  t.is(await counts.count('a', counting), 20_000)
})
