import test from 'ava'
import { canonical, Fingerprint, sameContent } from './fingerprint.ts'

const parsed = (text: string): object => JSON.parse(text) as object

test('the order of members does not matter, that of lists does', t => {
  const one = parsed('{"b":[1,{"y":null,"x":"é"},[{"q":1,"p":2}]],"a":{"2":1,"1":2,"z":3},"__proto__":{"d":1,"c":2}}')
  const other = parsed('{"__proto__":{"c":2,"d":1},"a":{"z":3,"1":2,"2":1},"b":[1,{"x":"é","y":null},[{"p":2,"q":1}]]}')
  t.is(canonical(one), canonical(other))
  t.deepEqual(JSON.parse(canonical(one)), one)
  t.not(canonical([1, 2]), canonical([2, 1]))
})

test('different values have different text', t => {
  const texts = [
    '{}',
    '{"a":null}',
    '{"a":"null"}',
    '{"a":[]}',
    '{"a":{}}',
    '{"a":[null]}',
    '{"__proto__":1}',
    '{"a":[{}]}',
    '{"a":0}',
    '{"a":"0"}',
  ]
  t.is(new Set(texts.map(text => canonical(parsed(text)))).size, texts.length)
})

test('revisions and the order of documents do not matter', t => {
  t.true(sameContent({ id: 'x', n: 1, revision: 3 }, { revision: 9, n: 1, id: 'x' }))
  const [one, other] = [new Fingerprint(), new Fingerprint()]
  for (const id of ['a', 'b', 'c']) one.add({ id, revision: 1 })
  for (const id of ['c', 'a']) other.add({ id, revision: 2 })
  t.false(one.equals(other))
  other.add({ id: 'b', revision: 7 })
  t.true(one.equals(other))
})
