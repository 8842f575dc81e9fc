import test from 'ava'
import { type Json, MetadataDocuments } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { byExtractor, documentsOf } from '../support/annotated.ts'
import { nextOf } from '../support/calls.ts'
import { ok, upload } from '../support/scene.ts'
import { newDataset, type Somebody, somebody } from '../support/spaces-and-people.ts'

let server: TestServer
let ann: Somebody

test.before(async () => {
  server = await bootForTest()
  ann = await somebody(server, 'ann')
})
test.after.always(() => server?.stop())

test.serial('every route refuses metadata that is too deep, too large or contains prototype keys', async t => {
  const [dataset, file] = [await newDataset(ann), await upload(ann.call, await newDataset(ann))]
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { d: deep(levels - 1) })
  const ways = (content: string): readonly (readonly [string, string])[] => [
    [`/api/datasets/${dataset}/metadata.jsonld`, `{"agent":${JSON.stringify(byExtractor())},"content":${content}}`],
    [`/api/files/${file}/metadata`, content],
    [`/api/datasets/${dataset}/metadata`, content],
    ['/api/metadata.jsonld', `{"dataset_id":"${dataset}","content":${content}}`],
    ['/api/files/metadata.jsonld', `{"files":["${file}"],"metadata":{"agent":${JSON.stringify(byExtractor())},"content":${content}}}`],
  ]
  const hostile: readonly (readonly [number, string])[] = [
    [400, JSON.stringify(deep(70))],
    [400, '{"a":{"__proto__":{"isAdmin":true}}}'],
    [400, '{"constructor":{"prototype":{}}}'],
    [400, '{"a":1e999}'],
    [413, JSON.stringify({ a: 'x'.repeat(10 * 1024 * 1024) })],
  ]
  const headers = { 'content-type': 'application/json' }
  for (const [expected, content] of hostile)
    for (const [path, body] of ways(content))
      t.is((await ann.call(path, { method: 'POST', body, headers })).status, expected, `${path} ${content.slice(0, 40)}`)
  for (const each of [`/api/datasets/${dataset}`, `/api/files/${file}`]) t.deepEqual(await documentsOf(ann.call, each), [])
})

test.serial('documents of nearly ten megabytes are stored and returned unchanged, also page by page', async t => {
  const dataset = await newDataset(ann)
  const path = `/api/datasets/${dataset}`
  const content = { text: 'é'.repeat(4.9 * 1024 * 1024) }
  for (let n = 0; n < 2; n++) t.is((await ann.post(`${path}/metadata`, content)).status, 200)
  await ann.post(`${path}/metadata`, { small: true })
  const all = await documentsOf(ann.call, path)
  t.deepEqual(
    all.map(document => document.content),
    [{ small: true }, content, content],
  )
  const first = await ann.get(`${path}/metadata.jsonld?limit=2`)
  t.is((first.body as unknown[]).length, 2)
  t.is((await ok<unknown[]>(ann.call(nextOf(first) ?? ''))).length, 1)
})

test.serial('the metadata of several files is returned whatever its total size', async t => {
  const documents = server.get(MetadataDocuments)
  const dataset = await newDataset(ann)
  const ids = await Array.fromAsync({ length: 4 }, () => upload(ann.call, dataset))
  const [empty = '', ...described] = ids
  const agent = { kind: 'extractor', name: 'x', extractorId: 'https://example.org/extractors/x/1', userId: null } as const
  const content = { text: 'x'.repeat(9 * 1024 * 1024) }
  for (const id of described)
    for (let n = 0; n < 3; n++) await documents.add({ target: { kind: 'file', id }, agent, content, author: null })
  const path = `/api/files/metadata.jsonld?${ids.map(id => `id=${id}`).join('&')}`
  const found = await ok<Readonly<Record<string, readonly { content: object }[]>>>(ann.call(path))
  t.deepEqual(Object.keys(found), ids)
  t.deepEqual(found[empty], [])
  for (const id of described) {
    t.is(found[id]?.length, 3)
    for (const document of found[id] ?? []) t.is((document.content as typeof content).text.length, content.text.length)
  }
})

test.serial('pages with large documents are shorter than the limit and neither skip nor repeat documents', async t => {
  const documents = server.get(MetadataDocuments)
  const target = { kind: 'dataset', id: await newDataset(ann) } as const
  const agent = { kind: 'extractor', name: 'x', extractorId: 'https://example.org/extractors/x/1', userId: null } as const
  const add = (content: object) => documents.add({ target, agent, content: content as Json, author: null })
  for (let n = 0; n < 40; n++) await add({ n })
  for (let n = 0; n < 3; n++) await add({ text: 'x'.repeat(3 * 1024 * 1024) })
  const first = await documents.of(target, { limit: 100 })
  t.true(first.items.length < 43 && first.next !== undefined, String(first.items.length))
  const ids = first.items.map(({ id }) => id)
  for (let { next } = first; next; ) {
    const page: Awaited<ReturnType<typeof documents.of>> = await documents.of(target, { limit: 7, after: next })
    ids.push(...page.items.map(({ id }) => id))
    next = page.next
  }
  t.is(new Set(ids).size, 43)
  t.is(ids.length, 43)
  t.is((await documentsOf(ann.call, `/api/datasets/${target.id}`, '?extractor=x')).length, 43)
  t.deepEqual(await documentsOf(ann.call, `/api/datasets/${target.id}`, '?extractor=nobody&limit=3'), [])
})
