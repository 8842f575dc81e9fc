import { setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import { RequestPacer } from './request-tracker.ts'

test('a crowd begins a few at a time, in its order, and others have their turn in between', async t => {
  const pace = new RequestPacer()
  const begun: number[] = []
  const atOnce: number[] = []
  const all = Array.from({ length: 300 }, async (_, n) => {
    await pace.enter()
    begun.push(n)
  })
  await Promise.resolve()
  for (let turns = 0, before = 0; begun.length < 300 && turns < 1000; turns += 1) {
    atOnce.push(begun.length - before)
    before = begun.length
    await nextTurn()
  }
  await Promise.all(all)
  t.deepEqual(
    begun,
    Array.from({ length: 300 }, (_, n) => n),
  )
  t.true(Math.max(...atOnce) <= 32, String(atOnce))
  t.true(atOnce.length >= 10, String(atOnce))
})

test('who comes alone does not wait, nor who comes after a crowd', async t => {
  const pace = new RequestPacer()
  t.is(pace.enter(), undefined)
  await Promise.all(Array.from({ length: 100 }, () => pace.enter()))
  await nextTurn()
  t.is(pace.enter(), undefined)
})

test('who comes while a crowd waits stands behind it', async t => {
  const pace = new RequestPacer()
  const order: string[] = []
  const crowd = Array.from({ length: 40 }, async () => {
    await pace.enter()
    order.push('crowd')
  })
  await nextTurn()
  const late = (async () => {
    await pace.enter()
    order.push('late')
  })()
  await Promise.all([...crowd, late])
  t.is(order.indexOf('late'), 40)
})
