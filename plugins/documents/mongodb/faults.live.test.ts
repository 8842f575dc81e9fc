import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { type Collection, event, Unavailable } from 'pounce/sdk'
import type { Delivery } from 'pounce/sdk/store-kit'
import { liveTests, type Note, notes } from 'pounce/sdk/testing'
import { flakyProxy } from '../../../test/support/flaky-proxy.ts'
import { until } from '../../../test/support/until.ts'
import type { MongodbDocuments } from './mongodb-documents.ts'
import { openStore, realTools } from './testing.ts'

const { test: live, url } = liveTests(test, 'MONGODB')

const settings = { timeoutMs: 4000 }

/** The operations called while the server is unavailable. */
const callsOf = (store: MongodbDocuments): Readonly<Record<string, () => Promise<unknown>>> => ({
  get: () => store.get(notes, 'a'),
  getMany: () => store.getMany(notes, ['a']),
  find: () => store.find(notes, { using: 'byName', limit: 10 }),
  count: () => store.count(notes, { using: 'byName', upTo: 10 }),
  insert: () => store.commit({ insert: { id: 'late', name: 'late' }, into: notes }),
  inserts: async () => {
    const inserts = ['b', 'c', 'd'].map(id => store.commit({ insert: { id, name: 'late' }, into: notes }))
    const outcomes = await Promise.allSettled(inserts)
    const reasons = outcomes.map(outcome => (outcome.status === 'rejected' ? outcome.reason : 'stored'))
    throw reasons.find(reason => !(reason instanceof Unavailable)) ?? reasons[0]
  },
  update: () => store.commit({ update: 'a', in: notes, inc: { rank: 1 } }),
  waiting: () => store.outbox.waiting(),
  health: () => store.health(),
})

/** Retries until a call succeeds. */
const back = async (call: () => Promise<unknown>): Promise<void> => {
  for (;;) {
    try {
      await call()
      return
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      await pause(50)
    }
  }
}

for (const mode of ['refuse', 'silent', 'cut'] as const) {
  live(`while the server is unavailable (${mode}), calls fail with Unavailable; after its recovery nothing is lost`, async t => {
    const proxy = await flakyProxy(t, url('MONGODB'))
    const store = await openStore(t, { uri: proxy.urlFor(url('MONGODB')), server: url('MONGODB'), tools: realTools, settings })
    await store.declare([notes as Collection<object>])
    await store.outbox.declareConsumers([{ name: 'test/all', types: '*' }])
    const says = [event('dataset.created', { kind: 'dataset', id: 'd' }, {})]
    await store.commit({ insert: { id: 'a', rank: 0 }, into: notes }, says)
    await proxy.become(mode)
    const calls = Object.entries(callsOf(store))
    const outcomes = await Promise.all(
      calls.map(async ([name, call]) => {
        const error = await call().then(
          () => undefined,
          (error: unknown) => error,
        )
        return { name, isRight: error instanceof Unavailable, seen: String(error) }
      }),
    )
    t.deepEqual(
      outcomes.filter(({ isRight }) => !isRight),
      [],
    )
    await proxy.become('pass')
    await back(() => store.get(notes, 'a'))
    t.is((await store.get(notes, 'a'))?.id, 'a')
    await store.commit({ update: 'a', in: notes, set: { name: 'after' } }, says)
    // One claim may not return both events: the later one leaves its document only after the earlier one, and only one event per subject
    // is leased at a time.
    const claimed: Delivery[] = []
    while (claimed.length < 2) {
      const some = await store.outbox.claim('test/all', { limit: 10, leaseMs: 60_000, owner: 'k' })
      claimed.push(...some)
      await store.outbox.done(
        'test/all',
        some.map(({ event: { id } }) => id),
      )
      await pause(20)
    }
    t.is(new Set(claimed.map(({ event: { id } }) => id)).size, 2)
    t.is(claimed.length, 2)
    t.deepEqual(await store.outbox.waiting(), { 'test/all': 0 })
  })
}

