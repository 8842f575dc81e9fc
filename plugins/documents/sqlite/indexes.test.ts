import test from 'ava'
import { collection, eq } from 'pounce/sdk'
import type { Note } from 'pounce/sdk/testing'
import { openStore } from '../../../test/support/sqlite-store.ts'
import { tempFolder } from '../../../test/support/temp-folder.ts'

const bare = collection<Note>()('things', { byName: { on: ['name'] } })
const indexed = collection<Note>()('things', {
  bySpace: { on: ['spaces', 'rank'], array: 'spaces' },
  byRank: { on: ['rank'] },
})

const fill = async (store: Awaited<ReturnType<typeof openStore>>, count: number): Promise<void> => {
  for (let from = 0; from < count; from += 1000) {
    const items = Array.from({ length: 1000 }, (_, n) => {
      const rank = from + n
      return { change: { insert: { id: `n${rank}`, name: 'n', rank, spaces: [`s${rank % 3}`, 'all'] }, into: bare } }
    })
    await store.commitEach<Note>(items)
  }
}

test('a new index covers all existing documents, including those changed while it is being filled', async t => {
  const store = await openStore(t)
  await store.declare([bare])
  await fill(store, 3000)
  const declaring = store.declare([indexed])
  const changing = Promise.all([
    store.commit<Note>({ insert: { id: 'new', rank: -1, spaces: ['all', 'fresh'] }, into: indexed }),
    store.commit<Note>({ update: 'n2999', in: indexed, set: { rank: -2, spaces: ['fresh'] } }),
    store.commit<Note>({ update: 'n0', in: indexed, set: { rank: -3, spaces: ['fresh'] } }),
    store.commit<Note>({ tombstone: 'n2998', in: indexed }),
  ])
  await t.throwsAsync(store.find(indexed, { using: 'byRank', limit: 1 }), undefined, 'an index that is being filled rejects queries')
  await Promise.all([declaring, changing])
  t.is(await store.count(indexed, { using: 'bySpace', where: eq('spaces', 'all'), upTo: 9999 }), 2998)
  t.is(await store.count(indexed, { using: 'byRank', upTo: 9999 }), 3000)
  const fresh = await store.find(indexed, {
    using: 'bySpace',
    where: eq('spaces', 'fresh'),
    sort: { by: 'rank', order: 'ascending' },
    limit: 9,
  })
  t.deepEqual(
    fresh.items.map(({ id }) => id),
    ['n0', 'n2999', 'new'],
  )
})

test('filling an index resumes after an interruption', async t => {
  const folder = await tempFolder(t)
  const first = await openStore(t, { settings: { folder } })
  await first.declare([bare])
  await fill(first, 4000)
  const declaring = first.declare([indexed])
  await first.dispose()
  await t.throwsAsync(declaring)
  const second = await openStore(t, { settings: { folder } })
  await second.declare([indexed])
  t.is(await second.count(indexed, { using: 'byRank', upTo: 9999 }), 4000)
  t.is(await second.count(indexed, { using: 'bySpace', where: eq('spaces', 's1'), upTo: 9999 }), 1333)
})

test('an index that is no longer declared is dropped; one with a changed definition is recreated', async t => {
  const store = await openStore(t)
  await store.declare([bare])
  await fill(store, 1000)
  await store.declare([indexed])
  await t.throwsAsync(store.find(bare, { using: 'byName', limit: 1 }), { message: /byName/ })
  const other = collection<Note>()('things', { byRank: { on: ['name', 'rank'] } })
  await store.declare([other])
  const page = await store.find(other, { using: 'byRank', where: eq('name', 'n'), sort: { by: 'rank', order: 'descending' }, limit: 2 })
  t.deepEqual(
    page.items.map(({ id }) => id),
    ['n999', 'n998'],
  )
  await store.declare([other])
  t.is(await store.count(other, { using: 'byRank', upTo: 9999 }), 1000)
})

test('an invalid declaration of a collection or index is refused', async t => {
  const store = await openStore(t)
  const faulty = [
    collection('Things'),
    collection('a b'),
    { name: 'x', indexes: { a: { on: [] } } },
    collection('x', { a: { on: ['a..b'] } }),
    collection('x', { a: { on: ['a', 'a'] } }),
    collection('x', { a: { on: ['a'], array: 'b' } }),
    collection('x', { a: { on: ['a'], array: 'a', unique: true } }),
    collection('x', { a: { on: ['a'], sparse: 'b' } }),
    collection('x', { a: { on: ['a'], sparse: 'a', unique: true } }),
  ]
  for (const declared of faulty) await t.throwsAsync(store.declare([declared]), undefined, JSON.stringify(declared))
  await store.declare([collection('x-1.y', { 'odd name; DROP TABLE c1': { on: ["it's", '"x"'] } })])
})

test('a query that a sparse index cannot answer is refused, unless another index can', async t => {
  const store = await openStore(t)
  const sparse = collection<Note>()('things', {
    bySpace: { on: ['spaces', 'rank'], array: 'spaces', sparse: 'spaces' },
    byRank: { on: ['rank'] },
  })
  await store.declare([sparse])
  await store.commit<Note>({ insert: { id: 'a', rank: 1, spaces: [] }, into: sparse })
  const nowhere = { where: eq('spaces', null), sort: { by: 'rank', order: 'ascending' }, limit: 9 } as const
  const refused = { message: 'No index in bySpace of things can answer this query' }
  await t.throwsAsync(store.find(sparse, { using: 'bySpace', ...nowhere }), refused)
  await t.throwsAsync(store.find(sparse, { using: 'bySpace', limit: 9 }), refused)
  await t.throwsAsync(store.count(sparse, { using: 'bySpace', upTo: 9 }), refused)
  await t.throwsAsync(Array.fromAsync(store.scan(sparse, { using: 'bySpace' })), refused)
  t.is((await store.find(sparse, { using: ['bySpace', 'byRank'], ...nowhere })).items.length, 1)
})
