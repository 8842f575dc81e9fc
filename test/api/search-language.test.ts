import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, ok, refusal, upload } from '../support/scene.ts'

interface Result {
  readonly results: readonly { readonly name: string }[]
  readonly count: number
  readonly total_size: number
  readonly first?: string
  readonly prev?: string
  readonly next?: string
  readonly last?: string
}

let server: TestServer
let ann: Person
let dataset: string

const contents: readonly (readonly [name: string, metadata: unknown])[] = [
  [
    'alder.txt',
    { depth: '1.0', taken: '2021-04-19T23:30:00Z', site: { label: 'North Field', 'lat.itude': 45.5 }, levels: [1, 10], flag: true },
  ],
  [
    'birch.txt',
    {
      depth: 12.5,
      taken: '2021-04-20',
      site: { label: 'South field' },
      points: [
        { x: 1, name: 'a' },
        { x: 7, name: 'b' },
      ],
      empty: null,
    },
  ],
  [
    'cedar.txt',
    {
      depth: 'deep',
      taken: '2021-04-19T23:30:00-02:00',
      'Funding Institution': 'University of Illinois',
      serial: '12345678901234567890',
      note: '観測データ 🌱',
      sample: '0042',
      source: 'ground\u00adwater',
    },
  ],
]

test.before(async () => {
  server = await bootForTest()
  ann = await newPerson(server, 'ann')
  dataset = await newDataset(ann.call, { name: 'Trees' })
  for (const [name, content] of contents) {
    const file = await upload(ann.call, dataset, 'x', name)
    const agent = { '@type': 'cat:user', user_id: 'https://example.org/u', name: 'U' }
    await ok(ann.call(`/api/files/${file}/metadata.jsonld`, { method: 'POST', json: { agent, content } }))
    if (name !== 'cedar.txt') await ok(ann.call(`/api/files/${file}/tags`, { method: 'POST', json: { tags: ['leaf fall', name[0]] } }))
  }
  await server.drained()
})
test.after.always(() => server?.stop())

const get = (path: string): Promise<Result> => ok<Result>(ann.call(path))
const find = async (query: string, more = ''): Promise<string> =>
  (await get(`/api/search?query=${encodeURIComponent(query)}&datasetid=${dataset}${more}`)).results
    .map(({ name }) => name.slice(0, 5))
    .sort()
    .join(' ')

const answers: readonly (readonly [query: string, found: string])[] = [
  ['user-submitted.depth:deep', 'cedar'],
  ['metadata.user-submitted.depth==deep', 'cedar'],
  ['exists:"user-submitted.Funding Institution"', 'cedar'],
  ['missing:"user-submitted.Funding Institution"', 'alder birch'],
  ['user-submitted.name:a', 'birch'],
  ['user-submitted.name==birch.txt', ''],
  ['user-submitted.resource_type:file', ''],
  ['', 'alder birch cedar'],
  ['alder OR birch', 'alder birch'],
  ['txt NOT (alder|birch)', 'cedar'],
  ['al', 'alder'],
  ['lder', ''],
  ['*lder', 'alder'],
  ['.*lder', 'alder'],
  ['name:/^.[il]/', 'alder birch'],
  ['name:/dar$/', 'cedar'],
  ['depth==1', 'alder'],
  ['depth>=1.00 depth<12.51', 'alder birch'],
  ['metadata.depth:deep', 'cedar'],
  ['exists:depth', 'alder birch cedar'],
  ['taken:2021-04-19', 'alder'],
  ['taken>2021-04-19', 'birch cedar'],
  ['taken<=2021-04-19', 'alder'],
  ['label:field', 'alder birch'],
  ['site.label=="north field"', 'alder'],
  ['label:"field north"', ''],
  ['exists:site', 'alder birch'],
  ['site.lat_itude>45', 'alder'],
  ['levels:10', 'alder'],
  ['points.x>5', 'birch'],
  ['points.name:a', 'birch'],
  ['flag:true', 'alder'],
  ['missing:empty', 'alder birch cedar'],
  ['"Funding Institution":"University of Illinois"', 'cedar'],
  ['Funding__Institution:ill*', 'cedar'],
  ['serial==12345678901234567890', 'cedar'],
  ['serial==12345678901234567891', ''],
  ['0042', 'cedar'],
  ['"0042"', 'cedar'],
  ['42', 'cedar'],
  ['sample:42', 'cedar'],
  ['"1.0"', 'alder'],
  ['"2021-04-20"', 'birch'],
  ['"2021-04-19T23:30:00-02:00"', 'cedar'],
  ['groundwater', 'cedar'],
  ['source:ground\u00adwater', 'cedar'],
  ['観測', 'cedar'],
  ['🌱', 'cedar'],
  ['tag:leaf', 'alder birch'],
  ['tag CONTAINS "leaf fall"', 'alder birch'],
  ['tag!=a', 'birch'],
  ['created>2020', 'alder birch cedar'],
  ['created<2020-01-31', ''],
]
for (const [query, found] of answers) {
  test(`${query === '' ? 'an empty query' : query} finds ${found === '' ? 'nothing' : found}`, async t => {
    t.is(await find(query), found)
  })
}

