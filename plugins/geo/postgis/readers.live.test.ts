import test from 'ava'
import { Unavailable } from 'pounce/sdk'
import type { Datapoint } from 'pounce/sdk/geo'
import { liveTests } from 'pounce/sdk/testing'
import type { PostgisPoints } from './postgis-points.ts'
import { onServer, openStore, testSchema } from './testing.ts'

const { test: live, url } = liveTests(test, 'POSTGIS')

const start = Date.UTC(2026, 0, 5)
const count = 10_000
const points: readonly Datapoint[] = Array.from({ length: count }, (_, at) => ({
  id: at + 1,
  stream: (at % 3) + 1,
  startMs: start + at * 60_000,
  endMs: null,
  createdMs: start,
  geometry: { type: 'Point', coordinates: [10, 50] },
  properties: { v: at, group: `g${at % 2}` },
}))

const fill = async (store: PostgisPoints): Promise<void> => {
  for (let at = 0; at < count; at += 5000) await store.insert(points.slice(at, at + 5000))
}

/** Polls the server until the condition holds. */
const until = async (text: string, value: string, isRight: (answer: number) => boolean): Promise<void> => {
  await onServer(url('POSTGIS'), async client => {
    for (;;) {
      const { rows } = await client.query<{ answer: string }>(text, [value])
      if (isRight(Number(rows[0]?.answer))) return
    }
  })
}
const inTransaction = `select count(*) as answer from pg_stat_activity where application_name = $1 and state = 'idle in transaction'`

const named = (name: string): string => {
  const address = new URL(url('POSTGIS'))
  address.searchParams.set('application_name', name)
  return address.href
}

live('a slow reader releases its connection, and continues where it left off', async t => {
  const schema = testSchema(t, url('POSTGIS'))
  const store = await openStore(t, { url: named(schema), schema, settings: { cursorIdleMs: 30 } })
  await fill(store)
  for (const order of ['ascending', 'descending'] as const) {
    const seen: number[] = []
    for await (const piece of store.read({ filter: {}, sort: { by: 'stream', order } })) {
      seen.push(...piece.map(({ id }) => id))
      await until(inTransaction, schema, open => open === 0)
    }
    const expected = points.toSorted((a, b) => a.stream - b.stream || a.id - b.id).map(({ id }) => id)
    t.deepEqual(seen, order === 'ascending' ? expected : expected.toReversed())
  }
})

live('bins read slowly are the same as bins read at once, without duplicates', async t => {
  const schema = testSchema(t, url('POSTGIS'))
  const store = await openStore(t, { url: named(schema), schema, settings: { cursorIdleMs: 30 } })
  await fill(store)
  for (const binning of [
    { time: 'minute', groupBy: ['group', 'absent'], depthMetres: 5 },
    { time: 'hour', groupBy: ['v'] },
    { time: 'all', groupBy: ['v', 'group'] },
  ] as const) {
    const query = { filter: {}, binning }
    const expected = (await Array.fromAsync(store.bins(query))).flat()
    t.is(expected.length, count)
    const seen: unknown[] = []
    for await (const piece of store.bins(query)) {
      seen.push(...piece)
      await until(inTransaction, schema, open => open === 0)
    }
    t.deepEqual(seen, expected)
  }
})

live('many concurrent readers leave connections for short calls, and hold none after they end', async t => {
  const schema = testSchema(t, url('POSTGIS'))
  const store = await openStore(t, { url: named(schema), schema, settings: { poolSize: 4 } })
  await fill(store)
  const readers = await Promise.all(
    Array.from({ length: 12 }, async () => {
      const iterator = store.read({ filter: {} })[Symbol.asyncIterator]()
      return { iterator, first: await iterator.next() }
    }),
  )
  for (const { first } of readers) t.is(first.value?.[0]?.id, 1)
  t.is((await store.get(7))?.id, 7)
  await until(inTransaction, schema, open => open <= 2)
  for (const { iterator } of readers.slice(0, 6)) await iterator.return?.(undefined)
  for (const { iterator } of readers.slice(6)) {
    let seen = 2000
    for (let piece = await iterator.next(); !piece.done; piece = await iterator.next()) seen += piece.value.length
    t.is(seen, count)
  }
  await until(inTransaction, schema, open => open === 0)
})

live('with all connections in use, a call times out with Unavailable, and calls succeed once they are free', async t => {
  const schema = testSchema(t, url('POSTGIS'))
  const store = await openStore(t, { url: url('POSTGIS'), schema, settings: { poolSize: 2 } })
  await store.insert(points.slice(0, 10))
  await onServer(url('POSTGIS'), async client => {
    await client.query('begin')
    await client.query(`lock table ${schema}.points in access exclusive mode`)
    const stuck = [1, 2].map(id => store.get(id))
    await t.throwsAsync(store.get(3), { instanceOf: Unavailable })
    await client.query('rollback')
    t.deepEqual(
      (await Promise.all(stuck)).map(point => point?.id),
      [1, 2],
    )
  })
  t.is((await store.get(3))?.id, 3)
})

live('a query that times out is reported as such, and cancelled on the server', async t => {
  const schema = testSchema(t, url('POSTGIS'))
  const store = await openStore(t, { url: named(schema), schema, settings: { timeoutMs: 2000 } })
  await onServer(url('POSTGIS'), async client => {
    await client.query('begin')
    await client.query(`lock table ${schema}.points in access exclusive mode`)
    const calls = [store.insert(points.slice(0, 1)), Array.fromAsync(store.read({ filter: {} }))]
    await Promise.all(calls.map(call => t.throwsAsync(call, { instanceOf: Unavailable, message: /timed out/ })))
    await until(
      `select count(*) as answer from pg_stat_activity where application_name = $1 and state = 'active'`,
      schema,
      active => active === 0,
    )
    await client.query('rollback')
  })
  t.deepEqual(await store.insert(points.slice(0, 1)), [{ status: 'inserted' }])
})

live('stopping the store ends running readers at once, with Unavailable', async t => {
  const schema = testSchema(t, url('POSTGIS'))
  const store = await openStore(t, { url: named(schema), schema, settings: { cursorIdleMs: 3_600_000 } })
  await fill(store)
  const iterator = store.read({ filter: {} })[Symbol.asyncIterator]()
  await iterator.next()
  await store.dispose()
  const rest = async () => {
    while (!(await iterator.next()).done);
  }
  await t.throwsAsync(rest(), { instanceOf: Unavailable })
  await until('select count(*) as answer from pg_stat_activity where application_name = $1', schema, open => open === 0)
})
