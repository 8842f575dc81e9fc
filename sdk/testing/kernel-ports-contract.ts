import type { Clock, Ids } from '../ports/kernel.ts'
import { isId } from '../schema.ts'
import { contractTest, type TestRunner } from './any-runner.ts'

/** The contract of Clock. */
export function clockContract(runner: TestRunner, make: () => Clock): void {
  const test = contractTest(runner)
  test('clock: it returns a time that can be written as ISO 8601 in UTC', t => {
    const now = make().now()
    t.true(now instanceof Date)
    t.regex(now.toISOString(), /^2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  test('clock: it does not run backwards', t => {
    const clock = make()
    let last = clock.now().getTime()
    for (let turn = 0; turn < 100_000; turn += 1) {
      const now = clock.now().getTime()
      if (now < last) t.fail(`${now} came after ${last}`)
      last = now
    }
    t.true(Number.isInteger(last))
  })

  test('clock: modifying a returned date has no effect on the clock', t => {
    const clock = make()
    clock.now().setFullYear(1999)
    t.true(clock.now().getUTCFullYear() > 1999)
  })
}

/** The contract of Ids. `make` is called twice in a test that simulates two kernels. */
export function idsContract(runner: TestRunner, make: () => Ids): void {
  const test = contractTest(runner)
  const many = 100_000

  test('ids: each has 24 lower-case hex digits, is unique and greater than the previous one', t => {
    const ids = make()
    const made = Array.from({ length: many }, () => ids.next())
    t.deepEqual(
      made.filter(id => !isId(id)),
      [],
    )
    t.is(new Set(made).size, many)
    t.deepEqual(
      made.filter((id, at) => at > 0 && id <= (made[at - 1] ?? '')),
      [],
    )
  })

  test('ids: two kernels never make the same one', t => {
    const [one, other] = [make(), make()]
    const made = Array.from({ length: many }, (_, at) => (at % 2 ? one : other).next())
    t.is(new Set(made).size, many)
  })

  test('ids: another kernel cannot predict the next one from the last', t => {
    const tails = Array.from({ length: 50 }, () => make().next().slice(8, 18))
    t.is(new Set(tails).size, tails.length)
  })
}
