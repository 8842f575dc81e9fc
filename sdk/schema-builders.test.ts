import test from 'ava'
import { s } from 'pounce/sdk'
import { Type } from 'typebox'

const build = (
  t: Pick<
    typeof Type,
    | 'Object'
    | 'Optional'
    | 'String'
    | 'Integer'
    | 'Number'
    | 'Boolean'
    | 'Null'
    | 'Unknown'
    | 'Literal'
    | 'Array'
    | 'Tuple'
    | 'Union'
    | 'Intersect'
    | 'Record'
  >,
) =>
  t.Object(
    {
      text: t.String({ minLength: 1, description: 'd' }),
      maybe: t.Optional(t.Integer({ default: 3 })),
      either: t.Union([t.Literal('a'), t.Literal(1), t.Null()]),
      list: t.Array(t.Object({}), { maxItems: 3 }),
      pair: t.Tuple([t.Number(), t.Boolean()]),
      both: t.Intersect([t.Object({ x: t.Unknown() }), t.Object({ y: t.Optional(t.String()) })]),
      map: t.Record(t.String(), t.Unknown()),
      keyed: t.Record(t.String({ pattern: '^k' }), t.Number()),
    },
    { title: 'All of them' },
  )

test('every constructor builds the same JSON Schema as TypeBox', t => {
  t.deepEqual(JSON.parse(JSON.stringify(build(s))), JSON.parse(JSON.stringify(build(Type))))
})

test('an optional schema stays optional when it is reused', t => {
  const name = s.Optional(s.String())
  t.deepEqual(JSON.parse(JSON.stringify(s.Object({ name, other: s.Optional(name) }))), {
    type: 'object',
    properties: { name: { type: 'string' }, other: { type: 'string' } },
  })
})
