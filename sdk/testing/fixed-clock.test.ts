import test from 'ava'
import { FixedClock } from './fixed-clock.ts'
import { clockContract } from './kernel-ports-contract.ts'

clockContract(test, () => new FixedClock())

test('the clock advances only on request', t => {
  const clock = new FixedClock('2026-01-05T10:00:00.000Z')
  t.is(clock.now().toISOString(), '2026-01-05T10:00:00.000Z')
  clock.advance(1500)
  t.is(clock.now().toISOString(), '2026-01-05T10:00:01.500Z')
})
