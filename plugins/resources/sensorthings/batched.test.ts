import test from 'ava'
import { batched } from './batched.ts'

test('what is asked for in one turn is asked for together, and once', async t => {
  const asked: (readonly number[])[] = []
  const double = batched<number, number>(3, async keys => {
    asked.push(keys)
    return new Map(keys.filter(key => key !== 4).map(key => [key, key * 2]))
  })
  t.deepEqual(await Promise.all([1, 2, 3, 4, 1].map(double)), [2, 4, 6, undefined, 2])
  t.is(await double(2), 4)
  t.is(await double(5), 10)
  t.deepEqual(asked, [[1, 2, 3], [4], [5]])
})

test('a failure reaches everybody who asked, and nobody else', async t => {
  const fails = batched<number, number>(10, async keys => {
    if (keys.includes(1)) throw new Error('away')
    return new Map(keys.map(key => [key, key]))
  })
  const [first, second] = await Promise.allSettled([fails(1), fails(2)])
  t.deepEqual([first.status, second.status], ['rejected', 'rejected'])
  t.is(await fails(3), 3)
})
