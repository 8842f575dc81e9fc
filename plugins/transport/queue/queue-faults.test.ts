import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { type DocumentStore, type Extractor, type Log, Unavailable } from 'pounce/sdk'
import { silent } from 'pounce/sdk/testing'
import { eventually, hex, idsOf, jobFor } from '../../../sdk/testing/transport-contract.ts'
import { TestListener } from '../../../test/support/transport-listener.ts'
import type { QueueConfig } from './config.ts'
import { fixtureExtractor } from './fixtures/extractors.ts'
import { flaky } from './fixtures/flaky-documents.ts'
import { queueOn, temporaryStores } from './fixtures/queue-under-test.ts'
import { type JobRecord, jobs } from './jobs.ts'

// @separate-process: leases are renewed every few milliseconds.
interface Options extends Partial<QueueConfig> {
  readonly extractors?: readonly Extractor[]
  readonly roles?: readonly ('http' | 'worker')[]
  readonly log?: Log
}

/** Queues on one store that can be made unavailable, with a listener. */
async function setUp(t: ExecutionContext) {
  const { folder, blobs, ...stores } = await temporaryStores(t)
  const { documents, setUnavailable: setAway } = flaky(stores.documents)
  const { key } = await blobs.put(Buffer.from('hello'))
  const listener = new TestListener(key)
  const open = ({ extractors = [fixtureExtractor('echo')], roles, log = silent, ...config }: Options = {}, dataFolder = folder) => {
    const queue = queueOn({ documents, blobs, dataFolder, extractors, config, log, ...(roles && { roles }) })
    t.teardown(async () => {
      setAway(false)
      await queue.dispose()
    })
    return queue
  }
  return { folder, documents, setAway, listener, open, isOver: (n: number) => isGone(documents, n) }
}

const run = (n: number, queue = 'echo', parameters = {}) => jobFor(n, { queue, parameters })
const recordOf = (documents: DocumentStore, n: number) => documents.get(jobs, run(n).id)
const isGone = async (documents: DocumentStore, n: number): Promise<boolean> => (await recordOf(documents, n)) === undefined

/** Stores a job that is recorded as running on some worker. */
async function insertRunning(documents: DocumentStore, n: number, changes: Partial<JobRecord>): Promise<void> {
  const published = new Date().toISOString()
  const leaseUntil = new Date(Date.now() + 3_600_000).toISOString()
  const record: JobRecord = {
    ...run(n),
    state: 'running',
    published,
    due: published,
    attempts: 1,
    crashes: 0,
    owner: 'another',
    leaseUntil,
    error: null,
    ...changes,
  }
  await documents.commit({ insert: { ...record, id: run(n).id }, into: jobs })
}

const past = '2020-01-01T00:00:00.000Z'

test('a completion that cannot be recorded is recorded once the store is available again', async t => {
  const { open, listener, setAway, isOver } = await setUp(t)
  const queue = open()
  const stored = Promise.withResolvers<void>()
  listener.onResult = async () => {
    setAway(true)
    stored.resolve()
  }
  await queue.listen(listener)
  await queue.publish([run(1)])
  await stored.promise
  await t.throwsAsync(queue.publish([run(2)]), { instanceOf: Unavailable })
  listener.onResult = () => Promise.resolve()
  await eventually(() => listener.saidOf(run(1)).includes('DONE'))
  setAway(false)
  await queue.publish([run(2)])
  await eventually(async () => (await isOver(1)) && (await isOver(2)))
  t.deepEqual(
    listener.results.map(({ job }) => job.id),
    [run(1).id, run(2).id],
  )
})

test('a result is kept while its storage is unavailable, and the extractor does not run again', async t => {
  const { open, listener, isOver } = await setUp(t)
  const queue = open()
  let refusals = 3
  listener.onResult = async () => {
    if (refusals-- > 0) throw new Unavailable('no bytes now')
  }
  await queue.listen(listener)
  await queue.publish([run(1)])
  await eventually(() => isOver(1))
  t.deepEqual(listener.saidOf(run(1)), ['StatusMessage.start: Started processing.', 'DONE'])
})

