import { isDeepStrictEqual } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { Conflict, collection, type GeoStore, Invalid } from 'pounce/sdk'
import type { Datapoint } from 'pounce/sdk/geo'
import { FixedClock, MemoryGeoStore } from 'pounce/sdk/testing'
import { embeddedStores } from '../../test/support/embedded-stores.ts'
import { idOfName, kernelCollections, metaRecords } from '../kernel/kernel-records.ts'
import { type MoveReport, moveId, moveRecords, refuseUnfinishedMove } from './migration-record.ts'
import { type MovePlan, StoreCopy, type Stores } from './store-copy.ts'

const bare = collection<{ readonly n: number }>()('bare')
const collections = [...kernelCollections, bare]
const pointsInAll = 12_345

const pointOf = (id: number): Datapoint => {
  const startMs = Date.UTC(2021, 0, 1) + (id % 4000) * 60_000
  return {
    id,
    stream: 1 + (id % 7),
    startMs,
    endMs: id % 3 === 0 ? null : startMs + (id % 2) * 1000,
    createdMs: startMs + 7,
    geometry: id % 5 === 0 ? { type: 'Point', coordinates: [id / 100, -45.123456789, 0.1] } : { type: 'Point', coordinates: [9.5, 50] },
    properties: { 'nitrate "N"': id / 3, note: id % 11 === 0 ? null : 'größe 🌿', deep: { list: [1, { b: 2, a: id }] } },
  }
}

interface Made extends Stores {
  readonly points: GeoStore
}

const empty = async (t: ExecutionContext): Promise<Made> => {
  const made = await embeddedStores(t)
  await made.documents.declare(collections)
  await made.documents.outbox.declareConsumers([])
  return { ...made, points: new MemoryGeoStore() }
}

const filled = async (t: ExecutionContext): Promise<Made> => {
  const made = await empty(t)
  await made.documents.commit({ insert: { id: idOfName('installation'), instance: 'abc', version: '0', plugins: [] }, into: metaRecords })
  await made.documents.commit({ insert: { id: 'b-1', n: 1 }, into: bare })
  for (let from = 1; from <= pointsInAll; from += 5000) await made.points.insert(idsFrom(from).map(pointOf))
  return made
}

const idsFrom = (from: number): readonly number[] =>
  Array.from({ length: Math.min(5000, pointsInAll + 1 - from) }, (_, at) => from + at).toSorted((one, other) => (one % 13) - (other % 13))

const route = 'one+two+three to one+two+four'

const run = (from: Stores, to: Stores, more: Partial<MovePlan> = {}): Promise<MoveReport> =>
  new StoreCopy({
    ...{
      route,
      from,
      to,
      places: [],
      leases: [],
      instance: 'abc',
      collections,
      clock: new FixedClock(),
      readData: false,
      skipDamaged: false,
    },
    progress: () => undefined,
    ...more,
  }).run()

const contents = async ({ points }: Made): Promise<readonly Datapoint[]> =>
  (await Array.fromAsync(points.read({ filter: {}, sort: { by: 'stream', order: 'ascending' } }))).flat()

/** The same store with some calls replaced. */
const changed = (points: GeoStore, calls: Partial<GeoStore>): GeoStore =>
  new Proxy(points, {
    get: (of, name) => {
      const member: unknown = Reflect.get(calls, name) ?? Reflect.get(of, name, of)
      return typeof member === 'function' ? member.bind(of) : member
    },
  })

test('points can be migrated without the records, and arrive unchanged', async t => {
  const from = await filled(t)
  const to = { ...from, points: new MemoryGeoStore() }
  const messages: string[] = []
  const report = await run(from, to, { progress: message => messages.push(message) })
  t.like(report, { points: pointsInAll, documents: 0, blobs: 0, verified: 'counts and checksums' })
  t.true(isDeepStrictEqual(await contents(to), await contents(from)))
  t.true(messages.includes('5000 points') && messages.includes(`${pointsInAll} points compared`))
  t.is((await to.documents.get(moveRecords, moveId))?.state, 'finished')
  await t.throwsAsync(run(from, to), { instanceOf: Conflict, message: /not empty: it contains datapoints.*completed at/ })
})

test('points are migrated together with records, or stay in a shared store', async t => {
  const [from, to, other] = [await filled(t), await empty(t), await empty(t)]
  t.like(await run(from, to), { points: pointsInAll, documents: 2 })
  t.true(isDeepStrictEqual(await contents(to), await contents(from)))
  t.is((await to.documents.get(bare, 'b-1'))?.n, 1)
  t.like(await run(from, { ...other, points: from.points }), { points: null, documents: 2 })
  t.is(await other.points.count({}, 1), 0)
})

