import type { Job, JobStatus, Transport, TransportListener } from '../ports/transport.ts'
import { InTrash, Unavailable } from '../problem.ts'
import { contractTest, type TestContext, type TestRunner } from './any-runner.ts'
import { eventually, jobFor, type TransportUnderTest } from './transport-contract.ts'

/** A transport under test whose jobs are run by other programs. */
export interface StatusUnderTest extends Omit<TransportUnderTest, 'store'> {
  /** Takes a waiting job, as its program does. */
  take(job: Job): Promise<void>
  /** Sends a status message about a job that was taken, as its program does. */
  report(job: Job, status: string): Promise<void>
}

/** Records status messages; `onStatus` may reject. */
class Recorder implements TransportListener {
  readonly statuses: JobStatus[] = []
  onStatus: () => Promise<void> = () => Promise.resolve()

  async status(status: JobStatus): Promise<undefined> {
    await this.onStatus()
    this.statuses.push(status)
  }

  result = (): Promise<void> => Promise.resolve()
  heartbeat = (): Promise<void> => Promise.resolve()
  input = (): Promise<undefined> => Promise.resolve(undefined)

  /** The distinct status messages of a job: each may be delivered again. */
  of({ id }: Job): readonly string[] {
    return [...new Set(this.statuses.filter(({ jobId }) => jobId === id).map(({ status }) => status))]
  }
}

const until = (what: string, condition: () => Promise<boolean> | boolean): Promise<void> => eventually(condition, 60_000, what)

const started = 'StatusMessage.start: Started processing.'

const stateOf = async (transport: Transport, job: Job): Promise<string | undefined> =>
  (await transport.pending(job.target)).find(each => each.job.id === job.id)?.state

/** The additional contract of Transports whose jobs are run by other programs. Run it in a test file of the implementation. */
export function transportStatusContract(runner: TestRunner, makeTransport: (t: TestContext) => Promise<StatusUnderTest>): void {
  const test = contractTest(runner)
  const taken = async (t: TestContext) => {
    const made = await makeTransport(t)
    await made.prepare(['some.extractor'])
    const job = jobFor(1)
    await made.transport.publish([job])
    await made.take(job)
    return { ...made, job, recorder: new Recorder() }
  }

  test('status messages arrive with their job, and the last one ends it', async t => {
    const { transport, report, job, recorder } = await taken(t)
    await transport.listen(recorder)
    await report(job, started)
    await until('the first status message reaches the listener', () => recorder.of(job).length === 1)
    await until('the job is running', async () => (await stateOf(transport, job)) === 'running')
    await report(job, 'DONE')
    await until('the last status message reaches the listener', () => recorder.of(job).length === 2)
    t.deepEqual(recorder.of(job), [started, 'DONE'])
    for (const { targetId, extractor, at } of recorder.statuses) {
      t.is(targetId, job.target.id)
      t.is(extractor, job.queue)
      t.false(Number.isNaN(at.getTime()))
    }
    await until('the job is no longer pending', async () => (await stateOf(transport, job)) === undefined)
  })

  test('a status message that the listener rejects is delivered again, and the job does not end before', async t => {
    const { transport, report, job, recorder } = await taken(t)
    let tries = 0
    let isRejecting = true
    recorder.onStatus = () => {
      tries += 1
      return isRejecting ? Promise.reject(new Unavailable('the store is unavailable')) : Promise.resolve()
    }
    await transport.listen(recorder)
    await report(job, 'DONE')
    await until('a status message that the listener rejects is delivered five times', () => tries >= 5)
    t.is((await transport.pending(job.target)).length, 1, 'the job is pending')
    isRejecting = false
    await until('the status message reaches the listener', () => recorder.of(job).length === 1)
    t.deepEqual(recorder.of(job), ['DONE'])
  })

  test('a running job is counted in its queue, cannot be cancelled, and is not queued again when it is published again', async t => {
    const { transport, report, job, recorder } = await taken(t)
    await transport.listen(recorder)
    await report(job, started)
    await until('the job is running', async () => (await stateOf(transport, job)) === 'running')
    t.is(await transport.cancel(job.id), 'running')
    await transport.publish([job])
    t.is(await stateOf(transport, job), 'running')
    const statistics = (await transport.queues()).find(({ queue }) => queue === job.queue)
    t.like(statistics, { waiting: 0, running: 1 })
    await report(job, 'DONE')
    await until('the job is no longer pending', async () => (await stateOf(transport, job)) === undefined)
    t.is(await transport.cancel(job.id), 'unknown')
  })

  test('a status message that the listener rejects does not delay those of other jobs', async t => {
    const { transport, take, report, job, recorder } = await taken(t)
    const other = jobFor(2)
    await transport.publish([other])
    await take(other)
    const rejecting = recorder.status.bind(recorder)
    recorder.status = status => (status.jobId === job.id ? Promise.reject(new InTrash('file')) : rejecting(status))
    await transport.listen(recorder)
    await report(job, 'DONE')
    await report(other, 'DONE')
    await until('the status message of the other job reaches the listener', () => recorder.of(other).length === 1)
    await until('the other job is no longer pending', async () => (await stateOf(transport, other)) === undefined)
    t.is((await transport.pending(job.target)).length, 1, 'the job whose message is rejected is pending')
  })

  test('a status message that is sent while nobody listens arrives after a restart of the transport', async t => {
    const { reopen, report, job, recorder } = await taken(t)
    await report(job, 'DONE')
    const after = await reopen()
    await after.listen(recorder)
    await until('the status message reaches the listener', () => recorder.of(job).length === 1)
    t.deepEqual(recorder.of(job), ['DONE'])
  })
}
