import test from 'ava'
import type { SearchQuery } from '../ports/search-index.ts'
import { Invalid } from '../problem.ts'
import { readQuery } from './language.ts'

const word = (text: string): SearchQuery => ({ op: 'word', text })
const phrase = (text: string): SearchQuery => ({ op: 'phrase', text })
const field = (name: string, is: Extract<SearchQuery, { op: 'field' }>['is'], ...values: readonly string[]): SearchQuery => ({
  op: 'field',
  field: name,
  is,
  values,
})
const contains = (name: string, ...values: readonly string[]): SearchQuery => field(name, 'contains', ...values)
const and = (...all: readonly SearchQuery[]): SearchQuery => ({ op: 'and', all })
const or = (...any: readonly SearchQuery[]): SearchQuery => ({ op: 'or', any })
const not = (query: SearchQuery): SearchQuery => ({ op: 'not', not: query })

const readings: readonly (readonly [text: string, query: SearchQuery])[] = [
  ['  ', { op: 'all' }],
  ['leaf', word('leaf')],
  ['leaf "two words"', and(word('leaf'), phrase('two words'))],
  ['"a \\"quoted\\" word \\\\ C:\\x"', phrase('a "quoted" word \\ C:\\x')],
  ['leaf AND oak', and(word('leaf'), word('oak'))],
  ['leaf OR oak ash', or(word('leaf'), and(word('oak'), word('ash')))],
  ['(leaf OR oak) ash', and(or(word('leaf'), word('oak')), word('ash'))],
  ['NOT leaf', not(word('leaf'))],
  ['NOT NOT leaf', word('leaf')],
  ['oak NOT (leaf|ash)', and(word('oak'), not(or(word('leaf'), word('ash'))))],
  ['not and or', and(word('not'), word('and'), word('or'))],
  ['leaf | "red oak" |/as+h/', or(word('leaf'), phrase('red oak'), { op: 'regex', regex: readAsh() })],
  ['so*l so.*l so?l', and(word('so*l'), word('so*l'), word('so?l'))],
  ['^soil soil$ ^soil$', and(word('soil'), word('*soil'), phrase('soil'))],
  ['soil - north', and(word('soil'), word('north'))],
  ['%', word('%')],
  ['-c', word('-c')],
  ['wow! a/b /var/log', and(word('wow!'), word('a/b'), word('/var/log'))],
  ['two__words', word('two words')],
  ['https://example.org/a?b=c&d', phrase('https://example.org/a?b=c&d')],
  ['Funding__Institution:Illinois', contains('Funding Institution', 'Illinois')],
  ['"Funding Institution":"University of Illinois"', { op: 'phrase', field: 'Funding Institution', text: 'University of Illinois' }],
  ['"a.b": "x y": "c":"z":', and({ op: 'phrase', field: 'a.b', text: 'x y' }, { op: 'phrase', field: 'c', text: 'z' })],
  ['("a":"x":|"y":)', or({ op: 'phrase', field: 'a', text: 'x' }, { op: 'phrase', field: 'a', text: 'y' })],
  ['depth>=12.5', field('depth', 'atLeast', '12.5')],
  ['depth < -3', field('depth', 'less', '-3')],
  ['depth:"12.50"', or({ op: 'phrase', field: 'depth', text: '12.50' }, field('depth', 'equals', '12.50'))],
  ['metadata.a.b=="x y"', field('metadata.a.b', 'equals', 'x y')],
  ['a=b', field('a', 'equals', 'b')],
  ['site!=A1|B2', field('site', 'differs', 'A1', 'B2')],
  ['tag : red|green', contains('tag', 'red', 'green')],
  ['tag:red|"dark green"', or(contains('tag', 'red'), { op: 'phrase', field: 'tag', text: 'dark green' })],
  ['tag CONTAINS leaf', contains('tag', 'leaf')],
  ['tag:tr.*s', contains('tag', 'tr*s')],
  ['tag:*', contains('tag', '*')],
  ['source:http://x.y/z?a=b', contains('source', 'http://x.y/z?a=b')],
  ['created:2021-04-19', contains('created', '2021-04-19')],
  ['created>2021-04-19T10:00:00Z', field('created', 'more', '2021-04-19T10:00:00Z')],
  ['name:/as+h/', { op: 'regex', field: 'name', regex: readAsh() }],
  ['exists:"a.b" missing:c', and({ op: 'exists', field: 'a.b' }, { op: 'missing', field: 'c' })],
  ['exists:a|b', or({ op: 'exists', field: 'a' }, { op: 'exists', field: 'b' })],
  ['"exists":a', contains('exists', 'a')],
  ['"AND"', phrase('AND')],
  ['NEAR(a b)', and(word('NEAR'), and(word('a'), word('b')))],
  ['観測 🙂', and(word('観測'), word('🙂'))],
]

function readAsh() {
  const any = { is: 'repeat', what: { is: 'any' }, from: 0 } as const
  const s = { is: 'repeat', what: { is: 'text', text: 's' }, from: 1 } as const
  return { is: 'sequence', of: [any, { is: 'text', text: 'a' }, s, { is: 'text', text: 'h' }, any] } as const
}

for (const [text, query] of readings) {
  test(`${text.trim() === '' ? 'nothing' : text} is parsed`, t => {
    t.deepEqual(readQuery(text), query)
  })
}

const refusals: readonly (readonly [text: string, position: number, message: RegExp])[] = [
  ['ab "open', 4, /quotation mark has no partner/],
  ['field:', 7, /expected a value, but the query ends/],
  ['a:>b', 3, /expected a value, but found >/],
  [':x', 1, /expected .*a word.*, but found :/],
  ['(a b', 5, /closing parenthesis/],
  ['a b)', 4, /the end/],
  ['a AND', 6, /a word/],
  ['OR a', 1, /a word/],
  ['tag:a|', 7, /a value/],
  ['()', 2, /a word/],
  ['f:(a b)', 3, /a value/],
  ['created:2021-99-99', 9, /created is compared with a date/],
  ['created:yesterday', 9, /created is compared with a date/],
  ['x name>5', 8, /name is text/],
  ['exists>f', 1, /Write exists:field/],
  ['f==/a/', 4, /An expression is only allowed after the operator :/],
  ['/a(b/', 5, /closing parenthesis/],
  ['x /[z-a]/', 4, /z-a ends before it begins/],
  ['/a+*/', 4, /the end/],
  ['/a{3,2}/', 2, /ends before it begins/],
  ['/a{999}/', 2, /at most 100/],
  ['/(((a{50}){50}){50})/', 2, /too many/],
  ['/(.*a.{20}){2}/', 2, /too many alternatives/],
  ['"a":"b":"c"', 8, /expected AND, .* the end or \|, but found :/],
  ['""==a', 1, /Missing field/],
  ['"":"a"', 1, /Missing field/],
]
for (const [text, position, message] of refusals) {
  test(`${text} is refused with the position of the error`, t => {
    const error = t.throws(() => readQuery(text), { instanceOf: Invalid, message })
    t.like(error, { details: { position } })
  })
}

test('a query is limited in length, nesting and the number of terms, alternatives and expressions', t => {
  for (const text of [
    'x'.repeat(10_001),
    '('.repeat(51) + ')'.repeat(51),
    'a '.repeat(501),
    'a|'.repeat(4999).concat('a'),
    '/a/ '.repeat(11),
  ])
    t.throws(() => readQuery(text), { instanceOf: Invalid }, text.slice(0, 20))
  t.notThrows(() => readQuery(`${'('.repeat(50)}a${')'.repeat(50)}`))
  t.notThrows(() => readQuery('x'.repeat(10_000)))
})
