import { Worker } from 'node:worker_threads'
import test from 'ava'
import { WorkerPool } from './worker-client.ts'

/** Replies once the given number of threads have a request at the same time. */
const meeting = `
  const { parentPort, threadId } = require('node:worker_threads')
  parentPort.on('message', ({ here, expected }) => {
    const arrived = new Int32Array(here)
    for (let n = Atomics.add(arrived, 0, 1) + 1; n < expected; n = Atomics.load(arrived, 0)) Atomics.wait(arrived, 0, n, 20)
    Atomics.notify(arrived, 0)
    parentPort.postMessage({ ok: true, result: threadId })
  })
`

interface Question {
  readonly here: SharedArrayBuffer
  readonly expected: number
}

test('a pool handles as many requests at a time as it has threads, and starts threads on demand', async t => {
  let made = 0
  const start = (): Worker => {
    made += 1
    return new Worker(meeting, { eval: true })
  }
  const pool = new WorkerPool<Question>(3, { start, timeoutMs: 30_000, name: 'Meeting' })
  t.teardown(() => pool.close())
  const ask = (expected: number) => {
    const here = new SharedArrayBuffer(4)
    return Promise.all(Array.from({ length: expected }, () => pool.run({ here, expected })))
  }
  await ask(1)
  await ask(1)
  t.is(made, 1)
  t.is(new Set(await ask(3)).size, 3)
  t.is(made, 3)
  const here = new SharedArrayBuffer(4)
  await Promise.all(Array.from({ length: 9 }, () => pool.run({ here, expected: 1 })))
  t.is(made, 3)
})
