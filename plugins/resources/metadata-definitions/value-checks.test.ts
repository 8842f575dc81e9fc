import test from 'ava'
import type { Json } from 'pounce/sdk'
import { expectationOf, fits, isIsoDate } from './value-checks.ts'

type Case = readonly [type: string, right: readonly Json[], wrong: readonly Json[]]

const cases: readonly Case[] = [
  ['string', ['', 'a', ['a', 'b'], []], [1, true, null, {}, ['a', 1]]],
  ['annotation', ['a', { mark: 'bar' }], [1, null]],
  ['number', [1, -2.5, '3', ' 4.5e3 ', '.5'], ['', 'a', '1 m', null, true, {}, 'NaN', '0x10']],
  [
    'datetime',
    ['2018', '2018-06', '2018-06-20', '2018-06-20 11:40', '2018-06-20T11:40:25.123+02:00'],
    ['yesterday', '20.06.2018', 20180620, '2018-02-30'],
  ],
  ['date', ['2018-06-20'], ['June']],
  ['list', ['oak', ['oak', 'ash']], ['', '  ', 1, {}]],
  ['listgeocode', ['Champaign, IL'], ['', 1]],
  [
    'wkt',
    ['POINT (1 2)', { type: 'Point', coordinates: [1, 2] }, { type: 'Feature', geometry: null }],
    ['here', { type: 'Circle' }, 1, null],
  ],
  ['scientific_variable', ['air_temperature', { name: 'air_temperature', unit: 'K' }], ['', 1, { unit: 'K' }, { name: 'x', unit: 1 }]],
]

for (const [type, right, wrong] of cases)
  test(`a field of type ${type} accepts valid values only`, t => {
    const expectation = expectationOf(type)!
    for (const value of right) t.true(fits(expectation, value, {}), JSON.stringify(value))
    for (const value of wrong) t.false(fits(expectation, value, {}), JSON.stringify(value))
  })

test('sibling fields are validated where the form of Clowder 1.x adds them', t => {
  const variable = expectationOf('scientific_variable')!
  t.true(fits(variable, 'wind', { Unit: 'm/s' }))
  t.false(fits(variable, 'wind', { Unit: 3 }))
  const place = expectationOf('listgeocode')!
  t.true(fits(place, 'Champaign', { Latitude: '40.12', Longitude: -88.24 }))
  t.false(fits(place, 'Champaign', { Latitude: '140', Longitude: '0' }))
  t.false(fits(place, 'Champaign', { Latitude: 'north' }))
})

test('dates that do not exist are invalid', t => {
  for (const text of [
    '2018-13',
    '2018-00-01',
    '2019-02-29',
    '2018-04-31',
    '2018-06-20T25:00',
    '2018-06-20T11:60',
    '2018-6-2',
    'constructor',
  ])
    t.false(isIsoDate(text), text)
  t.true(isIsoDate('2020-02-29'))
})

test('unknown types are not validated', t => {
  for (const type of ['vega', '', 'constructor', '__proto__', 'toString']) t.is(expectationOf(type), undefined)
})
