import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ref } from '../model/kind.ts'
import type { Extractor } from '../ports/extractor.ts'
import type { Heartbeat, Job, JobResult, JobStatus, TransportListener } from '../ports/transport.ts'
import { InTrash } from '../problem.ts'
import { contractTest, type TestContext, type TestRunner } from './any-runner.ts'
import { eventually, file, hex, idsOf, jobFor, type MakeTransport } from './transport-contract.ts'

/** One extractor for all tests, controlled by its parameters. */
const script = `
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readFile } from 'node:fs/promises'
export async function extract(input) {
  const text = await readFile(input.path, 'utf8')
  if (text === 'bad') throw new Error('the file is bad')
  const { hang, write, preview, skip } = input.parameters
  if (hang) { input.progress('hanging'); await new Promise(() => setInterval(() => undefined, 1000)) }
  if (write) await writeFile(join(input.outputFolder, write), text)
  if (skip) return { skipped: skip }
  return { metadata: { text, name: input.filename, type: input.contentType }, previews: preview ? [{ path: preview, contentType: 'text/plain' }] : [] }
}`

const extractorNamed = (name: string, timeoutMs = 30_000): Extractor => ({
  module: new URL(`data:text/javascript,${encodeURIComponent(script)}`),
  timeoutMs,
  memoryMb: 64,
  info: {
    name,
    version: '1.0.0',
    description: '',
    author: '',
    contributors: [],
    contexts: [],
    repository: [],
    external_services: [],
    libraries: [],
    bibtex: [],
    maturity: 'Development',
    defaultLabels: [],
    process: { file: ['*/*'] },
    categories: ['EXTRACT'],
    parameters: {},
  },
})

const queue = 'contract.extractor'

/** Records what it receives; the `on…` members override responses. */
class Recorder implements TransportListener {
  readonly statuses: JobStatus[] = []
  readonly results: { readonly job: string; readonly output: JobResult['output']; readonly previews: readonly string[] }[] = []
  readonly heartbeats: Heartbeat[] = []
  readonly inputs = new Map<string, string>()
  readonly trash = new Set<string>()
  onStatus: (status: JobStatus) => Promise<void> = () => Promise.resolve()
  onResult: (result: JobResult) => Promise<void> = () => Promise.resolve()
  onHeartbeat: (heartbeat: Heartbeat) => Promise<void> = () => Promise.resolve()

  async status(status: JobStatus): Promise<undefined> {
    await this.onStatus(status)
    this.statuses.push(status)
  }

  async result(result: JobResult): Promise<void> {
    await this.onResult(result)
    const files = (result.output.previews ?? []).map(({ path }) => readFile(join(result.outputFolder, path), 'utf8'))
    this.results.push({ job: result.job.id, output: result.output, previews: await Promise.all(files) })
  }

  async heartbeat(heartbeat: Heartbeat): Promise<void> {
    await this.onHeartbeat(heartbeat)
    this.heartbeats.push(heartbeat)
  }

  async input(target: Ref) {
    if (this.trash.has(target.id)) throw new InTrash(target.kind)
    const blob = this.inputs.get(target.id)
    return blob === undefined ? undefined : { filename: 'notes.txt', contentType: 'text/plain', sizeBytes: Buffer.byteLength('good'), blob }
  }

  /** The status messages of a job, in order. */
  saidOf(job: Job): readonly string[] {
    return this.statuses.filter(({ jobId }) => jobId === job.id).map(({ status }) => status)
  }
}

