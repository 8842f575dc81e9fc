import { Ajv } from 'ajv'
import test from 'ava'
import { s } from 'pounce/sdk'
import { isPlainlyValid } from './check.ts'
import { kernelSchema } from './kernel-schema.ts'
import { type Node, nodeOf } from './schema-tree.ts'

const values = [
  undefined,
  null,
  true,
  '',
  'a',
  'aa',
  '👍',
  'info',
  'a@b.example',
  0,
  1,
  1.5,
  3,
  Number.NaN,
  [],
  ['a'],
  {},
  { a: 1 },
  { a: 'x' },
]

const schemas = [
  s.String(),
  s.String({ minLength: 2 }),
  s.String({ maxLength: 1 }),
  s.String({ pattern: '^b' }),
  s.Integer({ minimum: 1, maximum: 2 }),
  s.Number({ maximum: 1 }),
  s.Number({ exclusiveMinimum: 1 }),
  s.Boolean(),
  s.Literal('info'),
  s.Union([s.Literal('a'), s.Integer({ minimum: 2 })]),
  s.Array(s.String()),
  s.Object({ a: s.Integer() }),
  s.Object({ a: s.Integer() }, { additionalProperties: false }),
  s.Record(s.String(), s.String()),
]

test('what is plainly valid is valid', t => {
  const ajv = new Ajv({ strict: true, allowUnionTypes: true })
  for (const schema of schemas)
    for (const value of values)
      if (isPlainlyValid(value, nodeOf(schema))) t.true(ajv.validate(schema, value), JSON.stringify([schema, value]))
  t.pass()
})

test('the settings of most starts are plainly valid', t => {
  const { data, http, log, admin } = nodeOf(kernelSchema).properties ?? {}
  const given: readonly [Node | undefined, unknown, unknown][] = [
    [data, '/tmp/x', ''],
    [http?.properties?.['port'], 9000, 'nine'],
    [log?.properties?.['level'], 'warn', 'loud'],
    [admin?.properties?.['email'], 'a@b.example', 'nobody'],
    [admin?.properties?.['password'], 'some-password', 'short'],
  ]
  for (const [node, right, wrong] of given) {
    t.true(node && isPlainlyValid(right, node))
    t.false(node && isPlainlyValid(wrong, node))
  }
})
