import test, { type ExecutionContext } from 'ava'
import type { JobStatus } from 'pounce/sdk/kit'
import { hex, jobFor } from '../../../sdk/testing/transport-contract.ts'
import { TestListener } from '../../../test/support/transport-listener.ts'
import { busJobs } from './bus-jobs.ts'
import { temporaryDocuments } from './fixtures/rabbit-under-test.ts'
import { hasNoReason, JobStatusUpdates, reportsRefusedKey, reportsUnavailableServer } from './job-status-updates.ts'
import { RabbitJobRepository } from './rabbit-job-repository.ts'

const job = jobFor(1, { queue: 'private.k1.some.extractor' })
const statusAt = (status: string, second: number, changes: Partial<JobStatus> = {}): JobStatus => ({
  jobId: job.id,
  targetId: job.target.id,
  extractor: 'some.extractor',
  status,
  at: new Date(Date.UTC(2026, 10, 21, 10, 0, second)),
  ...changes,
})

async function setUp(t: ExecutionContext, wasAway = false) {
  const documents = await temporaryDocuments(t)
  const repository = new RabbitJobRepository(documents, () => new Date())
  await repository.add([job], 0)
  await repository.sent([job.id])
  const listener = new TestListener('')
  const over: string[] = []
  const taking = new JobStatusUpdates(
    repository,
    () => wasAway,
    id => void over.push(id),
  )
  const take = async (...all: readonly JobStatus[]): Promise<void> => {
    for (const one of all) await taking.take(listener, one)
  }
  const state = async () => (await repository.get(job.id))?.state
  return { documents, repository, listener, over, take, taking, state }
}

test('repeated and out-of-order replies leave the same state', async t => {
  const { take, state, listener, over } = await setUp(t)
  await take(statusAt('StatusMessage.start: x', 1), statusAt('StatusMessage.error: broken', 9))
  t.is(await state(), 'dead')
  await take(statusAt('StatusMessage.start: x', 1), statusAt('StatusMessage.processing: y', 5), statusAt('StatusMessage.error: broken', 9))
  t.is(await state(), 'dead')
  t.is(listener.statuses.length, 5)
  await take(statusAt('StatusMessage.start: again', 20))
  t.is(await state(), 'running')
  await take(statusAt('DONE', 21), statusAt('StatusMessage.processing: late', 20))
  t.is(await state(), undefined)
  t.deepEqual(over, [job.id])
})

test('a job whose file is deleted ends with the error of its extractor: it is neither requeued nor kept', async t => {
  for (const error of [
    'StatusMessage.error: broken',
    'StatusMessage.error: 401 Client Error: Unauthorized for url: http://h/api/files/1?key=k',
  ]) {
    const { take, state, listener, over } = await setUp(t)
    listener.answer = 'unknown'
    await take(statusAt('StatusMessage.start: x', 1))
    t.is(await state(), 'running')
    await take(statusAt(error, 2))
    t.is(await state(), undefined)
    t.deepEqual(over, [job.id])
  }
})

test('an old extractor that sends no job ids can requeue a failed job itself and finish it', async t => {
  const { take, state, over } = await setUp(t)
  const old = (...[status, second]: Parameters<typeof statusAt>): JobStatus => {
    const { jobId: _none, ...rest } = statusAt(status, second)
    return rest
  }
  await take(old('StatusMessage.start: x', 1), old('StatusMessage.error: broken', 2))
  t.is(await state(), 'dead')
  await take(old('StatusMessage.processing: Resubmitting', 3), old('StatusMessage.start: x', 4))
  t.is(await state(), 'running')
  await take(old('DONE', 5))
  t.is(await state(), undefined)
  t.deepEqual(over, [job.id])
})

test('a reply without a job id is assigned to the job of its extractor, even a private one', async t => {
  const { take, state, listener } = await setUp(t)
  const { jobId: _none, ...old } = statusAt('StatusMessage.start: x', 1)
  await take(old)
  t.is(await state(), 'running')
  t.is(listener.statuses[0]?.jobId, job.id)
  await take({ ...old, extractor: 'another' }, { ...old, targetId: hex(99) })
  t.is(listener.statuses[1]?.jobId, undefined)
  t.is(listener.statuses[2]?.jobId, undefined)
})

test('a reply without a job id under another name than that of the queue is assigned to the job of its correlation id', async t => {
  const { taking, take, state, listener, over } = await setUp(t)
  const old = (status: string, second: number): JobStatus => {
    const { jobId: _none, ...rest } = statusAt(status, second, { extractor: 'wordcount' })
    return rest
  }
  await take(old('StatusMessage.start: x', 1))
  t.is(listener.statuses[0]?.jobId, undefined, 'nothing says which job it is')
  await taking.take(listener, { ...old('StatusMessage.start: x', 1), targetId: hex(99) }, job.id)
  t.is(await state(), 'running')
  await taking.take(listener, old('StatusMessage.retry: (#1) x', 2), job.id)
  // pyclowder requeues messages without their correlation id.
  await take(old('StatusMessage.start: x', 3), old('DONE', 4))
  t.is(await state(), undefined)
  t.deepEqual(over, [job.id])
})

