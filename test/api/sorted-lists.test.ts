import test from 'ava'
import { DocumentStore, Users } from 'pounce/sdk'
import { bootForTest, type TestFetch, type TestServer } from 'pounce/sdk/testing'
import { datasets } from '../../plugins/resources/datasets/collection.ts'
import { up as fillDatasets } from '../../plugins/resources/datasets/migrations/0001-sort-keys.ts'
import { up as fillSpaces } from '../../plugins/resources/spaces/migrations/0001-sort-keys.ts'
import { spaces } from '../../plugins/resources/spaces/stored-spaces.ts'
import { newPerson, type Person } from '../support/people.ts'
import { newDataset, ok, refusal } from '../support/scene.ts'

interface Item {
  readonly id: string
  readonly name?: string
  readonly collectionname?: string
}
const nameOf = ({ name, collectionname }: Item): string => name ?? collectionname ?? ''

/** The names of a whole list, read page by page by its links, and the number of requests. */
const walk = async (
  call: TestFetch,
  server: TestServer,
  path: string,
): Promise<{ names: string[]; pages: number; totals: (string | null)[] }> => {
  const names: string[] = []
  const totals: (string | null)[] = []
  let next: string | undefined = path
  let pages = 0
  while (next !== undefined) {
    const response: Response = await call(next)
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
    names.push(...((await response.json()) as Item[]).map(nameOf))
    totals.push(response.headers.get('x-total-count'))
    pages += 1
    next = /^<([^>]*)>/.exec(response.headers.get('link') ?? '')?.[1]?.replace(server.url, '')
  }
  return { names, pages, totals }
}
const names = async (call: TestFetch, path: string): Promise<string[]> => (await ok<Item[]>(call(path))).map(nameOf)
const post = (json: unknown) => ({ method: 'POST', json })
const newSpace = async (call: TestFetch, name: string): Promise<string> =>
  (await ok<{ id: string }>(call('/api/spaces', post({ name, description: '' })))).id
const newCollection = async (call: TestFetch, name: string, about: object = {}): Promise<string> =>
  (await ok<{ id: string }>(call('/api/collections', post({ name, description: '', ...about })))).id

const unsorted = ['table 10', 'Éclair', 'apple', 'Table 2', 'zebra', 'Banana']
const sorted = ['apple', 'Banana', 'Éclair', 'Table 2', 'table 10', 'zebra']

const withNames = async (
  t: Parameters<typeof bootForTest>[0],
  config: Readonly<Record<string, unknown>> = {},
): Promise<{ server: TestServer; ann: Person; space: string }> => {
  const server = await bootForTest({ ...t, config })
  const ann = await newPerson(server, 'ann')
  const space = await newSpace(ann.call, 'the lab')
  for (const name of unsorted) await newDataset(ann.call, { name, space: [space] })
  return { server, ann, space }
}

for (const isPrivate of [false, true]) {
  const where = isPrivate ? 'a private server' : 'a public server'
  test(`lists of datasets are sorted by name in natural order, page by page, on ${where}`, async t => {
    const { server, ann, space } = await withNames({ t }, { access: { private: isPrivate } })
    const collection = await newCollection(ann.call, 'all')
    for (const { id } of await ok<Item[]>(ann.call('/api/datasets?limit=0')))
      await ok(ann.call(`/api/collections/${collection}/datasets/${id}`, { method: 'POST' }))
    for (const list of ['/api/datasets', `/api/spaces/${space}/datasets`, `/api/collections/${collection}/datasets`]) {
      const { names: found, pages, totals } = await walk(ann.call, server, `${list}?sort=name&limit=2&total=true`)
      t.deepEqual(found, sorted, list)
      t.true(pages >= 3)
      t.deepEqual([...new Set(totals)], ['6'], list)
      t.deepEqual((await walk(ann.call, server, `${list}?sort=name&order=desc&limit=4`)).names, sorted.toReversed(), list)
      t.deepEqual(await names(ann.call, `${list}?sort=name&limit=0`), sorted, list)
      t.deepEqual((await walk(ann.call, server, `${list}?sort=created&order=asc&limit=4`)).names, unsorted, list)
      t.deepEqual((await walk(ann.call, server, `${list}?order=desc&limit=4`)).names, unsorted.toReversed(), list)
    }
  })
}

test('sorting by modified puts the latest change first; a rename takes effect at once', async t => {
  const { ann, server } = await withNames({ t })
  const items = await ok<Item[]>(ann.call('/api/datasets?limit=0'))
  const zebra = items.find(({ name }) => name === 'zebra')?.id
  await ok(ann.call(`/api/datasets/${zebra}/title`, { method: 'PUT', json: { name: 'aardvark' } }))
  t.is((await names(ann.call, '/api/datasets?sort=modified'))[0], 'aardvark')
  t.is((await walk(ann.call, server, '/api/datasets?sort=modified&order=asc&limit=5')).names.at(-1), 'aardvark')
  t.deepEqual((await names(ann.call, '/api/datasets?sort=name')).slice(0, 2), ['aardvark', 'apple'])
})

