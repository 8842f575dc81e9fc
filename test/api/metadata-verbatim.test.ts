import test from 'ava'
import fc from 'fast-check'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { byExtractor, documentsOf } from '../support/annotated.ts'
import { newDataset, type Somebody, somebody } from '../support/spaces-and-people.ts'
import { webUrl } from '../support/web-urls.ts'

let server: TestServer
let ann: Somebody

test.before(async () => {
  server = await bootForTest()
  ann = await somebody(server, 'ann')
})
test.after.always(() => server?.stop())

const refused = new Set(['__proto__', 'constructor', 'prototype'])
/** Names known to cause problems in stores, and arbitrary ones. */
const key = fc
  .oneof(
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'a.b',
        '.',
        '..',
        '$set',
        '$where',
        '$',
        '',
        '_id',
        'id',
        'revision',
        '0',
        '@id',
        'a\u0000b',
        'k~',
        'é',
        'e\u0301',
        ' ',
      ),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
  )
  .filter(name => !refused.has(name))
const leaf = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(number => (Object.is(number, -0) ? 0 : number)),
  fc.boolean(),
  fc.constantFrom(null, '2018-06-20T11:40:25Z', '<script>', '{"$gt":""}', '\u2028', 1e21, 5e-324, 2 ** 53, '\u0000'),
)
const { value } = fc.letrec(tie => ({
  value: fc.oneof({ maxDepth: 6 }, leaf, tie('list'), tie('members')),
  list: fc.array(tie('value'), { maxLength: 5 }),
  members: fc.dictionary(key, tie('value'), { maxKeys: 6, noNullPrototype: true }),
}))
const members = fc.dictionary(key, value, { maxKeys: 6, noNullPrototype: true })
const content = fc.oneof(members, fc.array(value, { maxLength: 5 }))
const context = fc.option(fc.oneof(webUrl(), members, fc.array(fc.oneof(webUrl(), members), { maxLength: 4 })), {
  nil: undefined,
})

/** Also compares the order of members, which deep equality ignores. */
const exactly = (json: unknown): string => JSON.stringify(json)

test('content and context are returned verbatim, whatever they contain', async t => {
  const path = `/api/datasets/${await newDataset(ann)}`
  await fc.assert(
    fc.asyncProperty(content, context, async (said, about) => {
      const document = { ...(about === undefined ? {} : { '@context': about }), agent: byExtractor(), content: said }
      const sent = JSON.parse(JSON.stringify(document)) as typeof document
      const answer = await ann.post(`${path}/metadata.jsonld`, sent)
      if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
      const [read] = await documentsOf(ann.call, path, '?limit=1')
      t.is(exactly(read?.content), exactly(sent.content))
      t.is(exactly(read?.['@context']), exactly(sent['@context']))
      t.is('@context' in (read ?? {}), about !== undefined)
    }),
    { numRuns: 100 },
  )
  await server.drained()
})
