import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { byExtractor, documentsOf } from '../support/annotated.ts'
import { upload } from '../support/scene.ts'
import { newDataset, type Somebody, somebody } from '../support/spaces-and-people.ts'

let server: TestServer
let ann: Somebody

test.before(async () => {
  server = await bootForTest()
  ann = await somebody(server, 'ann')
})
test.after.always(() => server?.stop())

const headers = { 'content-type': 'application/json' }
const members = JSON.stringify(Object.fromEntries(Array.from({ length: 100_001 }, (_, n) => [`k${n}`, n])))
const leaves = `{"a":[${'1,'.repeat(500_000)}1]}`
const deep = `{"a":${'['.repeat(70)}${']'.repeat(70)}}`
const refusals: readonly (readonly [string, number, string, string])[] = [
  [members, 413, 'too-large', 'The body must have at most 100000 members, counted over all its objects'],
  [leaves, 413, 'too-large', 'The body must have at most 500000 values, counted over all its arrays and objects'],
  [deep, 400, 'invalid', 'The body must not be nested deeper than 64 levels'],
]

test('every metadata route refuses too many members, values or levels before parsing and stores nothing', async t => {
  const [dataset, file] = [await newDataset(ann), await upload(ann.call, await newDataset(ann))]
  const agent = JSON.stringify(byExtractor())
  const ways = (content: string): readonly (readonly [string, string])[] => [
    [`/api/datasets/${dataset}/metadata.jsonld`, `{"agent":${agent},"content":${content}}`],
    [`/api/files/${file}/metadata.jsonld`, `{"agent":${agent},"content":${content}}`],
    [`/api/files/${file}/metadata`, content],
    [`/api/datasets/${dataset}/metadata`, content],
    ['/api/metadata.jsonld', `{"dataset_id":"${dataset}","content":${content}}`],
    ['/api/files/metadata.jsonld', `{"files":["${file}"],"metadata":{"agent":${agent},"content":${content}}}`],
  ]
  for (const [content, status, code, message] of refusals)
    for (const [path, body] of ways(content)) {
      const answer = await ann.call(path, { method: 'POST', body, headers })
      const said = (await answer.json()) as { code: string; message: string }
      t.deepEqual([answer.status, said.code, said.message], [status, code, message], path)
    }
  for (const each of [`/api/datasets/${dataset}`, `/api/files/${file}`]) t.deepEqual(await documentsOf(ann.call, each), [])
})

test('JSON in a query has limits of its own', async t => {
  const nested = `${'['.repeat(70)}${']'.repeat(70)}`
  for (const path of [
    `/api/search/json?query=${nested}`,
    `/api/geostreams/datapoints?geojson=${nested}`,
    `/api/geostreams/datapoints?attributes=a:${nested}`,
  ]) {
    const { status, body } = await ann.get(path)
    t.is(status, 400, path)
    t.regex(JSON.stringify(body), /nested deeper than 64 levels/, path)
  }
})

test('metadata sent with an upload has limits of its own, and a refused upload leaves no file', async t => {
  const dataset = await newDataset(ann)
  for (const [text, status] of [
    [`{"@context":"x","a":${'['.repeat(70)}${']'.repeat(70)}}`, 400],
    [`{"@context":"x","a":[${'1,'.repeat(100_000)}1]}`, 413],
  ] as const) {
    const form = new FormData()
    form.set('a.txt', text)
    form.set('File', new File(['bytes'], 'a.txt'))
    const answer = await ann.call(`/api/uploadToDataset/${dataset}`, { method: 'POST', body: form })
    t.is(answer.status, status, await answer.text())
  }
  const { body } = await ann.get(`/api/datasets/${dataset}/files`)
  t.deepEqual(body, [])
})
