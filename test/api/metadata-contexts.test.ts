import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { callsOf, idOf } from '../support/calls.ts'
import { unknownId } from '../support/scene.ts'
import { type Somebody, somebody } from '../support/spaces-and-people.ts'

let server: TestServer
let ann: Somebody
let bob: Somebody

test.before(async () => {
  server = await bootForTest()
  ann = await somebody(server, 'ann')
  bob = await somebody(server, 'bob')
})
test.after.always(() => server?.stop())

const keep = (name: string, context: unknown) => ann.post('/api/contexts', { context_name: name, '@context': context })

for (const [form, context] of Object.entries({
  text: 'https://example.org/c.jsonld',
  object: { 'a.b': { '@id': 'http://a', '@type': '@id' }, $set: 'http://s' },
  list: ['https://example.org/c.jsonld', { k: 'http://k' }],
}))
  test(`a context given as ${form} is returned unchanged, by id and by name`, async t => {
    const id = await idOf(keep(`my ${form}/1`, context))
    t.deepEqual((await bob.get(`/api/contexts/${id}`)).body, { '@context': context })
    t.deepEqual((await bob.get(`/api/contexts/${encodeURIComponent(`my ${form}/1`)}/context.json`)).body, { '@context': context })
  })

test('of several contexts with the same name, the oldest is returned', async t => {
  const first = await idOf(keep('twice', { n: 'http://1' }))
  await idOf(keep('twice', { n: 'http://2' }))
  t.deepEqual((await ann.get('/api/contexts/twice/context.json')).body, { '@context': { n: 'http://1' } })
  await ann.remove(`/api/contexts/${first}`)
  t.deepEqual((await ann.get('/api/contexts/twice/context.json')).body, { '@context': { n: 'http://2' } })
})

test('a context can be removed by its author or a server admin', async t => {
  const id = await idOf(keep('mine', {}))
  t.is((await bob.remove(`/api/contexts/${id}`)).status, 403)
  t.is((await callsOf(server.as()).remove(`/api/contexts/${id}`)).status, 401)
  const { status, body, headers } = await ann.remove(`/api/contexts/${id}`)
  t.deepEqual([status, body], [200, `The context ${id} has been removed`])
  t.regex(headers.get('content-type') ?? '', /^text\/plain/)
  t.is((await ann.get(`/api/contexts/${id}`)).status, 404)
  t.is((await ann.remove(`/api/contexts/${id}`)).status, 404)
  const other = await idOf(keep('mine', {}))
  t.is((await callsOf(server.as(server.admin.key)).remove(`/api/contexts/${other}`)).status, 200)
})

test('invalid contexts, and those of anonymous callers, are refused', async t => {
  for (const body of [
    {},
    { context_name: 'a' },
    { '@context': {} },
    { context_name: '', '@context': {} },
    { context_name: 'a', '@context': 7 },
    { context_name: 'a', '@context': 'nope' },
  ])
    t.is((await ann.post('/api/contexts', body)).status, 400, JSON.stringify(body))
  t.is((await callsOf(server.as()).post('/api/contexts', { context_name: 'a', '@context': {} })).status, 401)
  t.is((await ann.get(`/api/contexts/${unknownId}`)).status, 404)
  t.is((await ann.get('/api/contexts/nobody%20made%20it/context.json')).status, 404)
})

test('all callers read the base context, even with a stale key', async t => {
  const { status, body } = await callsOf(server.as('stale')).get('/contexts/metadata.jsonld')
  t.is(status, 200)
  const context = (body as { '@context': Record<string, unknown> })['@context']
  for (const member of ['agent', 'content', 'created_at', 'extractor_id', 'user_id', 'attached_to', 'cat'])
    t.true(member in context, member)
})
