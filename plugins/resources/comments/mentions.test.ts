import test from 'ava'
import { growsLinearly } from 'pounce/sdk/testing'
import { mentionsIn, namesIn } from './mentions.ts'

test('only addresses and names after an @ are found', t => {
  t.deepEqual(mentionsIn('See @ann@example.org, or (@bob.lee+x@mail.example.org).'), [
    { email: 'ann@example.org' },
    { email: 'bob.lee+x@mail.example.org' },
  ])
  t.deepEqual(mentionsIn('Dear @Ann Lovelace, look\n@José María Ñu\nhere'), [
    { words: ['Ann', 'Lovelace'] },
    { words: ['José', 'María', 'Ñu'] },
  ])
  for (const text of ['write to ann@example.org', 'at @ home', '@ann', '@@Ann Lee', 'a@Ann Lee', '', '@'])
    t.deepEqual(mentionsIn(text), [], text)
})

test('decomposed accents are composed', t => {
  t.deepEqual(mentionsIn('@Jose\u0301 Nu'), [{ words: ['José', 'Nu'] }])
})

test('the longest name is tried first, without punctuation that ends a sentence', t => {
  t.deepEqual(namesIn(['Ann', 'Maria', 'Lee.']), [
    ['Ann', 'Maria Lee'],
    ['Ann', 'Maria Lee.'],
    ['Ann Maria', 'Lee'],
    ['Ann Maria', 'Lee.'],
    ['Ann', 'Maria'],
  ])
  t.deepEqual(namesIn(['Ann']), [])
})

test('last names are found with a genitive, an abbreviation at the end and a typographic apostrophe', t => {
  const lastNames = (word: string) => namesIn(['Ann', word]).map(([, last]) => last)
  t.deepEqual(lastNames('Lee'), ['Lee'])
  t.true(lastNames("Lee's").includes('Lee'))
  t.true(lastNames('O’Connor’s').includes("O'Connor"))
  t.true(lastNames('Jr.').includes('Jr.'))
})

test('the number of mentions is limited, and the time grows linearly with the length', t => {
  t.is(mentionsIn('@ann@example.org '.repeat(100)).length, 20)
  for (const [start, piece] of [
    ['', '@'],
    ['', '@a '],
    ['@', 'a.'],
    ['@', 'a@'],
    ['', '@A '],
  ] as const)
    t.true(
      growsLinearly(size => mentionsIn(start + piece.repeat(size / piece.length)), 10_000),
      piece,
    )
})
