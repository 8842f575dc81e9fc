import test from 'ava'
import { EventSinks, Transports } from 'pounce/sdk'
import { bootForTest, liveTests } from 'pounce/sdk/testing'
import { eventually, idsOf, jobFor } from '../../../sdk/testing/transport-contract.ts'
import { extractorInfo } from '../../../test/support/extractor-info.ts'
import { flakyProxy } from '../../../test/support/flaky-proxy.ts'
import { newPerson } from '../../../test/support/people.ts'
import { newDataset, ok, upload } from '../../../test/support/scene.ts'
import { testBroker } from './fixtures/test-broker.ts'

const { test: live, url } = liveTests(test, 'RABBITMQ', 'RABBITMQ_MANAGEMENT')

live('jobs survive a restart of the kernel, and the event sink shares the connection', async t => {
  const broker = await testBroker(t, url)
  await broker.declare('some.extractor')
  await broker.channel.assertExchange('clowder.metrics', 'fanout', { durable: true })
  await broker.channel.bindQueue('some.extractor', 'clowder.metrics', '')
  const commKey = 'a service key of the installation'
  const server = await bootForTest({
    t,
    plugins: ['documents.sqlite', 'auth.local', 'access.policy', 'resources.users', 'transport.rabbitmq'],
    config: { resources: { users: { commKey } }, transport: { rabbitmq: { uri: broker.uri, managementUrl: broker.managementUrl } } },
  })
  const transportOf = () => {
    const [transport] = server.get(Transports).all()
    if (!transport) throw new Error('transport.rabbitmq contributed nothing')
    return transport
  }
  await transportOf().publish([jobFor(2)])
  await eventually(async () => (await broker.channel.checkQueue('some.extractor')).messageCount === 1)
  const { secretKey } = JSON.parse(String((await broker.waiting('some.extractor'))[0]?.content))
  t.regex(secretKey, /^job_[\w-]{110}$/)
  await server.restart()
  t.deepEqual(await idsOf(transportOf(), jobFor(2).target), [jobFor(2).id])
  await server
    .get(EventSinks)
    .all()[0]
    ?.publish([{ category: 'upload', created: 1 }])
  await eventually(async () => (await broker.channel.checkQueue('some.extractor')).messageCount === 2)
})

live('files uploaded while the broker is unavailable are sent to queues bound the old way when it recovers', async t => {
  const broker = await testBroker(t, url)
  const proxy = await flakyProxy(t, broker.uri)
  await broker.declare('old.extractor')
  await broker.channel.assertExchange('clowder', 'topic', { durable: true })
  await broker.channel.bindQueue('old.extractor', 'clowder', '*.file.text.#')
  const config = { transport: { rabbitmq: { uri: proxy.urlFor(broker.uri), managementUrl: broker.managementUrl } } }
  const server = await bootForTest({ t, also: ['transport.rabbitmq'], config })
  const { call } = await newPerson(server, 'ann')
  const dataset = await newDataset(call)
  const there = await upload(call, dataset, 'one', 'one.txt', { query: '' })
  await eventually(async () => (await broker.channel.checkQueue('old.extractor')).messageCount === 1)
  await proxy.become('refuse')
  await eventually(async () => (await (await server.as(server.admin.key)('/readyz')).text()).includes('Jobs are waiting'))
  const missed = await upload(call, dataset, 'two', 'two.txt', { query: '' })
  await server.drained()
  t.is((await ok<Record<string, string>>(call(`/api/extractions/${missed}/status`)))['old.extractor'], 'SUBMITTED')
  await proxy.become('pass')
  await eventually(async () => (await broker.channel.checkQueue('old.extractor')).messageCount === 2)
  const messages = await broker.waiting('old.extractor')
  t.deepEqual(
    messages.map(({ content }) => JSON.parse(String(content)).id),
    [there, missed],
  )
})

live('nobody learns the key of a private extractor from a run whose queue does not exist', async t => {
  const broker = await testBroker(t, url)
  const config = { transport: { rabbitmq: { uri: broker.uri, managementUrl: broker.managementUrl } } }
  const server = await bootForTest({ t, also: ['transport.rabbitmq'], config })
  const { call, email } = await newPerson(server, 'ann')
  const file = await upload(call, await newDataset(call), 'one', 'one.bin')
  await ok(call(`/api/extractors?user=${email}`, { method: 'POST', json: { ...extractorInfo('its.name'), unique_key: 'K9.x' } }))
  await ok(call(`/api/files/${file}/extractions`, { method: 'POST', json: { extractor: 'private.K9.x.its.name' } }))
  const status = async () => (await ok<Record<string, string>>(call(`/api/extractions/${file}/status`)))['its.name'] ?? ''
  await eventually(async () => (await status()).startsWith('StatusMessage.error: The queue of this extractor does not exist'))
  for (const answer of [call(`/api/extractions/${file}/status`), call(`/api/files/${file}/extractions`)])
    t.notRegex(await (await answer).text(), /K9/)
})
