import test from 'ava'
import fc from 'fast-check'
import { Invalid } from 'pounce/sdk'
import type { Parsed } from './grammar/sensorthings-parser.js'
import { read } from './parsing.ts'

const rules: readonly (keyof Parsed)[] = ['Path', 'Filter', 'Expand', 'OrderBy', 'Select', 'Wkt']

test('paths have names and keys, and strings in keys may contain any character', t => {
  t.deepEqual(read('Path', "Things(1)/Datastreams('5:it''s a/b')/name/$value", 'The path'), [
    { name: 'Things', key: 1, at: 0 },
    { name: 'Datastreams', key: "5:it's a/b", at: 10 },
    { name: 'name', key: null, at: 37 },
    { name: '$value', key: null, at: 42 },
  ])
})

/** A filter with explicit parentheses. */
const nested = (what: Parsed['Filter']): string => {
  switch (what.is) {
    case 'and':
    case 'or':
      return `(${what.of.map(nested).join(` ${what.is} `)})`
    case 'not':
      return `not ${nested(what.what)}`
    case 'comparison':
    case 'arithmetic':
      return `(${nested(what.left)} ${what.operator} ${nested(what.right)})`
    case 'call':
      return `${what.name}(${what.of.map(nested).join(', ')})`
    case 'member':
      return what.names.join('/')
    case 'literal':
      return JSON.stringify(what.value)
  }
}

const filters: readonly (readonly [text: string, read: string])[] = [
  ['a eq 1 or b eq 2 and c eq 3', '((a eq 1) or ((b eq 2) and (c eq 3)))'],
  ['( a eq 1 or b eq 2 ) and c eq 3', '(((a eq 1) or (b eq 2)) and (c eq 3))'],
  ['not a eq 1 and not not b eq 2', '(not (a eq 1) and (b eq 2))'],
  ['not(a eq 1 or b eq 2)', 'not ((a eq 1) or (b eq 2))'],
  ['a add 2 mul b sub -1.5e2 ge 4', '(((a add (2 mul b)) sub -150) ge 4)'],
  ['a sub 1 sub 2 EQ 3', '(((a sub 1) sub 2) eq 3)'],
  ["startswith( tolower(name) , 'it''s' )", 'startswith(tolower(name), "it\'s")'],
  ['Datastream/Thing/properties/x eq null', '(Datastream/Thing/properties/x eq null)'],
  ['trueish eq true and android eq false', '((trueish eq true) and (android eq false))'],
  ['t gt 2020-01-01T00:00:00.5+01:00', '(t gt "2020-01-01T00:00:00.5+01:00")'],
  ['overlaps(t,2020-01-01T00:00:00Z/2020-01-02T00:00:00Z)', 'overlaps(t, ["2020-01-01T00:00:00Z","2020-01-02T00:00:00Z"])'],
  ["date(t) eq 2020-01-01 and d lt duration'P1D'", '((date(t) eq "2020-01-01") and (d lt "P1D"))'],
]
for (const [text, expected] of filters)
  test(`${text} is parsed correctly`, t => {
    t.is(nested(read('Filter', text, '$filter')), expected)
  })

test('expansions keep their options as written', t => {
  const [one, two] = read(
    'Expand',
    'Datastreams($select=name;$expand=Observations($top=1;$orderby=a/b desc,id)) , Locations/Things',
    '$expand',
  )
  t.deepEqual(
    one?.options.map(({ text }) => text),
    ['$select=name', '$expand=Observations($top=1;$orderby=a/b desc,id)'],
  )
  t.deepEqual(two?.names, ['Locations', 'Things'])
})

const refused: readonly (readonly [rule: keyof Parsed, text: string, message: string | RegExp])[] = [
  ['Filter', '', /^here: expected .* where the text ends \(position 1\)$/],
  ['Filter', 'a eq 1 and', /where the text ends \(position 11\)$/],
  ['Filter', 'a = 1', /^here: expected .*a comparison \(eq, ne, gt, ge, lt, le\).* where = stands \(position 3\)$/],
  ['Filter', "a eq 'x", 'here: this quotation mark has no partner (position 6)'],
  ['Filter', 'a eq 2020-01-01T00:00', /here: a time needs its zone, as in 2020-04-01T12:00:00Z/],
  ['Filter', `${'('.repeat(31)}a`, 'here: more than 30 parentheses are inside each other (position 31)'],
  ['Filter', 'x'.repeat(4001), 'here: it has 4001 characters; at most 4000 are read (position 4001)'],
  ['Expand', 'A($levels=2)', /expected "?\$count=.* where \$ stands \(position 3\)$/],
  ['OrderBy', 'a down', /expected .*asc.* \(position 3\)$/],
  ['Wkt', 'POLYGON((0 0))x', /where x stands/],
  ['Path', 'Things(1', /expected .* where the text ends/],
]
for (const [rule, text, message] of refused)
  test(`${rule} ${text.slice(0, 40)} is refused with the position of the error`, t => {
    t.throws(() => read(rule, text, 'here'), { instanceOf: Invalid, message })
  })

test('parentheses in quotation marks do not nest', t => {
  t.notThrows(() => read('Filter', `a eq '${'('.repeat(100)}'`, 'here'))
})

test('any input is either parsed or refused', t => {
  const piece = fc.constantFrom(
    ..."a 'x' ( ) , ; / $top=1 $filter= not and or eq add 1 -1 e5 2020-01-01 T00:00Z null geography duration".split(' '),
  )
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(piece).map(words => words.join(' ')),
    fc.array(piece).map(words => words.join('')),
  )
  fc.assert(
    fc.property(fc.constantFrom(...rules), text, (rule, written) => {
      try {
        read(rule, written, 'here')
        return true
      } catch (error) {
        return error instanceof Invalid
      }
    }),
    { numRuns: 3000 },
  )
  t.throws(() => read('Filter', 'not '.repeat(900), 'here'), { instanceOf: Invalid })
  t.notThrows(() => read('Filter', `${'not '.repeat(900)}a`, 'here'))
})
