import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, ok, refusal, unknownId, upload } from '../support/scene.ts'

let server: TestServer
let ann: Person
let bob: Person

test.before(async () => {
  server = await bootForTest()
  ann = await newPerson(server, 'ann')
  bob = await newPerson(server, 'bob')
})
test.after.always(() => server?.stop())

const extractor = (name: string, version = '1.0') => ({
  '@type': 'cat:extractor',
  name,
  version,
  extractor_id: `https://example.org/extractors/${name}/${version}`,
})
const document = (content: unknown, about: Record<string, unknown> = {}) => ({
  '@context': ['https://example.org/c', { k: 'http://k' }],
  agent: extractor('acme.count'),
  content,
  ...about,
})

for (const kind of ['files', 'datasets'] as const) {
  const target = async (person: Person): Promise<string> => {
    const dataset = await newDataset(person.call)
    return `/api/${kind}/${kind === 'files' ? await upload(person.call, dataset) : dataset}`
  }

  test(`metadata on ${kind} is returned as sent, newest first`, async t => {
    const path = await target(ann)
    const content = { 'with.dot': 1, nested: { list: [1, { a: null }] }, text: 'ü 🍂' }
    t.is(await ok(ann.call(`${path}/metadata.jsonld`, { method: 'POST', json: document(content) })), 'Metadata successfully added to db')
    await ok(
      ann.call(`${path}/metadata.jsonld`, {
        method: 'POST',
        json: document([1, 2], { '@context': 'https://example.org/only', created_at: '2018-06-20 11:40:25Z' }),
      }),
    )
    const [newest, older] = await ok<Record<string, unknown>[]>(ann.call(`${path}/metadata.jsonld`))
    t.like(newest, {
      '@context': ['https://example.org/c', { k: 'http://k' }],
      content,
      agent: { '@type': 'cat:extractor', name: 'acme.count' },
    })
    t.like(older, { '@context': 'https://example.org/only', content: [1, 2], created_at: 'Wed Jun 20 11:40:25 UTC 2018' })
    const { resource_type: type = '', url = '' } = (newest?.['attached_to'] ?? {}) as { resource_type?: string; url?: string }
    t.is(type, kind === 'files' ? 'cat:file' : 'cat:dataset')
    t.true(url.endsWith(path.replace('/api', '')), url)
  })

  test(`metadata on ${kind} can be read and removed by extractor, whose name is matched literally`, async t => {
    const path = await target(ann)
    const add = (name: string, version?: string) =>
      ok(ann.call(`${path}/metadata.jsonld`, { method: 'POST', json: document({ name }, { agent: extractor(name, version) }) }))
    await add('ncsa.cv.face')
    await add('ncsa.cv.faces')
    await add('ncsa.cv.face', '2.0')
    const count = async (query: string) => (await ok<unknown[]>(ann.call(`${path}/metadata.jsonld${query}`))).length
    t.is(await count('?extractor=ncsa.cv.face'), 2)
    t.is(await count('?extractor=ncsa.cv.face/2.0'), 1)
    t.is(await count('?extractor=ncsa.*'), 0)
    t.deepEqual(await ok(ann.call(`${path}/metadata.jsonld?extractor=ncsa.cv.face`, { method: 'DELETE' })), {
      status: 'success',
      count: '2',
    })
    t.is(await count(''), 1)
    t.deepEqual(await ok(ann.call(`${path}/metadata.jsonld`, { method: 'DELETE' })), { status: 'success', count: '1' })
    t.is(await count(''), 0)
  })

  test(`metadata on ${kind} without an agent or content is refused and changes nothing`, async t => {
    const path = await target(ann)
    const wrong = [
      {},
      { content: {} },
      document('text'),
      document(7),
      { agent: extractor('x'), '@context': [] },
      document({}, { agent: { name: 'x', extractor_id: 'https://example.org/extractors/x' } }),
      document({}, { agent: { '@type': 'cat:extractor' } }),
      document({}, { agent: { '@type': 'cat:extractor', extractor_id: 'not a url' } }),
      document({}, { agent: { '@type': 'cat:user', user_id: 'javascript:alert(1)' } }),
    ]
    for (const json of wrong) {
      const { status, message } = await refusal(ann.call(`${path}/metadata.jsonld`, { method: 'POST', json }))
      t.is(status, 400, JSON.stringify(json))
      t.true(message.length > 10)
    }
    t.deepEqual(await ok(ann.call(`${path}/metadata.jsonld`)), [])
  })

  test(`metadata on ${kind} accepts a @context in every form that clients send and rejects others with 400`, async t => {
    const path = await target(ann)
    const post = (context: unknown) => ann.call(`${path}/metadata.jsonld`, { method: 'POST', json: document({}, { '@context': context }) })
    const url = 'https://clowder.ncsa.illinois.edu/contexts/metadata.jsonld'
    for (const context of [url, { k: 'http://example.org/k' }, [url, { k: 'http://example.org/k' }], [], null]) await ok(post(context))
    for (const wrong of ['nope', '', [5], [url, 'nope'], [[url]], 5, true]) {
      const { status, message } = await refusal(post(wrong))
      t.is(status, 400, JSON.stringify(wrong))
      t.regex(message, /@context must be (?:a URL|text)/)
    }
    t.is((await ok<unknown[]>(ann.call(`${path}/metadata.jsonld`))).length, 5)
  })

  test(`tags on ${kind} are normalized, deduplicated and removed by name`, async t => {
    const path = await target(ann)
    const put = (tags: unknown) => ann.call(`${path}/tags`, { method: 'POST', json: { tags } })
    const first = await ok<{ tags: { name: string }[] }>(put(['  red   leaf ', 'oak', 'oak', `${'x'.repeat(120)}`]))
    t.deepEqual(
      first.tags.map(tag => tag.name),
      ['red leaf', 'oak', 'x'.repeat(100)],
    )
    t.deepEqual((await ok<{ tags: unknown[] }>(put(['oak']))).tags, [])
    for (const wrong of [[], [''], ['  '], '', 'a,,b', [1], undefined]) t.is((await put(wrong)).status, 400, JSON.stringify(wrong))
    await ok(ann.call(`${path}/tags`, { method: 'DELETE', json: { tags: ['oak', 'never there'] } }))
    const { tags } = await ok<{ tags: string[] }>(ann.call(`${path}/tags`))
    t.deepEqual(tags, ['red leaf', 'x'.repeat(100)])
    await ok(ann.call(`${path}/tags/remove`, { method: 'POST', json: { tags: ['red leaf'] } }))
    await ok(ann.call(`${path}/tags/remove_all`, { method: 'POST' }))
    t.deepEqual((await ok<{ tags: string[] }>(ann.call(`${path}/tags`))).tags, [])
  })

  test(`fifty tags added to ${kind} concurrently are all stored`, async t => {
    const path = await target(ann)
    await Promise.all(Array.from({ length: 50 }, (_, n) => ok(ann.call(`${path}/tags`, { method: 'POST', json: { tags: [`t${n}`] } }))))
    t.is((await ok<{ tags: string[] }>(ann.call(`${path}/tags`))).tags.length, 50)
  })

  test(`comments on ${kind} can be read, page by page`, async t => {
    const path = await target(ann)
    const id = await (await ann.call(`${path}/comment`, { method: 'POST', json: { text: 'first\nline' } })).text()
    t.regex(id, /^[0-9a-f]{24}$/)
    for (const text of ['second', 'third']) await ann.call(`${path}/comment`, { method: 'POST', json: { text } })
    const page = await ann.call(`${path}/comments?limit=2`)
    t.deepEqual(
      ((await page.json()) as { text: string }[]).map(comment => comment.text),
      ['first\nline', 'second'],
    )
    const next = /<[^>]*(\/api\/[^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1] ?? ''
    t.deepEqual(
      (await ok<{ text: string }[]>(ann.call(next))).map(comment => comment.text),
      ['third'],
    )
    const { status } = await refusal(ann.call(`${path}/comment`, { method: 'POST', json: {} }))
    t.is(status, kind === 'files' ? 404 : 400)
  })

  test(`${kind} of somebody else may be read but not annotated on a public server`, async t => {
    const path = await target(ann)
    for (const part of ['metadata.jsonld', 'tags', 'comments']) t.is((await bob.call(`${path}/${part}`)).status, 200, part)
    t.is((await bob.call(`${path}/metadata.jsonld`, { method: 'POST', json: document({}) })).status, 403)
    t.is((await bob.call(`${path}/tags`, { method: 'POST', json: { tags: ['x'] } })).status, 403)
    t.is((await bob.call(`${path}/comment`, { method: 'POST', json: { text: 'x' } })).status, 403)
    t.is((await server.as()(`${path}/tags`, { method: 'POST', json: { tags: ['x'] } })).status, 401)
    t.is((await ann.call(`/api/${kind}/${unknownId}/tags`)).status, 404)
  })
}