/** The additional contract of Transports that run built-in extractors. */
export function builtInRunsContract(runner: TestRunner, makeTransport: MakeTransport): void {
  const test = contractTest(runner)
  const run = (n: number, parameters: Job['parameters'] = {}): Job => jobFor(n, { queue, parameters })
  const setUp = async (t: TestContext, timeoutMs?: number) => {
    const made = await makeTransport(t, [extractorNamed(queue, timeoutMs), extractorNamed('contract.other')])
    const recorder = new Recorder()
    const good = await made.store('good')
    for (let n = 1; n < 50; n++) recorder.inputs.set(hex(n), good)
    const isOver = async (job: Job): Promise<boolean> => !(await idsOf(made.transport, job.target)).includes(job.id)
    const stateOf = async (job: Job) => (await made.transport.pending(job.target))[0]?.state
    return { ...made, recorder, isOver, stateOf }
  }

  test('a job reports start, result and done, and is then no longer pending', async t => {
    const { transport, recorder, isOver } = await setUp(t)
    await transport.listen(recorder)
    const job = run(1, { write: 'p.txt', preview: 'p.txt' })
    await transport.publish([job])
    await eventually(() => isOver(job))
    const output = {
      metadata: { text: 'good', name: 'notes.txt', type: 'text/plain' },
      previews: [{ path: 'p.txt', contentType: 'text/plain' }],
    }
    t.deepEqual(recorder.results, [{ job: job.id, output, previews: ['good'] }])
    t.deepEqual(recorder.saidOf(job), ['StatusMessage.start: Started processing.', 'DONE'])
    const [first] = recorder.statuses
    t.deepEqual([first?.targetId, first?.extractor], [job.target.id, queue])
  })

  test('jobs published before there is a listener are run once it is added', async t => {
    const { transport, recorder, isOver } = await setUp(t)
    await transport.publish([run(1), run(2)])
    await transport.listen(recorder)
    await eventually(async () => (await isOver(run(1))) && (await isOver(run(2))))
    t.deepEqual(recorder.results.map(({ job }) => job).sort(), [run(1).id, run(2).id])
  })

  test('each built-in extractor is announced, again after the listener failed', async t => {
    const { transport, recorder } = await setUp(t)
    let refusals = 2
    recorder.onHeartbeat = async () => {
      if (refusals-- > 0) throw new Error('not yet')
    }
    await transport.listen(recorder)
    await eventually(() => recorder.heartbeats.length === 2)
    t.deepEqual(recorder.heartbeats.map(heartbeat => heartbeat.queue).sort(), [queue, 'contract.other'].sort())
    t.deepEqual(recorder.heartbeats.find(heartbeat => heartbeat.queue === queue)?.info, extractorNamed(queue).info)
    const statistics = await transport.queues()
    t.is(statistics.find(each => each.queue === queue)?.consumers, 1)
  })

  test('a result is sent again until the listener has accepted it', async t => {
    const { transport, recorder, isOver } = await setUp(t)
    let refusals = 2
    recorder.onResult = async () => {
      if (refusals-- > 0) throw new Error('the store has hiccups')
    }
    await transport.listen(recorder)
    await transport.publish([run(1)])
    await eventually(() => isOver(run(1)))
    t.is(recorder.results.length, 1)
    t.is(recorder.saidOf(run(1)).filter(status => status === 'DONE').length, 1)
    t.is(recorder.saidOf(run(1)).at(-1), 'DONE')
  })

  test('a status is sent again until the listener has accepted it', async t => {
    const { transport, recorder, isOver } = await setUp(t)
    const refused = new Set<string>()
    recorder.onStatus = async ({ status }) => {
      if (refused.has(status)) return
      refused.add(status)
      throw new Error('not this time')
    }
    await transport.listen(recorder)
    await transport.publish([run(1)])
    await eventually(() => isOver(run(1)))
    t.deepEqual([...new Set(recorder.saidOf(run(1)))], ['StatusMessage.start: Started processing.', 'DONE'])
  })

  test('a job whose target no longer exists is skipped', async t => {
    const { transport, recorder, isOver } = await setUp(t)
    await transport.listen(recorder)
    await transport.publish([run(60)])
    await eventually(() => isOver(run(60)))
    t.deepEqual(recorder.results, [])
    t.regex(recorder.saidOf(run(60))[1] ?? '', /^StatusMessage\.skip: /)
    t.is(recorder.saidOf(run(60)).at(-1), 'DONE')
  })

  test('a job whose target is in the trash waits until it is restored', async t => {
    const { transport, recorder, isOver } = await setUp(t)
    const job = run(1)
    recorder.trash.add(job.target.id)
    await transport.listen(recorder)
    await transport.publish([job])
    await eventually(() => recorder.saidOf(job).filter(status => status.startsWith('StatusMessage.retry: ')).length > 1)
    t.false(await isOver(job))
    recorder.trash.clear()
    await eventually(() => isOver(job))
    t.is(recorder.results.length, 1)
    t.is(recorder.saidOf(job).at(-1), 'DONE')
  })

  test('an extractor that cannot run here is skipped, and its job is done', async t => {
    const { transport, recorder, isOver } = await setUp(t)
    await transport.listen(recorder)
    await transport.publish([run(1, { skip: 'no tool' })])
    await eventually(() => isOver(run(1)))
    t.deepEqual(recorder.saidOf(run(1)).slice(1), ['StatusMessage.skip: no tool', 'DONE'])
    t.deepEqual(recorder.results[0]?.output, { skipped: 'no tool' })
  })

  test('a job becomes dead if the extractor rejects its file, and can be revived', async t => {
    const { transport, recorder, isOver, stateOf, store } = await setUp(t)
    recorder.inputs.set(hex(1), await store('bad'))
    await transport.listen(recorder)
    await transport.publish([run(1), run(2)])
    await eventually(async () => (await stateOf(run(1))) === 'dead' && (await isOver(run(2))))
    t.is(recorder.saidOf(run(1)).at(-1), 'StatusMessage.error: the file is bad')
    t.is((await transport.queues()).find(each => each.queue === queue)?.dead, 1)
    recorder.inputs.set(hex(1), await store('good'))
    t.true(await transport.revive(run(1).id))
    await eventually(() => isOver(run(1)))
    t.is(recorder.saidOf(run(1)).at(-1), 'DONE')
    t.false(await transport.revive(run(1).id))
  })

  test('a dead job can be cancelled', async t => {
    const { transport, recorder, stateOf, store } = await setUp(t)
    recorder.inputs.set(hex(1), await store('bad'))
    await transport.listen(recorder)
    await transport.publish([run(1)])
    await eventually(async () => (await stateOf(run(1))) === 'dead')
    t.is(await transport.cancel(run(1).id), 'cancelled')
    t.deepEqual(await transport.pending(file(1)), [])
  })

  test('a run that exceeds its time limit is ended, and others continue', async t => {
    const { transport, recorder, isOver, stateOf } = await setUp(t, 1000)
    await transport.listen(recorder)
    await transport.publish([run(1, { hang: true }), run(2)])
    await eventually(async () => (await isOver(run(2))) && (await stateOf(run(1))) === 'dead')
    t.deepEqual(
      recorder.results.map(({ job }) => job),
      [run(2).id],
    )
    t.regex(recorder.saidOf(run(1)).at(-1) ?? '', /^StatusMessage\.error: .*1 s/)
  })

  test('a running job can be cancelled: its run ends without a result', async t => {
    const { transport, recorder, isOver } = await setUp(t)
    await transport.listen(recorder)
    await transport.publish([run(1, { hang: true })])
    await eventually(() => recorder.saidOf(run(1)).includes('StatusMessage.processing: hanging'))
    const [pending] = await transport.pending(file(1))
    t.deepEqual([pending?.state, pending?.attempts], ['running', 1])
    t.is(await transport.cancel(run(1).id), 'cancelled')
    t.true(await isOver(run(1)))
    await transport.publish([run(2)])
    await eventually(() => isOver(run(2)))
    t.deepEqual(
      recorder.results.map(({ job }) => job),
      [run(2).id],
    )
  })

  test('a job whose result is being stored cannot be cancelled', async t => {
    const { transport, recorder, isOver } = await setUp(t)
    const storing = Promise.withResolvers<void>()
    const mayEnd = Promise.withResolvers<void>()
    recorder.onResult = () => {
      storing.resolve()
      return mayEnd.promise
    }
    await transport.listen(recorder)
    await transport.publish([run(1)])
    await storing.promise
    t.is(await transport.cancel(run(1).id), 'running')
    mayEnd.resolve()
    await eventually(() => isOver(run(1)))
    t.is(recorder.results.length, 1)
    t.is(await transport.cancel(run(1).id), 'unknown')
  })

  test('a job in a queue without consumers stays waiting', async t => {
    const { transport, recorder, isOver, stateOf } = await setUp(t)
    await transport.listen(recorder)
    const foreign = jobFor(3, { queue: 'somebody.elses' })
    await transport.publish([foreign, run(1)])
    await eventually(() => isOver(run(1)))
    t.is(await stateOf(foreign), 'waiting')
  })

  test('a result that names a file outside its folder is refused', async t => {
    const { transport, recorder, stateOf } = await setUp(t)
    await transport.listen(recorder)
    await transport.publish([run(1, { write: '../p.txt', preview: '../p.txt' })])
    await eventually(async () => (await stateOf(run(1))) === 'dead')
    t.deepEqual(recorder.results, [])
  })

  test('a stopping transport releases running jobs, and its successor runs them', async t => {
    const { transport, recorder, reopen } = await setUp(t)
    await transport.listen(recorder)
    await transport.publish([run(1, { hang: true }), run(2)])
    await eventually(() => recorder.saidOf(run(1)).includes('StatusMessage.processing: hanging'))
    const after = await reopen()
    t.deepEqual(
      (await after.pending(file(1))).map(({ state, attempts }) => ({ state, attempts })),
      [{ state: 'waiting', attempts: 0 }],
    )
    const second = new Recorder()
    for (const [id, blob] of recorder.inputs) second.inputs.set(id, blob)
    await after.listen(second)
    await eventually(() => second.saidOf(run(1)).includes('StatusMessage.processing: hanging'))
    t.is(await after.cancel(run(1).id), 'cancelled')
    await eventually(async () => (await idsOf(after, file(2))).length === 0)
    t.is([...recorder.results, ...second.results].length, 1)
  })

  test('each of many jobs is run once', async t => {
    const { transport, recorder } = await setUp(t)
    await transport.listen(recorder)
    const all = Array.from({ length: 40 }, (_, n) => run(n + 1))
    await Promise.all(all.map(job => transport.publish([job])))
    await eventually(async () => (await transport.queues()).every(({ waiting, running }) => waiting + running === 0))
    t.deepEqual(
      recorder.results.map(({ job }) => job).sort(),
      all.map(({ id }) => id),
    )
  })
}
