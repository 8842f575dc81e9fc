import test from 'ava'
import { Unavailable } from 'pounce/sdk'
import type { Datapoint } from 'pounce/sdk/geo'
import { MemoryGeoStore } from 'pounce/sdk/testing'
import type { RtreeGeo } from './rtree-geo.ts'
import { idsIn, openGeo, pointAt, testFolder } from './testing.ts'

const start = Date.UTC(2026, 0, 5)

const fill = async (store: Pick<RtreeGeo, 'insert'>, points: readonly Datapoint[]): Promise<void> => {
  for (let at = 0; at < points.length; at += 5000) await store.insert(points.slice(at, at + 5000))
}

/** Stations in a grid, all of which report at the same times. */
const stations = (count: number, times: number): Datapoint[] =>
  Array.from({ length: count * times }, (_, at) => {
    const station = at % count
    const geometry = { type: 'Point', coordinates: [station % 40, Math.floor(station / 40)] } as const
    return pointAt(at + 1, { stream: station + 1, startMs: start + Math.floor(at / count) * 60_000, geometry, properties: { v: at } })
  })

/** A moving ship, never twice at the same position. */
const ship = (count: number, first = 1): Datapoint[] =>
  Array.from({ length: count }, (_, at) => {
    const geometry = { type: 'Point', coordinates: [40 * Math.sin(at / 700), 30 * Math.cos(at / 531)] } as const
    return pointAt(first + at, { stream: 7, startMs: start + at * 1000, endMs: at % 3 ? start + at * 1000 + 500 : null, geometry })
  })

test('a page that takes long to find is read in a thread, with the same result', async t => {
  const store = await openGeo(t, await testFolder(t))
  const model = new MemoryGeoStore()
  const points = [...stations(400, 50), ...ship(6000, 50_000).map(point => ({ ...point, stream: 900 }))]
  await Promise.all([fill(store, points), fill(model, points)])
  for (const query of [
    { filter: { attributes: [{ key: 'v', contains: 19_998 }] }, limit: 5 },
    { filter: { areas: [{ box: [0, 0, 20, 5] as const }] }, limit: 1000 },
    { filter: { areas: [{ box: [-180, -90, 180, 90] as const }], untilMs: start + 6_000_000 }, limit: 1000 },
    { filter: { areas: [{ circle: { longitude: 3, latitude: 4, radiusMetres: 500_000 } }], fromMs: start + 120_000 }, limit: 40 },
    { filter: { areas: [{ box: [0, 0, 39, 9] as const }] }, sort: { by: 'start', order: 'descending' } as const, limit: 300 },
    { filter: { months: { from: 3, to: 4 } }, limit: 1 },
    { filter: { streams: points.slice(0, 300).map(({ stream }) => stream), fromMs: start + 60_000 }, limit: 20 },
  ]) {
    t.deepEqual(await store.find(query), await model.find(query), JSON.stringify(query).slice(0, 200))
    t.is(await store.count(query.filter, 1_000_000), await model.count(query.filter, 1_000_000))
  }
})

test('pages of many streams neither skip nor repeat points, whichever index is used', async t => {
  const store = await openGeo(t, await testFolder(t), { placesPerStream: 2 })
  const model = new MemoryGeoStore()
  const points = [...stations(300, 20), ...ship(1500, 50_000).map(point => ({ ...point, stream: 900 + (point.id % 2) }))]
  await Promise.all([fill(store, points), fill(model, points)])
  const boxes = [
    [-180, -90, 180, 90],
    [0, 0, 39, 4],
    [0, 0, 6, 3],
    [-20, -20, 20, 20],
    [3, 0, 3, 2],
  ] as const
  for (const box of boxes)
    for (const by of ['start', 'stream'] as const)
      for (const order of ['ascending', 'descending'] as const) {
        const query = { filter: { areas: [{ box }], fromMs: start + 60_000 }, sort: { by, order } }
        const expected = (await Array.fromAsync(model.read(query))).flat().map(({ id }) => id)
        const ids: number[] = []
        for (let page = await store.find({ ...query, limit: 370 }); ; page = await store.find({ ...query, limit: 370, after: page.next })) {
          ids.push(...page.points.map(({ id }) => id))
          if (!page.next) break
        }
        t.deepEqual(ids, expected, JSON.stringify([box, by, order]))
        t.deepEqual(
          (await Array.fromAsync(store.read(query))).flat().map(({ id }) => id),
          expected,
        )
      }
})

test.serial('long reads and large inserts do not block the event loop', async t => {
  const store = await openGeo(t, await testFolder(t))
  await fill(store, stations(100, 600))
  let isBusy = true
  let slices = 0
  const spin = (): void => {
    slices += 1
    if (isBusy) setImmediate(spin)
  }
  spin()
  const filter = { attributes: [{ key: 'v', contains: -1 }] }
  const [ids, counted, bins, page, , single] = await Promise.all([
    idsIn(store),
    store.count(filter, 10),
    Array.fromAsync(store.bins({ filter: {}, binning: { time: 'hour' } })),
    store.find({ filter, limit: 10 }),
    store.insert(stations(100, 50).map(point => ({ ...point, id: point.id + 100_000 }))),
    store.get(17),
  ])
  isBusy = false
  t.true(ids.length >= 60_000)
  t.is(counted, 0)
  t.is(bins.flat().length, 100 * 10)
  t.deepEqual(page, { points: [] })
  t.is(single?.id, 17)
  // On the main thread, each of the six calls and each piece read would block the event loop; with threads it keeps running.
  t.true(slices > 1000, `${slices} slices`)
})

