import test from 'ava'
import type { JobStatus, TransportListener } from 'pounce/sdk/kit'
import { StatusUpdates } from './status-updates.ts'

const about = { job: { id: '1' }, extractor: 'x' } as unknown as Omit<JobStatus, 'status' | 'at'>

test('a progress line within a second of the previous one is dropped, other lines never are', async t => {
  const received: string[] = []
  const listener: Pick<TransportListener, 'status'> = { status: async ({ status }) => void received.push(status) }
  let nowMs = 500
  const line = new StatusUpdates(listener as TransportListener, about, {
    now: () => new Date(0),
    signal: new AbortController().signal,
    unreported: error => t.fail(String(error)),
    monotonicMs: () => nowMs,
  })
  for (const at of [500, 501, 1499, 1500, 1501, 2499, 2501, 9000]) {
    nowMs = at
    line.progress(`at ${at}`)
  }
  line.enqueue('noted')
  await line.send('said')
  t.deepEqual(received, [...[500, 1500, 2501, 9000].map(at => `StatusMessage.processing: at ${at}`), 'noted', 'said'])
})
