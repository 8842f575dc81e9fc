import test from 'ava'
import fc from 'fast-check'
import { wordSpansOf, wordsOf } from './text.ts'

const texts = [
  'Soil moisture, plot-17.csv',
  'Zürich Zu\u0308rich Straße Ærø Łódź',
  '観測データ2021 カタカナ ひらがな',
  'emoji 🌱🌲 and 🇩🇪 text',
  'ﬁeld ½ cup x² Ⅷ',
  '\u0301leading mark',
  '',
]

for (const text of texts)
  test(`spans of ${JSON.stringify(text)} are in order and contain their words`, t => {
    const spans = wordSpansOf(text)
    t.deepEqual(
      spans.map(({ word }) => word),
      wordsOf(text),
    )
    for (const { word, start, end } of spans) t.true(wordsOf(text.slice(start, end)).includes(word))
  })

test('spans of any letters, digits, marks and spaces have the same words as wordsOf', t => {
  const char = fc.constantFrom(...'aZ9_ -.éßλ観カ🌱\u0308')
  fc.assert(
    fc.property(fc.array(char, { maxLength: 30 }), chars => {
      const text = chars.join('').normalize('NFC')
      t.deepEqual(
        wordSpansOf(text).map(({ word }) => word),
        wordsOf(text),
      )
    }),
    { numRuns: 300 },
  )
})
