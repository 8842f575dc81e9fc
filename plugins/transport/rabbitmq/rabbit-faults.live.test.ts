import test, { type ExecutionContext, type TestFn } from 'ava'
import { liveTests } from 'pounce/sdk/testing'
import { eventually, file, idsOf, jobFor } from '../../../sdk/testing/transport-contract.ts'
import { flakyProxy } from '../../../test/support/flaky-proxy.ts'
import { TestListener } from '../../../test/support/transport-listener.ts'
import { startRabbit, temporaryDocuments, usual } from './fixtures/rabbit-under-test.ts'
import { testBroker } from './fixtures/test-broker.ts'
import { RabbitJobRepository } from './rabbit-job-repository.ts'

// Run serially: concurrent tests would distort the measured times.
const { test: live, url } = liveTests(test.serial as TestFn, 'RABBITMQ', 'RABBITMQ_MANAGEMENT')

async function setUp(t: ExecutionContext, { heartbeatSeconds } = usual) {
  const broker = await testBroker(t, url)
  await broker.declare('some.extractor')
  const proxy = await flakyProxy(t, broker.uri)
  const documents = await temporaryDocuments(t)
  const uri = proxy.urlFor(broker.uri)
  const kernel = await startRabbit(t, { documents, uri, config: { timeoutMs: 1000, heartbeatSeconds } })
  return { broker, proxy, documents, uri, ...kernel }
}

const jobs = (from: number, count: number) => Array.from({ length: count }, (_, n) => jobFor(from + n, { target: file(1) }))

const isWell = ({ transport }: Pick<Awaited<ReturnType<typeof setUp>>, 'transport'>): boolean => {
  try {
    transport.health()
    return true
  } catch {
    return false
  }
}

/** IDs of the messages in the queue, consumed as by an extractor, with the number of deliveries of each. */
async function receiving(broker: Awaited<ReturnType<typeof testBroker>>): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  await broker.channel.consume(
    'some.extractor',
    message => {
      const { msgid } = JSON.parse(String(message?.content))
      counts.set(msgid, (counts.get(msgid) ?? 0) + 1)
    },
    { noAck: true },
  )
  return counts
}

live('an unavailable broker does not prevent the start; jobs wait and are sent when it becomes available', async t => {
  const broker = await testBroker(t, url)
  await broker.declare('some.extractor')
  const proxy = await flakyProxy(t, broker.uri)
  await proxy.become('refuse')
  const kernel = await startRabbit(t, { documents: await temporaryDocuments(t), uri: proxy.urlFor(broker.uri) })
  t.throws(() => kernel.transport.health(), { message: /^Jobs are waiting: / })
  await kernel.transport.publish(jobs(1, 10))
  t.is((await idsOf(kernel.transport, file(1))).length, 10)
  await proxy.become('pass')
  await eventually(async () => (await broker.channel.checkQueue('some.extractor')).messageCount === 10)
  t.true(isWell(kernel))
})

live('10,000 jobs published while the broker is unavailable arrive once each when it recovers', async t => {
  const world = await setUp(t)
  await world.proxy.become('refuse')
  await eventually(() => !isWell(world))
  for (let at = 0; at < 10_000; at += 500) await world.transport.publish(jobs(at, 500))
  const counts = await receiving(world.broker)
  await world.proxy.become('pass')
  await eventually(() => counts.size === 10_000, 150_000)
  t.deepEqual(
    [...counts.values()].filter(count => count > 1),
    [],
  )
})

live('no job is lost when the connection breaks repeatedly', async t => {
  const world = await setUp(t)
  const counts = await receiving(world.broker)
  for (let round = 0; round < 5; round += 1) {
    await world.transport.publish(jobs(round * 400, 400))
    await world.proxy.become('cut')
    await world.transport.publish(jobs(10_000 + round * 100, 100))
    await world.proxy.become('pass')
  }
  await eventually(() => counts.size === 2500)
  t.is(counts.size, 2500)
  const repeated = [...counts.values()].reduce((sum, count) => sum + count - 1, 0)
  t.log(`${repeated} of 2500 arrived twice`)
})

live('an unresponsive broker is detected, publishing does not wait for it, and all messages arrive when it responds again', async t => {
  const world = await setUp(t, { ...usual, heartbeatSeconds: 1 })
  const counts = await receiving(world.broker)
  await world.transport.publish(jobs(0, 10))
  await eventually(() => counts.size === 10)
  await world.proxy.become('silent')
  // The broker is silent until the proxy passes traffic again: each of these calls ends without a confirm.
  for (let n = 100; n < 200; n += 1) await world.transport.publish(jobs(n, 1))
  await eventually(() => !isWell(world))
  await world.proxy.become('pass')
  await eventually(() => isWell(world))
  await eventually(() => counts.size >= 110)
  t.is(counts.size, 110)
})

