import test from 'ava'
import { SignInBatcher } from './sign-in-batcher.ts'

test('few pass at once, of many those who wait pass together', async t => {
  const gathering = new SignInBatcher(3, 50)
  const passed: number[] = []
  const all = Array.from({ length: 10 }, async (_, at) => {
    await gathering.pass()
    passed.push(at)
  })
  await Promise.all(all.slice(0, 3))
  t.deepEqual(passed, [0, 1, 2])
  t.is(gathering.pass(), gathering.pass(), 'one wait for all')
  await Promise.all(all)
  t.deepEqual(passed, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('groups come one after the other, and who comes late passes at once again', async t => {
  const gathering = new SignInBatcher(1, 20)
  await gathering.pass()
  const startedAt = performance.now()
  for (let group = 0; group < 3; group += 1) await Promise.all([gathering.pass(), gathering.pass(), gathering.pass()])
  // Timers may fire a little early.
  t.true(performance.now() - startedAt > 130)
})
