import test from 'ava'
import { printTime } from './point-json.ts'

test('a time is printed in seconds, with milliseconds only if they are not zero', t => {
  const times = [
    0,
    -1,
    1,
    1000,
    -62_135_596_800_000,
    253_402_300_799_999,
    Date.UTC(2024, 1, 29, 23, 59, 59),
    Date.UTC(1969, 11, 31, 12, 0, 0, 7),
  ]
  for (let n = 0; n < 5000; n += 1) times.push(Math.floor((n * 0x9e3779b1) % 253_402_300_799_999) * (n % 3 === 0 ? 1000 : 1))
  for (const ms of times.filter(each => each <= 253_402_300_799_999)) t.is(printTime(ms), new Date(ms).toISOString().replace('.000Z', 'Z'))
})
