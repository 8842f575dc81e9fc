import test from 'ava'
import fc from 'fast-check'
import { growsLinearly, usualOrFull } from 'pounce/sdk/testing'
import { Invalid } from '../problem.ts'
import { checkQuery, readQuery, readRegex } from './language.ts'
import { toLuceneRegex } from './regex.ts'
import { RegexAutomaton, TooComplex } from './regex-automaton.ts'
import { pieceFits, wordsOf } from './text.ts'

const runs = Number(process.env['POUNCE_FUZZ_RUNS'] ?? usualOrFull(1000, 20_000))

const parts = [
  'soil',
  'tag',
  'created',
  'exists',
  'name',
  '観測',
  '🌱',
  '"',
  '"two words"',
  '(',
  ')',
  '|',
  ':',
  '==',
  '=',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  '!',
  '/',
  '\\',
  '/a+/',
  '/[a-',
  '{2,3}',
  '*',
  '?',
  '.*',
  '^',
  '$',
  ' ',
  ' ',
  ' ',
  '\t',
  '\u00a0',
  ' AND ',
  ' OR ',
  ' NOT ',
  'CONTAINS',
  '__',
  '2021-04-19',
  '12.5',
  '-',
  ',',
  '{',
  '[',
  ']',
  'metadata.',
  'http://a/b',
  '\ud83c',
  '\u0000',
]
const queryText = fc.oneof(
  { weight: 5, arbitrary: fc.array(fc.constantFrom(...parts), { maxLength: 25 }).map(all => all.join('')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 60 }) },
)

/** The position of the syntax error, or undefined if the text can be parsed. */
function placeOf(text: string, read: (text: string) => unknown): number | undefined {
  try {
    read(text)
    return undefined
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    const position = error.details?.['position']
    if (typeof position !== 'number') throw new Error(`${error.message} has no position`)
    return position
  }
}

test('any text is a query or refused with a position', t => {
  let refused = 0
  fc.assert(
    fc.property(queryText, text => {
      const position = placeOf(text, readQuery)
      if (position !== undefined) refused += 1
      return position === undefined || (position >= 1 && position <= text.length + 1)
    }),
    { numRuns: runs },
  )
  t.true(refused > runs / 100 && refused < runs * 0.95, `${refused} of ${runs} refused`)
})

const regexParts = [
  'a',
  'b',
  'soil',
  '.',
  '*',
  '+',
  '?',
  '{2}',
  '{1,3}',
  '{0,}',
  '(',
  ')',
  '[',
  ']',
  '[^ab]',
  '[a-c]',
  '^',
  '$',
  '|',
  '\\.',
  '\\d',
  '観',
  '🌱',
  'É',
]

test('any text between slashes is an expression that matches as in JavaScript, or refused with a position', t => {
  let read = 0
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...regexParts), { maxLength: 8 }),
      fc.array(fc.constantFrom('a', 'b', 'c', 's', 'soil', '7', '観', '🌱', 'e'), { maxLength: 6 }),
      (of, chars) => {
        const source = of.join('')
        const position = placeOf(source, readRegex)
        if (position !== undefined) return position >= 1 && position <= source.length + 1
        read += 1
        const regex = readRegex(source)
        const word = chars.join('')
        t.is(typeof toLuceneRegex(regex), 'string')
        const plain = new RegExp(source.replaceAll('É', 'e'), 'su')
        return new RegexAutomaton(regex).fits(word) === plain.test(word)
      },
    ),
    { numRuns: runs / 4 },
  )
  t.true(read > runs / 40, `${read} read`)
})

test('a pattern matches like the equivalent expression', t => {
  const isAlike = (piece: string, word: string): boolean => {
    const source = piece.replace(/[*?]/g, sign => (sign === '*' ? '.*' : '.'))
    return pieceFits(piece, word) === new RegExp(/[*?]/.test(piece) ? `^${source}$` : `^${source}`, 'su').test(word)
  }
  const pieces = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?', '🌱'), minLength: 1, maxLength: 8 })
  const words = fc.string({ unit: fc.constantFrom('a', 'b', '🌱'), maxLength: 8 })
  t.notThrows(() => fc.assert(fc.property(pieces, words, isAlike), { numRuns: usualOrFull(500, 5000) }))
})

test('splitting a word of a text again returns the word, in any script', t => {
  const isSame = (text: string): boolean => {
    const words = wordsOf(text)
    const row = words.join(' ')
    const others = [row, text.normalize('NFD')].map(other => wordsOf(other).join(' '))
    return words.every(word => word !== '' && !/[\s_*?]/u.test(word)) && others.every(other => other === row)
  }
  t.notThrows(() => fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), isSame), { numRuns: usualOrFull(500, 5000) }))
})

const hostile: readonly (readonly [what: string, text: (length: number) => string])[] = [
  ['alternatives', length => `${'a|'.repeat(length / 2)}a`],
  ['empty alternatives', length => '|'.repeat(length)],
  ['parentheses', length => '('.repeat(length / 2) + ')'.repeat(length / 2)],
  ['open parentheses', length => '('.repeat(length)],
  ['negations', length => `${'NOT '.repeat(length / 4)}a`],
  ['stars', length => '*a'.repeat(length / 2)],
  ['words', length => 'a '.repeat(length / 2)],
  ['quotation marks', length => '"'.repeat(length - 1)],
  ['operators', length => 'a:'.repeat(length / 2)],
  ['comparisons', length => 'a:b '.repeat(length / 4)],
  ['slashes', length => '/'.repeat(length)],
  ['expressions', length => '/(a*)*(a*)*b/ '.repeat(length / 1000)],
  ['expressions with many ways', length => `/(.*a.*b.*c.*d.*e){3}.{${Math.floor(length / 200)}}/`],
  ['expressions of counts', length => `/${'(a{50}){50}'.repeat(length / 1250)}/`],
  ['nested counts', length => `/${'('.repeat(length / 300)}a${'{2})'.repeat(length / 300)}/`],
  ['blanks', length => ' '.repeat(length)],
  ['backslashes', length => `"${'\\'.repeat(length - 10)}"`],
  ['scripts', length => '観'.repeat(length)],
  ['marks', length => `a${'\u0301'.repeat(length - 1)}`],
]
const checked = (text: string): void => {
  try {
    checkQuery(readQuery(text))
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
  }
}
for (const [what, text] of hostile)
  test(`parsing many ${what} takes at most linear time`, t => {
    t.true(growsLinearly(length => checked(text(length)), 10_000))
  })

test('matching takes time linear in the length of the word', t => {
  const automaton = new RegexAutomaton(readRegex('(a*)*(a|aa)*c'))
  t.false(automaton.fits('a'.repeat(200_000)))
  t.false(pieceFits('*a*a*a*a*a*a*b', 'a'.repeat(20_000)))
  const many = { is: 'repeat', what: { is: 'text', text: 'ab' }, from: 100_000 } as const
  t.throws(() => new RegexAutomaton(many), { instanceOf: TooComplex })
})
