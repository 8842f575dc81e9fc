import test from 'ava'
import { Collection as Driver } from 'mongodb'
import { type Collection, Conflict, collection, eq, Taken } from 'pounce/sdk'
import { liveTests, type Note, type TestContext } from 'pounce/sdk/testing'
import type { MongodbDocuments } from './mongodb-documents.ts'
import { openStore, realTools, testDatabase } from './testing.ts'

const { test: live, url } = liveTests(test, 'MONGODB')

const bare = collection<Note>()('things', { byName: { on: ['name'] } })
const indexed = collection<Note>()('things', {
  bySpace: { on: ['spaces', 'rank'], array: 'spaces' },
  byRank: { on: ['rank'] },
})

const fill = async (store: MongodbDocuments, count: number): Promise<void> => {
  const items = Array.from({ length: count }, (_, rank) => ({
    change: { insert: { id: `n${rank}`, name: 'n', rank, spaces: [`s${rank % 3}`, 'all'] }, into: bare },
  }))
  await store.commitEach<Note>(items)
}

/**
 * Runs `change` after the store has read the documents that it converts for a new index, and before it writes them. The index itself is
 * created later: mongo-java-server, which stands in for MongoDB here, does not synchronize its list of indexes (its issue 195), and a write
 * that reads the list meanwhile can fail. MongoDB does not have this fault.
 */
const whileConverting = (t: TestContext, database: string, change: () => Promise<unknown>): void => {
  const { bulkWrite } = Driver.prototype
  const restore = () => {
    Driver.prototype.bulkWrite = bulkWrite
  }
  Driver.prototype.bulkWrite = async function (this: Driver, ...args) {
    if (this.dbName === database && this.collectionName === 'things') {
      restore()
      await change()
    }
    return bulkWrite.apply(this, args)
  }
  t.teardown(restore)
}

live('a new index on old documents answers for all of them, those changed while it was filled included', async t => {
  t.plan(5)
  const database = testDatabase(t, url('MONGODB'))
  const store = await openStore(t, { uri: url('MONGODB'), database })
  await store.declare([bare])
  await fill(store, 600)
  whileConverting(t, database, async () => {
    await Promise.all([
      store.commit<Note>({ insert: { id: 'new', rank: -1, spaces: ['all', 'fresh'] }, into: indexed }),
      store.commit<Note>({ update: 'n599', in: indexed, set: { rank: -2, spaces: ['fresh'] } }),
      store.commit<Note>({ update: 'n0', in: indexed, set: { rank: -3, spaces: ['fresh'] } }),
      store.commit<Note>({ tombstone: 'n598', in: indexed }),
    ])
    t.pass('changed while the documents were converted')
  })
  await store.declare([indexed])
  t.is(await store.count(indexed, { using: 'bySpace', where: eq('spaces', 'all'), upTo: 9999 }), 598)
  t.is(await store.count(indexed, { using: 'byRank', upTo: 9999 }), 600)
  const sort = { by: 'rank', order: 'ascending' } as const
  const fresh = await store.find(indexed, { using: 'bySpace', where: eq('spaces', 'fresh'), sort, limit: 9 })
  t.deepEqual(
    fresh.items.map(({ id }) => id),
    ['n0', 'n599', 'new'],
  )
  await t.throwsAsync(store.find(bare, { using: 'byName', limit: 1 }).then(() => store.find(indexed, { using: 'byName', limit: 1 })))
})

live('a unique index over duplicate keys is refused by name, and created once the duplicates are gone', async t => {
  const database = testDatabase(t, url('MONGODB'))
  const unique = collection<Note>()('things', { byRank: { on: ['rank'], unique: true } })
  const store = await openStore(t, { uri: url('MONGODB'), database })
  await store.declare([bare])
  for (const id of ['a', 'b', 'c']) await store.commit<Note>({ insert: { id, ...(id === 'c' ? {} : { rank: 1 }) }, into: bare })
  const error = await t.throwsAsync(store.declare([unique as Collection<object>]), { instanceOf: Taken })
  t.is(error?.index, 'byRank')
  await store.declare([bare])
  await store.commit<Note>({ update: 'b', in: bare, set: { rank: 2 } })
  await store.declare([unique as Collection<object>])
  await t.throwsAsync(store.commit<Note>({ update: 'b', in: unique, set: { rank: 1 } }), { instanceOf: Taken })
})

live('an index redefined under the same name uses the new definition', async t => {
  const store = await openStore(t, { uri: url('MONGODB') })
  await store.declare([collection<Note>()('things', { main: { on: ['email'], unique: true } })])
  const other = collection<Note>()('things', { main: { on: ['name'], unique: true } })
  const old = collection<Note>()('things')
  await store.commit<Note>({ insert: { id: 'a', email: 'x', name: 'y' }, into: old })
  await store.commit<Note>({ insert: { id: 'b', email: 'y', name: 'x' }, into: old })
  await store.declare([other])
  await store.commit<Note>({ insert: { id: 'c', email: 'x', name: 'z' }, into: other })
  await t.throwsAsync(store.commit<Note>({ insert: { id: 'd', email: 'w', name: 'z' }, into: other }), { instanceOf: Taken })
})

live('indexes are not changed beside a running kernel, which would write documents without the new keys', async t => {
  const database = testDatabase(t, url('MONGODB'))
  const open = () =>
    openStore(t, {
      uri: url('MONGODB'),
      database,
      tools: realTools,
      times: { absentMs: 600_000, observeMs: 100, pollMs: 20, limitMs: 1000 },
    })
  const older = await open()
  await older.declare([bare])
  await older.outbox.declareConsumers([{ name: 'test/all', types: '*' }])
  const newer = await open()
  const error = await t.throwsAsync(newer.declare([indexed]), { instanceOf: Conflict })
  t.regex(error?.message ?? '', /other indexes \(things\).*stop all of them first/)
  await newer.declare([bare])
  await fill(older, 30)
  await older.dispose()
  await newer.declare([indexed])
  t.is(await newer.count(indexed, { using: 'byRank', upTo: 9999 }), 30)
})

live('of two kernels that wait to change the same indexes, one changes them', async t => {
  const database = testDatabase(t, url('MONGODB'))
  const open = (observeMs: number) =>
    openStore(t, { uri: url('MONGODB'), database, tools: realTools, times: { absentMs: 600_000, observeMs, pollMs: 20, limitMs: 60_000 } })
  const older = await open(100)
  await older.declare([bare])
  await older.outbox.declareConsumers([{ name: 'test/all', types: '*' }])
  await fill(older, 30)
  await older.dispose()
  const [one, other] = [await open(300), await open(60_000)]
  await Promise.all([one.declare([indexed]), other.declare([indexed])])
  for (const store of [one, other]) t.is(await store.count(indexed, { using: 'byRank', upTo: 9999 }), 30)
})
