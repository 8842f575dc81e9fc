import test, { type ExecutionContext } from 'ava'
import { countJson, defaultJsonLimits, parseJson } from './limited-json.ts'
import { Problem } from './problem.ts'

const limits = { maxBytes: 200, maxDepth: 3, maxMembers: 4, maxLeaves: 5 }

const refused = (t: ExecutionContext, text: string | Uint8Array): string => {
  const error = t.throws(() => parseJson(text, limits, 'The body'), { instanceOf: Problem }) as Problem | undefined
  return `${error?.status} ${error?.code}: ${error?.message}`
}

/** As text and as bytes, which are counted by separate loops. */
const bothWays = (text: string): readonly (string | Uint8Array)[] => [text, Buffer.from(text)]

test('JSON within the limits is parsed as by JSON.parse', t => {
  const texts = [
    '{"a":[1,{"b":"x"}],"c":null,"d":"é\\u00e9\\n"}',
    '[]',
    '{}',
    '"text"',
    '1',
    ' [1,2,3,4,5] ',
    '{"a":1,"a":2}',
    '[[[1,2,3,4,5]]]',
  ]
  for (const text of texts) for (const form of bothWays(text)) t.deepEqual(parseJson(form, limits), JSON.parse(text))
})

test('one more than each limit is refused, and the message names the limit', t => {
  for (const form of bothWays('{"a":{"b":{"c":{}}}}'))
    t.is(refused(t, form), '400 invalid: The body must not be nested deeper than 3 levels')
  for (const form of bothWays('{"a":1,"b":[],"c":{"d":1,"e":1}}'))
    t.is(refused(t, form), '413 too-large: The body must have at most 4 members, counted over all its objects')
  for (const form of bothWays('[1,[2,3],4,[5,6]]'))
    t.is(refused(t, form), '413 too-large: The body must have at most 5 values, counted over all its arrays and objects')
  for (const form of bothWays(`"${'é'.repeat(100)}"`)) t.is(refused(t, form), '413 too-large: The body must be at most 200 bytes of JSON')
})

test('characters inside strings are not counted', t => {
  const text = JSON.stringify({ '[{,:"\\': '{{{{[[[[,,,,,,,::::::"\\"\\\\', b: '\\' })
  for (const form of bothWays(text)) t.deepEqual(countJson(form), { depth: 1, members: 2, leaves: 2 })
  for (const form of bothWays(text)) t.deepEqual(parseJson(form, limits), JSON.parse(text))
})

test('limits are checked before parsing', t => {
  for (const form of bothWays('[[[[nonsense')) t.regex(refused(t, form), /nested deeper/)
  for (const form of bothWays('[,,,,,,,,nonsense')) t.regex(refused(t, form), /at most 5 values/)
})

test('keys that reach a prototype are refused in any spelling', t => {
  for (const name of ['__proto__', 'constructor', 'prototype'])
    for (const written of [name, name.replace('o', '\\u006f')])
      for (const form of bothWays(`[{"a":{"${written}":1}}]`))
        t.is(refused(t, form), `400 invalid: The body must not have a member named ${name}`)
})

test('input that is not JSON, not UTF-8 or cannot be stored unchanged is refused', t => {
  t.regex(refused(t, '{"a":'), /^400 invalid: The body is not valid JSON: /)
  t.regex(refused(t, ''), /^400 invalid: The body is not valid JSON: /)
  t.regex(refused(t, '{]}'), /^400 invalid: The body is not valid JSON: /)
  t.is(refused(t, Buffer.from([0x22, 0xff, 0x22])), '400 invalid: The body is not UTF-8')
  t.is(refused(t, '"\\ud800"'), '400 invalid: The body has an unpaired surrogate in a text')
  t.is(refused(t, '{"\\udc00":1}'), '400 invalid: The body has an unpaired surrogate in a text')
  t.is(refused(t, '[1e999]'), '400 invalid: The body has a number that is too large')
  t.is(parseJson(Buffer.from('\ufeff1'), limits), 1)
  t.is(parseJson('"\ufffd"', limits), '\ufffd')
})

test('the default limits allow a typical body of one megabyte', t => {
  const rows = Array.from({ length: 9000 }, (_, n) => ({
    id: `${n}`.padStart(24, '0'),
    name: `A name that is usual ${n}`,
    tags: ['a', 'b'],
  }))
  t.deepEqual(parseJson(JSON.stringify(rows), defaultJsonLimits), rows)
})
