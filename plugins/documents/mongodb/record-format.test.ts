import test from 'ava'
import fc from 'fast-check'
import { compareText } from 'pounce/sdk/kit'
import { afterPrefix, encodeText } from './record-format.ts'

const text = fc.string({
  unit: fc.constantFrom('a', 'é', '\ud7ff', '\ue000', '\ue001', '\ue003', '\uffff', '𐀀', '😀', '\u{10ffff}'),
  maxLength: 5,
})
const byUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

test('encoded text sorts by code point on servers that compare bytes and on those that compare UTF-16 code units', t => {
  const property = fc.property(text, text, (a, b) => {
    const order = Math.sign(compareText(a, b))
    const [one, other] = [encodeText(a), encodeText(b)]
    return Buffer.compare(Buffer.from(one), Buffer.from(other)) === order && byUnit(one, other) === order
  })
  t.notThrows(() => fc.assert(property, { numRuns: 3000 }))
})

test('exactly the strings with a prefix lie between the prefix and its upper bound', t => {
  const property = fc.property(text, text, (a, b) => {
    const [low, high, found] = [encodeText(a), afterPrefix(encodeText(a)), encodeText(b)]
    return (found >= low && found < high) === b.startsWith(a)
  })
  t.notThrows(() => fc.assert(property, { numRuns: 3000 }))
})

test('lone surrogates stay distinct and can be encoded as UTF-8', t => {
  const encoded = ['\ud800', '\udbff', '\udc00', '\ufffd', '\ud83d\ude00'].map(encodeText)
  t.is(new Set(encoded).size, encoded.length)
  t.true(encoded.every(one => one.isWellFormed()))
})