test('a few points in very many bins do not block other tasks', async t => {
  const store = await openGeo(t, await testFolder(t), { readers: 1 })
  await fill(
    store,
    Array.from({ length: 60 }, (_, at) => pointAt(at + 1, { startMs: start + at, endMs: start + 9900 * 3_600_000, properties: { v: at } })),
  )
  const order: string[] = []
  const pieces = store.bins({ filter: {}, binning: { time: 'hour' } })
  const bins = pieces.next().then(() => order.push('bins'))
  const counted = store.count({ fromMs: start }, 100).then(() => order.push('count'))
  await Promise.all([bins, counted])
  await pieces.return(undefined)
  t.deepEqual(order, ['count', 'bins'])
})

test('two readers concurrent with a writer see complete batches only, in order and once', async t => {
  const store = await openGeo(t, await testFolder(t))
  const batch = (round: number): Datapoint[] =>
    Array.from({ length: 50 }, (_, at) => pointAt(round * 50 + at + 1, { startMs: start + round }))
  let isWriting = true
  const write = async (): Promise<void> => {
    for (let round = 0; round < 60; round += 1) await store.insert(batch(round))
    isWriting = false
  }
  const read = async (): Promise<number> => {
    let rounds = 0
    for (; isWriting || rounds === 0; rounds += 1) {
      const ids = await idsIn(store)
      t.is(ids.length % 50, 0)
      t.true(ids.every((id, at) => id === at + 1))
    }
    return rounds
  }
  const [, one, other] = await Promise.all([write(), read(), read()])
  t.true(one > 0 && other > 0)
  t.is((await idsIn(store)).length, 3000)
})

test('closing the store fails reads in progress instead of ending them early', async t => {
  const store = await openGeo(t, await testFolder(t))
  await fill(store, stations(10, 1500))
  const read = async (): Promise<void> => {
    for await (const piece of store.read({ filter: {} })) {
      if (piece[0]?.id !== 1) continue
      await store.dispose()
    }
  }
  await t.throwsAsync(read(), { instanceOf: Unavailable })
})

test('leaving a read loop early frees the thread for other reads', async t => {
  const store = await openGeo(t, await testFolder(t), { readers: 1 })
  await fill(store, stations(10, 1500))
  for (let round = 0; round < 30; round += 1) {
    for await (const piece of store.read({ filter: {} })) {
      t.is(piece.length, 2000)
      break
    }
  }
  t.is((await idsIn(store)).length, 15_000)
})

test('statistics of moving sensors are exact after removals, and during inserts and removals', async t => {
  const folder = await testFolder(t)
  const store = await openGeo(t, folder, { placesPerStream: 2 })
  const model = new MemoryGeoStore()
  const both = async (work: (of: typeof store | typeof model) => Promise<unknown>): Promise<void> => {
    t.deepEqual(await work(store), await work(model))
  }
  const points = ship(4000)
  await fill(store, points)
  await fill(model, points)
  const north = points.filter(({ geometry }) => geometry.type === 'Point' && (geometry.coordinates[1] as number) > 20).map(({ id }) => id)
  for (const ids of [north.slice(0, 900), [1, 2, 3], points.slice(-5).map(({ id }) => id)]) {
    await both(of => of.remove({ ids }))
    await both(of => of.statistics([7]))
    await both(of =>
      of.insert([pointAt((ids[0] ?? 0) + 100_000, { stream: 7, geometry: { type: 'Point', coordinates: [1, ids.length / 100] } })]),
    )
    await both(of => of.statistics([7]))
  }
  const filter = { areas: [{ box: [-5, -5, 5, 5] as const }] }
  t.deepEqual(await idsIn(store, filter), await idsIn(model, filter))
  await both(of => of.remove({ streams: [7] }))
  await both(of => of.statistics([7]))
  await both(of => of.insert([pointAt(5, { stream: 7 })]))
  await both(of => of.statistics([7]))
})

test('more bins than fit into memory at once are returned correctly and in order', async t => {
  const store = await openGeo(t, await testFolder(t))
  const model = new MemoryGeoStore()
  const points = Array.from({ length: 30_000 }, (_, at) => {
    const endMs = at % 50 === 0 ? start + at * 60_000 + 600_000 : null
    const properties = { a: at / 4, b: at, code: at % 3 ? 'x' : 'y', ...(at % 7 ? {} : { late: -at }) }
    return pointAt(at + 1, { startMs: start + at * 60_000, endMs, properties })
  })
  await Promise.all([fill(store, points), fill(model, points)])
  for (const binning of [
    { time: 'minute' as const },
    { time: 'minute' as const, groupBy: ['code'], properties: ['late', 'b', 'absent', 'a'] },
  ]) {
    const pieces = await Array.fromAsync(store.bins({ filter: {}, binning }))
    t.true(pieces.every(piece => piece.length > 0 && piece.length <= 2000))
    const expected = (await Array.fromAsync(model.bins({ filter: {}, binning }))).flat()
    t.true(expected.length > 50_000)
    // Compared as text, since showing a difference of so many objects would take minutes.
    t.true(JSON.stringify(pieces.flat()) === JSON.stringify(expected))
  }
})