test('collections and spaces can be sorted too', async t => {
  const server = await bootForTest({ t })
  const { call } = await newPerson(server)
  const space = await newSpace(call, 'holder')
  const parent = await newCollection(call, 'parent')
  for (const name of unsorted) {
    await newSpace(call, name)
    await newCollection(call, name, { space })
    const child = await newCollection(call, name)
    await ok(call(`/api/collections/${parent}/addSubCollection/${child}`, { method: 'POST' }))
  }
  const allSpaces = [...sorted.slice(0, 3), 'holder', ...sorted.slice(3)]
  const ofSpaces = await walk(call, server, '/api/spaces?sort=name&limit=3&total=true')
  t.deepEqual([ofSpaces.names, ofSpaces.totals[0]], [allSpaces, '7'])
  t.deepEqual((await walk(call, server, '/api/spaces/canEdit?sort=name&limit=3')).names, allSpaces)
  t.deepEqual((await walk(call, server, `/api/spaces/${space}/collections?sort=name&limit=4`)).names, sorted)
  t.deepEqual((await walk(call, server, `/api/collections/${parent}/getChildCollections?sort=name&limit=4`)).names, sorted)
  t.deepEqual((await walk(call, server, '/api/collections?sort=name&limit=4')).names, [...sorted.slice(0, 3), 'parent', ...sorted.slice(3)])
  await ok(call(`/api/spaces/${space}/update`, post({ name: 'holders', description: '', timetolive: '720', enabled: false })))
  await ok(call(`/api/collections/${parent}/title`, { method: 'PUT', json: { name: 'parents' } }))
  t.is((await names(call, '/api/spaces?sort=modified'))[0], 'holders')
  t.is((await names(call, '/api/collections?sort=modified'))[0], 'parents')
  t.deepEqual((await names(call, '/api/spaces?sort=name')).slice(2, 4), ['Éclair', 'holders'])
})

for (const isPrivate of [false, true]) {
  test(`lists can be limited to own, shared or public resources on a ${isPrivate ? 'private' : 'public'} server`, async t => {
    const server = await bootForTest({ t, config: { access: { private: isPrivate }, resources: { spaces: { verifySpaces: false } } } })
    const [ann, bob] = [await newPerson(server, 'ann'), await newPerson(server, 'bob')]
    const [shared, open, closed] = [
      await newSpace(ann.call, 'shared'),
      await newSpace(ann.call, 'open'),
      await newSpace(ann.call, 'closed'),
    ]
    await ok(
      ann.call(`/api/spaces/${open}/update`, post({ name: 'open', description: '', timetolive: '1', enabled: false, access: 'PUBLIC' })),
    )
    const viewer = (await server.get(Users).roles()).find(({ name }) => name === 'Viewer')?.id ?? ''
    await server.get(Users).setMembership(bob.id, shared, viewer)
    for (const [name, space] of [
      ['in shared', shared],
      ['in open', open],
      ['in closed', closed],
    ]) {
      await newDataset(ann.call, { name, space: [space] })
      await newCollection(ann.call, `c ${name}`, { space })
    }
    await newDataset(bob.call, { name: 'own' })
    await newDataset(bob.call, { name: 'own in shared' }).catch(() => undefined)
    await server.drained()
    const of = (call: TestFetch, kind: string, whose: string) => names(call, `/api/${kind}?whose=${whose}&sort=name`)
    t.deepEqual(await of(bob.call, 'datasets', 'mine'), ['own', 'own in shared'])
    t.deepEqual(await of(bob.call, 'datasets', 'shared'), ['in shared'])
    t.deepEqual(await of(bob.call, 'datasets', 'public'), ['in open'])
    t.deepEqual(await of(bob.call, 'collections', 'shared'), ['c in shared'])
    t.deepEqual(await of(bob.call, 'collections', 'public'), ['c in open'])
    t.deepEqual(await of(bob.call, 'collections', 'mine'), [])
    for (const [whose, found] of [
      ['mine', 3],
      ['shared', 0],
      ['public', 1],
    ] as const)
      t.is((await names(ann.call, `/api/collections/canEdit?whose=${whose}`)).length, found, whose)
    t.deepEqual(await of(bob.call, 'spaces', 'shared'), ['shared'])
    t.deepEqual(await of(bob.call, 'spaces', 'public'), ['open'])
    t.deepEqual(await of(ann.call, 'spaces', 'mine'), ['closed', 'open', 'shared'])
    t.deepEqual(await of(ann.call, 'spaces', 'shared'), [])
    const mine = await bob.call('/api/datasets?whose=mine&total=true')
    t.is(mine.headers.get('x-total-count'), '2')
    if (!isPrivate) {
      t.deepEqual(await of(server.as(), 'datasets', 'mine'), [])
      t.deepEqual(await of(server.as(), 'datasets', 'shared'), [])
      t.deepEqual(await of(server.as(), 'datasets', 'public'), ['in open'])
      t.is((await server.as()('/api/datasets?whose=mine&total=true')).headers.get('x-total-count'), '0')
    }
  })
}

