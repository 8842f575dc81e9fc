import test from 'ava'
import { Invalid } from './problem.ts'
import { readTime } from './times.ts'

const january = Date.UTC(2017, 0, 25, 15, 33, 2)

test('a time is parsed in any zone, with a space for the T, with and without seconds and their fraction', t => {
  const same = [
    ...['2017-01-25T15:33:02Z', '2017-01-25T09:33:02-06:00', '2017-01-25 09:33:02-0600', '2017-01-25T09:33:02-06', '2017-01-25t15:33:02z'],
    ...['2017-01-25T16:33:02+01:00', '2017-01-25T16:33:02 01:00', ' 2017-01-25T15:33:02.000Z ', '2017-01-25T15:33:02,000 Z'],
  ]
  for (const text of same) t.is(readTime(text, 'since'), january, text)
  t.is(readTime('2017-01-25T15:33Z', 'since'), january - 2000)
  t.is(readTime('2017-01-25T15:33:02.1239Z', 'since'), january + 123)
  t.is(readTime('2017-01-25T15:33:02.5Z', 'since'), january + 500)
  t.is(new Date(readTime('0001-01-01T00:00:00Z', 'since')).toISOString(), '0001-01-01T00:00:00.000Z')
  t.is(readTime('9999-12-31T23:59:59.999Z', 'since'), 253_402_300_799_999)
  t.is(readTime('2016-02-29T00:00:00Z', 'since'), Date.UTC(2016, 1, 29))
})

test('a time without a zone is UTC, and omitted parts default to their start', t => {
  for (const text of ['2017-01-25T15:33:02', '2017-01-25 15:33:02', '2017-01-25 15:33:02.000', '2017-01-25t15:33:02,0'])
    t.is(readTime(text, 'since'), january, text)
  t.is(readTime('2017-01-25 15:33', 'since'), january - 2000)
  t.is(readTime('2017-01-25T15', 'since'), Date.UTC(2017, 0, 25, 15))
  t.is(readTime('2017-03-31', 'until'), Date.UTC(2017, 2, 31))
  t.is(readTime(' 2017-03 ', 'until'), Date.UTC(2017, 2))
  t.is(readTime('2017', 'until'), Date.UTC(2017, 0))
})

test('a date parameter in the format of Clowder 1.x is parsed, and a plus sign may arrive as a space', t => {
  const wanted = Date.UTC(2018, 5, 20, 11, 40, 25)
  for (const text of [
    ...['2018-06-20T11:40:25.000Z', '2018-06-20T11:40:25Z', '2018-06-20T13:40:25.000+02:00', '2018-06-20T13:40:25.000 02:00'],
    ...['2018-06-20T13:40:25.000+0200', '2018-06-20T13:40:25.000+02', '2018-06-20T06:40:25.000-05:00'],
  ])
    t.is(readTime(text, 'date'), wanted, text)
})

test('a malformed time is refused, naming its field', t => {
  const wrong = [
    ...[
      '',
      'yesterday',
      '1485358382',
      '2017-01-25T',
      '2017-01-25Z',
      '2018-02-31X',
      'Wed Jun 20 11:40:25 UTC 2018',
      '2017-02-29T00:00:00Z',
      '2017-13-01T00:00:00Z',
      '2017-00-10T00:00:00Z',
    ],
    ...['2017-01-32T00:00:00Z', '2017-01-25T24:00:00Z', '2017-01-25T15:60:00Z', '2017-01-25T15:33:60Z', '2017-01-25T15:33:02+19:00'],
    ...['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00', '10000-01-01T00:00:00Z', '+2017-01-25T15:33:02Z'],
    ...['2017-01-25T15:33:02Z; drop', '٢٠١٧-01-25T15:33:02Z', '2017-01-25T15:33:02.Z', '2017-1-25T15:33:02Z', 'NaN', 'Infinity'],
  ]
  for (const text of wrong)
    t.throws(
      () => readTime(text, 'start_time'),
      { instanceOf: Invalid, message: /^start_time .*2018-06-20T11:40:25\.000Z.* 2018-06-20 / },
      text,
    )
})
