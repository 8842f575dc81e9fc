import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { MongoClient } from 'mongodb'
import { type Clock, type Collection, CommitConflict, eq, event, Taken } from 'pounce/sdk'
import { FixedClock, liveTests, type Note, notes } from 'pounce/sdk/testing'
import { until } from '../../../test/support/until.ts'
import type { MongodbDocuments } from './mongodb-documents.ts'
import { openStore, realTools, testDatabase } from './testing.ts'

const { test: live, url } = liveTests(test, 'MONGODB')

const consumers = [{ name: 'test/all', types: '*' as const }]
const created = (n: number) => event('dataset.created', { kind: 'dataset', id: `d${n}` }, {})

type Context = Parameters<typeof testDatabase>[0]

/** Two stores on one database, as two kernels have them. */
const two = async (
  t: Context,
  clock: Clock = new FixedClock(),
  database = testDatabase(t, url('MONGODB')),
): Promise<readonly [MongodbDocuments, MongodbDocuments]> => {
  const open = async () => {
    const store = await openStore(t, { uri: url('MONGODB'), database, tools: { clock } })
    await store.declare([notes as Collection<object>])
    await store.outbox.declareConsumers(consumers)
    return store
  }
  return [await open(), await open()]
}

const claim = (store: MongodbDocuments, limit = 100) => store.outbox.claim('test/all', { limit, leaseMs: 30_000, owner: 'k' })
const idsOf = (claimed: Awaited<ReturnType<typeof claim>>) => claimed.map(({ event: { id } }) => id)
const numbered = (n: number) => event('dataset.created', { kind: 'dataset', id: 'd' }, { n })
const numbersOf = (claimed: Awaited<ReturnType<typeof claim>>) => claimed.map(({ event: { data } }) => (data as { n: number }).n)

/** Claims and acknowledges events until that many were claimed; returns their numbers. */
const handle = async (store: MongodbDocuments, count: number): Promise<readonly number[]> => {
  const seen: number[] = []
  await until(`${count} events`, async () => {
    const claimed = await claim(store)
    seen.push(...numbersOf(claimed))
    await store.outbox.done('test/all', idsOf(claimed))
    return seen.length >= count
  })
  return seen
}

live('each event is claimed by one of two concurrently claiming kernels, whichever kernel committed it', async t => {
  const [a, b] = await two(t)
  for (const store of [a, b]) t.deepEqual(await claim(store), [])
  const seen: string[] = []
  const total = 120
  const work = async (store: MongodbDocuments) => {
    const claimed = await claim(store, 7)
    seen.push(...idsOf(claimed))
    await store.outbox.done('test/all', idsOf(claimed))
  }
  const commits = Array.from({ length: total }, (_, n) => (n % 2 ? a : b).commit({ insert: { id: `n${n}` }, into: notes }, [created(n)]))
  await Promise.all([...commits, ...Array.from({ length: 20 }, (_, n) => work(n % 2 ? a : b))])
  await until('all events to be claimed', async () => {
    await Promise.all([work(a), work(b)])
    return seen.length >= total
  })
  t.is(new Set(seen).size, total)
  t.is(seen.length, total)
  t.deepEqual(await a.outbox.waiting(), { 'test/all': 0 })
})

live(
  'events that two kernels commit alternately to one document, and that remain unclaimed at first, are claimed in commit order',
  async t => {
    const database = testDatabase(t, url('MONGODB'))
    const [a, b] = await two(t, new FixedClock(), database)
    const client = await new MongoClient(url('MONGODB')).connect()
    t.teardown(() => client.close())
    const deliveries = client.db(database).collection('_deliveries')
    const says = (n: number) => event('dataset.updated', { kind: 'dataset', id: 'd' }, { fields: [`${n}`] })
    // Makes the counters of the two kernels differ.
    for (let n = 0; n < 20; n += 1) await b.commit({ insert: { id: `other ${n}` }, into: notes }, [created(n)])
    await a.commit({ insert: { id: 'x', rank: 0 }, into: notes }, [says(0)])
    for (let n = 1; n < 4; n += 1) await (n % 2 ? b : a).commit({ update: 'x', in: notes, inc: { rank: 1 } }, [says(n)])
    await until('all events to be moved out of their document', async () => (await deliveries.countDocuments({ s: 'dataset/d' })) === 4)
    const claimed = (await claim(b)).flatMap(({ event: one }) => (one.type === 'dataset.updated' ? one.data.fields : []))
    t.deepEqual(claimed, ['0', '1', '2', '3'])
  },
)

