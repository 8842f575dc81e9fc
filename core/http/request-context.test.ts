import { once } from 'node:events'
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import test from 'ava'
import { type Metrics, routesFor, s } from 'pounce/sdk'
import { recordingLog } from '../../test/support/recording-log.ts'
import { serve } from './testing/serve.ts'

// @separate-process: it changes the clock.
const route = routesFor('things', {})

test('a list is logged as slow if its first byte is late, not if the client reads slowly', async t => {
  let nowMs = 0
  const clock = mock.method(performance, 'now', () => nowMs)
  t.teardown(() => clock.mock.restore())
  const { log, lines } = recordingLog()
  const list = (path: string, beforeMs: number, afterMs: number) =>
    route({
      method: 'GET',
      path,
      summary: 'x',
      permission: 'anyone',
      responses: { 200: s.rows(s.String()) },
      handle: async () => ({
        status: 200,
        body: (async function* () {
          nowMs += beforeMs
          yield 'x'.repeat(100_000)
          nowMs += afterMs
        })() as never,
      }),
    })
  const { url } = await serve(t, { late: list('/late', 5000, 0), long: list('/long', 0, 5000) }, { options: { log } })
  for (const path of ['/long', '/late']) await (await fetch(url + path)).text()
  while (!lines.some(({ message }) => message === 'Slow request')) await turn()
  t.deepEqual(
    lines.filter(({ message }) => message === 'Slow request').map(({ path }) => path),
    ['/late'],
  )
})

test('a request that its client cancels before the response is logged and counted with 499', async t => {
  const { log, lines } = recordingLog()
  const started = Promise.withResolvers<void>()
  const wait = route({
    method: 'GET',
    path: '/wait',
    summary: 'x',
    permission: 'anyone',
    responses: { 200: s.Object({}) },
    handle: async ({ signal }) => {
      started.resolve()
      await once(signal, 'abort')
      return { status: 200, body: {} }
    },
  })
  const counted: unknown[] = []
  const metrics: Metrics = {
    count: (_name, labels) => void counted.push(labels?.['status']),
    gauge: () => undefined,
    observe: () => undefined,
  }
  const { url } = await serve(t, { wait }, { config: { metrics: true }, options: { log, metrics } })
  const abort = new AbortController()
  const cancelled = t.throwsAsync(fetch(`${url}/wait`, { signal: abort.signal }))
  await started.promise
  abort.abort()
  await cancelled
  const line = () => lines.find(({ path }) => path === '/wait')
  while (!line()) await turn()
  t.like(line(), { status: 499, isComplete: false })
  t.deepEqual(counted, ['499'])
})
