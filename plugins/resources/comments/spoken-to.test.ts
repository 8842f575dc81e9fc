import test from 'ava'
import { namesIn, spokenTo } from './spoken-to.ts'

test('addresses and names behind an @ are found, and nothing else', t => {
  t.deepEqual(spokenTo('See @ann@example.org, or (@bob.lee+x@mail.example.org).'), [
    { email: 'ann@example.org' },
    { email: 'bob.lee+x@mail.example.org' },
  ])
  t.deepEqual(spokenTo('Dear @Ann Lovelace, look\n@José María Ñu\nhere'), [
    { words: ['Ann', 'Lovelace'] },
    { words: ['José', 'María', 'Ñu'] },
  ])
  for (const text of ['write to ann@example.org', 'at @ home', '@ann', '@@Ann Lee', 'a@Ann Lee', '', '@'])
    t.deepEqual(spokenTo(text), [], text)
})

test('accents that are written in two parts are one', t => {
  t.deepEqual(spokenTo('@Jose\u0301 Nu'), [{ words: ['José', 'Nu'] }])
})

test('words are read as the longest name first, without what ends a sentence', t => {
  t.deepEqual(namesIn(['Ann', 'Maria', 'Lee.']), [
    ['Ann', 'Maria Lee'],
    ['Ann Maria', 'Lee'],
    ['Ann', 'Maria'],
  ])
  t.deepEqual(namesIn(['Ann']), [])
})

test('so many people are spoken to, however many are named, and long texts are read quickly', t => {
  t.is(spokenTo('@ann@example.org '.repeat(100)).length, 20)
  const began = performance.now()
  for (const text of ['@'.repeat(10_000), '@a '.repeat(3333), `@${'a.'.repeat(5000)}`, `@${'a@'.repeat(5000)}`, '@A '.repeat(3333)])
    spokenTo(text)
  t.true(performance.now() - began < 1000)
})
