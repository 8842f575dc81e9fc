import test from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, newFolder, ok, refusal, upload } from '../support/scene.ts'
import { meet } from '../support/spaces-and-people.ts'

interface Result {
  readonly results: readonly { readonly id: string; readonly name: string; readonly resource_type: string }[]
  readonly count: number
  readonly size: number
  readonly scanned_size: number
  readonly from: number
  readonly total_size: number
  readonly next?: string
  readonly prev?: string
}

let server: TestServer
let ann: Person
let eve: Person

test.before(async () => {
  server = await bootForTest({ config: { access: { private: true } } })
  ann = await newPerson(server, 'ann')
  eve = await newPerson(server, 'eve')
  await meet(server, ann, eve)
})
test.after.always(() => server?.stop())

const find = async (person: Person, query: string): Promise<Result> => {
  await server.drained()
  return ok<Result>(person.call(`/api/search?${query}`))
}
const names = async (query: string, person = ann): Promise<string[]> =>
  (await find(person, query)).results.map(result => result.name).sort()
const requested = (query: string): string => `query=${encodeURIComponent(query)}`

const annotate = (file: string, content: unknown): Promise<unknown> =>
  ok(
    ann.call(`/api/files/${file}/metadata.jsonld`, {
      method: 'POST',
      json: { agent: { '@type': 'cat:user', user_id: 'https://example.org/u', name: 'U' }, content },
    }),
  )

test('names, descriptions, tags, comments and metadata are found', async t => {
  const dataset = await newDataset(ann.call, { name: 'Quercus survey', description: 'Zirkonium nearby' })
  const file = await upload(ann.call, dataset, 'x', 'plot-seventeen.txt')
  await ok(ann.call(`/api/files/${file}/tags`, { method: 'POST', json: { tags: ['deciduous tree'] } }))
  await ann.call(`/api/files/${file}/comment`, { method: 'POST', json: { text: 'remeasure yesterday' } })
  await annotate(file, { instrument: { maker: 'Lichtblick' }, depth: 42.5, taken: '2021-04-19', species: ['robur', 'petraea'] })
  t.deepEqual(await names(requested('quercus')), ['Quercus survey'])
  t.deepEqual(await names(requested('zirkon')), ['Quercus survey'])
  for (const query of ['seventeen', 'deciduous', 'remeasure', 'Lichtblick', 'petraea', 'plot-seventeen.txt', 'tag:deciduous']) {
    t.deepEqual(await names(requested(query)), ['plot-seventeen.txt'], query)
  }
  for (const query of [
    'depth>40 depth<=42.5',
    'depth==42.5',
    'instrument.maker:lichtblick',
    'maker:lichtblick',
    'exists:depth',
    'taken>2021-01-01 taken<2021-05-01',
    'species==robur',
  ]) {
    t.deepEqual(await names(requested(query)), ['plot-seventeen.txt'], query)
  }
  for (const query of ['depth>42.5', 'maker:nobody', 'taken>2021-05-01', 'missing:depth depth==42.5'])
    t.deepEqual(await names(requested(query)), [], query)
})

test('inaccessible resources are neither found nor counted', async t => {
  const dataset = await newDataset(ann.call, { name: 'Confidential heron' })
  await upload(ann.call, dataset, 'x', 'confidential-heron.txt')
  t.is((await find(ann, requested('heron'))).count, 2)
  const seen = await find(eve, requested('heron'))
  t.deepEqual([seen.count, seen.total_size, seen.results], [0, 0, []])
})

test('members of a space find its content until they leave', async t => {
  const { id: space } = await ok<{ id: string }>(ann.call('/api/spaces', { method: 'POST', json: { name: 'Pond', description: '' } }))
  const dataset = await newDataset(ann.call, { name: 'Newts', space: [space] })
  await upload(ann.call, dataset, 'x', 'newts.txt')
  const members = (viewers: string) =>
    ok(ann.call(`/api/spaces/${space}/updateUsers`, { method: 'POST', json: { rolesandusers: { Viewer: viewers } } }))
  t.deepEqual(await names(requested('newts'), eve), [])
  await members(eve.id)
  t.deepEqual(await names(requested('newts'), eve), ['Newts', 'newts.txt'])
  await members('')
  t.deepEqual(await names(requested('newts'), eve), [])
})

test('the owner of a dataset finds files of others in it, even outside its space', async t => {
  const { id: space } = await ok<{ id: string }>(
    ann.call('/api/spaces', { method: 'POST', json: { name: 'Left behind', description: '' } }),
  )
  const dataset = await newDataset(ann.call, { name: 'Driftwood', space: [space] })
  await ok(ann.call(`/api/spaces/${space}/updateUsers`, { method: 'POST', json: { rolesandusers: { Admin: `${ann.id},${eve.id}` } } }))
  await upload(eve.call, dataset, 'x', 'driftwood.txt')
  await ok(ann.call(`/api/spaces/${space}/removeUser?removeUser=${ann.id}`, { method: 'POST', json: {} }))
  t.deepEqual(await names(requested('driftwood')), ['Driftwood', 'driftwood.txt'])
  const other = await newPerson(server, 'someone')
  t.deepEqual(await names(requested('driftwood'), other), [])
})

