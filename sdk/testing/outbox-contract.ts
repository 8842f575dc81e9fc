import { setImmediate as turn } from 'node:timers/promises'
import { type EventType, event, type NewEvent } from '../events.ts'
import { type Change, type Collection, type DocumentStore, eq } from '../ports/document-store.ts'
import type { Delivery, Outbox } from '../ports/outbox.ts'
import { Conflict } from '../problem.ts'
import { type ContractTest, contractTest, type TestContext, type TestRunner } from './any-runner.ts'
import { FixedClock } from './fixed-clock.ts'
import { type Note, notes } from './notes.ts'
import { countingIds, type MakeDocumentStore } from './store-tools.ts'

const leaseMs = 30_000
const owner = 'kernel-1'

const onlyAll = [{ name: 'test/all', types: '*' }] as const
const both = [...onlyAll, { name: 'test/created', types: ['dataset.created', 'file.created'] }] as const

interface Bench {
  readonly store: DocumentStore
  readonly outbox: Outbox
  readonly clock: FixedClock
  /** Commits one new document with these events. */
  leave(...events: readonly NewEvent[]): Promise<void>
  claim(consumer: string, limit?: number): Promise<readonly Delivery[]>
}

type Open = (t: TestContext) => Promise<Bench>

/** An event about dataset number `n`. */
const about = (type: EventType, n: number): NewEvent =>
  ({ type, subject: { kind: 'dataset', id: `d${n}` }, data: { fields: ['name'] } }) as NewEvent

const created = (n: number) => about('dataset.created', n)
const changed = (n: number) => about('dataset.updated', n)
const subjects = (deliveries: readonly Delivery[]): readonly string[] => deliveries.map(delivery => delivery.event.subject.id)
const idsOf = (deliveries: readonly Delivery[]): readonly string[] => deliveries.map(delivery => delivery.event.id)

/** Polls until the result is as expected, for at most 30 s. */
const eventually = async <T>(look: () => Promise<T>, isExpected: (found: T) => boolean): Promise<T> => {
  const until = performance.now() + 30_000
  for (;;) {
    const found = await look()
    if (isExpected(found) || performance.now() > until) return found
    await turn()
  }
}

/** A store may take a moment to dead-letter unclaimed events. */
const eventuallyEqual = async <T>(t: TestContext, look: () => Promise<T>, expected: T): Promise<void> => {
  t.deepEqual(await eventually(look, found => JSON.stringify(found) === JSON.stringify(expected)), expected)
}

/** The contract of `Outbox`. */
export function outboxContract(runner: TestRunner, make: MakeDocumentStore): void {
  const test = contractTest(runner)
  const open: Open = async t => {
    const clock = new FixedClock()
    const store = await make(t, { clock, ids: countingIds() })
    await store.declare([notes as Collection<object>])
    const { outbox } = store
    await outbox.declareConsumers(both)
    let documents = 0
    return {
      store,
      outbox,
      clock,
      leave: async (...events) => {
        await store.commit({ insert: { id: `n${++documents}` }, into: notes }, events)
      },
      claim: (consumer, limit = 100) => outbox.claim(consumer, { limit, leaseMs, owner }),
    }
  }
  deliveries(test, open)
  leases(test, open)
  failures(test, open)
  consumers(test, open)
}