test('a job whose result cannot be stored is dead-lettered after five runs, and does not block others', async t => {
  const { open, listener, isOver, documents } = await setUp(t)
  const queue = open()
  listener.onResult = async ({ job }) => {
    if (job.id === run(1).id) throw new TypeError('a bug in the listener')
  }
  await queue.listen(listener)
  await queue.publish([run(1), run(2), run(3)])
  await eventually(async () => (await recordOf(documents, 1))?.state === 'dead')
  t.is((await recordOf(documents, 1))?.attempts, 5)
  t.deepEqual(
    listener.saidOf(run(1)).filter(line => !line.startsWith('StatusMessage.start')),
    [
      ...[1, 2, 3, 4].map(n => `StatusMessage.retry: (#${n}) The result could not be stored`),
      'StatusMessage.error: The result could not be stored',
    ],
  )
  await eventually(async () => (await isOver(2)) && (await isOver(3)))
  t.is(listener.results.length, 2)
})

test('a failing extractor is logged as a warning; one interrupted by the shutdown is not', async t => {
  const { open, listener, documents } = await setUp(t)
  const lines: string[] = []
  const logAt = (level: string) => (message: string, fields?: Readonly<Record<string, unknown>>) =>
    void lines.push(`${level} ${message} ${fields?.['end'] ?? ''}`)
  const log = { ...silent, info: logAt('info'), warn: logAt('warn') }
  const queue = open({ log, sandbox: 'off', extractors: [fixtureExtractor('throw'), fixtureExtractor('wait')] })
  await queue.listen(listener)
  await queue.publish([run(1, 'throw'), run(2, 'wait')])
  await eventually(async () => (await recordOf(documents, 1))?.state === 'dead')
  await eventually(async () => listener.saidOf(run(2)).length > 0)
  await queue.dispose()
  t.deepEqual(
    lines.filter(line => line.includes('Extractor failed')),
    ['warn Extractor failed dead'],
  )
  t.true(lines.includes('info Extraction interrupted waiting'), lines.join('\n'))
})

