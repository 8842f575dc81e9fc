import { randomBytes } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { DocumentStore, Unavailable } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { embeddedStores } from '../support/embedded-stores.ts'
import { until } from '../support/until.ts'

/** Random data, which does not compress well. */
const piece = Buffer.from(Array.from({ length: 2000 }, () => `{"author":"${randomBytes(12).toString('hex')}","size":1}`).join(','))

/** A server whose store writes rows endlessly, or until `failAfter` pieces; `seen` counts them. */
const serverWithEndlessFiles = async (t: ExecutionContext, failAfter = Number.POSITIVE_INFINITY) => {
  const seen = { begun: 0, ended: 0, pieces: 0 }
  const { documents } = await embeddedStores(t)
  async function* rows(): AsyncGenerator<Uint8Array> {
    seen.begun += 1
    try {
      for (;;) {
        if (seen.pieces === failAfter) throw new Unavailable('The store is unavailable')
        seen.pieces += 1
        // Asynchronous, as in a real store.
        await new Promise(setImmediate)
        yield piece
      }
    } finally {
      seen.ended += 1
    }
  }
  const store = new Proxy(documents, {
    get: (target, member) => {
      if (member === 'formattedRows') return rows
      const value: unknown = Reflect.get(target, member, target)
      return typeof value === 'function' ? (...values: unknown[]): unknown => Reflect.apply(value, target, values) : value
    },
  })
  const server = await bootForTest({ t, overrides: { [DocumentStore]: store } })
  return { seen, call: server.as(server.admin.key) }
}

for (const path of ['metrics/files', 'metrics/files?format=json', 'metrics', 'storage/users']) {
  test(`a client that disconnects in the middle of ${path} ends the report`, async t => {
    const { seen, call } = await serverWithEndlessFiles(t)
    const leaving = new AbortController()
    const answer = await call(`/api/reports/${path}`, { signal: leaving.signal })
    t.is(answer.status, 200)
    await answer.body?.getReader().read()
    await until('the report to begin', () => seen.begun)
    leaving.abort()
    await until(
      'the report to end',
      () => seen.ended,
      ended => ended === seen.begun,
    )
    t.is(seen.begun, 1)
  })
}

test('a report pauses while its client does not read', async t => {
  const { seen, call } = await serverWithEndlessFiles(t)
  const leaving = new AbortController()
  await call('/api/reports/metrics/files', { signal: leaving.signal })
  let last = -1
  const isStill = (): boolean => {
    const before = last
    last = seen.pieces
    return before === last && last > 0
  }
  await until('the report to pause', isStill)
  // The socket buffers on both sides hold some megabytes.
  t.true(seen.pieces * piece.length < 100_000_000, `${seen.pieces}`)
  leaving.abort()
  t.is(await until('the report to end', () => seen.ended), 1)
})

test('a report that fails midway aborts the response', async t => {
  const { seen, call } = await serverWithEndlessFiles(t, 20)
  const answer = await call('/api/reports/metrics/files')
  t.is(answer.status, 200)
  await t.throwsAsync(answer.text())
  t.like(seen, { pieces: 20, ended: 1 })
})
