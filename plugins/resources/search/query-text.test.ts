import test from 'ava'
import { Invalid } from 'pounce/sdk'
import { readQuery } from './query-text.ts'

test('nothing typed asks for everything', t => {
  t.deepEqual(readQuery('  '), { op: 'all' })
})

test('words and phrases must all fit', t => {
  t.deepEqual(readQuery('leaf "two words"'), {
    op: 'and',
    all: [
      { op: 'word', text: 'leaf' },
      { op: 'phrase', text: 'two words' },
    ],
  })
})

test('two underscores stand for a blank', t => {
  t.deepEqual(readQuery('Funding__Institution:Illinois'), {
    op: 'field',
    field: 'Funding Institution',
    is: 'contains',
    values: ['Illinois'],
  })
})

test('fields are compared, numbers as numbers', t => {
  t.deepEqual(readQuery('depth>=12.5'), { op: 'field', field: 'depth', is: 'atLeast', values: [12.5] })
  t.deepEqual(readQuery('metadata.a.b=="x y"'), { op: 'field', field: 'a.b', is: 'equals', values: ['x y'] })
  t.deepEqual(readQuery('tag : red|green'), { op: 'field', field: 'tag', is: 'contains', values: ['red', 'green'] })
  t.deepEqual(readQuery('site!=A1'), { op: 'field', field: 'site', is: 'differs', values: ['A1'] })
})

test('a day is a span of time', t => {
  const day = { op: 'field', field: 'created' }
  t.deepEqual(readQuery('created:2021-04-19'), {
    op: 'and',
    all: [
      { ...day, is: 'atLeast', values: [new Date('2021-04-19T00:00:00.000Z')] },
      { ...day, is: 'atMost', values: [new Date('2021-04-19T23:59:59.999Z')] },
    ],
  })
  t.deepEqual(readQuery('created>2021-04-19'), { ...day, is: 'more', values: [new Date('2021-04-19T23:59:59.999Z')] })
})

test('exists and missing name a field', t => {
  t.deepEqual(readQuery('exists:"a.b" missing:c'), {
    op: 'and',
    all: [
      { op: 'exists', field: 'a.b' },
      { op: 'missing', field: 'c' },
    ],
  })
})

test('what cannot be read is refused with its position', t => {
  for (const text of ['"open', ':x', 'field:', 'a:>b', 'created:2021-99-99', `${'x'.repeat(10_001)}`]) {
    t.throws(() => readQuery(text), { instanceOf: Invalid }, text)
  }
  t.like(
    t.throws(() => readQuery('ab "open'), { instanceOf: Invalid }),
    { details: { position: 4 } },
  )
})

test('characters of other query languages are only text', t => {
  t.deepEqual(readQuery('(a) NEAR* ^b -c \\'), {
    op: 'and',
    all: ['(a)', 'NEAR*', '^b', '-c', '\\'].map(text => ({ op: 'word', text })),
  })
})
