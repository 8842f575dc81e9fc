import test, { type ExecutionContext } from 'ava'
import { Unavailable } from 'pounce/sdk'
import { liveTests } from 'pounce/sdk/testing'
import { eventually, file, hex, idsOf, jobFor } from '../../../sdk/testing/transport-contract.ts'
import { flakyProxy } from '../../../test/support/flaky-proxy.ts'
import { TestListener } from '../../../test/support/transport-listener.ts'
import { busJobs } from './bus-jobs.ts'
import { startRabbit, temporaryDocuments } from './fixtures/rabbit-under-test.ts'
import { testBroker } from './fixtures/test-broker.ts'

const { test: live, url } = liveTests(test, 'RABBITMQ', 'RABBITMQ_MANAGEMENT')

async function setUp(t: ExecutionContext, jobs: number) {
  const broker = await testBroker(t, url)
  await broker.declare('some.extractor', 'error.some.extractor')
  const documents = await temporaryDocuments(t)
  const kernel = await startRabbit(t, {
    documents,
    uri: broker.uri,
    config: { cancelSearchMs: 10_000, managementUrl: broker.managementUrl },
  })
  const all = Array.from({ length: jobs }, (_, n) => jobFor(n + 1, { target: file(1) }))
  for (let at = 0; at < jobs; at += 1000) await kernel.transport.publish(all.slice(at, at + 1000))
  await eventually(async () => (await broker.channel.checkQueue('some.extractor')).messageCount === jobs)
  /** Simulates a job that has had no status for a long time. */
  const quiet = async (n: number): Promise<void> => {
    const long = '2026-01-01T00:00:00.000Z'
    await documents.commit({ update: jobFor(n).id, in: busJobs, set: { published: long, heard: long } })
  }
  return { broker, all, quiet, ...kernel }
}

const msgid = (content: Buffer): string => JSON.parse(String(content)).msgid

live('cancelling a job in the middle of a queue removes it and leaves all other messages unchanged and in order', async t => {
  const { broker, all, transport } = await setUp(t, 20)
  const before = await broker.waiting('some.extractor')
  const taken = all[10]
  if (!taken) throw new Error('no job')
  t.is(await transport.cancel(taken.id), 'cancelled')
  const after = await broker.waiting('some.extractor')
  t.deepEqual(
    after.map(({ content, properties }) => ({ content, properties })),
    before.filter(({ content }) => msgid(content) !== taken.id).map(({ content, properties }) => ({ content, properties })),
  )
})

live('the last of 10,000 jobs in a queue is cancelled', async t => {
  const { broker, transport } = await setUp(t, 10_000)
  const last = (await broker.channel.checkQueue('some.extractor')).messageCount
  t.is(last, 10_000)
  const began = performance.now()
  t.is(await transport.cancel(jobFor(10_000).id), 'cancelled')
  t.log(`found after ${Math.round(performance.now() - began)} ms`)
  await eventually(async () => (await broker.channel.checkQueue('some.extractor')).messageCount === 9999)
})

live('foreign messages, including unreadable ones, stay in the queue', async t => {
  const { broker, transport } = await setUp(t, 2)
  broker.channel.sendToQueue('some.extractor', Buffer.from('no json'), { headers: { a: 1 } })
  broker.channel.sendToQueue('some.extractor', Buffer.from(JSON.stringify({ msgid: hex(5), note: jobFor(1).id })))
  await eventually(async () => (await broker.channel.checkQueue('some.extractor')).messageCount === 4)
  t.is(await transport.cancel(jobFor(1).id), 'cancelled')
  const left = await broker.waiting('some.extractor')
  t.is(left.length, 3)
  t.is(String(left[1]?.content), 'no json')
  t.is(left[1]?.properties.headers?.['a'], 1)
})

live('a job that an extractor is processing is reported as running, with or without a status', async t => {
  const { broker, all, transport } = await setUp(t, 2)
  await broker.channel.prefetch(1)
  await broker.channel.consume('some.extractor', () => undefined)
  await eventually(async () => (await broker.channel.checkQueue('some.extractor')).messageCount === 1)
  t.is(await transport.cancel(jobFor(1).id), 'running')
  t.is(await transport.cancel(jobFor(2).id), 'cancelled')
  await transport.listen(new TestListener(''))
  const reply = { file_id: hex(1), extractor_id: 'some.extractor', job_id: jobFor(1).id, status: 'StatusMessage.start: x', start: '' }
  broker.channel.sendToQueue('clowder.abcdefghij', Buffer.from(JSON.stringify(reply)))
  await eventually(async () => (await transport.pending(file(1)))[0]?.state === 'running')
  t.is(await transport.cancel(jobFor(1).id), 'running')
  t.deepEqual(await idsOf(transport, file(1)), [all[0]?.id])
})

