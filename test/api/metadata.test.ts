import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { byExtractor, byUser, documentsOf, type ReadDocument } from '../support/annotated.ts'
import { callsOf, nextOf } from '../support/calls.ts'
import { newKey } from '../support/people.ts'
import { unknownId, upload } from '../support/scene.ts'
import { newCollection, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

let server: TestServer
let ann: Somebody
let bob: Somebody

test.before(async () => {
  server = await bootForTest()
  ann = await somebody(server, 'ann')
  bob = await somebody(server, 'bob')
})
test.after.always(() => server?.stop())

const added = 'Metadata successfully added to db'

/** A resource of each kind, owned by one person. */
const make: Readonly<Record<string, (by: Somebody) => Promise<string>>> = {
  files: async by => upload(by.call, await newDataset(by)),
  datasets: by => newDataset(by),
  collections: by => newCollection(by),
  spaces: by => newSpace(by),
}
const kindOf = (plural: string): string => plural.slice(0, -1)

for (const plural of Object.keys(make)) {
  const target = async (by: Somebody): Promise<string> => `/api/${plural}/${await make[plural]!(by)}`

  test(`metadata on ${plural} is added, read page by page and removed one by one`, async t => {
    const path = await target(ann)
    for (let n = 0; n < 5; n++) {
      const { status, body } = await ann.post(`${path}/metadata.jsonld`, { agent: byExtractor(), content: { n } })
      t.deepEqual([status, body], [200, added])
    }
    const all = await documentsOf(ann.call, path)
    t.deepEqual(
      all.map(({ content }) => (content as { n: number }).n),
      [4, 3, 2, 1, 0],
    )
    t.is(all[0]?.attached_to.resource_type, `cat:${kindOf(plural)}`)
    t.true(all[0]?.attached_to.url.endsWith(path.replace('/api', '')))
    const pages: string[][] = []
    for (let next: string | undefined = `${path}/metadata.jsonld?limit=2`; next !== undefined; ) {
      const answer = await ann.get(next)
      pages.push((answer.body as ReadDocument[]).map(({ id }) => id))
      next = nextOf(answer)
    }
    t.deepEqual(
      pages.map(page => page.length),
      [2, 2, 1],
    )
    t.deepEqual(
      pages.flat(),
      all.map(({ id }) => id),
    )
    t.deepEqual((await ann.get(`/api/metadata.jsonld/${all[1]?.id}`)).body, all[1])
    const { status, body } = await ann.remove(`/api/metadata.jsonld/${all[1]?.id}`)
    t.deepEqual([status, body], [200, { status: 'ok' }])
    t.is((await documentsOf(ann.call, path)).length, 4)
    t.is((await ann.remove(`/api/metadata.jsonld/${all[1]?.id}`)).status, 404)
    t.deepEqual((await ann.remove(`${path}/metadata.jsonld`)).body, { status: 'success', count: '4' })
  })

  test(`strangers can read but not change metadata on ${plural} of a public server`, async t => {
    const path = await target(ann)
    await ann.post(`${path}/metadata.jsonld`, { agent: byExtractor(), content: {} })
    const [document] = await documentsOf(bob.call, path)
    t.is((await bob.post(`${path}/metadata.jsonld`, { agent: byExtractor(), content: {} })).status, 403)
    t.is((await bob.remove(`${path}/metadata.jsonld`)).status, 403)
    t.is((await bob.remove(`/api/metadata.jsonld/${document?.id}`)).status, 403)
    const named = { [`${kindOf(plural)}_id`]: path.split('/').at(-1), content: { a: 1 } }
    t.is((await bob.post('/api/metadata.jsonld', named)).status, 403)
    t.is((await callsOf(server.as()).post('/api/metadata.jsonld', named)).status, 401)
    t.is((await callsOf(server.as()).remove(`/api/metadata.jsonld/${document?.id}`)).status, 401)
    t.is((await documentsOf(ann.call, path)).length, 1)
    t.is((await ann.get(`/api/${plural}/${unknownId}/metadata.jsonld`)).status, 404)
    t.is((await ann.remove(`/api/${plural}/${unknownId}/metadata.jsonld`)).status, 404)
    t.is((await ann.post(`/api/${plural}/${unknownId}/metadata.jsonld`, { agent: byExtractor(), content: {} })).status, 404)
  })

  test(`metadata that a user adds to ${plural} has the user as agent, and its HTML is escaped`, async t => {
    const path = await target(ann)
    const content = { 'a <b>': '<script>alert(1)</script>', list: [1, 2] }
    const context = ['https://example.org/c', { 'a <b>': 'http://a' }]
    const { status, body } = await ann.post('/api/metadata.jsonld', {
      [`${kindOf(plural)}_id`]: path.split('/').at(-1),
      '@context': context,
      content,
    })
    t.is(status, 200, JSON.stringify(body))
    const { cards, table, document } = body as { cards: string; table: string; document: ReadDocument }
    t.false(/<script|<b>/.test(cards + table), cards)
    t.regex(table, /&lt;script&gt;/)
    t.deepEqual(await documentsOf(ann.call, path), [document])
    t.deepEqual([document.content, document['@context']], [content, context])
    t.is(document.agent['@type'], 'cat:user')
    t.regex(document.agent.name, /^ann Number/)
    t.true(document.agent.user_id?.endsWith(`/api/users/${ann.id}`))
  })

  test(`metadata is deleted with its ${kindOf(plural)}`, async t => {
    const path = await target(ann)
    await ann.post(`${path}/metadata.jsonld`, { agent: byExtractor(), content: {} })
    const [document] = await documentsOf(ann.call, path)
    for (let times = 0; times < 2; times++) await ann.remove(path)
    await server.drained()
    t.is((await ann.get(`/api/metadata.jsonld/${document?.id}`)).status, 404)
  })
}

test('metadata shows the current name of its author', async t => {
  const cid = await somebody(server, 'cid')
  const dataset = await newDataset(cid)
  const path = `/api/datasets/${dataset}`
  await cid.post('/api/metadata.jsonld', { dataset_id: dataset, content: { a: 1 } })
  await cid.post(`${path}/metadata.jsonld`, { agent: byUser(cid.id), content: { a: 2 } })
  await cid.post(`${path}/metadata.jsonld`, { agent: byExtractor(), content: { a: 3 } })
  t.is((await cid.post(`/api/users/${cid.id}/updateName?firstName=Cidney&lastName=New`)).status, 200)
  const shown = await documentsOf(cid.call, path)
  t.deepEqual(
    shown.map(({ agent }) => agent.name),
    ['acme.count', 'Cidney New', 'Cidney New'],
  )
  t.deepEqual((await cid.get(`/api/metadata.jsonld/${shown[2]?.id}`)).body, shown[2])
})

test('metadata may name an extractor or an unknown person as agent, but not another account', async t => {
  const path = `/api/datasets/${await newDataset(ann)}`
  const post = (agent: object, by: Pick<Somebody, 'post'> = ann) => by.post(`${path}/metadata.jsonld`, { agent, content: { a: 1 } })
  t.is((await post(byExtractor())).status, 200)
  t.is((await post(byUser(ann.id, 'not my name'))).status, 200)
  t.is((await post({ '@type': 'cat:user', name: 'Someone', user_id: 'https://orcid.org/0000-0000-0000-0001' })).status, 200)
  const refused = await post(byUser(bob.id))
  t.is(refused.status, 403)
  t.regex(JSON.stringify(refused.body), /another account/)
  t.is((await post({ '@type': 'cat:user', user_id: `https://example.org/api/users/${bob.id}?x=1` })).status, 403)
  const asExtractor = callsOf(server.as(await newKey(server, ann.email, ann.password, 'name=extractor&scope=extraction')))
  t.is((await post(byExtractor(), asExtractor)).status, 200)
  t.is((await post(byUser(bob.id), asExtractor)).status, 403)
  const admin = callsOf(server.as(server.admin.key))
  t.is((await admin.post(`${path}/metadata.jsonld?superAdmin=true`, { agent: byUser(bob.id), content: {} })).status, 200)
  const agents = (await documentsOf(ann.call, path)).map(({ agent }) => agent.name).sort()
  t.deepEqual(agents, ['Someone', 'acme.count', 'acme.count', ...agents.filter(name => /Number/.test(name))].sort())
  t.true(agents.some(name => name.startsWith('bob')) && agents.some(name => name.startsWith('ann')), 'names are taken from the accounts')
})

test('null in metadata is treated as absent', async t => {
  const path = `/api/datasets/${await newDataset(ann)}`
  const agent = { ...byExtractor(), name: null, user_id: null }
  t.is((await ann.post(`${path}/metadata.jsonld`, { '@context': null, agent, content: { a: 1 }, created_at: null })).status, 200)
  const own = { '@context': null, dataset_id: path.split('/').at(-1), content: { a: 2 } }
  t.is((await ann.post('/api/metadata.jsonld', own)).status, 200)
  const [latest, first] = await documentsOf(ann.call, path)
  t.is(first?.agent.name, byExtractor().extractor_id)
  t.false('@context' in first!)
  t.false('@context' in latest!)
})

test('null instead of the id of a resource is treated as absent', async t => {
  const dataset = await newDataset(ann)
  const nothing = { file_id: null, collection_id: null, space_id: null }
  t.is((await ann.post('/api/metadata.jsonld', { ...nothing, dataset_id: dataset, content: { a: 1 } })).status, 200)
  t.is((await ann.post('/api/metadata.jsonld', { ...nothing, content: { a: 1 } })).status, 400)
})

test('metadata without an agent can be any object or list; a missing body is rejected with 400', async t => {
  const dataset = await newDataset(ann)
  const file = await upload(ann.call, dataset)
  for (const [path, answer] of [
    [`/api/files/${file}`, 'success'],
    [`/api/datasets/${dataset}`, { status: 'success' }],
  ] as const) {
    const before = (await documentsOf(ann.call, path)).length
    t.is((await ann.post(`${path}/metadata`)).status, 400)
    t.is((await documentsOf(ann.call, path)).length, before)
    t.deepEqual((await ann.post(`${path}/metadata`, {})).body, answer)
    t.deepEqual((await ann.post(`${path}/metadata`, [1])).body, answer)
  }
})

test('the author of a metadata document can remove it without permission on the resource', async t => {
  const [space, dataset] = [await newSpace(ann), await newDataset(bob)]
  await ann.post(`/api/spaces/${space}/updateUsers`, { rolesandusers: { Editor: bob.id } })
  await bob.post(`/api/spaces/${space}/addDatasetToSpace/${dataset}`)
  await ann.post(`/api/datasets/${dataset}/metadata.jsonld`, { agent: byExtractor(), content: { by: 'ann' } })
  await ann.post(`/api/spaces/${space}/removeDataset/${dataset}`)
  const [document] = await documentsOf(ann.call, `/api/datasets/${dataset}`)
  t.is((await ann.remove(`/api/datasets/${dataset}/metadata.jsonld`)).status, 403)
  t.is((await ann.remove(`/api/metadata.jsonld/${document?.id}`)).status, 200)
})

for (const plural of ['files', 'datasets']) {
  test(`the deprecated route to add metadata to ${plural} accepts any object or list as content`, async t => {
    const path = `/api/${plural}/${await make[plural]!(ann)}`
    const { status, body } = await ann.post(`${path}/metadata`, { a: { b: 1 } })
    t.deepEqual([status, body], [200, plural === 'files' ? 'success' : { status: 'success' }])
    t.is((await ann.post(`${path}/metadata`, [1, 'two'])).status, 200)
    await ann.post('/api/metadata.jsonld', { [`${kindOf(plural)}_id`]: path.split('/').at(-1), content: { said: 'by a person' } })
    t.deepEqual((await ann.get(`${path}/technicalmetadatajson`)).body, [[1, 'two'], { a: { b: 1 } }])
    const [, list] = await documentsOf(ann.call, path)
    t.is(list?.agent['@type'], 'cat:extractor')
    t.regex(list?.agent.extractor_id ?? '', /\/extractors\/deprecatedapi$/)
    for (const wrong of ['text', 7, null, true]) t.is((await ann.post(`${path}/metadata`, wrong)).status, 400, String(wrong))
    t.is((await bob.post(`${path}/metadata`, { a: 1 })).status, 403)
    t.is((await ann.post(`/api/${plural}/${unknownId}/metadata`, { a: 1 })).status, 404)
    t.is((await ann.get(`/api/${plural}/${unknownId}/technicalmetadatajson`)).status, 404)
  })

  test(`metadata added to ${plural} by any route is in the feed`, async t => {
    const carl = await somebody(server, 'carl')
    const id = await make[plural]!(carl)
    const ways = [
      () => carl.post(`/api/${plural}/${id}/metadata.jsonld`, { agent: byExtractor(), content: {} }),
      () => carl.post(`/api/${plural}/${id}/metadata`, {}),
      () => carl.post('/api/metadata.jsonld', { [`${kindOf(plural)}_id`]: id, content: {} }),
    ]
    for (const way of ways) t.is((await way()).status, 200)
    await server.drained()
    const lines = (await carl.get('/api/events?limit=50')).body as { event_type: string; object_id: string }[]
    t.is(lines.filter(line => line.event_type === `addMetadata_${kindOf(plural)}` && line.object_id === id).length, ways.length)
  })
}

test('search finds metadata of a resource until it is removed', async t => {
  const dataset = await newDataset(ann)
  const found = async () => {
    await server.drained()
    return ((await ann.get('/api/search?query=quetzalcoatl')).body as { results: { id: string }[] }).results.map(({ id }) => id)
  }
  const { body } = await ann.post('/api/metadata.jsonld', { dataset_id: dataset, content: { bird: 'quetzalcoatl' } })
  t.deepEqual(await found(), [dataset])
  await ann.remove(`/api/metadata.jsonld/${(body as { document: ReadDocument }).document.id}`)
  t.deepEqual(await found(), [])
})

test('metadata added by a user must specify exactly one existing resource', async t => {
  const [dataset, file] = [await newDataset(ann), unknownId]
  const wrong: readonly (readonly [number, object])[] = [
    [400, { content: {} }],
    [400, { section_id: dataset, content: {} }],
    [400, { dataset_id: dataset, file_id: file, content: {} }],
    [400, { dataset_id: dataset }],
    [400, { dataset_id: dataset, content: 'text' }],
    [400, { dataset_id: dataset, content: {}, '@context': 7 }],
    [404, { file_id: file, content: {} }],
    [404, { file_id: dataset, content: {} }],
    [404, { dataset_id: '../../etc', content: {} }],
  ]
  for (const [expected, body] of wrong) t.is((await ann.post('/api/metadata.jsonld', body)).status, expected, JSON.stringify(body))
  t.deepEqual(await documentsOf(ann.call, `/api/datasets/${dataset}`), [])
})

test('an invalid cursor or limit is rejected with 400', async t => {
  const path = `/api/datasets/${await newDataset(ann)}/metadata.jsonld`
  for (const query of ['after=x', 'after=1_2', 'limit=0', 'limit=1001', 'limit=x'])
    t.is((await ann.get(`${path}?${query}`)).status, 400, query)
})
