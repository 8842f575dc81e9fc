import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { newFolder, ok, refusal, unknownId, upload } from '../support/scene.ts'
import { letIn, newCollection, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

interface Result {
  readonly results: readonly ({ readonly name: string } | { readonly collectionname: string })[]
  readonly total_size: number
}

let server: TestServer
let ann: Somebody
/** Has resources that are invisible to ann. */
let bob: Somebody
let eve: Somebody
/** IDs of the resources below, by name. */
let ids: Readonly<Record<string, string>>

/** Two nested collections, datasets in none, one and both of them, nested folders, and files in these and in two datasets. */
test.before(async () => {
  server = await bootForTest({ config: { access: { private: true } } })
  ann = await somebody(server, 'ann')
  bob = await somebody(server, 'bob')
  eve = await somebody(server, 'eve')
  const [outer, inner] = [await newCollection(ann, { name: 'outer' }), await newCollection(ann, { name: 'inner' })]
  await ann.post(`/api/collections/${outer}/addSubCollection/${inner}`)
  const make = (name: string): Promise<string> => newDataset(ann, { name })
  const [marsh, field, lake] = [await make('marsh'), await make('field'), await make('lake')]
  for (const collection of [outer, inner]) await ann.post(`/api/collections/${collection}/datasets/${marsh}`)
  await ann.post(`/api/collections/${inner}/datasets/${field}`)
  const folder = await newFolder(ann.call, marsh, 'folder')
  const below = await newFolder(ann.call, marsh, 'below', folder)
  const deep = await upload(ann.call, marsh, 'x', 'deep.txt', { query: `extract=false&folder_id=${below}` })
  const shared = await upload(ann.call, lake, 'x', 'shared.txt')
  await ok(ann.call(`/api/datasets/${field}/files/${shared}`, { method: 'POST' }))
  ids = { outer, inner, marsh, field, lake, folder, below, deep, shared }
  await server.drained()
})
test.after.always(() => server?.stop())

/** Runs the query with `{name}` replaced by IDs, and returns the names of the results. */
const written = (query: string): string => encodeURIComponent(query.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? ''))
const found = async (query: string, person = ann, more = ''): Promise<string> => {
  const { results, total_size } = await ok<Result>(person.call(`/api/search?query=${written(query)}${more}`))
  const names = results.map(item => ('name' in item ? item.name : item.collectionname)).sort()
  return names.length === total_size ? names.join(' ') : `${names} of ${total_size}`
}

const answers: readonly (readonly [query: string, found: string])[] = [
  ['contains:{deep}', 'marsh'],
  ['contains:{shared}', 'field lake'],
  ['contains:{folder}', 'marsh'],
  ['contains:{below}', 'marsh'],
  ['contains:{marsh}', 'inner outer'],
  ['contains:{field}', 'inner'],
  ['contains:{lake}', ''],
  ['contains:{inner}', 'outer'],
  ['contains:{outer}', ''],
  ['contains=={field}', 'inner'],
  ['contains:"{field}"', 'inner'],
  ['contains CONTAINS {field}', 'inner'],
  ['contains:{deep}|{inner}', 'marsh outer'],
  ['contains:{deep}|"{inner}"', 'marsh outer'],
  ['contains:{deep} OR contains:{shared}', 'field lake marsh'],
  ['contains:{field} contains:{marsh}', 'inner'],
  ['contains:{shared} name:lake', 'lake'],
  ['NOT contains:{shared} resource_type:dataset', 'marsh'],
  ['NOT (contains:{shared}|{marsh}) NOT resource_type:file', 'marsh'],
  ['contains!={shared}', 'inner marsh outer'],
  ['contains!={shared}|{marsh}', 'marsh'],
  ['lake OR contains:{deep}', 'lake marsh'],
  [`contains:${unknownId}`, ''],
  ['contains:nothing', ''],
  ["contains:5f*|'", ''],
  [`contains:${unknownId}|{inner}`, 'outer'],
  [`NOT contains:${unknownId} resource_type:collection`, 'inner outer'],
  ['exists:metadata.contains', ''],
]
for (const [query, expected] of answers) {
  test(`${query} finds ${expected === '' ? 'nothing' : expected}`, async t => {
    t.is(await found(query), expected)
  })
}

