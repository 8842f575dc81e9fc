import test from 'ava'
import { liveTests } from 'pounce/sdk/testing'
import { eventually, hex, idsOf, jobFor } from '../../../sdk/testing/transport-contract.ts'
import { TestListener } from '../../../test/support/transport-listener.ts'
import { keys, startRabbit, temporaryDocuments } from './fixtures/rabbit-under-test.ts'
import { testBroker } from './fixtures/test-broker.ts'

const { test: live, url } = liveTests(test, 'RABBITMQ', 'RABBITMQ_MANAGEMENT')

const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

live('a job is sent to its queue through the default exchange, with the properties and the key that extractors expect', async t => {
  const broker = await testBroker(t, url)
  await broker.declare('some.extractor')
  const { transport } = await startRabbit(t, { documents: await temporaryDocuments(t), uri: broker.uri })
  await transport.publish([jobFor(1)])
  await eventually(async () => (await broker.channel.checkQueue('some.extractor')).messageCount === 1)
  const [message] = await broker.waiting('some.extractor')
  t.is(message?.fields.exchange, '')
  t.is(message?.fields.routingKey, 'some.extractor')
  const { contentType, deliveryMode, correlationId, replyTo, messageId, expiration } = message?.properties ?? {}
  t.deepEqual(
    { contentType, deliveryMode, replyTo, messageId, expiration },
    { contentType: 'application/json', deliveryMode: 2, replyTo: 'clowder.abcdefghij', messageId: undefined, expiration: undefined },
  )
  t.regex(correlationId, uuid4)
  t.deepEqual(JSON.parse(String(message?.content)), { ...jobFor(1).message, secretKey: `key of ${jobFor(1).user} for ${jobFor(1).id}` })
})

live('the message of an anonymous job has a job key, never the service key; without a key the job ends with an error', async t => {
  const broker = await testBroker(t, url)
  await broker.declare('some.extractor')
  const { transport } = await startRabbit(t, { documents: await temporaryDocuments(t), uri: broker.uri })
  await transport.publish([jobFor(2)])
  await eventually(async () => (await broker.channel.checkQueue('some.extractor')).messageCount === 1)
  t.is(JSON.parse(String((await broker.waiting('some.extractor'))[0]?.content)).secretKey, `service key for ${jobFor(2).id}`)

  const other = await testBroker(t, url)
  await other.declare('some.extractor')
  const noKey = { ...keys, jobKey: () => Promise.resolve(undefined) }
  const { transport: keyless } = await startRabbit(t, { documents: await temporaryDocuments(t), uri: other.uri, keys: noKey })
  const listener = new TestListener('')
  await keyless.listen(listener)
  await keyless.publish([jobFor(4)])
  await eventually(() => listener.statuses.length === 1)
  t.regex(listener.statuses[0]?.status ?? '', /^StatusMessage\.error: .*resources\.users\.commKey/)
  await eventually(async () => (await idsOf(keyless, jobFor(4).target)).length === 0)
})

live('a missing queue ends the job with a status that does not contain its name, which may contain a key', async t => {
  const broker = await testBroker(t, url)
  await broker.declare('some.extractor')
  const { transport } = await startRabbit(t, { documents: await temporaryDocuments(t), uri: broker.uri })
  const listener = new TestListener('')
  await transport.listen(listener)
  const [lost, kept] = [jobFor(1, { queue: 'private.secret.1.no.such' }), jobFor(3)]
  await transport.publish([lost, kept])
  await eventually(() => listener.statuses.length === 1)
  const [{ at, ...wireMessage } = { at: undefined }] = listener.statuses
  t.deepEqual(wireMessage, {
    jobId: lost.id,
    targetId: lost.target.id,
    extractor: 'private',
    status: 'StatusMessage.error: The queue of this extractor does not exist on the broker: no extractor of this name has connected',
  })
  t.true(at instanceof Date)
  await eventually(async () => (await idsOf(transport, lost.target)).length === 0)
  t.deepEqual(await idsOf(transport, kept.target), [kept.id])
})

live('a missing queue is reported again until the listener accepts it', async t => {
  const broker = await testBroker(t, url)
  const { transport } = await startRabbit(t, { documents: await temporaryDocuments(t), uri: broker.uri })
  const listener = new TestListener('')
  let failures = 1
  listener.onStatus = () => (failures-- > 0 ? Promise.reject(new Error('not now')) : Promise.resolve())
  await transport.listen(listener)
  await transport.publish([jobFor(1)])
  await eventually(() => listener.statuses.length === 1)
  await eventually(async () => (await idsOf(transport, jobFor(1).target)).length === 0)
  t.is(listener.statuses.length, 1)
})

