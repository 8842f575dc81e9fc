import { setTimeout as pause } from 'node:timers/promises'
import type { Ref } from '../model/kind.ts'
import type { Extractor } from '../ports/extractor.ts'
import type { Job, Transport } from '../ports/transport.ts'
import { Invalid } from '../problem.ts'
import { contractTest, type TestContext, type TestRunner } from './any-runner.ts'

/** A transport under test. */
export interface TransportUnderTest {
  /** Started, without listener and jobs. */
  readonly transport: Transport
  /** Stops the transport as a stopping kernel does, and starts another one with the same jobs. */
  reopen(): Promise<Transport>
  /** Ensures that jobs can be queued for these queues: a bus needs the queues that its extractors would have created; others need nothing. */
  prepare(queues: readonly string[]): Promise<void>
  /** Stores bytes as input for a transport that runs extractors. Resolves to the blob's key. */
  store(bytes: string): Promise<string>
}

/** Returns a fresh transport with these built-in extractors, which retries within a second; may use `t.teardown`. */
export type MakeTransport = (t: TestContext, extractors: readonly Extractor[]) => Promise<TransportUnderTest>

/** The n-th id. */
export const hex = (n: number): string => n.toString(16).padStart(24, '0')
export const file = (n: number): Ref => ({ kind: 'file', id: hex(n) })

/** A job whose fields all differ from those of other jobs. */
export const jobFor = (n: number, changes: Partial<Job> = {}): Job => ({
  id: hex(0x1000 + n),
  queue: 'some.extractor',
  target: file(n),
  user: n % 2 === 0 ? null : hex(0x2000 + n),
  message: { msgid: hex(0x1000 + n), fileSize: `${n}`, flags: '', nested: { list: [1, null, 'ü'] } },
  parameters: { n },
  ...changes,
})

/** Polls until a condition holds; throws on timeout, with a description of the condition. */
export async function eventually(condition: () => Promise<boolean> | boolean, withinMs = 60_000, what = `${condition}`): Promise<void> {
  const end = performance.now() + withinMs
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`Timed out after ${withinMs} ms: ${what}`)
    await pause(10)
  }
}

/** Ids of the pending jobs for a target, in order. */
export const idsOf = async (transport: Transport, target: Ref): Promise<readonly string[]> =>
  (await transport.pending(target)).map(({ job }) => job.id)

/** The contract of Transport for jobs. Run it in a test file of the implementation. */
export function transportContract(runner: TestRunner, makeTransport: MakeTransport): void {
  const test = contractTest(runner)
  const make = async (t: TestContext): Promise<TransportUnderTest> => {
    const made = await makeTransport(t, [])
    await made.prepare(['some.extractor', 'a.long.name', 'b'])
    return made
  }

  test('a transport has a kind, and a set of the queues that it runs', async t => {
    const { transport } = await make(t)
    t.true(typeof transport.kind === 'string' && transport.kind !== '', 'kind')
    t.true(transport.runs() instanceof Set, 'runs')
  })

  test('a published job is pending, exactly as published', async t => {
    const { transport } = await make(t)
    await transport.publish([jobFor(1)])
    t.deepEqual(await transport.pending(file(1)), [{ job: jobFor(1), state: 'waiting', attempts: 0 }])
  })

  test('jobs are pending for their own target, oldest first', async t => {
    const { transport } = await make(t)
    const dataset: Ref = { kind: 'dataset', id: hex(1) }
    await transport.publish([jobFor(5, { target: file(1) })])
    await transport.publish([jobFor(3, { target: file(1) }), jobFor(4, { target: file(2) }), jobFor(6, { target: dataset })])
    t.deepEqual(await idsOf(transport, file(1)), [jobFor(5).id, jobFor(3).id])
    t.deepEqual(await idsOf(transport, dataset), [jobFor(6).id])
    t.deepEqual(await idsOf(transport, file(9)), [])
  })

  test('publishing the same id twice publishes it once', async t => {
    const { transport } = await make(t)
    await Promise.all([transport.publish([jobFor(1), jobFor(1)]), transport.publish([jobFor(2), jobFor(1)])])
    await transport.publish([jobFor(1)])
    t.deepEqual(await idsOf(transport, file(1)), [jobFor(1).id])
    t.deepEqual(await idsOf(transport, file(2)), [jobFor(2).id])
  })

  test('published jobs survive a restart of the transport', async t => {
    const { transport, reopen } = await make(t)
    await transport.publish([jobFor(1), jobFor(2, { target: file(1) })])
    const after = await reopen()
    t.deepEqual(await after.pending(file(1)), [
      { job: jobFor(1), state: 'waiting', attempts: 0 },
      { job: jobFor(2, { target: file(1) }), state: 'waiting', attempts: 0 },
    ])
    t.is(await after.cancel(jobFor(1).id), 'cancelled')
  })

  test('a thousand jobs can be published in one call, one more is refused completely', async t => {
    const { transport } = await make(t)
    const many = Array.from({ length: 1001 }, (_, n) => jobFor(n, { target: file(0) }))
    await t.throwsAsync(transport.publish(many), { instanceOf: Invalid })
    t.deepEqual(await idsOf(transport, file(0)), [])
    await transport.publish(many.slice(1))
    t.is((await idsOf(transport, file(0))).length, 1000)
    await transport.publish([])
  })

  test('cancelling removes one waiting job and no other', async t => {
    const { transport, reopen } = await make(t)
    await transport.publish([jobFor(1), jobFor(2, { target: file(1) }), jobFor(3, { target: file(1) })])
    t.is(await transport.cancel(jobFor(2).id), 'cancelled')
    t.deepEqual(await idsOf(transport, file(1)), [jobFor(1).id, jobFor(3).id])
    t.is(await transport.cancel(jobFor(2).id), 'unknown')
    t.is(await transport.cancel(hex(0xffff)), 'unknown')
    t.deepEqual(await idsOf(transport, file(1)), [jobFor(1).id, jobFor(3).id])
    const after = await reopen()
    t.deepEqual(await idsOf(after, file(1)), [jobFor(1).id, jobFor(3).id], 'after a restart')
  })

  test('of many concurrent cancellations of one job one succeeds', async t => {
    const { transport } = await make(t)
    await transport.publish([jobFor(1)])
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => transport.cancel(jobFor(1).id)))
    t.is(outcomes.filter(outcome => outcome === 'cancelled').length, 1)
    t.is(outcomes.filter(outcome => outcome === 'unknown').length, 19)
  })

  test('queues are listed by name with their pending jobs', async t => {
    const { transport } = await make(t)
    t.deepEqual(await transport.queues(), [])
    await transport.publish([jobFor(1, { queue: 'b' }), jobFor(2, { queue: 'a.long.name' }), jobFor(3, { queue: 'b' })])
    // A queue without listeners keeps its jobs.
    const nothing = { running: 0, consumers: 0, dead: 0 }
    t.deepEqual(await transport.queues(), [
      { queue: 'a.long.name', waiting: 1, ...nothing },
      { queue: 'b', waiting: 2, ...nothing },
    ])
  })

  test('a job that is not dead cannot be revived', async t => {
    const { transport } = await make(t)
    await transport.publish([jobFor(1)])
    t.false(await transport.revive(jobFor(1).id))
    t.false(await transport.revive(hex(0xffff)))
    t.is((await transport.pending(file(1)))[0]?.state, 'waiting')
  })
}
