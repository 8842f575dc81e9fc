import test from 'ava'
import { type AnyEvent, Counters, event } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import type { StoredCounters } from './stored-counters.ts'

let number = 0
const created = (): AnyEvent =>
  ({
    ...event('space.created', { kind: 'space', id: `s${number}` }, {}),
    id: `e${number++}`,
    at: '2026-01-01T00:00:00.000Z',
  }) as unknown as AnyEvent

test('kernels that count concurrently miss no event, and none of them fails', async t => {
  const server = await bootForTest({ t })
  const counting = server.get(Counters) as StoredCounters
  const before = (await counting.instance()).spaces
  const batches = Array.from({ length: 5 }, () => Array.from({ length: 10 }, created))
  const outcomes = await Promise.allSettled(batches.map(each => counting.handleAll(each)))
  t.deepEqual(
    outcomes.filter(({ status }) => status === 'rejected'),
    [],
  )
  t.is((await counting.instance()).spaces, before + 50)
  await counting.handleAll(batches.flat())
  t.is((await counting.instance()).spaces, before + 50)
})
