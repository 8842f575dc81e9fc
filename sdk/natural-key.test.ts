import test from 'ava'
import { compareText } from './documents/scalars.ts'
import { naturalKey } from './natural-key.ts'

const sorted = (names: readonly string[]): readonly string[] => names.toSorted((a, b) => compareText(naturalKey(a), naturalKey(b)))

test('numbers in names are sorted as numbers, ignoring case and accents', t => {
  const order = ['a', 'A 1', 'a 02', 'a 9', 'a 10', `a ${'9'.repeat(12)}`, `a 1${'0'.repeat(120)}`, 'Éa', 'eb', 'z']
  t.deepEqual(sorted(order.toReversed()), order)
  t.is(naturalKey('ÉCLAIR 007'), naturalKey('eclair 7'))
})

test('the key of any name is short text that a store can hold', t => {
  for (const name of ['', '\ud800', '\u0301', '😀'.repeat(500), '1a'.repeat(10_000), '\ufdfa'.repeat(500)]) {
    const key = naturalKey(name)
    t.true([...key].length <= 150)
    t.true(key.isWellFormed())
  }
})
