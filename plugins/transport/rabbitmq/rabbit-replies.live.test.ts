import test, { type ExecutionContext } from 'ava'
import { Unavailable } from 'pounce/sdk'
import type { Job } from 'pounce/sdk/kit'
import { liveTests } from 'pounce/sdk/testing'
import { eventually, hex, idsOf, jobFor } from '../../../sdk/testing/transport-contract.ts'
import { TestListener } from '../../../test/support/transport-listener.ts'
import { startRabbit, temporaryDocuments } from './fixtures/rabbit-under-test.ts'
import { testBroker } from './fixtures/test-broker.ts'

const { test: live, url } = liveTests(test, 'RABBITMQ', 'RABBITMQ_MANAGEMENT')

async function setUp(t: ExecutionContext) {
  const broker = await testBroker(t, url)
  await broker.declare('some.extractor', 'error.some.extractor')
  const documents = await temporaryDocuments(t)
  const lines: { readonly message: string; readonly fields: unknown }[] = []
  const note = (message: string, fields?: unknown): void => void lines.push({ message, fields })
  const log = { debug: () => undefined, info: () => undefined, warn: note, error: note }
  const kernel = await startRabbit(t, { documents, uri: broker.uri, log })
  const listener = new TestListener('')
  await kernel.transport.listen(listener)
  const reply = (body: unknown): void => {
    const content = typeof body === 'string' ? body : JSON.stringify(body)
    broker.channel.sendToQueue('clowder.abcdefghij', Buffer.from(content), { persistent: true, correlationId: 'c' })
  }
  const say = (job: Job, status: string, more: object = {}): void =>
    reply({
      file_id: job.target.id,
      extractor_id: job.queue,
      job_id: job.id,
      status,
      start: '2026-11-21T09:14:51-00:00',
      message_type: 'ignored',
      message: 'ignored',
      ...more,
    })
  return { broker, documents, listener, lines, reply, say, ...kernel }
}

const stateOf = async ({ transport }: Pick<Awaited<ReturnType<typeof setUp>>, 'transport'>, job: Job) =>
  (await transport.pending(job.target)).find(one => one.job.id === job.id)?.state

live('status messages of pyclowder move a job from waiting to running to done', async t => {
  const world = await setUp(t)
  const job = jobFor(1)
  await world.transport.publish([job])
  t.is(await stateOf(world, job), 'waiting')
  world.say(job, 'StatusMessage.start: Started processing.')
  world.say(job, 'StatusMessage.processing: Downloading file.', { file_id: hex(77) })
  await eventually(() => world.listener.statuses.length === 2)
  await eventually(async () => (await stateOf(world, job)) === 'running')
  t.is((await world.transport.pending(job.target))[0]?.attempts, 1)
  world.say(job, 'StatusMessage.retry: (#1) 503 Server Error: no for url: http://localhost:9000/api/files/1?key=abc-def&x=1')
  world.say(job, 'StatusMessage.start: Started processing.')
  world.say(job, 'StatusMessage.done: Done processing.')
  await eventually(async () => (await idsOf(world.transport, job.target)).length === 0)
  t.deepEqual(
    world.listener.statuses.map(({ status }) => status),
    [
      'StatusMessage.start: Started processing.',
      'StatusMessage.processing: Downloading file.',
      'StatusMessage.retry: (#1) 503 Server Error: no for url: http://localhost:9000/api/files/1?key=secretKey&x=1',
      'StatusMessage.start: Started processing.',
      'DONE',
    ],
  )
  t.deepEqual(world.listener.statuses[1], {
    jobId: job.id,
    targetId: hex(77),
    extractor: job.queue,
    status: 'StatusMessage.processing: Downloading file.',
    at: new Date('2026-11-21T09:14:51Z'),
  })
  await eventually(async () => (await world.broker.channel.checkQueue('clowder.abcdefghij')).messageCount === 0)
})

live('a reply without a job id, or with an unknown one, reaches the listener; the former is assigned to its job', async t => {
  const world = await setUp(t)
  const job = jobFor(1)
  await world.transport.publish([job])
  world.say(job, 'START', { job_id: null, start: '2026-11-21T09:14:51' })
  world.say(job, 'something', { job_id: 'unknown job', file_id: 'a foreign id' })
  await eventually(() => world.listener.statuses.length === 2)
  const ids = world.listener.statuses.map(({ jobId, targetId }) => [jobId, targetId])
  t.true(ids.some(([id, target]) => id === job.id && target === job.target.id))
  t.true(ids.some(([id, target]) => id === 'unknown job' && target === 'a foreign id'))
  await eventually(async () => (await stateOf(world, job)) === 'running')
})

