import test from 'ava'
import fc from 'fast-check'
import { Invalid } from '../problem.ts'
import { applyUpdate } from './apply-update.ts'
import { keysOf } from './index-keys.ts'
import { leavesAt, valueAt } from './paths.ts'
import { compareScalars, compareText, sameJson } from './scalars.ts'

test('strings are compared like their UTF-8 bytes', t => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '\ud7ff', '\ue000', '\uffff', '𐀀', '😀', '\u{10ffff}'), maxLength: 4 })
  const property = fc.property(text, text, (a, b) => Math.sign(compareText(a, b)) === Buffer.compare(Buffer.from(a), Buffer.from(b)))
  t.notThrows(() => fc.assert(property, { numRuns: 2000 }))
})

test('scalars of all types have a total order', t => {
  const ordered = [null, -1, 0, 1.5, '', 'a', 'b', false, true]
  t.deepEqual(ordered.toReversed().sort(compareScalars), ordered)
  for (const value of ordered) t.is(compareScalars(value, value), 0)
})

test('JSON is equal regardless of the order of members, but not if a member is missing or inherited', t => {
  t.true(sameJson({ a: [1, { b: null }], c: 'x' }, { c: 'x', a: [1, { b: null }] }))
  for (const [a, b] of [
    [{ a: 1 }, { b: 1 }],
    [{}, { a: 1 }],
    [{ toString: 1 }, {}],
    [
      [1, 2],
      [2, 1],
    ],
    [[], {}],
    [{}, []],
    [null, {}],
    [1, '1'],
    [0, false],
  ] as const) {
    t.false(sameJson(a, b), JSON.stringify([a, b]))
  }
})

test('an index has one entry per distinct element, and one for a document without elements', t => {
  const index = { on: ['state', 'places.dataset'], array: 'places.dataset' }
  const places = [{ dataset: 'a' }, { dataset: 'b' }, { dataset: 'a', folder: 'f' }, {}]
  t.deepEqual(keysOf(index, { state: 's', places }), [
    ['s', 'a'],
    ['s', 'b'],
    ['s', null],
  ])
  for (const document of [
    { state: 's' },
    { state: 's', places: [] },
    { state: 's', places: 'none' },
    { state: 's', places: [{ dataset: {} }] },
  ]) {
    t.deepEqual(keysOf(index, document), [['s', null]])
  }
  t.throws(() => keysOf(index, { state: ['s'], places }), { instanceOf: Invalid })
  t.throws(() => keysOf({ on: ['a.b'] }, { a: [{ b: 1 }] }), { instanceOf: Invalid })
})

test('paths resolve own members only', t => {
  t.deepEqual(leavesAt({ a: 1 }, 'constructor.name'), [null])
  t.is(valueAt({}, '__proto__'), undefined)
  t.is(valueAt(JSON.parse('{"__proto__":{"x":1}}'), '__proto__.x'), 1)
})

test('an update of __proto__ creates a member and modifies no prototype', t => {
  const document: Record<string, unknown> = {}
  applyUpdate(document, { set: JSON.parse('{"__proto__":{"x":1}}') })
  t.deepEqual(Object.keys(document), ['__proto__'])
  t.is((document as { x?: number }).x, undefined)
  t.is(({} as { x?: number }).x, undefined)
})

test('keepLast of 0 empties the array; an increment cannot exceed the range of numbers', t => {
  const document = { list: [1], count: Number.MAX_VALUE }
  applyUpdate(document, { push: { list: { values: [2, 3], keepLast: 0 } } })
  t.deepEqual(document.list, [])
  t.throws(() => applyUpdate(document, { inc: { count: Number.MAX_VALUE } }), { instanceOf: Invalid })
  t.throws(() => applyUpdate(document, { inc: { count: Number.NaN } }), { instanceOf: Invalid })
  t.throws(() => applyUpdate(document, { set: { '': 1 } }), { instanceOf: Invalid })
})