live('messages leased by a kernel that died are sent by another one when the lease expires', async t => {
  const broker = await testBroker(t, url)
  await broker.declare('some.extractor')
  const documents = await temporaryDocuments(t)
  // The state left by a kernel that is killed right after its response.
  const began = performance.now()
  const held = await new RabbitJobRepository(documents, () => new Date()).add(jobs(0, 50), 1500)
  t.is(held.length, 50)
  const counts = await receiving(broker)
  const { transport } = await startRabbit(t, { documents, uri: broker.uri })
  await eventually(() => counts.size === 50)
  // The clocks of the store and of this process may differ slightly.
  t.true(performance.now() - began > 1400)
  t.is((await idsOf(transport, file(1))).length, 50)
})

live('messages already at the broker when a kernel died are not sent again, and keep their order', async t => {
  const broker = await testBroker(t, url)
  await broker.declare('some.extractor', 'other.extractor')
  const documents = await temporaryDocuments(t)
  // The state left by a kernel that is killed between the broker's confirms and recording them.
  const all = [...jobs(0, 60), jobFor(70, { queue: 'other.extractor', target: file(1) })]
  await new RabbitJobRepository(documents, () => new Date()).add(all, 500)
  const there = all.filter((_, n) => n % 2 === 0)
  for (const { queue, message } of there) broker.channel.sendToQueue(queue, Buffer.from(JSON.stringify(message)), { persistent: true })
  await startRabbit(t, { documents, uri: broker.uri })
  const idsIn = async (queue: string) =>
    (await broker.waiting(queue)).map(({ content }) => (JSON.parse(content.toString()) as { msgid: string }).msgid)
  await eventually(async () => (await broker.channel.checkQueue('some.extractor')).messageCount === 60)
  await eventually(
    async () => (await new RabbitJobRepository(documents, () => new Date()).inQueue('unsent', 'some.extractor')).length === 0,
  )
  const waiting = await idsIn('some.extractor')
  const first = there.filter(({ queue }) => queue === 'some.extractor').map(({ id }) => id)
  t.deepEqual(waiting.slice(0, 30), first)
  t.deepEqual(
    [...waiting].sort(),
    jobs(0, 60).map(({ id }) => id),
  )
  t.deepEqual(await idsIn('other.extractor'), [jobFor(70).id])
})

live('two kernels that find the same waiting jobs send each job once', async t => {
  const broker = await testBroker(t, url)
  await broker.declare('some.extractor')
  const documents = await temporaryDocuments(t)
  const away = await startRabbit(t, { documents, uri: 'amqp://127.0.0.1:1/' })
  for (let at = 0; at < 3000; at += 1000) await away.transport.publish(jobs(at, 1000))
  await away.dispose()
  const counts = await receiving(broker)
  await Promise.all([startRabbit(t, { documents, uri: broker.uri }), startRabbit(t, { documents, uri: broker.uri })])
  await eventually(() => counts.size === 3000)
  t.deepEqual(
    [...counts.values()].filter(count => count > 1),
    [],
  )
})

live('a stopping kernel records its confirms and releases the rest', async t => {
  const world = await setUp(t)
  const counts = await receiving(world.broker)
  await Promise.all([
    world.transport.publish(jobs(0, 1000)),
    world.transport.publish(jobs(1000, 1000)),
    world.transport.publish(jobs(2000, 1000)),
  ])
  await world.dispose()
  const next = await startRabbit(t, { documents: world.documents, uri: world.broker.uri })
  await eventually(() => counts.size === 3000)
  t.deepEqual(
    [...counts.values()].filter(count => count > 1),
    [],
  )
  t.true(isWell(next))
})

live('wrong credentials or a wrong vhost fail the start with an error that names the setting, not the password', async t => {
  const broker = await testBroker(t, url)
  const documents = await temporaryDocuments(t)
  for (const change of [(uri: URL) => (uri.password = 'hush-hush'), (uri: URL) => (uri.pathname = '/no-such-vhost')]) {
    const uri = new URL(broker.uri)
    change(uri)
    const error = await t.throwsAsync(startRabbit(t, { documents, uri: uri.href }))
    t.regex(error?.message ?? '', /^transport\.rabbitmq\.uri: the broker rejects/)
    t.notRegex(error?.message ?? '', /hush-hush|guest:guest/)
    t.log(error?.message)
  }
})

live('a reply that arrives while the connection breaks is received at least once', async t => {
  const world = await setUp(t)
  const listener = new TestListener('')
  await world.transport.listen(listener)
  for (let n = 0; n < 300; n += 1) {
    const reply = { file_id: 'f', extractor_id: 'some.extractor', job_id: `job ${n}`, status: 'StatusMessage.start: x', start: '' }
    world.broker.channel.sendToQueue('clowder.abcdefghij', Buffer.from(JSON.stringify(reply)), { persistent: true })
    if (n % 100 === 50) {
      await world.proxy.become('cut')
      await eventually(() => !isWell(world))
      await world.proxy.become('pass')
    }
  }
  await eventually(() => new Set(listener.statuses.map(({ jobId }) => jobId)).size === 300)
  t.true(listener.statuses.length >= 300)
})