live('a malformed reply is logged once and ignored', async t => {
  const world = await setUp(t)
  const job = jobFor(1)
  await world.transport.publish([job])
  const bad = [
    '',
    'no json',
    '[]',
    '"text"',
    '{}',
    { file_id: 1, extractor_id: 'x', status: 'y' },
    { file_id: 'f', extractor_id: 'x' },
    '{"__proto__":{}}',
  ]
  for (const body of bad) world.reply(body)
  world.say(job, 'StatusMessage.start: Started processing.')
  await eventually(() => world.listener.statuses.length === 1)
  t.is(world.lines.filter(({ message }) => message.includes('reply ignored')).length, bad.length)
  await eventually(async () => (await world.broker.channel.checkQueue('clowder.abcdefghij')).messageCount === 0)
})

live('a reply is acknowledged when the listener has stored it, not before', async t => {
  const world = await setUp(t)
  const job = jobFor(1)
  await world.transport.publish([job])
  let failures = 3
  world.listener.onStatus = () => (failures-- > 0 ? Promise.reject(new Unavailable('the store is unavailable')) : Promise.resolve())
  world.say(job, 'StatusMessage.start: Started processing.')
  world.say(job, 'StatusMessage.done: Done processing.')
  await eventually(() => world.listener.statuses.length === 2)
  t.deepEqual(world.listener.saidOf(job), ['StatusMessage.start: Started processing.', 'DONE'])
})

live('replies wait in the broker while no kernel runs', async t => {
  const world = await setUp(t)
  const job = jobFor(1)
  await world.transport.publish([job])
  await eventually(async () => (await world.broker.channel.checkQueue('some.extractor')).messageCount === 1)
  await world.dispose()
  world.say(job, 'StatusMessage.done: Done processing.')
  await eventually(async () => (await world.broker.channel.checkQueue('clowder.abcdefghij')).messageCount === 1)
  const next = await startRabbit(t, { documents: world.documents, uri: world.broker.uri })
  const listener = new TestListener('')
  await next.transport.listen(listener)
  await eventually(async () => (await idsOf(next.transport, job.target)).length === 0)
  t.deepEqual(listener.saidOf(job), ['DONE'])
})

live('a job that its extractor gave up is dead-lettered and listed, and is requeued when revived', async t => {
  const world = await setUp(t)
  const job = jobFor(1)
  await world.transport.publish([job])
  await eventually(async () => (await world.broker.channel.checkQueue('some.extractor')).messageCount === 1)
  const message = await world.broker.channel.get('some.extractor')
  if (!message) throw new Error('no message')
  const foreign = [1, 2, 3].map(n => JSON.stringify({ msgid: `foreign ${n}` }))
  const parkOne = (content: string | Buffer): void =>
    void world.broker.channel.sendToQueue('error.some.extractor', Buffer.from(content), {
      persistent: true,
      replyTo: 'clowder.abcdefghij',
      headers: { x: 'y' },
    })
  parkOne(foreign[0] ?? '')
  parkOne(message.content)
  parkOne(foreign[1] ?? '')
  parkOne(foreign[2] ?? '')
  world.broker.channel.ack(message)
  world.say(job, 'StatusMessage.error: Aborting message: the file is broken')
  await eventually(async () => (await stateOf(world, job)) === 'dead')
  t.deepEqual(
    (await world.transport.queues()).map(({ queue, dead, waiting }) => [queue, dead, waiting]),
    [['some.extractor', 4, 0]],
  )
  t.true(await world.transport.revive(job.id))
  t.false(await world.transport.revive(job.id))
  await eventually(async () => (await world.broker.channel.checkQueue('some.extractor')).messageCount === 1)
  const [again] = await world.broker.waiting('some.extractor')
  t.deepEqual(again?.content, message.content)
  t.is(again?.properties.replyTo, 'clowder.abcdefghij')
  t.is(again?.properties.headers?.['x'], 'y')
  await eventually(async () => (await world.broker.channel.checkQueue('error.some.extractor')).messageCount === 3)
  t.deepEqual(
    (await world.broker.waiting('error.some.extractor')).map(({ content }) => String(content)),
    foreign,
  )
  t.is(await stateOf(world, job), 'waiting')
  t.deepEqual(world.listener.saidOf(job), ['StatusMessage.error: Aborting message: the file is broken'])
})

