import test from 'ava'
import { typedValue } from 'pounce/sdk/search'
import { readQuery } from 'pounce/sdk/search/language'
import { matchConditions, searchedValue } from './match-conditions.ts'
import { fragmentsOf } from './matched-fragments.ts'

type Values = readonly (readonly [field: string, value: string])[]

/** Fields with the marked parts of their fragments. */
const matchesOf = (query: string, values: Values) => {
  const searched = values.map(([field, value]) => searchedValue(field, field.startsWith('metadata.') ? typedValue(value) : value))
  return fragmentsOf(searched, matchConditions(readQuery(query))).fragments.map(({ field, text, marks }) => [
    field,
    ...marks.map(({ start, end }) => text.slice(start, end)),
  ])
}

const plot: Values = [
  ['name', 'Soil moisture of Plot 7'],
  ['tag', 'red oak'],
  ['tag', 'Soils'],
  ['description', 'Daily measurements in Zürich'],
  ['creator', 'Ada Soil'],
  ['content_type', 'text/csv'],
  ['metadata.pounce-image.width', '640'],
  ['metadata.taken', '2021-04-19T12:00:00Z'],
  ['metadata.site.label', 'North Field'],
]

const cases: readonly (readonly [query: string, ...matches: readonly (readonly string[])[]])[] = [
  ['soil', ['name', 'Soil'], ['tag', 'Soils']],
  ['soil zurich', ['name', 'Soil'], ['tag', 'Soils'], ['description', 'Zürich']],
  ['soil OR daily', ['name', 'Soil'], ['tag', 'Soils'], ['description', 'Daily']],
  ['"soil moisture"', ['name', 'Soil moisture']],
  ['soil__moist', ['name', 'Soil moisture']],
  ['plot NOT dry', ['name', 'Plot']],
  ['*oil', ['name', 'Soil']],
  ['/^m.*s$/', ['description', 'measurements']],
  ['name:plot', ['name', 'Plot']],
  ['tag:oak', ['tag', 'oak']],
  ['tag=="Red Oak"', ['tag', 'red oak']],
  ['tag!=leaf'],
  ['creator:ada', ['creator', 'Ada']],
  ['content_type:csv', ['content_type', 'csv']],
  ['width>600', ['metadata.pounce-image.width', '640']],
  ['width:640', ['metadata.pounce-image.width', '640']],
  ['width>640'],
  ['taken:2021-04-19', ['metadata.taken', '2021-04-19T12:00:00.000Z']],
  ['label:"north field"', ['metadata.site.label', 'North Field']],
  ['exists:label', ['metadata.site.label', 'North Field']],
  ['missing:height'],
  ['resource_type:file email:ada created:2021'],
]
for (const [query, ...matches] of cases)
  test(`${query} is found in ${matches.map(([field, ...words]) => `${field} (${words.join(', ')})`).join('; ') || 'no value'}`, t =>
    t.deepEqual(matchesOf(query, plot), matches as string[][]))

test('a value that occurs several times is one fragment and leaves room for others', t => {
  const values: Values = [...Array.from({ length: 6 }, () => ['metadata.site', 'North'] as const), ['metadata.field', 'North Field']]
  t.deepEqual(matchesOf('north', values), [
    ['metadata.site', 'North'],
    ['metadata.field', 'North'],
  ])
})

test('a fragment of a long text begins before the first word found, and its marks are within it', t => {
  const text = `${'filler '.repeat(100)}oak ${'more '.repeat(100)}oak`
  const [fragment] = fragmentsOf([searchedValue('description', text)], matchConditions(readQuery('oak'))).fragments
  t.true((fragment?.text.length ?? 0) <= 202)
  t.true(fragment?.text.startsWith('…filler'))
  t.true(fragment?.text.endsWith('…'))
  t.deepEqual(
    fragment?.marks.map(({ start, end }) => fragment.text.slice(start, end)),
    ['oak'],
  )
})

test('adjacent words are one mark, and markup is not interpreted', t => {
  const { fragments } = fragmentsOf([searchedValue('name', '<b>観測</b> data')], matchConditions(readQuery('観測 data')))
  t.deepEqual(fragments, [
    {
      field: 'name',
      text: '<b>観測</b> data',
      marks: [
        { start: 3, end: 5 },
        { start: 10, end: 14 },
      ],
    },
  ])
})

test('a match without an explaining value is flagged', t => {
  const conditions = matchConditions(readQuery('soil walnut'))
  const { unexplained } = fragmentsOf([searchedValue('name', 'Soil')], conditions)
  t.deepEqual(unexplained, [conditions[1]])
})