test('search results by title are in the requested order and counted', async t => {
  const { ann, server } = await withNames({ t })
  const found = await walk(ann.call, server, '/api/datasets?sort=name&title=TABLE&limit=1&total=true')
  t.deepEqual(
    [found.names, found.totals],
    [
      ['Table 2', 'table 10'],
      ['2', '2'],
    ],
  )
  t.deepEqual((await walk(ann.call, server, '/api/datasets?sort=name&order=desc&title=able&limit=1')).names, ['table 10', 'Table 2'])
  const plain = await walk(ann.call, server, '/api/datasets?title=table&limit=1&total=true')
  t.deepEqual(
    [plain.names, plain.totals],
    [
      ['Table 2', 'table 10'],
      ['2', '2'],
    ],
  )
  // Too short for the index of substrings: a bounded scan without a total.
  const short = await walk(ann.call, server, '/api/datasets?sort=name&title=le&limit=2&total=true')
  t.deepEqual([short.names, short.totals[0]], [['apple', 'Table 2', 'table 10'], null])
  t.deepEqual(await names(ann.call, '/api/datasets?sort=name&title=apple&exact=true'), ['apple'])
})

test('`when` without `date` is ignored on every page', async t => {
  const { ann, server } = await withNames({ t })
  for (const list of ['/api/datasets', '/api/datasets/canEdit']) {
    const { names: found } = await walk(ann.call, server, `${list}?when=b&limit=2`)
    t.deepEqual(found, unsorted.toReversed(), list)
  }
})

test('a total counts only what `date` and `when` select, on every page', async t => {
  const { ann, server } = await withNames({ t })
  const [newest] = await ok<{ created: string }[]>(ann.call('/api/datasets?view=full&limit=1'))
  const until = `date=${newest?.created}`
  for (const query of [until, `${until}&sort=created`, `${until}&title=a`, `${until}&title=ban`, `${until}&title=table`]) {
    const { names: found, totals } = await walk(ann.call, server, `/api/datasets?${query}&limit=1&total=true`)
    const isCommon = query.endsWith('title=a')
    t.deepEqual(totals, Array(totals.length).fill(isCommon ? null : `${found.length}`), query)
  }
  const { totals } = await walk(ann.call, server, `/api/datasets?when=b&${until}&limit=0&total=true`)
  t.deepEqual(totals, ['0'])
  t.is((await walk(ann.call, server, '/api/datasets?limit=2&total=true')).totals.join(), '6,6,6')
})

test('without the new parameters a list is unchanged', async t => {
  const { ann } = await withNames({ t })
  const response = await ann.call('/api/datasets?limit=2')
  t.is(response.headers.get('x-total-count'), null)
  t.regex(response.headers.get('link') ?? '', /[?&]date=/)
  t.deepEqual(((await response.json()) as Item[]).map(nameOf), unsorted.toReversed().slice(0, 2))
})

test('invalid parameters and combinations are rejected with 400', async t => {
  const { ann } = await withNames({ t })
  for (const query of ['sort=size', 'order=up', 'whose=theirs', 'sort=name&date=2026-01-01', 'sort=name&after=x'])
    t.like(await refusal(ann.call(`/api/datasets?${query}`)), { status: 400, code: 'invalid' }, query)
})

test('records of older versions get their sort keys, once', async t => {
  const { ann, server } = await withNames({ t })
  const documents = server.get(DocumentStore)
  for await (const { id } of documents.walk(datasets)) await documents.commit({ update: id, in: datasets, unset: ['nameKey'] })
  for await (const { id } of documents.walk(spaces)) await documents.commit({ update: id, in: spaces, unset: ['nameKey', 'modified'] })
  for (let twice = 0; twice < 2; twice++) {
    await fillDatasets(documents)
    await fillSpaces(documents)
  }
  t.deepEqual(await names(ann.call, '/api/datasets?sort=name'), sorted)
  for await (const { created, modified, revision } of documents.walk(spaces)) t.deepEqual([modified, revision], [created, 3])
})