live('exchanges and the reply queue are declared as in Clowder; queues of extractors are not declared', async t => {
  const broker = await testBroker(t, url)
  const { transport, sink } = await startRabbit(t, {
    documents: await temporaryDocuments(t),
    uri: broker.uri,
    config: { eventSink: { exchange: 'clowder.metrics', queue: 'event.sink' } },
  })
  await transport.listen(new TestListener(''))
  await sink.publish([{ category: 'upload', created: 1 }])
  const vhost = new URL(broker.uri).pathname.slice(1)
  type Declared = {
    readonly name: string
    readonly type: string
    readonly durable: boolean
    readonly exclusive: boolean
    readonly arguments: object
  }
  const exchanges = (await broker.ask(`exchanges/${vhost}`)) as readonly Declared[]
  const own = exchanges
    .filter(({ name }) => name !== '' && !name.startsWith('amq.'))
    .map(({ name, type, durable }) => [name, type, durable])
  t.deepEqual(own.sort(), [
    ['clowder', 'topic', true],
    ['clowder.metrics', 'fanout', true],
    ['extractors', 'fanout', true],
  ])
  const queues = (await broker.ask(`queues/${vhost}`)) as readonly Declared[]
  const named = queues.filter(({ name }) => !name.startsWith('amq.gen')).map(one => [one.name, one.durable, one.exclusive, one.arguments])
  t.deepEqual(named.sort(), [
    ['clowder.abcdefghij', true, false, {}],
    ['event.sink', true, false, {}],
  ])
  t.deepEqual(
    queues.filter(({ name }) => name.startsWith('amq.gen')).map(({ exclusive }) => exclusive),
    [true],
  )
})

live('event sink records are published in order, without properties', async t => {
  const broker = await testBroker(t, url)
  await broker.channel.assertExchange('clowder.metrics', 'fanout', { durable: true })
  await broker.declare('event.sink')
  await broker.channel.bindQueue('event.sink', 'clowder.metrics', '')
  const { sink } = await startRabbit(t, { documents: await temporaryDocuments(t), uri: broker.uri })
  const records = Array.from({ length: 1000 }, (_, n) => ({ category: 'download', type: 'file', created: n, resource_id: hex(n), size: n }))
  await sink.publish(records)
  const messages = await broker.waiting('event.sink')
  t.deepEqual(
    messages.map(({ content }) => JSON.parse(String(content))),
    records,
  )
  t.is(messages[0]?.fields.routingKey, '')
  const { headers, ...properties } = messages[0]?.properties ?? { headers: undefined }
  t.deepEqual(
    Object.values(properties).filter(value => value !== undefined),
    [],
  )
  t.deepEqual({ ...headers }, {})
  await t.throwsAsync(sink.publish([...records, ...records]), { message: /At most 1000/ })
})

live('legacy bindings, listeners and input types are read from the management plugin', async t => {
  const broker = await testBroker(t, url)
  await broker.declare('old.images', 'old.all', 'extractors.only')
  await broker.channel.assertExchange('clowder', 'topic', { durable: true })
  for (const [queue, key] of [
    ['old.images', '*.file.image.#'],
    ['old.all', '*.file.#'],
    ['extractors.only', 'extractors.only'],
  ] as const)
    await broker.channel.bindQueue(queue, 'clowder', key)
  await broker.channel.consume('old.images', () => undefined)
  const { transport } = await startRabbit(t, {
    documents: await temporaryDocuments(t),
    uri: broker.uri,
    config: { managementUrl: broker.managementUrl },
  })
  t.deepEqual(await transport.bus.boundTo('clowder.file.image.jpeg'), ['old.all', 'old.images'])
  t.deepEqual(await transport.bus.boundTo('clowder.file.text.plain'), ['old.all'])
  t.deepEqual(await transport.bus.boundTo('clowder.dataset.file.added'), [])
  t.deepEqual(await transport.bus.inputTypes(), ['image'])
  const queues = await transport.queues()
  t.deepEqual(
    queues.map(({ queue, consumers }) => [queue, consumers]),
    [
      ['extractors.only', 0],
      ['old.all', 0],
      ['old.images', 1],
    ],
  )
})

live('without the management plugin the bus is usable, and logs its absence once', async t => {
  const broker = await testBroker(t, url)
  await broker.declare('some.extractor')
  const lines: string[] = []
  const note = (message: string): void => void lines.push(message)
  const { transport } = await startRabbit(t, {
    documents: await temporaryDocuments(t),
    uri: broker.uri,
    config: { managementUrl: 'http://127.0.0.1:1/' },
    log: { debug: note, info: note, warn: note, error: note },
  })
  t.deepEqual(await transport.bus.boundTo('clowder.file.text.plain'), [])
  t.deepEqual(await transport.bus.listeners(), [])
  t.is(lines.filter(line => line.includes('management plugin')).length, 1)
  await transport.publish([jobFor(1)])
  await eventually(async () => (await broker.channel.checkQueue('some.extractor')).messageCount === 1)
  t.deepEqual(
    (await transport.queues()).map(({ queue, waiting }) => [queue, waiting]),
    [['some.extractor', 1]],
  )
})