live('a job fetched by a polling extractor is reported as running, even without a status while it is unacknowledged', async t => {
  const { broker, transport, quiet } = await setUp(t, 3)
  await transport.listen(new TestListener(''))
  for (const noAck of [true, false]) t.truthy(await broker.channel.get('some.extractor', { noAck }))
  for (const n of [1, 2]) t.is(await transport.cancel(jobFor(n).id), 'running')
  const reply = {
    file_id: hex(1),
    extractor_id: 'some.extractor',
    job_id: jobFor(1).id,
    status: 'StatusMessage.start: x',
    start: '2026-01-01T00:00:00Z',
  }
  broker.channel.sendToQueue('clowder.abcdefghij', Buffer.from(JSON.stringify(reply)))
  await eventually(async () => (await transport.pending(file(1))).some(({ state }) => state === 'running'))
  t.is(await transport.cancel(jobFor(1).id), 'running')
  t.is(await transport.cancel(jobFor(3).id), 'cancelled')
  // Two are fetched, and one of those is not acknowledged.
  await quiet(2)
  const queue = `queues/${new URL(broker.uri).pathname.slice(1)}/some.extractor`
  await eventually(async () => ((await broker.ask(queue)) as { messages_unacknowledged?: number }).messages_unacknowledged === 1)
  t.is(await transport.cancel(jobFor(2).id), 'running')
})

live('a job whose extractor died while processing it is cancelled, whether or not it is still in its queue', async t => {
  const { broker, transport, quiet } = await setUp(t, 2)
  await transport.listen(new TestListener(''))
  for (const n of [1, 2]) {
    const reply = { file_id: hex(1), extractor_id: 'some.extractor', job_id: jobFor(n).id, status: 'StatusMessage.start: x', start: '' }
    broker.channel.sendToQueue('clowder.abcdefghij', Buffer.from(JSON.stringify(reply)))
  }
  await eventually(async () => (await transport.pending(file(1))).every(({ state }) => state === 'running'))
  t.is(await transport.cancel(jobFor(1).id), 'cancelled')
  t.is((await broker.waiting('some.extractor')).length, 1)
  await broker.channel.purgeQueue('some.extractor')
  t.is(await transport.cancel(jobFor(2).id), 'running')
  await quiet(2)
  await eventually(async () => (await transport.cancel(jobFor(2).id)) === 'cancelled')
  t.deepEqual(await idsOf(transport, file(1)), [])
})

live('a job whose queue was purged is cancelled after a while, one whose queue was deleted at once', async t => {
  const { broker, transport, quiet } = await setUp(t, 2)
  await broker.channel.purgeQueue('some.extractor')
  await quiet(1)
  await eventually(async () => (await transport.cancel(jobFor(1).id)) === 'cancelled')
  await broker.channel.deleteQueue('some.extractor')
  t.is(await transport.cancel(jobFor(2).id), 'cancelled')
  t.deepEqual(await idsOf(transport, file(1)), [])
})

live('a job lost at the broker is cancelled despite a listening extractor, once it has had no status for a while', async t => {
  const { broker, transport, quiet } = await setUp(t, 2)
  await broker.channel.purgeQueue('some.extractor')
  await broker.channel.consume('some.extractor', () => undefined)
  t.is(await transport.cancel(jobFor(1).id), 'running')
  await quiet(1)
  await eventually(async () => (await transport.cancel(jobFor(1).id)) === 'cancelled')
  t.is((await idsOf(transport, file(1))).length, 1)
})

live('without the broker, an unsent job is cancelled, and cancelling a sent one fails with Unavailable', async t => {
  const broker = await testBroker(t, url)
  await broker.declare('some.extractor')
  const proxy = await flakyProxy(t, broker.uri)
  const { transport } = await startRabbit(t, { documents: await temporaryDocuments(t), uri: proxy.urlFor(broker.uri) })
  await transport.publish([jobFor(1)])
  await eventually(async () => (await broker.channel.checkQueue('some.extractor')).messageCount === 1)
  await proxy.become('refuse')
  await eventually(() => {
    try {
      transport.health()
      return false
    } catch {
      return true
    }
  })
  await transport.publish([jobFor(3)])
  t.is(await transport.cancel(jobFor(3).id), 'cancelled')
  await t.throwsAsync(transport.cancel(jobFor(1).id), { instanceOf: Unavailable })
})