test('contains can be given as a parameter, as JSON, and with other conditions', async t => {
  t.is(await found('{shared}', ann, '&field=contains'), 'field lake')
  t.is(await found('contains:{marsh}', ann, `&collectionid=${ids['outer']}`), 'inner')
  t.is(await found('contains:{marsh}', ann, '&resource_type=dataset'), '')
  t.is(await found('contains:{shared}', ann, '&sort=created&order=asc'), 'field lake')
  const items = (operator: string) => encodeURIComponent(JSON.stringify([{ field_key: 'contains', operator, field_value: ids['field'] }]))
  for (const [operator, expected] of [
    ['==', 1],
    [':', 1],
    ['!=', 4],
  ] as const)
    t.like(await ok<Result>(ann.call(`/api/search/json?query=${items(operator)}`)), { total_size: expected }, operator)
})

test('contains is refused with exists, missing, wildcards, patterns and other operators', async t => {
  for (const query of ['exists:contains', 'missing:contains', 'contains:*', 'contains:/5f/', 'NOT (a OR exists:contains)']) {
    const { status, message } = await refusal(ann.call(`/api/search?query=${written(query)}`))
    t.deepEqual([status, message.slice(0, 37)], [400, 'contains must be the id of a resource'], query)
  }
  t.is((await ann.call(`/api/search?query=${written('contains>{deep}')}`)).status, 400)
  t.is((await ann.call('/api/search?field=contains')).status, 400)
})

test('results omit hidden resources, and the containers of a hidden resource are not revealed', async t => {
  const [space, team] = [await newSpace(bob), await newSpace(bob)]
  const hidden = await newDataset(bob, { name: 'hidden' })
  const [open, closed] = [await newCollection(bob, { name: 'open', space }), await newCollection(bob, { name: 'closed' })]
  for (const collection of [open, closed]) await bob.post(`/api/collections/${collection}/datasets/${hidden}`)
  await letIn(bob, space, 'Viewer', eve)
  await server.drained()
  ids = { ...ids, hidden }
  t.is(await found('contains:{hidden}', bob), 'closed open')
  t.is(await found('contains:{hidden}', eve), '')
  t.is(await found('contains!={hidden}', eve), 'open')
  await bob.post(`/api/spaces/${team}/addDatasetToSpace/${hidden}`)
  await letIn(bob, team, 'Viewer', eve)
  await server.drained()
  t.is(await found('contains:{hidden}', eve), 'open')
})

test('changes apply at once, before they are indexed', async t => {
  const [pond, brook] = [await newDataset(bob, { name: 'pond' }), await newDataset(bob, { name: 'brook' })]
  await server.drained()
  const file = await upload(bob.call, pond, 'x', 'leaf.txt')
  ids = { ...ids, file, pond }
  t.is(await found('contains:{file}', bob), 'pond')
  await ok(bob.call(`/api/datasets/${brook}/files/${file}`, { method: 'POST' }))
  t.is(await found('contains:{file}', bob), 'brook pond')
  await ok(bob.call(`/api/datasets/${pond}/filesRemove/${file}/true`, { method: 'POST' }))
  t.is(await found('contains:{file}', bob), 'brook')
})

test('a dataset in the trash is in no collection until it is restored', async t => {
  const [dataset, collection] = [await newDataset(bob, { name: 'old' }), await newCollection(bob, { name: 'shelf' })]
  await bob.post(`/api/collections/${collection}/datasets/${dataset}`)
  await server.drained()
  ids = { ...ids, dataset }
  t.is(await found('contains:{dataset}', bob), 'shelf')
  await ok(bob.call(`/api/datasets/${dataset}`, { method: 'DELETE' }))
  t.is(await found('contains:{dataset}', bob), '')
  await ok(bob.call(`/api/datasets/restore/${dataset}`, { method: 'PUT' }))
  t.is(await found('contains:{dataset}', bob), 'shelf')
})

test('each id counts as a condition, of which a query has at most 500', async t => {
  const many = (count: number): string => ['{shared}', ...Array.from({ length: count - 1 }, (_, n) => n.toString(16))].join('|')
  t.is(await found(`contains:${many(500)}`), 'field lake')
  t.is(await found(many(500), ann, '&field=contains'), 'field lake')
  for (const query of [`query=${written(`contains:${many(501)}`)}`, `field=contains&query=${written(many(501))}`])
    t.like(await refusal(ann.call(`/api/search?${query}`)), { status: 400, message: 'The query has 501 conditions; the maximum is 500' })
})
