import test from 'ava'
import { s } from 'pounce/sdk'
import { FixedClock } from 'pounce/sdk/testing'
import { ObjectIds } from './services.ts'

test('ids are 24 hex digits that begin with the time and only ever increase', t => {
  const clock = new FixedClock('2026-01-05T10:00:00.000Z')
  const ids = new ObjectIds(clock)
  const made = Array.from({ length: 1000 }, () => ids.next())
  t.true(made.every(s.isId))
  t.is(Number.parseInt(made[0]?.slice(0, 8) ?? '', 16), Date.parse('2026-01-05T10:00:00Z') / 1000)
  clock.advance(1500)
  made.push(ids.next())
  clock.advance(-60_000)
  made.push(ids.next())
  t.deepEqual(made, made.toSorted())
  t.is(new Set(made).size, made.length)
})

test('when the counter of a second is exhausted, ids continue in the next one', t => {
  const ids = new ObjectIds(new FixedClock(), 0xff_ff_fe)
  const made = [ids.next(), ids.next(), ids.next()]
  t.deepEqual(
    made.map(id => id.slice(-6)),
    ['fffffe', 'ffffff', '000000'],
  )
  t.deepEqual(made, made.toSorted())
})

test('two kernels make different ids in the same second', t => {
  const clock = new FixedClock()
  t.not(new ObjectIds(clock).next(), new ObjectIds(clock).next())
})
