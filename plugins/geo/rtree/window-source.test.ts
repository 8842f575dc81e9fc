import test from 'ava'
import type { Datapoint } from 'pounce/sdk/geo'
import { MemoryGeoStore, type TestContext } from 'pounce/sdk/testing'
import { openGeo, pointAt, testFolder } from './testing.ts'

const startMs = Date.UTC(2026, 0, 5)

/** Checks complete reads in both directions, over several windows. */
const readsLikeMemory = async (t: TestContext, points: readonly Datapoint[]): Promise<void> => {
  const store = await openGeo(t, await testFolder(t))
  const model = new MemoryGeoStore()
  for (let at = 0; at < points.length; at += 5000) for (const each of [store, model]) await each.insert(points.slice(at, at + 5000))
  const range = { fromMs: startMs + 50, beforeMs: startMs + 900 }
  for (const order of ['ascending', 'descending'] as const)
    for (const filter of [{}, range, { ...range, attributes: [{ key: 'odd' }] }, { fromMs: startMs + 2_000_000 }]) {
      const query = { filter, sort: { by: 'start', order } as const }
      const [found, expected] = await Promise.all([store, model].map(async each => (await Array.fromAsync(each.read(query))).flat()))
      t.deepEqual(found, expected, JSON.stringify(query))
    }
}

/** Points of seven streams in the order of their IDs, at times in another order. */
const scattered = (count: number, timeOf: (n: number) => number, properties: (n: number) => Datapoint['properties']): Datapoint[] =>
  Array.from({ length: count }, (_, n) =>
    pointAt(n + 1, { stream: (n % 7) + 1, startMs: startMs + timeOf(n), endMs: null, properties: properties(n) }),
  )

test('windows of rows are in order of start and id, also where many rows start at the same time', async t => {
  const timeOf = (n: number): number => (n % 3 === 0 ? 500 : (n * 7919) % 1000)
  const propertiesOf = (n: number): Datapoint['properties'] => (n % 5 === 0 ? { odd: n } : { v: n })
  await readsLikeMemory(t, scattered(7500, timeOf, propertiesOf))
})

test('rows with long texts are read without windows, in the same order', async t => {
  const timeOf = (n: number): number => (n * 7919) % 1000
  const long = 'x'.repeat(4000)
  const propertiesOf = (n: number): Datapoint['properties'] => ({ odd: n % 2 === 0 ? null : n, text: `${n}${timeOf(n) < 700 ? '' : long}` })
  await readsLikeMemory(t, scattered(4000, timeOf, propertiesOf))
})