live(
  'events of a document that two kernels change alternately, right after their start, are handled in order by one kernel at a time',
  async t => {
    const total = 8
    const inOrder = async () => {
      // Neither kernel has detected the other yet, nor found that nothing is pending.
      const stores = await two(t, realTools.clock)
      const handled: number[] = []
      let [isOver, active, most] = [false, 0, 0]
      const work = async (store: MongodbDocuments) => {
        while (!isOver) {
          const claimed = await claim(store)
          if (claimed.length > 0) most = Math.max(most, ++active)
          await pause(Math.random() * 20)
          handled.push(...numbersOf(claimed))
          if (claimed.length === 0) continue
          active -= 1
          await store.outbox.done('test/all', idsOf(claimed))
        }
      }
      await stores[0].commit<Note>({ insert: { id: 'x', rank: 0 }, into: notes })
      const working = stores.map(work)
      for (let n = 0; n < total; n += 1) {
        const says = event('dataset.created', { kind: 'dataset', id: 'd' }, { n })
        await stores[n % 4 < 2 ? 1 : 0].commit({ update: 'x', in: notes, inc: { rank: 1 } }, [says])
      }
      await until('all events to be handled', () => handled.length >= total)
      isOver = true
      await Promise.all(working)
      t.deepEqual([...handled, most], [...Array.from({ length: total }, (_, n) => n), 1])
    }
    for (let round = 0; round < 25; round += 1) await inOrder()
  },
)

live('events leased by one kernel can be claimed by another when the lease expires, not before', async t => {
  const clock = new FixedClock()
  const [a, b] = await two(t, clock)
  await a.commit({ insert: { id: 'x' }, into: notes }, [created(1), created(1), created(2)])
  t.is((await claim(a, 1)).length, 1)
  t.deepEqual(
    (await claim(b)).map(({ event }) => event.subject.id),
    ['d2'],
    'a later event of a leased subject waits',
  )
  t.deepEqual(await claim(b), [])
  await a.dispose()
  clock.advance(30_001)
  const seen: string[] = []
  await until('the events leased by the other kernel', async () => {
    seen.push(...(await claim(b)).map(({ event }) => event.subject.id))
    return seen.filter(id => id === 'd1').length === 2
  })
  t.is(seen.filter(id => id === 'd1').length, 2)
})

live('events of a kernel that died before delivering them are claimed by another', async t => {
  const clock = new FixedClock()
  const database = testDatabase(t, url('MONGODB'))
  const dead = await openStore(t, { uri: url('MONGODB'), database, tools: { clock } })
  await dead.declare([notes as Collection<object>])
  await dead.outbox.declareConsumers(consumers)
  await claim(dead)
  await dead.commit({ insert: { id: 'x' }, into: notes }, [created(1)])
  await dead.commit({ tombstone: 'x', in: notes }, [created(2)])
  await dead.abandon()
  clock.advance(60_000)
  const heir = await openStore(t, { uri: url('MONGODB'), database, tools: { clock } })
  await heir.declare([notes as Collection<object>])
  await heir.outbox.declareConsumers(consumers)
  t.is(await heir.get(notes, 'x'), undefined)
  const seen = new Set<string>()
  await until('both events', async () => {
    for (const { event } of await claim(heir)) seen.add(event.subject.id)
    return seen.size === 2
  })
  t.deepEqual([...seen].sort(), ['d1', 'd2'])
})

live('of concurrent commits by two kernels, one wins on a unique key or guard, and no increment is lost', async t => {
  const [a, b] = await two(t)
  const both = <R>(work: (store: MongodbDocuments, n: number) => Promise<R>) =>
    Promise.allSettled(Array.from({ length: 40 }, (_, n) => work(n % 2 ? a : b, n)))
  const inserts = await both((store, n) => store.commit<Note>({ insert: { id: `n${n}`, email: 'e' }, into: notes }))
  t.is(inserts.filter(({ status }) => status === 'fulfilled').length, 1)
  t.true(inserts.every(result => result.status === 'fulfilled' || result.reason instanceof Taken))
  await a.commit<Note>({ insert: { id: 'x', state: 'free', rank: 0 }, into: notes })
  const guards = await both((store, n) =>
    store.commit<Note>({ update: 'x', in: notes, where: eq('state', 'free'), set: { state: `u${n}` } }),
  )
  t.is(guards.filter(({ status }) => status === 'fulfilled').length, 1)
  t.true(guards.every(result => result.status === 'fulfilled' || result.reason instanceof CommitConflict))
  const increments = await both(store => store.commit({ update: 'x', in: notes, inc: { rank: 1 } }))
  t.true(increments.every(({ status }) => status === 'fulfilled'))
  t.is((await b.get(notes, 'x'))?.rank, 40)
})

live('an update is not based on an old document that another kernel has replaced by one of the same id and revision', async t => {
  const [a, b] = await two(t)
  await a.commit<Note>({ insert: { id: 'x', name: 'old' }, into: notes })
  await b.commit({ tombstone: 'x', in: notes })
  await b.commit<Note>({ insert: { id: 'x', name: 'new' }, into: notes })
  await a.commit({ update: 'x', in: notes, inc: { rank: 1 } })
  t.like(await b.get(notes, 'x'), { name: 'new', rank: 1, revision: 2 })
})

