import test from 'ava'
import fc from 'fast-check'
import { Invalid } from '../problem.ts'
import { checkQuery, readQuery, readRegex } from './language.ts'
import { toLuceneRegex } from './regex.ts'
import { RegexAutomaton, TooComplex } from './regex-automaton.ts'
import { pieceFits, wordsOf } from './text.ts'

const runs = Number(process.env['POUNCE_FUZZ_RUNS'] ?? 20_000)

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

/** Reads it; the refusal's place, or undefined when it could be read. */
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

test('any text is a query, or refused at a place in it', t => {
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

test('any text between slashes is an expression that answers as JavaScript does, or refused at its place', t => {
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

test('a pattern fits as an expression would', t => {
  const isAlike = (piece: string, word: string): boolean => {
    const source = piece.replace(/[*?]/g, sign => (sign === '*' ? '.*' : '.'))
    return pieceFits(piece, word) === new RegExp(/[*?]/.test(piece) ? `^${source}$` : `^${source}`, 'su').test(word)
  }
  const pieces = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?', '🌱'), minLength: 1, maxLength: 8 })
  const words = fc.string({ unit: fc.constantFrom('a', 'b', '🌱'), maxLength: 8 })
  t.notThrows(() => fc.assert(fc.property(pieces, words, isAlike), { numRuns: 5000 }))
})

test('words of a text are words of themselves, however it is written', t => {
  const isSame = (text: string): boolean => {
    const words = wordsOf(text)
    const row = words.join(' ')
    const others = [row, text.normalize('NFD')].map(other => wordsOf(other).join(' '))
    return words.every(word => word !== '' && !/[\s_*?]/u.test(word)) && others.every(other => other === row)
  }
  t.notThrows(() => fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), isSame), { numRuns: 5000 }))
})

const hostile: readonly (readonly [what: string, text: string])[] = [
  ['alternatives', `${'a|'.repeat(4999)}a`],
  ['empty alternatives', '|'.repeat(10_000)],
  ['parentheses', '('.repeat(5000) + ')'.repeat(5000)],
  ['open parentheses', '('.repeat(10_000)],
  ['negations', `${'NOT '.repeat(2499)}a`],
  ['stars', '*a'.repeat(5000)],
  ['words', 'a '.repeat(5000)],
  ['quotation marks', '"'.repeat(9999)],
  ['operators', 'a:'.repeat(5000)],
  ['comparisons', 'a:b '.repeat(2500)],
  ['slashes', '/'.repeat(10_000)],
  ['expressions', '/(a*)*(a*)*b/ '.repeat(10)],
  ['expressions with many ways', '/(.*a.*b.*c.*d.*e){3}.{50}/'],
  ['expressions of counts', `/${'(a{50}){50}'.repeat(3)}/`],
  ['nested counts', `/${'('.repeat(30)}a${'{2})'.repeat(30)}/`],
  ['blanks', ' '.repeat(10_000)],
  ['backslashes', `"${'\\'.repeat(9990)}"`],
  ['scripts', '観'.repeat(10_000)],
  ['marks', `a${'\u0301'.repeat(9999)}`],
]
for (const [what, text] of hostile) {
  test(`${what} without end take less than a second`, t => {
    const before = process.cpuUsage()
    try {
      checkQuery(readQuery(text))
    } catch (error) {
      t.true(error instanceof Invalid, String(error))
    }
    const { user, system } = process.cpuUsage(before)
    t.true((user + system) / 1000 < 1000, `${(user + system) / 1000} ms`)
  })
}

test('matching is linear in the word', t => {
  const automaton = new RegexAutomaton(readRegex('(a*)*(a|aa)*c'))
  t.false(automaton.fits('a'.repeat(200_000)))
  t.false(pieceFits('*a*a*a*a*a*a*b', 'a'.repeat(20_000)))
  const many = { is: 'repeat', what: { is: 'text', text: 'ab' }, from: 100_000 } as const
  t.throws(() => new RegexAutomaton(many), { instanceOf: TooComplex })
})