function deliveries(test: ContractTest, open: Open): void {
  test('an event is delivered as committed, with its id and time, to the consumers of its type', async t => {
    const { outbox, leave, claim, clock } = await open(t)
    const stated = event('dataset.updated', { kind: 'dataset', id: 'd1' }, { fields: ['name', 'tags'] }, 'u1')
    await leave(stated)
    const [delivery, ...others] = await claim('test/all')
    t.like(delivery, { attempt: 1, event: { ...stated, at: clock.now().toISOString() } })
    t.is(typeof delivery?.event.id, 'string')
    t.deepEqual(others, [])
    t.deepEqual(await claim('test/created'), [])
    t.deepEqual(await outbox.waiting(), { 'test/all': 1, 'test/created': 0 })
  })

  test('all events of every kind of change are delivered, and those of a change that fails are not', async t => {
    const { store, outbox, claim } = await open(t)
    const insert = { id: 'a', state: 'live' }
    const changes: readonly Change<Note>[] = [
      { insert, into: notes },
      { update: 'a', in: notes, set: { rank: 1 } },
      { update: 'a', in: notes, where: eq('rank', 1), set: { rank: 2 } },
      { replace: { id: 'a', revision: 3, state: 'live' }, in: notes },
      { tombstone: 'a', in: notes },
      { insert, into: notes },
      { tombstone: 'a', in: notes, where: eq('state', 'live') },
    ]
    const saying = (at: number): readonly NewEvent[] => Array.from({ length: 8 }, (_, n) => (n % 2 ? changed : created)(at * 8 + n))
    const expected = changes.flatMap((_, at) => saying(at)).map(({ type, subject: { id } }) => `${type} ${id}`)
    const delivered = async (): Promise<readonly string[]> => {
      const all: string[] = []
      const claimed = async (): Promise<number> => {
        const some = await claim('test/all', 1000)
        await outbox.done('test/all', idsOf(some))
        all.push(...some.map(({ event: { type, subject } }) => `${type} ${subject.id}`))
        return all.length
      }
      // A store may take a moment to relay the events of a document that is changed repeatedly.
      await eventually(claimed, found => found >= expected.length)
      t.deepEqual(await claim('test/all'), [])
      return all
    }
    for (const [at, change] of changes.entries()) await store.commit(change, saying(at))
    t.deepEqual(await delivered(), expected, 'of single changes')
    const failing: Change<Note> = { tombstone: 'absent', in: notes }
    const items = changes.flatMap((change, at) => [
      { change, events: saying(at) },
      { change: failing, events: saying(99) },
    ])
    t.is((await store.commitEach<Note>(items)).filter(({ ok }) => ok).length, changes.length)
    t.deepEqual(await delivered(), expected, 'of many changes')
  })

  test('events are delivered in commit order, with increasing ids', async t => {
    const { leave, claim } = await open(t)
    await Promise.all(Array.from({ length: 100 }, (_, n) => leave(created(2 * n), created(2 * n + 1))))
    const all = [...(await claim('test/all', 150)), ...(await claim('test/all', 150))]
    t.deepEqual(
      subjects(all),
      Array.from({ length: 200 }, (_, n) => `d${n}`),
    )
    t.deepEqual(idsOf(all), [...new Set(idsOf(all))].sort())
  })

  test('consumers progress independently', async t => {
    const { outbox, leave, claim } = await open(t)
    for (const n of [1, 2, 3]) await leave(created(n), changed(n))
    t.deepEqual(await outbox.waiting(), { 'test/all': 6, 'test/created': 3 })
    await outbox.done('test/created', idsOf(await claim('test/created')))
    t.deepEqual(await outbox.waiting(), { 'test/all': 6, 'test/created': 0 })
    t.is((await claim('test/all')).length, 6)
    t.deepEqual(await claim('test/created'), [])
  })

  test('a settled event is not delivered again; settling twice, or an unknown id, is no error', async t => {
    const { outbox, clock, leave, claim } = await open(t)
    for (const n of [1, 2, 3]) await leave(created(n))
    const [first, second] = idsOf(await claim('test/all', 2))
    await outbox.done('test/all', [second ?? ''])
    await Promise.all([outbox.done('test/all', [second ?? '', 'ffffffffffffffffffffffff']), outbox.done('test/all', [second ?? ''])])
    await outbox.done('test/all', [])
    t.is((await outbox.waiting())['test/all'], 2)
    clock.advance(leaseMs + 1)
    t.deepEqual(subjects(await claim('test/all')), ['d1', 'd3'])
    await outbox.done('test/all', [first ?? ''])
    t.is((await outbox.waiting())['test/all'], 1)
  })

  test('a listener is called after a commit with events, until it is removed', async t => {
    const { store, outbox, leave } = await open(t)
    let calls = 0
    const received = new Promise<void>(resolve => {
      const stop = outbox.onCommitted(() => {
        calls += 1
        stop()
        resolve()
      })
    })
    await store.commit({ insert: { id: 'quiet' }, into: notes })
    t.is(calls, 0)
    await leave(created(1))
    await received
    await leave(created(2))
    t.is(calls, 1)
  })
}