live('events of one document are delivered in commit order, whichever kernel committed them', async t => {
  const [a, b] = await two(t)
  await a.commit<Note>({ insert: { id: 'x', rank: 0 }, into: notes })
  for (const store of [a, b]) t.deepEqual(await claim(store), [])
  await a.commit({ update: 'x', in: notes, inc: { rank: 1 } }, [numbered(1)])
  await b.commit({ update: 'x', in: notes, inc: { rank: 1 } }, [numbered(2)])
  await b.commit({ update: 'x', in: notes, inc: { rank: 1 } }, [numbered(3)])
  await a.commit({ update: 'x', in: notes, inc: { rank: 1 } }, [numbered(4)])
  const first = await claim(a)
  t.deepEqual(numbersOf(first), [1])
  for (let look = 0; look < 5; look += 1) for (const store of [a, b]) t.deepEqual(await claim(store), [])
  // At least its own two; those of the other kernel are claimable once moved out of the document, which takes a second.
  const waitingAtB = async () => (await b.outbox.waiting())['test/all'] ?? 0
  const atFirst = await waitingAtB()
  t.true(atFirst >= 2 && atFirst <= 4, `${atFirst} wait`)
  await until('the second kernel to count the events of the first', waitingAtB, n => n >= 3 && n <= 4)
  await a.outbox.done('test/all', idsOf(first))
  const seen: number[] = []
  await until('the other events', async () => {
    for (const store of [a, b]) {
      const claimed = await claim(store)
      seen.push(...numbersOf(claimed))
      await store.outbox.done('test/all', idsOf(claimed))
    }
    return seen.length === 3
  })
  t.deepEqual(seen, [2, 3, 4])
  t.deepEqual(await a.outbox.waiting(), { 'test/all': 0 })
})

live('events queued behind those of a dead kernel are delivered after them', async t => {
  const clock = new FixedClock()
  const [dead, heir] = await two(t, clock)
  await dead.commit<Note>({ insert: { id: 'x', rank: 0 }, into: notes })
  for (const store of [dead, heir]) t.deepEqual(await claim(store), [])
  await dead.commit({ update: 'x', in: notes, inc: { rank: 1 } }, [created(1)])
  await dead.abandon()
  await heir.commit({ update: 'x', in: notes, inc: { rank: 1 } }, [created(2)])
  t.deepEqual(await claim(heir), [])
  clock.advance(60_000)
  const seen: string[] = []
  await until('both events', async () => {
    const claimed = await claim(heir)
    seen.push(...claimed.map(({ event }) => event.subject.id))
    await heir.outbox.done('test/all', idsOf(claimed))
    return seen.length === 2
  })
  t.deepEqual(seen, ['d1', 'd2'])
})

live('a sweep keeps the order of a document in which events of a dead kernel surround one of a running kernel', async t => {
  const clock = new FixedClock()
  const [dead, heir] = await two(t, clock)
  await dead.commit<Note>({ insert: { id: 'x', rank: 0 }, into: notes })
  for (const store of [dead, heir]) t.deepEqual(await claim(store), [])
  for (const [at, store] of [dead, heir, dead].entries())
    await store.commit({ update: 'x', in: notes, inc: { rank: 1 } }, [numbered(at + 1)])
  await dead.abandon()
  clock.advance(60_000)
  t.deepEqual(await handle(heir, 3), [1, 2, 3])
})

live('events of a document inserted again follow those of the one that another kernel deleted', async t => {
  const [a, b] = await two(t)
  for (const store of [a, b]) t.deepEqual(await claim(store), [])
  await a.commit<Note>({ insert: { id: 'x' }, into: notes }, [numbered(1)])
  const first = await claim(a)
  await a.commit({ tombstone: 'x', in: notes }, [numbered(2)])
  await b.commit<Note>({ insert: { id: 'x' }, into: notes }, [numbered(3)])
  for (let look = 0; look < 5; look += 1) t.deepEqual(await claim(b), [])
  await a.outbox.done('test/all', idsOf(first))
  t.deepEqual([...numbersOf(first), ...(await handle(a, 1)), ...(await handle(b, 1))], [1, 2, 3])
})

live('events committed while earlier ones are being released are delivered after them', async t => {
  const [a, b] = await two(t)
  const change = (store: MongodbDocuments, n: number) => store.commit({ update: 'x', in: notes, inc: { rank: 1 } }, [numbered(n)])
  await a.commit<Note>({ insert: { id: 'x', rank: 0 }, into: notes })
  for (const store of [a, b]) t.deepEqual(await claim(store), [])
  for (let round = 0; round < 60; round += 1) {
    await change(a, 0)
    const first = await until(
      'the event of the first kernel',
      () => claim(a),
      claimed => claimed.length > 0,
    )
    await change(b, 1)
    await a.outbox.done('test/all', idsOf(first))
    const later = pause(round / 2).then(() => change(b, 2))
    t.deepEqual(await handle(b, 2), [1, 2], `round ${round}`)
    await later
  }
})