test('a job that failed while the server was unreachable is requeued three times with growing delays, then dead-lettered', async t => {
  const { take, state, repository, listener } = await setUp(t, true)
  const waits: number[] = []
  for (let time = 1; time <= 4; time += 1) {
    const before = Date.now()
    await take(statusAt('StatusMessage.error: Error processing message.', time))
    const stored = await repository.get(job.id)
    if (stored?.state !== 'parked') break
    waits.push(Math.round((Date.parse(stored.due) - before) / 1000))
    await repository.become(stored, 'sent')
  }
  t.deepEqual(waits, [3, 20, 60])
  t.is(await state(), 'dead')
  t.deepEqual(
    listener.statuses.map(({ status }) => status),
    [
      ...[1, 2, 3].map(
        n => `StatusMessage.retry: The server was unreachable, so the job is requeued (${n} of 3): Error processing message.`,
      ),
      'StatusMessage.error: Error processing message.',
    ],
  )
})

test('a status is not recorded before the listener has accepted it', async t => {
  const { take, state, listener } = await setUp(t)
  listener.onStatus = () => Promise.reject(new Error('not now'))
  await t.throwsAsync(take(statusAt('DONE', 1)))
  t.is(await state(), 'sent')
})

test('a reply that arrives while its message is being recorded as sent is not lost', async t => {
  const { take, state, repository } = await setUp(t)
  const stored = await repository.get(job.id)
  if (!stored) throw new Error('no job')
  await repository.become(stored, 'unsent')
  const { become } = repository
  let isFirst = true
  repository.become = async (...change) => {
    if (isFirst) await repository.sent([job.id])
    isFirst = false
    return become.apply(repository, change)
  }
  await take(statusAt('StatusMessage.error: broken', 1))
  t.is(await state(), 'dead')
})

test('a job ends even if the clock of its extractor is behind', async t => {
  const { take, state } = await setUp(t)
  await take(statusAt('StatusMessage.retry: (#1) x', 30), statusAt('StatusMessage.start: x', 5), statusAt('StatusMessage.error: broken', 6))
  t.is(await state(), 'dead')
})

test('a duplicate error requeues a job once', async t => {
  const { take, state, repository } = await setUp(t, true)
  await take(statusAt('StatusMessage.error: x', 1), statusAt('StatusMessage.error: x', 1))
  t.is(await state(), 'parked')
  t.is((await repository.get(job.id))?.putBack, 1)
})

test('a job older than job keys is requeued when its extractor gives no reason for the failure', async t => {
  const given = statusAt('StatusMessage.error: Error processing message.', 5)
  const present = await setUp(t)
  await present.take(given)
  t.is(await present.state(), 'dead')
  const { repository, take, state, documents } = await setUp(t)
  const { revision: _changes, hasOwnKey: _absent, ...old } = (await repository.get(job.id))!
  await documents.commit({ tombstone: job.id, in: busJobs })
  await documents.commit({ insert: { ...old, id: hex(77) }, into: busJobs })
  await take({ ...given, jobId: hex(77) })
  t.is((await repository.get(hex(77)))?.state, 'parked')
  t.is(await state(), undefined)
})

test('a job whose key was rejected is requeued three times, then dead-lettered', async t => {
  const { repository, take, state } = await setUp(t)
  const text = 'StatusMessage.error: 401 Client Error: Unauthorized for url: http://inner:9000/api/files/1?key=secretKey'
  for (let time = 1; time <= 3; time += 1) {
    await take(statusAt(text, time))
    t.is(await state(), 'parked')
    await repository.become((await repository.get(job.id))!, 'sent')
  }
  await take(statusAt(text, 9))
  t.is(await state(), 'dead')
})

const host = 'https://data.example.org/dm'

test('pyclowder messages about an unreachable server are recognized', t => {
  const texts = [
    "StatusMessage.error: HTTPSConnectionPool(host='data.example.org', port=443): Max retries exceeded with url: /dm/api/files/1?key=secretKey (Caused by x)",
    'StatusMessage.error: 503 Server Error: Service Unavailable for url: https://data.example.org/dm/api/files/1/metadata?key=secretKey',
    "StatusMessage.error: ('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))",
    "StatusMessage.error: HTTPConnectionPool(host='inner-name', port=9000): Read timed out. /api/files/1?key=secretKey",
    'StatusMessage.error: [Errno 111] Connection refused',
  ]
  for (const text of texts) t.true(reportsUnavailableServer(text, host), text)
})

test('other messages are attributed to the extractor', t => {
  const texts = [
    'StatusMessage.error: Error processing message.',
    'StatusMessage.error: list index out of range',
    'StatusMessage.error: 404 Client Error: Not Found for url: https://data.example.org/dm/api/files/1?key=secretKey',
    "StatusMessage.error: HTTPSConnectionPool(host='models.example.com', port=443): Max retries exceeded with url: /v1/model",
    'StatusMessage.error: 503 Server Error: Busy for url: https://models.example.com/v1',
  ]
  for (const text of texts) t.false(reportsUnavailableServer(text, host), text)
  t.false(reportsUnavailableServer("HTTPConnectionPool(host='x', port=1): Read timed out.", undefined))
})

test('pyclowder messages about a rejected job key are recognized, unless another server rejected it', t => {
  const refusedAt = (address: string) => `StatusMessage.error: 401 Client Error: Unauthorized for url: ${address}`
  t.true(reportsRefusedKey(refusedAt('https://data.example.org/dm/api/files/1/metadata?key=secretKey'), host))
  t.true(reportsRefusedKey(refusedAt('http://inner:9000/api/files/1?key=secretKey'), host))
  t.false(reportsRefusedKey(refusedAt('https://elsewhere.example.org/login'), host))
  t.false(
    reportsRefusedKey('StatusMessage.error: 403 Client Error: Forbidden for url: https://data.example.org/dm/api/x?key=secretKey', host),
  )
  t.true(hasNoReason('StatusMessage.error: Error processing message.'))
  t.false(hasNoReason('StatusMessage.error: Error processing message. Disk full'))
})