function leases(test: ContractTest, open: Open): void {
  test('a leased event is not delivered again until the lease expires, then as the next attempt', async t => {
    const { clock, leave, claim } = await open(t)
    for (const n of [1, 2, 3]) await leave(created(n))
    t.deepEqual(subjects(await claim('test/all', 2)), ['d1', 'd2'])
    clock.advance(leaseMs - 1000)
    t.deepEqual(subjects(await claim('test/all')), ['d3'])
    t.deepEqual(await claim('test/all'), [])
    clock.advance(1001)
    const again = await claim('test/all')
    t.deepEqual(subjects(again), ['d1', 'd2'])
    t.deepEqual(
      again.map(({ attempt }) => attempt),
      [2, 2],
    )
  })

  test('with concurrent claims each event is delivered to one', async t => {
    const { outbox, leave, claim } = await open(t)
    await Promise.all(Array.from({ length: 60 }, (_, n) => leave(created(n))))
    const claims = await Promise.all(Array.from({ length: 12 }, () => claim('test/all', 10)))
    const ids = claims.flatMap(idsOf)
    t.is(new Set(ids).size, ids.length)
    await Promise.all(claims.map(deliveries => outbox.done('test/all', idsOf(deliveries))))
    const rest = await claim('test/all')
    t.is(ids.length + rest.length, 60)
    await outbox.done('test/all', idsOf(rest))
    t.is((await outbox.waiting())['test/all'], 0)
  })

  test('events of one subject are delivered in order', async t => {
    const { outbox, leave, claim } = await open(t)
    for (let n = 0; n < 30; n++) await leave(created(n % 3))
    const seen = new Map<string, string[]>()
    for (let left = 30; left > 0; ) {
      const batch = await claim('test/all', 4)
      for (const { event } of batch) seen.set(event.subject.id, [...(seen.get(event.subject.id) ?? []), event.id])
      await outbox.done('test/all', idsOf(batch))
      left -= batch.length
    }
    for (const ids of seen.values()) t.deepEqual(ids, [...ids].sort())
    t.is(seen.size, 3)
  })
}

function failures(test: ContractTest, open: Open): void {
  test('a failed event is redelivered after its delay as the next attempt, while others proceed', async t => {
    const { outbox, clock, leave, claim } = await open(t)
    for (const n of [1, 2]) await leave(created(n))
    const [first] = await claim('test/all', 1)
    await outbox.failed('test/all', first?.event.id ?? '', { error: 'away', retryInMs: 5000 })
    t.deepEqual(subjects(await claim('test/all')), ['d2'])
    t.is((await outbox.waiting())['test/all'], 2)
    clock.advance(4999)
    t.deepEqual(await claim('test/all'), [])
    clock.advance(1)
    const [again] = await claim('test/all')
    t.like(again, { attempt: 2, event: { id: first?.event.id ?? '' } })
    await outbox.failed('test/all', first?.event.id ?? '', { error: 'away', retryInMs: 0 })
    t.deepEqual(
      (await claim('test/all')).map(({ attempt }) => attempt),
      [3],
    )
    await outbox.done('test/all', [first?.event.id ?? ''])
    t.is((await outbox.waiting())['test/all'], 1)
    clock.advance(leaseMs + 1)
    t.deepEqual(subjects(await claim('test/all')), ['d2'])
  })

  test('a dead letter is listed and not delivered until it is retried', async t => {
    const { outbox, clock, leave, claim } = await open(t)
    for (const n of [1, 2, 3]) await leave(created(n))
    const parkedAt = clock.now().toISOString()
    for (const id of idsOf(await claim('test/all', 2))) {
      await outbox.failed('test/all', id, { error: `bad ${id}`, park: true })
      clock.advance(1000)
    }
    const deadLetters = await outbox.deadLetters({ limit: 10 })
    t.deepEqual(
      deadLetters.map(({ event }) => event.subject.id),
      ['d2', 'd1'],
    )
    t.like(deadLetters[1], { consumer: 'test/all', attempts: 1, parkedAt, error: `bad ${deadLetters[1]?.event.id}` })
    t.deepEqual(await outbox.deadLetters({ limit: 1 }), deadLetters.slice(0, 1))
    t.is((await outbox.waiting())['test/all'], 1)
    clock.advance(leaseMs + 1)
    t.deepEqual(subjects(await claim('test/all')), ['d3'])
    await outbox.settleDeadLetter('test/all', deadLetters[1]?.event.id ?? '', 'retry')
    t.is((await outbox.waiting())['test/all'], 2)
    t.like((await claim('test/all'))[0], { attempt: 1, event: { subject: { id: 'd1' } } })
    await outbox.settleDeadLetter('test/all', deadLetters[0]?.event.id ?? '', 'drop')
    await outbox.settleDeadLetter('test/all', deadLetters[0]?.event.id ?? '', 'retry')
    t.deepEqual(await outbox.deadLetters({ limit: 10 }), [])
    clock.advance(leaseMs + 1)
    t.deepEqual([...subjects(await claim('test/all'))].sort(), ['d1', 'd3'])
  })

  test('a failure of one consumer does not affect another', async t => {
    const { outbox, leave, claim } = await open(t)
    await leave(created(1))
    const [mine] = await claim('test/created')
    await outbox.failed('test/created', mine?.event.id ?? '', { error: 'bad', park: true })
    const [theirs] = await claim('test/all')
    t.is(theirs?.attempt, 1)
    await outbox.done('test/all', [theirs?.event.id ?? ''])
    t.deepEqual(
      (await outbox.deadLetters({ limit: 10 })).map(({ consumer }) => consumer),
      ['test/created'],
    )
    await outbox.settleDeadLetter('test/created', mine?.event.id ?? '', 'retry')
    t.deepEqual(idsOf(await claim('test/created')), [mine?.event.id ?? ''])
    t.deepEqual(await claim('test/all'), [])
  })

  test('the failure of an unknown or settled event is no error', async t => {
    const { outbox, leave, claim } = await open(t)
    await leave(created(1))
    const ids = idsOf(await claim('test/all'))
    await outbox.done('test/all', ids)
    for (const id of [...ids, 'ffffffffffffffffffffffff']) await outbox.failed('test/all', id, { error: 'late', retryInMs: 0 })
    t.deepEqual(await claim('test/all'), [])
    t.deepEqual(await outbox.waiting(), { 'test/all': 0, 'test/created': 1 })
  })
}

