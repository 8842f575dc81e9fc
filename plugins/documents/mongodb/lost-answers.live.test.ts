import test from 'ava'
import { Collection as Driver, MongoNetworkError } from 'mongodb'
import { type Collection, event, Unavailable } from 'pounce/sdk'
import type { Delivery } from 'pounce/sdk/store-kit'
import { liveTests, notes } from 'pounce/sdk/testing'
import { until } from '../../../test/support/until.ts'
import type { MongodbDocuments } from './mongodb-documents.ts'
import { openStore, realTools, testDatabase } from './testing.ts'

const { test: live, url } = liveTests(test, 'MONGODB')

const consumer = 'test/all'
const about = (n: number) => [event('dataset.updated', { kind: 'dataset', id: 'd' }, { fields: [`${n}`] })]
const claim = (store: MongodbDocuments) => store.outbox.claim(consumer, { limit: 10, leaseMs: 60_000, owner: 'k' })
const fieldsOf = (claimed: readonly Delivery[]) =>
  claimed.flatMap(({ event: one }) => (one.type === 'dataset.updated' ? one.data.fields : []))
const acknowledge = (store: MongodbDocuments, claimed: readonly Delivery[]) =>
  store.outbox.done(
    consumer,
    claimed.map(({ event: { id } }) => id),
  )

const opened = async (t: Parameters<typeof testDatabase>[0], database: string): Promise<MongodbDocuments> => {
  const store = await openStore(t, { uri: url('MONGODB'), database, tools: realTools, settings: { timeoutMs: 4000 } })
  await store.declare([notes as Collection<object>])
  await store.outbox.declareConsumers([{ name: consumer, types: '*' }])
  return store
}

type Method = 'updateMany' | 'insertMany'

/** Loses the answer to the next call of a method on `_deliveries`, which the server has executed, as when the connection ends. Resolves then. */
const loseAnswer = (
  t: Parameters<typeof testDatabase>[0],
  database: string,
  method: Method,
  isMeant: (given: object) => boolean = () => true,
): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const prototype = Driver.prototype as unknown as Record<Method, (this: Driver, ...args: object[]) => Promise<unknown>>
  const original = prototype[method]
  const restore = () => {
    prototype[method] = original
  }
  t.teardown(restore)
  prototype[method] = async function (...args) {
    const isNext = this.dbName === database && this.collectionName === '_deliveries' && isMeant(args.at(-1) ?? {})
    if (isNext) restore()
    const answer = await original.apply(this, args)
    if (!isNext) return answer
    resolve()
    throw new MongoNetworkError('connection closed')
  }
  return promise
}

live.serial('events of a claim whose answer was lost are delivered, in order, and without counting as tried', async t => {
  const database = testDatabase(t, url('MONGODB'))
  const store = await opened(t, database)
  // Not yet claimed by this kernel: the events go to `_deliveries`.
  for (const n of [1, 2]) await store.commit({ insert: { id: `n${n}` }, into: notes }, about(n))
  const lost = loseAnswer(t, database, 'updateMany', update => JSON.stringify(update).includes('"take"'))
  await until('a claim to fail', () =>
    claim(store).then(
      () => false,
      error => error instanceof Unavailable,
    ),
  )
  await lost
  await store.commit({ insert: { id: 'n3' }, into: notes }, about(3))
  const seen: Delivery[] = []
  await until('all events', async () => {
    const claimed = await claim(store)
    seen.push(...claimed)
    await acknowledge(store, claimed)
    return seen.length >= 3
  })
  t.deepEqual(fieldsOf(seen), ['1', '2', '3'])
  t.deepEqual(
    seen.map(({ attempt }) => attempt),
    [1, 1, 1],
  )
  t.deepEqual(await store.outbox.waiting(), { [consumer]: 0 })
})

live.serial('an event acknowledged after a failed attempt to store its delivery does not wait for ever', async t => {
  const database = testDatabase(t, url('MONGODB'))
  const [store, other] = [await opened(t, database), await opened(t, database)]
  t.deepEqual(await claim(store), [])
  const lost = loseAnswer(t, database, 'insertMany')
  await store.commit({ insert: { id: 'n', rank: 0 }, into: notes }, about(1))
  const first = await claim(store)
  t.deepEqual(fieldsOf(first), ['1'])
  await lost
  await until('the acknowledgement', () =>
    acknowledge(store, first).then(
      () => true,
      () => false,
    ),
  )
  await until('no event to wait', async () => (await store.outbox.waiting())[consumer] === 0)
  await other.commit({ update: 'n', in: notes, inc: { rank: 1 } }, about(2))
  await until('the next event of its subject', async () => fieldsOf(await claim(other)).includes('2'))
  t.deepEqual(await claim(store), [])
})