test('numbers and dates in metadata are quoted as they were written', async t => {
  const matched = async (query: string) => {
    const { results } = await ok<{ readonly results: readonly { readonly matched: unknown }[] }>(
      ann.call(`/api/search?query=${encodeURIComponent(query)}&datasetid=${dataset}&view=full`),
    )
    return results.map(hit => hit.matched)
  }
  const sample = [[{ field: 'metadata.sample', text: '0042', marks: [{ start: 0, end: 4 }] }]]
  for (const query of ['0042', '42', 'sample:42', 'sample<50']) t.deepEqual(await matched(query), sample, query)
  t.deepEqual(await matched('"2021-04-20"'), [[{ field: 'metadata.taken', text: '2021-04-20', marks: [{ start: 0, end: 10 }] }]])
  t.deepEqual(await matched('groundwater'), [[{ field: 'metadata.source', text: 'ground\u00adwater', marks: [{ start: 0, end: 12 }] }]])
})

test('parameters are literal values, not query syntax', async t => {
  t.is(await find('depth', '&tag=leaf%20fall'), '')
  t.is(await find('', '&tag=leaf%20fall'), 'alder birch')
  t.is(await find('', '&tag=%22)%20OR%20('), '')
  t.is(await find('12.50', '&field=depth'), 'birch')
  t.is(await find('university of', '&field=Funding%20Institution'), 'cedar')
  t.is(await find('AND (', '&field=name'), '')
  t.is(await find('', '&field=note'), 'cedar')
  t.is(await find('', `&created=%3E2020-01-01`), 'alder birch cedar')
  t.is(await find('', `&created=2020-01-01`), '')
  t.is((await ann.call('/api/search?created=soon')).status, 400)
})

test('an invalid query gets 400 with the position and what was expected', async t => {
  const answer = await ann.call(`/api/search?query=${encodeURIComponent('alder AND (birch')}`)
  t.is(answer.status, 400)
  const body = (await answer.json()) as { readonly message: string; readonly position: number; readonly expected: readonly string[] }
  t.like(body, { position: 17, code: 'invalid' })
  t.true(body.expected.includes('a closing parenthesis'))
  t.regex(body.message, /closing parenthesis.*position 17/s)
  for (const query of ['"open', 'depth>', 'a:|b', '/[/ x', 'created:soon', 'name<b', '('.repeat(60)])
    t.is((await ann.call(`/api/search?query=${encodeURIComponent(query)}`)).status, 400, query)
})

test('results can be sorted only by dates and numbers', async t => {
  const order = async (more: string): Promise<string> =>
    (await get(`/api/search?query=txt&datasetid=${dataset}${more}`)).results.map(({ name }) => name[0]).join('')
  t.is(await order('&sort=created&order=asc'), 'abc')
  t.is(await order('&order=DESC'), 'cba')
  t.is(await order('&sort=metadata.depth&order=desc'), 'bac')
  t.is(await order('&sort=taken'), 'abc')
  for (const by of ['name', 'label', 'metadata.site.label', 'tag', 'nowhere'])
    t.is((await ann.call(`/api/search?query=txt&sort=${by}`)).status, 400, by)
})

