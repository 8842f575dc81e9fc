import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { Unavailable } from 'pounce/sdk'
import type { Datapoint, PointInserted } from 'pounce/sdk/geo'
import { liveTests } from 'pounce/sdk/testing'
import { type FlakyProxy, flakyProxy } from '../../../test/support/flaky-proxy.ts'
import { until } from '../../../test/support/until.ts'
import type { PostgisPoints } from './postgis-points.ts'
import { onServer, openStore, testSchema } from './testing.ts'

const { test: live, url } = liveTests(test, 'POSTGIS')

const start = Date.UTC(2026, 0, 5)

const pointAt = (id: number, stream = (id % 7) + 1): Datapoint => ({
  id,
  stream,
  startMs: start + id,
  endMs: start + id,
  createdMs: start,
  geometry: { type: 'Point', coordinates: [10, 50] },
  properties: { v: id },
})
const points = (from: number, count: number): readonly Datapoint[] => Array.from({ length: count }, (_, at) => pointAt(from + at))
const insertedIn = (report: readonly PointInserted[]): number => report.filter(({ status }) => status === 'inserted').length

/** The address of the server for sessions with a name. */
const named = (name: string): string => {
  const address = new URL(url('POSTGIS'))
  address.searchParams.set('application_name', name)
  return address.href
}

/** A store behind a proxy, whose sessions have the name of the schema, and one with a direct connection. */
const behindProxy = async (
  t: ExecutionContext,
): Promise<{ store: PostgisPoints; direct: PostgisPoints; proxy: FlakyProxy; schema: string }> => {
  const proxy = await flakyProxy(t, url('POSTGIS'))
  const schema = testSchema(t, url('POSTGIS'))
  const store = await openStore(t, { url: proxy.urlFor(named(schema)), schema })
  return { store, direct: await openStore(t, { url: url('POSTGIS'), schema }), proxy, schema }
}

/** Sessions that run a statement or transaction. A connection that was idle when the proxy began to cut stays open. */
const busySessionsOf = async (name: string): Promise<number> => {
  const text = "select 1 from pg_stat_activity where application_name = $1 and state <> 'idle'"
  return (await onServer(url('POSTGIS'), client => client.query(text, [name]))).rowCount ?? 0
}

const callsOf = (store: PostgisPoints): Readonly<Record<string, () => Promise<unknown>>> => ({
  insert: () => store.insert([pointAt(9_999_999)]),
  get: () => store.get(1),
  find: () => store.find({ filter: { areas: [{ box: [0, 0, 50, 50] }] }, limit: 10 }),
  read: () => Array.fromAsync(store.read({ filter: {} })),
  count: () => store.count({ fromMs: start }, 10),
  statistics: () => store.statistics([1]),
  bins: () => Array.fromAsync(store.bins({ filter: {}, binning: { time: 'day' } })),
  remove: () => store.remove({ ids: [9_999_999] }),
  health: () => store.health(),
})

/** The error of a rejected call; undefined when it succeeded. */
const failure = (call: () => Promise<unknown>): Promise<unknown> =>
  call().then(
    () => undefined,
    (reason: unknown) => reason,
  )

/** Retries until a call succeeds. */
const back = async (call: () => Promise<unknown>): Promise<void> => {
  for (;;) {
    const error = await failure(call)
    if (error === undefined) return
    if (!(error instanceof Unavailable)) throw error
    await pause(20)
  }
}

for (const mode of ['refuse', 'silent', 'cut'] as const)
  live(`every call to an unavailable server (${mode}) fails with Unavailable, and succeeds once it is back`, async t => {
    const { store, proxy } = await behindProxy(t)
    await store.insert(points(1, 100))
    await proxy.become(mode)
    for (const round of [1, 2]) {
      // A silent server never responds: only a timeout ends these calls.
      const outcomes = await Promise.all(Object.entries(callsOf(store)).map(async ([name, call]) => ({ name, error: await failure(call) })))
      t.deepEqual(
        outcomes.filter(({ error }) => !(error instanceof Unavailable)),
        [],
        `round ${round}`,
      )
    }
    await proxy.become('pass')
    await back(() => store.get(1))
    for (const [name, call] of Object.entries(callsOf(store))) await t.notThrowsAsync(call(), name)
    t.is(insertedIn(await store.insert(points(1, 200))), 100)
  })

live('interrupted inserts store each batch completely or not at all, statistics agree, and a retry completes them', async t => {
  const { store, direct, proxy, schema } = await behindProxy(t)
  const batches = Array.from({ length: 40 }, (_, at) => points(at * 500 + 1, 500))
  const running = batches.map(batch => failure(() => store.insert(batch)))
  await Promise.race(running)
  await proxy.become('cut')
  const ends = await Promise.all(running)
  t.true(ends.some(error => error instanceof Unavailable))
  for (const error of ends) t.true(error === undefined || error instanceof Unavailable, String(error))
  await until(
    'the server to end the statements whose connections were cut',
    () => busySessionsOf(schema),
    count => count === 0,
  )
  await proxy.become('pass')
  for (const [at, batch] of batches.entries()) {
    const kept = await direct.count({ fromMs: start + at * 500 + 1, beforeMs: start + at * 500 + 501 }, 1000)
    t.true(kept === 500 || (kept === 0 && ends[at] !== undefined), `batch ${at}: ${kept}`)
    const report = await direct.insert(batch)
    t.is(insertedIn(report), 500 - kept)
  }
  const statistics = await direct.statistics([1, 2, 3, 4, 5, 6, 7])
  t.is(
    [...statistics.values()].reduce((sum, { count }) => sum + count, 0),
    20_000,
  )
  t.is(await direct.count({ fromMs: start }, 1e9), 20_000)
})

for (const mode of ['cut', 'silent', 'refuse'] as const)
  live(`a read fails instead of ending early when the server becomes unavailable (${mode})`, async t => {
    const { store, direct, proxy } = await behindProxy(t)
    for (let at = 0; at < 10; at++) await direct.insert(points(at * 2000 + 1, 2000))
    let seen = 0
    const reading = failure(async () => {
      for await (const piece of store.read({ filter: {} })) {
        seen += piece.length
        if (seen === 4000) await proxy.become(mode)
      }
    })
    const error = await reading
    t.true(error instanceof Unavailable, String(error))
    t.true(seen < 20_000)
    await proxy.become('pass')
    await back(() => store.get(1))
    t.is((await Array.fromAsync(store.read({ filter: {} }))).flat().length, 20_000)
  })

live('connections closed by the server are replaced, and calls in progress on them fail with Unavailable', async t => {
  const schema = testSchema(t, url('POSTGIS'))
  const store = await openStore(t, { url: named(schema), schema })
  const ends = Array.from({ length: 30 }, (_, at) => failure(() => store.insert(points(at * 500 + 1, 500))))
  await Promise.race(ends)
  const { rowCount } = await onServer(url('POSTGIS'), client =>
    client.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [schema]),
  )
  t.true((rowCount ?? 0) > 0)
  for (const error of await Promise.all(ends)) t.true(error === undefined || error instanceof Unavailable, String(error))
  await back(() => store.get(1))
  const kept = await store.count({ fromMs: start }, 1e9)
  t.is(kept % 500, 0)
  t.is(await store.count({}, 1e9), kept)
})
