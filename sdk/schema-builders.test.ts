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

test('times are printed as Java does it, in UTC, whatever the order of their days', t => {
  const day = 86_400_000
  const times = [0, 1, -1, 59_999, day - 1, day, 1_529_494_825_000, 951_782_400_000, -day, 253_402_300_799_999]
  for (const ms of [...times, ...times.toReversed(), ...times]) {
    // `Wed, 20 Jun 2018 11:40:25 GMT`
    const [, weekday = '', date = '', month = '', year = '', clock = ''] =
      /^(\w+), (\d+) (\w+) (\d+) (\S+) GMT$/.exec(new Date(ms).toUTCString()) ?? []
    const expected = `${weekday} ${month} ${date} ${clock} UTC ${Number(year)}`
    t.is(s.toV1Date(new Date(ms)), expected)
    t.is(s.toV1Date(new Date(ms).toISOString()), expected)
  }
  t.is(s.toV1Date('2018-06-20T24:00:00.000Z'), 'Thu Jun 21 00:00:00 UTC 2018')
  t.is(s.toV1Date('2018-06-20T11:40:25+02:00'), 'Wed Jun 20 09:40:25 UTC 2018')
  t.is(s.toV1Date('2018-02-30T11:40:25.000Z'), s.toV1Date(new Date('2018-02-30T11:40:25.000Z')))
})
