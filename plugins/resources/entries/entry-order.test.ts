import test from 'ava'
import { compareText } from 'pounce/sdk/kit'
import { compareKeys, entryNameKey, typeKey } from './entry-order.ts'

const sorted = (names: readonly string[]): readonly string[] => names.toSorted((a, b) => compareText(entryNameKey(a), entryNameKey(b)))

test('numbers in names are compared as numbers', t => {
  const inOrder = [
    'run 1',
    'run 2',
    'run 2b',
    'run 10',
    'run 10 a',
    'run 100',
    `run ${'9'.repeat(12)}`,
    `run 1${'0'.repeat(12)}`,
    `run 1${'0'.repeat(120)}`,
    'run x',
  ]
  t.deepEqual(sorted(inOrder.toReversed()), inOrder)
  t.deepEqual(sorted(['v1.10', 'v1.9', 'v0.20']), ['v0.20', 'v1.9', 'v1.10'])
})

test('case, accents and leading zeros make no difference', t => {
  for (const [a, b] of [
    ['ÄHRE.csv', 'ahre.csv'],
    ['img007', 'IMG7'],
    ['000', '0'],
    ['é', 'e\u0301'],
  ] as const)
    t.is(entryNameKey(a), entryNameKey(b))
})

test('every name has a key of bounded length', t => {
  for (const name of ['', '\ud800', '\0', '٣', '😀 1']) t.is(typeof entryNameKey(name), 'string')
  t.true(entryNameKey('1a'.repeat(10_000)).length <= 3 * 400)
})

test('types are sorted by name, and files of one type by their names', t => {
  const file = (contentType: string, name: string) => ({ contentType, name })
  const inOrder = [file('text', 'z'), file('text/csv', 'a 2'), file('text/csv', 'a 10'), file('text/csv-schema', 'a')]
  const keys = inOrder.map(each => typeKey(each.contentType, entryNameKey(each.name)))
  t.deepEqual(keys.toSorted(compareText), keys)
})

test('entries are sorted as in document stores', t => {
  const texts = ['', 'a', 'ab', 'b', '\ud7ff', '\ue000', '\uffff', '😀', '😀a', 'a😀', 'a\uffff']
  for (const a of texts) for (const b of texts) t.is(Math.sign(compareKeys([a, 'x'], [b, 'x'])), Math.sign(compareText(a, b)))
  t.true(compareKeys([2, 'b'], [10, 'a']) < 0)
  t.true(compareKeys(['same', 'b'], ['same', 'a']) > 0)
})