test('an installation without a datapoint store can be migrated', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  const { points: _one, ...records } = from
  const { points: _other, ...target } = to
  t.like(await run(records, target), { points: null, documents: 2 })
})

test('a migration of points that is interrupted at any point is resumed by the next run', async t => {
  const from = await filled(t)
  for (const isLost of [false, true]) {
    const to = { ...from, points: new MemoryGeoStore() }
    let left = 0
    const insert: GeoStore['insert'] = async points => {
      if (left === 0 && !isLost) throw new Error('killed')
      // Killed in the middle of a call: a part was stored.
      const kept = left === 0 ? points.slice(0, points.length / 3) : points
      const answer = await to.points.insert(kept)
      if (left === 0) throw new Error('killed')
      left -= 1
      return answer
    }
    const broken = { ...to, points: changed(to.points, { insert }) }
    for (const calls of isLost ? [0, 1, 0] : [0, 1, 1]) {
      left = calls
      await t.throwsAsync(run(from, broken), { message: 'killed' })
      await t.throwsAsync(refuseUnfinishedMove(to.documents), { message: /migrate --from one\+two\+three --to one\+two\+four/ })
    }
    t.is(await to.points.count({}, 100_000), isLost ? 9669 : 10_000)
    const inserted: number[] = []
    const counting = changed(to.points, {
      insert: points => {
        inserted.push(points.length)
        return to.points.insert(points)
      },
    })
    t.like(await run(from, { ...to, points: counting }), { points: pointsInAll })
    t.true(inserted.length === 1 && (inserted[0] ?? 0) < 5000, 'points already in the target are not sent again')
    t.true(isDeepStrictEqual(await contents(to), await contents(from)))
    await from.documents.commit({ tombstone: moveId, in: moveRecords })
  }
})

test('additions, removals and replacements between two runs are applied to the target', async t => {
  const from = await filled(t)
  const to = { ...from, points: new MemoryGeoStore() }
  let calls = 0
  const insert: GeoStore['insert'] = points => {
    calls += 1
    return calls > 2 ? Promise.reject(new Error('killed')) : to.points.insert(points)
  }
  await t.throwsAsync(run(from, { ...to, points: changed(to.points, { insert }) }), { message: 'killed' })
  await from.points.remove({ ids: [7, 14, 21, 12_344] })
  await from.points.remove({ streams: [2] })
  await from.points.insert([
    { ...pointOf(7), properties: { other: true } },
    { ...pointOf(99_999), stream: 1 },
  ])
  await run(from, to)
  t.true(isDeepStrictEqual(await contents(to), await contents(from)))
})

test('a target that contains points is refused and left unchanged', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  await to.points.insert([pointOf(3)])
  await t.throwsAsync(run(from, to), { instanceOf: Conflict, message: /not empty: it contains datapoints/ })
  t.is(await to.documents.get(moveRecords, moveId), undefined)
  t.deepEqual(await contents(to), [pointOf(3)])
})

test('rejected, lost or changed points are detected', async t => {
  const from = await filled(t)
  const target = async (insert: (store: GeoStore, points: readonly Datapoint[]) => ReturnType<GeoStore['insert']>): Promise<Made> => {
    const to = await empty(t)
    return { ...to, points: changed(to.points, { insert: points => insert(to.points, points) }) }
  }
  const picky = await target(async (_store, points) => points.map(() => ({ status: 'refused', reason: 'too old' })))
  await t.throwsAsync(run(from, picky), { instanceOf: Invalid, message: /rejects the datapoint \d+: too old/ })
  const losing = await target(async (store, points) => {
    await store.insert(points.slice(1))
    return points.map(() => ({ status: 'inserted' }))
  })
  await t.throwsAsync(run(from, losing), { instanceOf: Invalid, message: /differ after the migration: 12345 and 12342/ })
  const rounding = await target((store, points) =>
    store.insert(points.map(one => ({ ...one, createdMs: one.createdMs - (one.createdMs % 1000) }))),
  )
  await t.throwsAsync(run(from, rounding), { instanceOf: Invalid, message: /differ after the migration: 12345 and 12345/ })
  await t.throwsAsync(refuseUnfinishedMove(rounding.documents))
})

test('a store that becomes unavailable ends the migration and all reads', async t => {
  const [from, to] = [await filled(t), await empty(t)]
  let [open, reads] = [0, 0]
  const read: GeoStore['read'] = async function* (query) {
    open += 1
    try {
      for await (const piece of from.points.read(query)) {
        reads += 1
        if (reads === 3) throw new Error('away')
        yield piece
      }
    } finally {
      open -= 1
    }
  }
  await t.throwsAsync(run({ ...from, points: changed(from.points, { read }) }, to), { message: 'away' })
  t.is(open, 0)
  await run(from, to)
  t.true(isDeepStrictEqual(await contents(to), await contents(from)))
})