test('trashed resources are not found until they are restored', async t => {
  const dataset = await newDataset(ann.call, { name: 'Discarded walnut' })
  await upload(ann.call, dataset, 'x', 'walnut.txt')
  t.is((await names(requested('walnut'))).length, 2)
  await ok(ann.call(`/api/datasets/${dataset}`, { method: 'DELETE' }))
  t.deepEqual(await names(requested('walnut')), [])
  await ok(ann.call(`/api/datasets/restore/${dataset}`, { method: 'PUT' }))
  t.is((await names(requested('walnut'))).length, 2)
  await ok(ann.call(`/api/datasets/${dataset}`, { method: 'DELETE' }))
  await ok(ann.call(`/api/datasets/${dataset}`, { method: 'DELETE' }))
  t.deepEqual(await names(requested('walnut')), [])
})

test('a renamed file is found only by its new name', async t => {
  const file = await upload(ann.call, await newDataset(ann.call), 'x', 'before-hazel.txt')
  await ok(ann.call(`/api/files/${file}/filename`, { method: 'PUT', json: { name: 'after-alder.txt' } }))
  t.deepEqual(await names(requested('name:alder')), ['after-alder.txt'])
  t.deepEqual(await names(requested('name:hazel')), [])
})

test('a search can be restricted to a dataset, a folder or a kind', async t => {
  const dataset = await newDataset(ann.call, { name: 'Inside birch' })
  const folder = await newFolder(ann.call, dataset, 'deep')
  await upload(ann.call, dataset, 'x', 'birch-top.txt')
  await upload(ann.call, dataset, 'x', 'birch-deep.txt', { query: `extract=false&folder_id=${folder}` })
  t.deepEqual(await names(`${requested('birch')}&datasetid=${dataset}`), ['birch-deep.txt', 'birch-top.txt'])
  t.deepEqual(await names(`${requested('birch')}&folderid=${folder}`), ['birch-deep.txt'])
  t.deepEqual(await names(`${requested('birch')}&resource_type=dataset`), ['Inside birch'])
  t.deepEqual(await names(`${requested('birch')}&field=name&resource_type=file`), ['birch-deep.txt', 'birch-top.txt'])
  t.is((await names(`${requested('birch')}&resource_type=`)).length, 3)
})

test('the next links of pages return every hit once, and pages can be requested by number', async t => {
  const dataset = await newDataset(ann.call, { name: 'Pages' })
  for (let n = 0; n < 5; n += 1) await upload(ann.call, dataset, 'x', `sorrel-${n}.txt`)
  const first = await find(ann, `${requested('sorrel')}&size=2&sort=created&order=asc`)
  t.deepEqual([first.count, first.from, first.total_size], [2, 0, 5])
  const rest: string[] = []
  let page: Result | undefined = first
  while (page) {
    rest.push(...page.results.map(result => result.name))
    page = page.next === undefined ? undefined : await ok<Result>(ann.call(page.next))
  }
  t.deepEqual(
    rest,
    [0, 1, 2, 3, 4].map(n => `sorrel-${n}.txt`),
  )
  t.is((await find(ann, `${requested('sorrel')}&size=2&page=2`)).count, 1)
  t.is((await find(ann, `${requested('sorrel')}&size=0`)).count, 0)
})

test('hits can be sorted by a numeric metadata field, but not by text', async t => {
  const dataset = await newDataset(ann.call, { name: 'Sorting' })
  for (const [n, height] of [3, 1, 2].entries())
    await annotate(await upload(ann.call, dataset, 'x', `fern-${n}.txt`), { height, colour: `c${height}` })
  const order = async (query: string) => (await find(ann, `${requested('fern')}&${query}`)).results.map(result => result.name)
  t.deepEqual(await order('sort=height'), ['fern-1.txt', 'fern-2.txt', 'fern-0.txt'])
  t.deepEqual(await order('sort=metadata.height&order=desc'), ['fern-0.txt', 'fern-2.txt', 'fern-1.txt'])
  t.like(await refusal(ann.call(`/api/search?${requested('fern')}&sort=colour`)), { status: 400 })
})

test('a query that cannot be parsed is refused with 400, as are invalid page parameters', async t => {
  for (const query of ['"open', ':x', 'depth>', 'created:2021-13-45']) {
    const answer = await ann.call(`/api/search?${requested(query)}`)
    t.is(answer.status, 400, query)
    t.true(((await answer.json()) as { message: string }).message.length > 10)
  }
  for (const query of ['size=-1', 'size=1001', 'from=x', 'from=10001', 'order=up'])
    t.is((await ann.call(`/api/search?query=x&${query}`)).status, 400, query)
})

test('special characters of query languages are treated as text', async t => {
  await newDataset(ann.call, { name: "O'Neill (draft) -final" })
  for (const query of ["o'neill", '(draft)', '-final', 'NEAR(a b)', 'a*', '^x', '%', "';--", '*', '?', '\\']) {
    t.is((await ann.call(`/api/search?${requested(query)}`)).status, 200, query)
  }
  t.deepEqual(await names(requested("o'neill")), ["O'Neill (draft) -final"])
})

test('only a server admin can empty and rebuild the index', async t => {
  const other = await bootForTest({ t })
  const admin = other.as(other.admin.key)
  const bob = await newPerson(other, 'bob')
  await newDataset(bob.call, { name: 'Phoenix' })
  await other.drained()
  t.is((await bob.call('/api/deleteindex', { method: 'POST' })).status, 403)
  t.is((await bob.call('/api/reindex', { method: 'POST' })).status, 403)
  const count = async () => (await ok<Result>(bob.call('/api/search?query=phoenix'))).count
  await ok(admin('/api/deleteindex', { method: 'POST' }))
  t.is(await count(), 0)
  await ok(admin('/api/reindex', { method: 'POST' }))
  while ((await count()) === 0) await new Promise(resolve => setImmediate(resolve))
  t.is(await count(), 1)
})
