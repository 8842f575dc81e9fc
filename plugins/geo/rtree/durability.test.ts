import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { Unavailable } from 'pounce/sdk'
import type { Datapoint } from 'pounce/sdk/geo'
import { MemoryGeoStore } from 'pounce/sdk/testing'
import { idsIn, openGeo, pointAt, testFolder } from './testing.ts'

/** Runs the inserting child until it has acknowledged this many batches, then kills it with SIGKILL. Resolves to the acknowledged ones. */
const killAfter = (folder: string, first: number, acknowledged: number): Promise<readonly number[]> => {
  const script = fileURLToPath(new URL('./crash-child.ts', import.meta.url))
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, folder, `${first}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    printed += text
    if (printed.split('\n').length > acknowledged) child.kill('SIGKILL')
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => resolve(printed.split('\n').slice(0, -1).map(Number)))
  })
}

test('points acknowledged before a SIGKILL survive with their statistics and places, and none is stored in part', async t => {
  const folder = await testFolder(t)
  const acknowledged: number[] = []
  for (const [round, count] of [50, 100, 150].entries()) acknowledged.push(...(await killAfter(folder, 1 + round * 1_000_000, count)))
  t.true(acknowledged.length >= 300)
  const store = await openGeo(t, folder, { placesPerStream: 2 })
  const points = (await Array.fromAsync(store.read({ filter: {} }))).flat()
  const kept = new Set(points.map(({ id }) => id))
  t.deepEqual(
    acknowledged.flatMap(id => Array.from({ length: 10 }, (_, at) => id + at)).filter(id => !kept.has(id)),
    [],
  )
  // The statistics agree with the points.
  const model = new MemoryGeoStore()
  for (let at = 0; at < points.length; at += 5000) await model.insert(points.slice(at, at + 5000))
  const streams = Array.from({ length: 10 }, (_, at) => at + 1)
  t.deepEqual(await store.statistics(streams), await model.statistics(streams))
  const filter = { areas: [{ box: [2.2, 49, 4.5, 51] as const }] }
  t.deepEqual(await idsIn(store, filter), await idsIn(model, filter))
  t.is(await store.remove({ streams }), points.length)
  t.is(await store.count({ areas: [{ box: [-180, -90, 180, 90] }] }, 10), 0)
})

test('inserts queued when the store stops are written; later calls are refused', async t => {
  const folder = await testFolder(t)
  const store = await openGeo(t, folder)
  await store.insert([pointAt(100_000)])
  const batch = (at: number): Datapoint[] => Array.from({ length: 100 }, (_, n) => pointAt(at * 100 + n + 1))
  const queued = Array.from({ length: 60 }, (_, at) => store.insert(batch(at)))
  await store.dispose()
  const settled = await Promise.allSettled(queued)
  const refused = settled.filter(each => each.status === 'rejected')
  t.true(refused.every(({ reason }) => reason instanceof Unavailable))
  for (const call of [
    () => store.insert([pointAt(1)]),
    () => store.get(1),
    () => store.find({ filter: {}, limit: 1 }),
    () => store.count({}, 1),
    () => store.statistics([1]),
    () => store.remove({ ids: [1] }),
    () => Array.fromAsync(store.read({ filter: {} })),
    () => Array.fromAsync(store.bins({ filter: {}, binning: { time: 'day' } })),
    () => store.health(),
  ]) {
    await t.throwsAsync<Error>(call, { instanceOf: Unavailable })
  }
  await store.dispose()
  const again = await openGeo(t, folder)
  t.is(await again.count({}, 100_000), 1 + 100 * (settled.length - refused.length))
  t.is(refused.length, 0)
})