live('a revived job whose message is missing from the error queue is published again', async t => {
  const world = await setUp(t)
  const job = jobFor(1)
  await world.transport.publish([job])
  await eventually(async () => (await world.broker.channel.checkQueue('some.extractor')).messageCount === 1)
  await world.broker.channel.purgeQueue('some.extractor')
  world.say(job, 'StatusMessage.error: no')
  await eventually(async () => (await stateOf(world, job)) === 'dead')
  t.true(await world.transport.revive(job.id))
  await eventually(async () => (await world.broker.channel.checkQueue('some.extractor')).messageCount === 1)
  t.is(await stateOf(world, job), 'waiting')
})

live('a job that failed because the server was unreachable is requeued from its error queue', async t => {
  const world = await setUp(t)
  const job = jobFor(1, { message: { ...jobFor(1).message, host: 'http://localhost:9000' } })
  await world.transport.publish([job])
  await eventually(async () => (await world.broker.channel.checkQueue('some.extractor')).messageCount === 1)
  const message = await world.broker.channel.get('some.extractor')
  if (!message) throw new Error('no message')
  world.broker.channel.sendToQueue('error.some.extractor', message.content, { persistent: true, replyTo: 'clowder.abcdefghij' })
  world.broker.channel.ack(message)
  const text = "HTTPConnectionPool(host='localhost', port=9000): Max retries exceeded with url: /api/files/1/metadata?key=abc (Caused by x)"
  world.say(job, `StatusMessage.error: ${text}`)
  await eventually(() => world.listener.statuses.length === 1)
  t.deepEqual(world.listener.saidOf(job), [
    `StatusMessage.retry: The server was unreachable, so the job is requeued (1 of 3): ${text.replace('key=abc', 'key=secretKey')}`,
  ])
  await eventually(async () => (await world.broker.channel.checkQueue('some.extractor')).messageCount === 1)
  t.deepEqual((await world.broker.waiting('some.extractor'))[0]?.content, message.content)
  t.is(await stateOf(world, job), 'waiting')
})

live('a job with an outdated key, such as one older than job keys, is requeued with a new key', async t => {
  const world = await setUp(t)
  const job = jobFor(1, { message: { ...jobFor(1).message, host: 'http://localhost:9000' } })
  await world.transport.publish([job])
  await eventually(async () => (await world.broker.channel.checkQueue('some.extractor')).messageCount === 1)
  const message = await world.broker.channel.get('some.extractor')
  if (!message) throw new Error('no message')
  // As written by Python, with a number that JavaScript cannot represent.
  const before = String(message.content).replace(
    /"secretKey":"[^"]*"/,
    '"secretKey": "0123-of-a-person", "retry_count": 10, "size": 90071992547409931',
  )
  world.broker.channel.sendToQueue('error.some.extractor', Buffer.from(before), { persistent: true, replyTo: 'clowder.abcdefghij' })
  world.broker.channel.ack(message)
  world.say(
    job,
    'StatusMessage.error: 401 Client Error: Unauthorized for url: http://localhost:9000/api/files/1/metadata?key=0123-of-a-person',
  )
  await eventually(() => world.listener.statuses.length === 1)
  t.regex(world.listener.saidOf(job)[0] ?? '', /^StatusMessage\.retry: The key of the job was rejected, so the job is requeued \(1 of 3\)/)
  await eventually(async () => (await world.broker.channel.checkQueue('some.extractor')).messageCount === 1)
  const after = String((await world.broker.waiting('some.extractor'))[0]?.content)
  t.is(after, before.replace('0123-of-a-person', `key of ${job.user} for ${job.id}`))
})

live('the reply queue is recreated when it is deleted', async t => {
  const world = await setUp(t)
  await eventually(async () => (await world.broker.channel.checkQueue('clowder.abcdefghij')).consumerCount === 1)
  await world.broker.channel.deleteQueue('clowder.abcdefghij')
  const job = jobFor(1)
  await eventually(async () => {
    const channel = await world.broker.model.createChannel()
    channel.on('error', () => undefined)
    return channel.checkQueue('clowder.abcdefghij').then(
      ({ consumerCount }) => consumerCount === 1,
      () => false,
    )
  })
  world.say(job, 'StatusMessage.start: Started processing.')
  await eventually(() => world.listener.statuses.length === 1)
  t.is(world.listener.statuses[0]?.jobId, job.id)
})
