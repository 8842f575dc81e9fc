import test from 'ava'
import { collection, contains, eq, Unavailable } from 'pounce/sdk'
import { Connection } from 'pounce/sdk/sqlite'
import type { Note } from 'pounce/sdk/testing'
import { openStore } from '../../../test/support/sqlite-store.ts'
import { tempFolder } from '../../../test/support/temp-folder.ts'
import { ReaderThread } from './reader-thread.ts'

const things = collection<Note>()('things', { byRank: { on: ['state', 'rank'] } })

const storeOf = async (t: Parameters<typeof openStore>[0], count: number, settings: { readTimeoutMs?: number } = {}) => {
  const store = await openStore(t, { settings })
  await store.declare([things])
  for (let from = 0; from < count; from += 1000) {
    const items = Array.from({ length: 1000 }, (_, n) => {
      const insert = { id: `n${from + n}`, state: 'live', rank: from + n, name: `Name ${from + n}`, content: 'x'.repeat(300) }
      return { change: { insert, into: things } }
    })
    await store.commitEach<Note>(items)
  }
  return store
}

test('long reads do not block the event loop, and see earlier commits', async t => {
  const store = await storeOf(t, 20_000)
  await store.commit<Note>({ update: 'n19000', in: things, set: { name: 'Needle' } })
  let isReading = true
  let turns = 0
  const spin = () => {
    turns += 1
    if (isReading) setImmediate(spin)
  }
  spin()
  const where = contains('name', 'needle')
  const [page, counted, all] = await Promise.all([
    store.find(things, { using: 'byRank', where, limit: 5 }),
    store.count(things, { using: 'byRank', where, upTo: 10 }),
    store.count(things, { using: 'byRank', where: contains('name', 'name'), upTo: 50_000 }),
  ])
  isReading = false
  t.deepEqual([page.items.map(({ id }) => id), counted, all], [['n19000'], 1, 19_999])
  t.true(turns > 100)
})

test('a scan of many documents is in order and yields to the event loop', async t => {
  const store = await storeOf(t, 5000)
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
  }, 1)
  const ranks: number[] = []
  for await (const { rank } of store.scan(things, { using: 'byRank', where: eq('state', 'live') })) ranks.push(rank ?? -1)
  clearInterval(timer)
  t.deepEqual(
    ranks,
    Array.from({ length: 5000 }, (_, n) => n),
  )
  t.true(turns > 5)
  const found: string[] = []
  for await (const { id } of store.scan(things, { using: 'byRank', where: contains('name', 'name 4999') })) found.push(id)
  t.deepEqual(found, ['n4999'])
})

test('a query that exceeds the time limit is aborted, and the next one succeeds', async t => {
  const store = await storeOf(t, 30_000, { readTimeoutMs: 100 })
  const slow = { using: 'byRank', where: contains('name', 'nothing like it'), limit: 1 } as const
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => store.find(things, slow)))
  const refused = results.filter(({ status }) => status === 'rejected')
  t.true(refused.length > 0)
  for (const result of refused) t.true(result.status === 'rejected' && result.reason instanceof Unavailable)
  t.is((await store.find(things, { using: 'byRank', where: eq('state', 'live'), limit: 3 })).items.length, 3)
})

test('a thread that fails rejects its query, and the next query starts a new thread', async t => {
  const file = `${await tempFolder(t)}/late.db`
  const opening = { file, readOnly: false, cacheMiB: 1, maxSizeMiB: 0 }
  const thread = new ReaderThread(opening, 20_000)
  t.teardown(() => thread.close())
  const table = { collection: 'x', table: 'c1', indexes: [{ name: 'i', table: 'c1_i1', index: { on: ['a'] } }] }
  const count = { kind: 'count', table, count: { using: 'i', upTo: 5 } } as const
  await t.throwsAsync(thread.run<'count'>(count), { instanceOf: Unavailable })
  const connection = new Connection(opening)
  connection.exec(
    'CREATE TABLE c1(r, id, doc); CREATE TABLE c1_i1(k0, id, r, PRIMARY KEY(k0, id)) WITHOUT ROWID; INSERT INTO c1_i1 VALUES (1, 2, 3)',
  )
  t.is(await thread.run<'count'>(count), 1)
  await t.throwsAsync(thread.run<'count'>({ ...count, table: { ...table, indexes: [] } }), { message: /no index/ })
  t.is(await thread.run<'count'>(count), 1)
  await thread.close()
  await t.throwsAsync(thread.run<'count'>(count), { instanceOf: Unavailable })
  connection.close()
})
