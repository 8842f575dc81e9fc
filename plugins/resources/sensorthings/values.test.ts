import test from 'ava'
import { compare, Duration, durationMs, EntityTimeSpan, GeoPlace, shown } from './values.ts'

const [noon, one, two] = [Date.UTC(2020, 0, 1, 12), Date.UTC(2020, 0, 1, 13), Date.UTC(2020, 0, 1, 14)]

test('a duration consists of days and smaller units', t => {
  t.is(durationMs('P1DT2H3M4.5S'), 93_784_500)
  t.is(durationMs('-PT1S'), -1000)
  for (const text of ['P', 'PT', 'P1M', 'P1Y', '1D', 'P1DT', '']) t.is(durationMs(text), undefined, text)
})

test('a span is before one that begins when it ends; an instant is before one that begins later', t => {
  const [span, next] = [new EntityTimeSpan(noon, one), new EntityTimeSpan(one, two)]
  t.true(compare('lt', span, next))
  t.true(compare('lt', span, new EntityTimeSpan(one)))
  t.false(compare('lt', new EntityTimeSpan(noon), new EntityTimeSpan(noon)))
  t.true(compare('le', new EntityTimeSpan(noon), new EntityTimeSpan(noon)))
  t.true(compare('gt', next, span))
  t.false(compare('gt', new EntityTimeSpan(noon, two), span))
  t.true(compare('eq', span, new EntityTimeSpan(noon, one)))
  t.false(compare('ge', span, new EntityTimeSpan(noon, two)))
})

test('values of different kinds differ, and null equals only null', t => {
  t.true(compare('ne', '5', 5))
  t.false(compare('eq', '5', 5))
  t.false(compare('lt', '5', 6))
  t.true(compare('eq', null, undefined))
  t.false(compare('ge', null, null))
  t.true(compare('ne', null, 0))
  t.false(compare('le', null, 0))
  t.true(compare('ne', [1], [1]))
  t.true(compare('gt', new Duration(2), new Duration(1)))
})

test('times and locations are formatted as the standard specifies', t => {
  t.is(shown(new EntityTimeSpan(noon)), '2020-01-01T12:00:00.000Z')
  t.is(shown(new EntityTimeSpan(noon, one)), '2020-01-01T12:00:00.000Z/2020-01-01T13:00:00.000Z')
  t.deepEqual(shown(new GeoPlace({ type: 'Point', coordinates: [1, 2] })), { type: 'Point', coordinates: [1, 2] })
  t.is(shown(undefined), null)
})