function consumers(test: ContractTest, open: Open): void {
  test('declaring the same consumers again changes nothing', async t => {
    const { outbox, leave, claim } = await open(t)
    for (const n of [1, 2]) await leave(created(n))
    const [first] = idsOf(await claim('test/all', 1))
    await outbox.declareConsumers(both)
    t.deepEqual(await outbox.waiting(), { 'test/all': 2, 'test/created': 2 })
    t.deepEqual(subjects(await claim('test/all')), ['d2'])
    await outbox.done('test/all', [first ?? ''])
    t.is((await outbox.waiting())['test/all'], 1)
  })

  test('declaring consumers again while events are being handled neither loses nor repeats any', async t => {
    const { outbox, leave, claim } = await open(t)
    for (const change of [created(1), changed(1), created(2), changed(2)]) await leave(change)
    // Its events are kept until the consumer itself settles them.
    await outbox.done('test/created', idsOf(await claim('test/created')))
    const leased = [...(await claim('test/all', 1)), ...(await claim('test/all', 1))]
    t.deepEqual(subjects(leased), ['d1', 'd2'])
    await outbox.declareConsumers(both)
    const [first = '', second = ''] = idsOf(leased)
    /** The only event that is delivered next. */
    const isNext = async (type: EventType, subject: string): Promise<string> => {
      const found = await eventually(
        () => claim('test/all'),
        ({ length }) => length > 0,
      )
      t.deepEqual(
        found.map(({ event: one }) => [one.type, one.subject.id]),
        [[type, subject]],
      )
      return found[0]?.event.id ?? ''
    }
    await outbox.done('test/all', [first])
    t.is((await outbox.waiting())['test/all'], 3)
    await outbox.done('test/all', [second, await isNext('dataset.updated', 'd1')])
    await outbox.done('test/all', [await isNext('dataset.updated', 'd2')])
    t.deepEqual(await claim('test/all'), [])
    t.is((await outbox.waiting())['test/all'], 0)
  })

  test('an event settled before consumers are declared again is not pending, although others settled it meanwhile', async t => {
    const { outbox, leave, claim } = await open(t)
    for (const n of [1, 2]) await leave(created(n))
    const leased = await claim('test/all')
    await outbox.declareConsumers(both)
    await outbox.done('test/all', idsOf(leased).toReversed())
    t.deepEqual(await claim('test/all'), [])
    await outbox.done('test/created', idsOf(await claim('test/created')))
    await outbox.declareConsumers(both)
    t.deepEqual(await outbox.waiting(), { 'test/all': 0, 'test/created': 0 })
    t.deepEqual(await claim('test/all'), [])
  })

  test('a new consumer receives events from its declaration on', async t => {
    const { outbox, leave, claim } = await open(t)
    await leave(created(1))
    await outbox.declareConsumers([
      { name: 'test/all', types: '*' },
      { name: 'test/late', types: '*' },
    ])
    await leave(created(2))
    t.deepEqual(await outbox.waiting(), { 'test/all': 2, 'test/late': 1 })
    t.deepEqual(subjects(await claim('test/late')), ['d2'])
    t.deepEqual(subjects(await claim('test/all')), ['d1', 'd2'])
  })

  test('events of an absent consumer are kept until it is declared again, including new ones', async t => {
    const { outbox, clock, leave, claim } = await open(t)
    const at = clock.now().toISOString()
    for (const n of [1, 2]) await leave(created(n), changed(n))
    const [first = ''] = idsOf(await claim('test/created', 1))
    await outbox.done('test/created', [first])
    await outbox.declareConsumers(onlyAll)
    await t.throwsAsync(claim('test/created'))
    clock.advance(1000)
    await leave(created(3), changed(3))
    await outbox.done('test/all', idsOf(await claim('test/all')))
    await eventuallyEqual(t, () => outbox.absent(), [{ consumer: 'test/created', waiting: 2, oldest: at }])
    t.deepEqual(await outbox.waiting(), { 'test/all': 0 })
    await outbox.declareConsumers(both)
    t.deepEqual(await outbox.absent(), [])
    t.deepEqual(subjects(await claim('test/created')), ['d2', 'd3'])
    t.deepEqual(subjects(await claim('test/all')), [])
  })

  test('failed events of an absent consumer are kept, and its dead letters can be settled', async t => {
    const { outbox, leave, claim } = await open(t)
    for (const n of [1, 2, 3]) await leave(created(n))
    const [one = '', two = '', three = ''] = idsOf(await claim('test/created'))
    await outbox.failed('test/created', one, { error: 'away', retryInMs: 0 })
    for (const id of [two, three]) await outbox.failed('test/created', id, { error: 'bad', park: true })
    await outbox.declareConsumers(onlyAll)
    await outbox.done('test/all', idsOf(await claim('test/all')))
    t.like((await outbox.absent())[0], { waiting: 1 })
    await outbox.settleDeadLetter('test/created', two, 'retry')
    await outbox.settleDeadLetter('test/created', three, 'drop')
    t.like((await outbox.absent())[0], { waiting: 2 })
    t.deepEqual(await outbox.deadLetters({ limit: 10 }), [])
    await outbox.declareConsumers(both)
    t.deepEqual(subjects(await claim('test/created')).toSorted(), ['d1', 'd2'])
  })

  test('a removed consumer starts from scratch when declared again; a declared one cannot be removed', async t => {
    const { outbox, leave, claim } = await open(t)
    for (const n of [1, 2]) await leave(created(n))
    const [first = ''] = idsOf(await claim('test/created', 1))
    await outbox.failed('test/created', first, { error: 'bad', park: true })
    await t.throwsAsync(outbox.forget('test/created'), { instanceOf: Conflict })
    await outbox.declareConsumers(onlyAll)
    await outbox.forget('test/created')
    await outbox.forget('test/created')
    t.deepEqual([await outbox.absent(), await outbox.deadLetters({ limit: 10 })], [[], []])
    await leave(created(3))
    await outbox.declareConsumers(both)
    await leave(created(4))
    t.deepEqual(subjects(await claim('test/created')), ['d4'])
    t.deepEqual(subjects(await claim('test/all')), ['d1', 'd2', 'd3', 'd4'])
  })

  test('a consumer receives events committed for it although it has other types now', async t => {
    const { outbox, leave, claim } = await open(t)
    await leave(created(1), changed(1))
    await outbox.declareConsumers([{ name: 'test/created', types: ['dataset.updated'] }])
    await leave(created(2), changed(2))
    const got = await claim('test/created')
    t.deepEqual(
      got.map(({ event }) => event.type),
      ['dataset.created', 'dataset.updated'],
    )
    t.deepEqual(subjects(got), ['d1', 'd2'])
  })
}
