import test from 'ava'
import { showTime } from './input.ts'

const january = Date.UTC(2017, 0, 25, 15, 33, 2)

test('a time is printed in UTC without its fraction, and null is null', t => {
  t.is(showTime(january + 999), '2017-01-25T15:33:02Z')
  t.is(showTime('2017-01-25T15:33:02.345Z'), '2017-01-25T15:33:02Z')
  t.is(showTime(null), null)
  t.is(showTime(-62_135_596_800_000), '0001-01-01T00:00:00Z')
})