test('a run that found no space on the disk is tried again, like one for which there is no space in a store', async t => {
  const { open, listener, documents } = await setUp(t)
  const queue = open({ sandbox: 'off', retryDelayMs: 50, extractors: [fixtureExtractor('full')] })
  await queue.listen(listener)
  await queue.publish([run(1, 'full')])
  await eventually(async () => ((await recordOf(documents, 1))?.attempts ?? 0) >= 3)
  t.not((await recordOf(documents, 1))?.state, 'dead')
  t.regex(listener.saidOf(run(1, 'full')).join('\n'), /StatusMessage\.retry: \(#1\) ENOSPC/)
})

test('two workers on one store run each job once', async t => {
  const { open, listener, folder, documents } = await setUp(t)
  const queues = [open({ concurrency: 1, pollMs: 20 }), open({ concurrency: 1, pollMs: 20 }, join(folder, 'second'))]
  for (const queue of queues) await queue.listen(listener)
  const all = Array.from({ length: 60 }, (_, n) => run(n + 1))
  await Promise.all(all.map((job, n) => queues[n % 2]?.publish([job])))
  await eventually(async () => (await documents.count(jobs, { using: 'due', upTo: 100 })) === 0)
  t.deepEqual(
    listener.results.map(({ job }) => job.id).sort(),
    all.map(({ id }) => id),
  )
  t.is(new Set(listener.results.map(({ output }) => output.metadata?.['home'])).size, 2)
})

test('an HTTP-only kernel publishes and cancels jobs, and a separate worker runs them', async t => {
  const { open, listener, folder, isOver } = await setUp(t)
  const front = open({ roles: ['http'] })
  await front.listen(listener)
  await front.publish([run(1), run(2)])
  t.is(await front.cancel(run(2).id), 'cancelled')
  t.deepEqual([listener.heartbeats.length, (await readdir(folder)).includes('transport.queue')], [0, false])
  const back = open({ roles: ['worker'], pollMs: 20 }, join(folder, 'back'))
  await back.listen(listener)
  await eventually(() => isOver(1))
  await front.publish([run(3)])
  await eventually(() => isOver(3))
  t.deepEqual(
    listener.results.map(({ job }) => job.id),
    [run(1).id, run(3).id],
  )
})

test('jobs with an expired lease are taken over; jobs leased by another worker are left alone', async t => {
  const { open, listener, documents, isOver } = await setUp(t)
  await insertRunning(documents, 1, { leaseUntil: past })
  await insertRunning(documents, 2, {})
  const queue = open({ pollMs: 20, leaseMs: 300 })
  await queue.listen(listener)
  await eventually(() => isOver(1))
  t.is((await recordOf(documents, 2))?.state, 'running')
  t.is(await queue.cancel(run(2).id), 'running')
})

test('jobs published before the clock was set back do not wait for the former time', async t => {
  const { open, documents, listener, isOver } = await setUp(t)
  const later = '2999-01-01T00:00:00.000Z'
  await insertRunning(documents, 1, { state: 'waiting', owner: null, leaseUntil: null, attempts: 0, published: later, due: later })
  const queue = open()
  await queue.listen(listener)
  await eventually(() => isOver(1))
  t.is(listener.saidOf(run(1)).at(-1), 'DONE')
})

test('jobs interrupted by a crash of this worker run again at once; after the fifth crash they are dead-lettered', async t => {
  const { open, listener, folder, documents, isOver } = await setUp(t)
  await mkdir(join(folder, 'transport.queue', 'runs', 'left'), { recursive: true })
  await writeFile(join(folder, 'transport.queue', 'owner'), 'myself')
  await insertRunning(documents, 1, { owner: 'myself' })
  await insertRunning(documents, 2, { owner: 'myself', attempts: 5, crashes: 4 })
  await open().listen(listener)
  await eventually(() => isOver(1))
  t.is((await recordOf(documents, 2))?.state, 'dead')
  t.deepEqual(listener.saidOf(run(2)), ['StatusMessage.error: The server ended during 5 runs of this'])
  t.false((await readdir(join(folder, 'transport.queue', 'runs'))).includes('left'))
})

test('a job with too many crashes is dead-lettered only once the listener has stored its status', async t => {
  const { open, listener, folder, documents } = await setUp(t)
  await mkdir(join(folder, 'transport.queue'), { recursive: true })
  await writeFile(join(folder, 'transport.queue', 'owner'), 'myself')
  await insertRunning(documents, 2, { owner: 'myself', attempts: 5, crashes: 4 })
  const states: (string | undefined)[] = []
  listener.onStatus = async ({ jobId }) => {
    if (jobId !== run(2).id) return
    states.push((await recordOf(documents, 2))?.state)
    if (states.length === 1) throw new Unavailable('not now')
  }
  await open({ leaseMs: 200, pollMs: 20 }).listen(listener)
  await eventually(async () => (await recordOf(documents, 2))?.state === 'dead')
  t.deepEqual(states, ['running', 'running'])
  t.deepEqual(listener.saidOf(run(2)), ['StatusMessage.error: The server ended during 5 runs of this'])
})

test('a run whose job another worker has taken over ends without a result', async t => {
  const { open, listener, documents, folder } = await setUp(t)
  const queue = open({ leaseMs: 300, extractors: [fixtureExtractor('wait')] })
  await queue.listen(listener)
  await queue.publish([run(1, 'wait')])
  await eventually(() => listener.saidOf(run(1)).some(line => line.includes('running as')))
  const leaseUntil = new Date(Date.now() + 3_600_000).toISOString()
  await documents.commit({ update: run(1).id, in: jobs, set: { owner: 'another', leaseUntil } })
  await eventually(async () => (await readdir(join(folder, 'transport.queue', 'runs'))).length === 0)
  t.deepEqual(listener.results, [])
  t.is((await recordOf(documents, 1))?.owner, 'another')
})

test('a long run keeps its lease', async t => {
  const { open, listener, folder, isOver } = await setUp(t)
  const extractors = [fixtureExtractor('wait')]
  // A lease is renewed three times, and the process may be delayed by two thirds of it.
  await open({ leaseMs: 4000, pollMs: 20, extractors }).listen(listener)
  const other = open({ leaseMs: 4000, pollMs: 20, extractors }, join(folder, 'other'))
  await other.listen(listener)
  await other.publish([run(1, 'wait', { ms: 7000 })])
  await eventually(() => isOver(1))
  t.is(listener.results.length, 1)
  t.is(listener.saidOf(run(1)).filter(line => line.startsWith('StatusMessage.start')).length, 1)
})

test('a finished or cancelled job is not run again when it is republished', async t => {
  const { open, listener, isOver, documents } = await setUp(t)
  const queue = open({ extractors: [fixtureExtractor('echo'), fixtureExtractor('wait')] })
  await queue.listen(listener)
  await queue.publish([run(1), run(2, 'wait')])
  await eventually(() => isOver(1))
  // A cancellation that a slow disk has not recorded within 4 s is refused with 503 and still carried out.
  await queue.cancel(run(2).id).catch((error: unknown) => t.true(error instanceof Unavailable))
  await eventually(() => isOver(2))
  await queue.publish([run(1), run(2, 'wait'), run(3)])
  await eventually(() => isOver(3))
  t.is(await documents.count(jobs, { using: 'due', upTo: 10 }), 0)
  t.deepEqual(
    listener.results.map(({ job }) => job.id),
    [run(1).id, run(3).id],
  )
})

test('the queue stops even while the store is unavailable, and leaves no process', async t => {
  const { open, listener, setAway, folder } = await setUp(t)
  // The paths inside a sandbox depend on the system.
  const queue = open({ extractors: [fixtureExtractor('loop')], sandbox: 'off' })
  await queue.listen(listener)
  await queue.publish([run(1, 'loop')])
  const processes = join(folder, 'transport.queue', 'processes')
  await eventually(async () => (await readdir(processes).catch(() => [])).length === 1)
  setAway(true)
  await queue.dispose()
  t.deepEqual(await readdir(processes), [])
})

test('a result that is being stored when the queue stops is stored once', async t => {
  const { open, listener, isOver } = await setUp(t)
  const queue = open()
  const storing = Promise.withResolvers<void>()
  const mayEnd = Promise.withResolvers<void>()
  listener.onResult = () => {
    storing.resolve()
    return mayEnd.promise
  }
  await queue.listen(listener)
  await queue.publish([run(1)])
  await storing.promise
  const stopped = queue.dispose()
  mayEnd.resolve()
  await stopped
  t.true(await isOver(1))
  t.is(listener.results.length, 1)
})

test('a listener that never responds does not block the shutdown', async t => {
  const { open, listener, documents } = await setUp(t)
  const queue = open()
  const storing = Promise.withResolvers<void>()
  listener.onResult = () => {
    storing.resolve()
    return new Promise(() => undefined)
  }
  await queue.listen(listener)
  await queue.publish([run(1)])
  await storing.promise
  await queue.dispose()
  const record = await recordOf(documents, 1)
  t.deepEqual([record?.state, record?.attempts], ['waiting', 0])
})

test('at most one progress line per second of a verbose extractor is passed on', async t => {
  const { open, listener, isOver } = await setUp(t)
  const queue = open({ extractors: [fixtureExtractor('chatter')] })
  await queue.listen(listener)
  const began = performance.now()
  await queue.publish([run(1, 'chatter', { ms: 1800 })])
  await eventually(() => isOver(1))
  const lines = listener.statuses.filter(({ status }) => status.startsWith('StatusMessage.processing: '))
  t.true(lines.length >= 2)
  t.true(lines.length <= 1 + (performance.now() - began) / 1000)
})

test('jobs of hostile extractors are dead-lettered with a reason, and the server keeps running', async t => {
  const { open, listener, documents, isOver } = await setUp(t)
  const names = ['loop', 'heap-hog', 'buffer-hog', 'exit', 'throw', 'late-throw', 'outside']
  const extractors = [
    ...names.map(name => fixtureExtractor(name, { timeoutMs: name === 'loop' ? 700 : 20_000, memoryMb: 32 })),
    fixtureExtractor('echo'),
  ]
  const queue = open({ extractors, nativeMemoryMb: 200 })
  await queue.listen(listener)
  await queue.publish([...names.map((name, n) => run(n + 1, name)), run(20)])
  await eventually(() => isOver(20))
  await eventually(async () => (await queue.queues()).filter(({ dead }) => dead === 1).length === names.length)
  const errors = await Promise.all(names.map(async (_, n) => (await recordOf(documents, n + 1))?.error))
  t.deepEqual(errors, [
    'It took longer than 0.7 s and was stopped',
    'It exceeded 32 MiB of memory and was stopped',
    'It exceeded 232 MiB of memory and was stopped',
    'Its process exited without a result (exit code 3)',
    'input is damaged:\nline 2',
    'nobody caught this',
    'Invalid extractor result: a file is outside the output folder',
  ])
  t.is(listener.saidOf(run(5)).at(-1), 'StatusMessage.error: input is damaged: line 2')
  t.deepEqual(
    listener.results.map(({ job }) => job.id),
    [run(20).id],
  )
})

test('two hundred jobs are run, each exactly once', async t => {
  const { open, listener, documents } = await setUp(t)
  const queue = open()
  await queue.listen(listener)
  for (let n = 0; n < 200; n += 20) await queue.publish(Array.from({ length: 20 }, (_, at) => run(n + at + 1)))
  await eventually(async () => (await documents.count(jobs, { using: 'due', upTo: 300 })) === 0, 180_000)
  t.is(new Set(listener.results.map(({ job }) => job.id)).size, 200)
  t.is(listener.results.length, 200)
  t.deepEqual(await idsOf(queue, { kind: 'file', id: hex(1) }), [])
})