test('the links to other pages can be followed', async t => {
  const page = await get(`/api/search?query=${encodeURIComponent('txt NOT "a&b=c"')}&datasetid=${dataset}&size=1&page=1&sort=created`)
  t.is(page.results[0]?.name, 'birch.txt')
  const names = await Promise.all([page.first, page.prev, page.next, page.last].map(async link => (await get(link ?? '')).results[0]?.name))
  t.deepEqual(names, ['alder.txt', 'alder.txt', 'cedar.txt', 'cedar.txt'])
  t.like(await get('/api/search?query=txt&size=0'), { count: 0, total_size: 3, results: [] })
})

const byJson = (query: unknown, more = '') =>
  ann.call(`/api/search/json?query=${encodeURIComponent(typeof query === 'string' ? query : JSON.stringify(query))}${more}`)
const item = (field_key: string, operator: string, field_value: unknown) => ({
  field_key,
  operator,
  field_value,
  extractor_key: null,
  field_leaf_key: 'x',
})
const foundByJson = async (items: readonly unknown[], more = ''): Promise<string> =>
  (await ok<Result>(byJson(items, more))).results
    .map(({ name }) => name.slice(0, 5))
    .sort()
    .join(' ')

test('the JSON form matches all items, or any', async t => {
  const two = [item('metadata.depth', '>=', '1'), item('metadata.site.label', ':', 'north')]
  t.is(await foundByJson(two), 'alder')
  t.is(await foundByJson(two, '&grouping=OR'), 'alder birch')
  t.is(await foundByJson([item('metadata.depth', '!=', 1)]), 'birch cedar')
  t.is(await foundByJson([item('metadata.Funding Institution', '==', 'university of illinois')]), 'cedar')
  t.is(await foundByJson([item('name', 'CONTAINS', 'al*|ced*')]), 'alder cedar')
  t.is(await foundByJson([{ extractor_key: 'user-submitted', field_leaf_key: 'name', operator: '==', field_value: 'b' }]), 'birch')
  t.is(await foundByJson([{ extractor_key: 'site', field_leaf_key: 'label', operator: 'exists', field_value: '' }]), 'alder birch')
})

test('an invalid JSON form is refused', async t => {
  const wrong = [
    '',
    '{',
    '{}',
    '[1]',
    [{}],
    [item('depth', '~', 1)],
    [item('depth', '>', {})],
    [{ ...item('', '>', 1), field_leaf_key: '' }],
    [item('name', '<', 'b')],
    [item('created', '>', 'soon')],
  ]
  for (const query of wrong) t.is((await byJson(query)).status, 400, JSON.stringify(query))
  t.is((await byJson([], '&grouping=NOR')).status, 400)
  t.regex((await refusal(byJson([item('depth', '~', 1)]))).message, /Item 1 .* available: : /)
})

test('anonymous callers can search a public server', async t => {
  for (const [query, count] of [
    ['', 4],
    ['txt', 3],
    ['created>2000', 4],
  ] as const) {
    const answer = await server.as()(`/api/search?query=${encodeURIComponent(query)}`)
    t.is(answer.status, 200)
    t.is(((await answer.json()) as Result).count, count, query)
  }
})

test('a query has at most 20 patterns, as text and as JSON', async t => {
  const globs = Array.from({ length: 189 }, (_, n) => `*q${n}*z*`)
  const refused = await refusal(ann.call(`/api/search?query=${encodeURIComponent(globs.join(' OR '))}`))
  t.is(refused.status, 400)
  t.regex(refused.message, /has 189 patterns; the maximum is 20\. Use whole words/)
  const items = globs.slice(0, 30).map(glob => ({ field_key: 'name', operator: ':', field_value: glob }))
  t.is((await ann.call(`/api/search/json?grouping=OR&query=${encodeURIComponent(JSON.stringify(items))}`)).status, 400)
  t.is((await ann.call(`/api/search?query=${encodeURIComponent(globs.slice(0, 20).join(' OR '))}`)).status, 200)
})