live('with a slow server, every acknowledged change is stored, and every other one fails with Unavailable', async t => {
  const proxy = await flakyProxy(t, url('MONGODB'), { slowMs: 300 })
  const store = await openStore(t, { uri: proxy.urlFor(url('MONGODB')), server: url('MONGODB'), tools: realTools, settings })
  await store.declare([notes as Collection<object>])
  await proxy.become('slow')
  const results = await Promise.allSettled(
    Array.from({ length: 40 }, (_, n) => store.commit<Note>({ insert: { id: `n${n}`, rank: n }, into: notes })),
  )
  await proxy.become('pass')
  for (const [n, result] of results.entries()) {
    if (result.status === 'fulfilled') t.is((await store.get(notes, `n${n}`))?.rank, n)
    else t.true(result.reason instanceof Unavailable, String(result.reason))
  }
  t.true(results.some(({ status }) => status === 'fulfilled'))
})

live('a connection broken during concurrent changes loses no acknowledged change and applies none twice', async t => {
  const proxy = await flakyProxy(t, url('MONGODB'))
  const store = await openStore(t, { uri: proxy.urlFor(url('MONGODB')), server: url('MONGODB'), tools: realTools, settings })
  await store.declare([notes as Collection<object>])
  await store.commit({ insert: { id: 'a', rank: 0 }, into: notes })
  let acknowledged = 0
  let doubtful = 0
  for (let round = 0; round < 3; round++) {
    const increments = Array.from({ length: 20 }, () => store.commit({ update: 'a', in: notes, inc: { rank: 1 } }))
    await increments[3]
    await proxy.become('cut')
    for (const { status } of await Promise.allSettled(increments)) status === 'fulfilled' ? acknowledged++ : doubtful++
    await proxy.become('pass')
    await back(() => store.get(notes, 'a'))
  }
  const rank = (await store.get(notes, 'a'))?.rank ?? 0
  t.true(rank >= acknowledged, `${rank} of ${acknowledged} acknowledged`)
  t.true(rank <= acknowledged + doubtful)
})

live('the store recovers from connections closed while requests wait and a server check of the driver is due', async t => {
  const one = async (waitMs: number, outageMs = 100): Promise<void> => {
    const proxy = await flakyProxy(t, url('MONGODB'))
    const store = await openStore(t, { uri: proxy.urlFor(url('MONGODB')), server: url('MONGODB'), tools: realTools, settings })
    await store.declare([notes as Collection<object>])
    await pause(waitMs)
    await proxy.become('silent')
    const waiting = Promise.allSettled([1, 2, 3].map(() => store.get(notes, 'a')))
    await pause(100)
    await proxy.become('refuse')
    for (const end = performance.now() + outageMs; performance.now() < end; await pause(100))
      await store.get(notes, 'a').catch(() => undefined)
    await proxy.become('pass')
    await back(() => store.get(notes, 'a'))
    await waiting
  }
  // The driver checks the server every two seconds, so some of these delays end between two checks.
  const delays = [700, 1000, 1300, 1600]
  const all = Promise.all(delays.flatMap(waitMs => [one(waitMs), one(waitMs, 10_000)])).then(() => true)
  t.true(await Promise.race([all, pause(30_000, false, { ref: false })]))
})

live(
  'after an outage longer than the leases, an event that was pending before it is delivered before later ones of its document',
  async t => {
    const proxy = await flakyProxy(t, url('MONGODB'))
    const store = await openStore(t, { uri: proxy.urlFor(url('MONGODB')), server: url('MONGODB'), tools: realTools, settings })
    await store.declare([notes as Collection<object>])
    await store.outbox.declareConsumers([{ name: 'test/all', types: '*' }])
    const claim = () => store.outbox.claim('test/all', { limit: 10, leaseMs: 60_000, owner: 'k' })
    const says = (n: number) => [event('dataset.created', { kind: 'dataset', id: 'd' }, { n })]
    t.deepEqual(await claim(), [])
    await store.commit({ insert: { id: 'a', rank: 0 }, into: notes }, says(1))
    await proxy.become('refuse')
    await pause(16_000)
    await proxy.become('pass')
    await back(claim)
    await store.commit({ update: 'a', in: notes, inc: { rank: 1 } }, says(2))
    const seen: number[] = []
    await until('both events', async () => {
      const claimed = await claim()
      seen.push(...claimed.map(({ event: { data } }) => (data as { n: number }).n))
      await store.outbox.done(
        'test/all',
        claimed.map(({ event: { id } }) => id),
      )
      return seen.length >= 2
    })
    t.deepEqual(seen, [1, 2])
  },
)
