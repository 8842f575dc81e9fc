import test, { type ExecutionContext } from 'ava'
import { type AnyEvent, type Collection, type Feed, type Stored, Unavailable, type UserRecord, type Users } from 'pounce/sdk'
import type { FeedLine } from 'pounce/sdk/kit'
import { FixedClock, silent } from 'pounce/sdk/testing'
import { openStore } from '../../../test/support/sqlite-store.ts'
import { digests, EnqueueDigests } from './enqueue-digests.ts'
import { notifications } from './inbox.ts'
import { preferences, StoredPreferences } from './preferences.ts'

const hourMs = 3_600_000
const never = new AbortController().signal
const line: FeedLine = { id: 'a', at: '', type: 'create_dataset', user: 'u1', who: 'Ann', object: null, source: null }

const opened = async (t: ExecutionContext, recentLines: (id: string) => readonly FeedLine[]) => {
  const documents = await openStore(t)
  await documents.declare([digests, notifications, preferences] as readonly Collection<object>[])
  await documents.outbox.declareConsumers([{ name: 'test/all', types: '*' }])
  const clock = new FixedClock()
  const users = { get: async (id: string) => ({ id, notifications: 'hourly', status: 'Active' }) as UserRecord & Stored } as Users
  const feed: Feed = { recentLines: async ({ id }) => ({ lines: recentLines(id), isCut: false }) }
  const work = new EnqueueDigests(
    { maxLines: 50, settleSeconds: 60, keptDays: 90, maxPerPerson: 1000 },
    documents,
    users,
    feed,
    new StoredPreferences(documents),
    clock,
    silent,
  )
  const start = clock.now().toISOString()
  const add = async (...ids: readonly string[]): Promise<void> => {
    for (const id of ids) await documents.commit({ insert: { id, every: 'hourly', told: start, until: null, due: start }, into: digests })
    clock.advance(hourMs)
  }
  const requested = async (): Promise<readonly string[]> => {
    const deliveries = await documents.outbox.claim('test/all', { limit: 100, leaseMs: 1000, owner: 'test' })
    await documents.outbox.done(
      'test/all',
      deliveries.map(({ event }) => event.id),
    )
    return deliveries.map(({ event }: { readonly event: AnyEvent }) => event.subject.id).toSorted()
  }
  const told = async (id: string) => (await documents.get(digests, id))?.told
  return { work, clock, add, requested, told, start }
}

test('an error for one user neither blocks other users nor loses events', async t => {
  let isBroken = true
  const { work, clock, add, requested, told, start } = await opened(t, id => {
    if (id === 'bad' && isBroken) throw new Error('a fault')
    return [line]
  })
  await add('ann', 'bad', 'cid')
  await work.run(never)
  t.deepEqual(await requested(), ['ann', 'cid'])
  t.is(await told('bad'), start)
  await work.run(never)
  t.deepEqual(await requested(), [], 'the retry is not due yet')
  isBroken = false
  clock.advance(hourMs)
  await work.run(never)
  t.true((await requested()).includes('bad'))
})

test('without new events no email is requested, and events are read once', async t => {
  const seen: string[] = []
  const { work, add, requested, told, start } = await opened(t, id => {
    seen.push(id)
    return []
  })
  await add('ann')
  await work.run(never)
  await work.run(never)
  t.deepEqual([await requested(), seen], [[], ['ann']])
  t.true(((await told('ann')) ?? '') > start)
})

test('many emails are requested in one run, each once, even by two concurrent runs', async t => {
  const { work, add, requested } = await opened(t, () => [line])
  const ids = Array.from({ length: 250 }, (_, at) => `p${at}`)
  await add(...ids)
  await Promise.all([work.run(never), work.run(never)])
  const all = [...(await requested()), ...(await requested()), ...(await requested())]
  t.deepEqual(all.toSorted(), ids.toSorted())
})

test('an outage ends the run, and the next one resumes', async t => {
  let isUnavailable = true
  const { work, add, requested } = await opened(t, () => {
    if (isUnavailable) throw new Unavailable('away')
    return [line]
  })
  await add('ann', 'bob')
  await t.throwsAsync(work.run(never), { instanceOf: Unavailable })
  isUnavailable = false
  await work.run(never)
  t.deepEqual(await requested(), ['ann', 'bob'])
})
