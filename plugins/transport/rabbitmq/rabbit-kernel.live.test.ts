import test from 'ava'
import { EventSinks, Transports } from 'pounce/sdk'
import { bootForTest, liveTests } from 'pounce/sdk/testing'
import { eventually, idsOf, jobFor } from '../../../sdk/testing/transport-contract.ts'
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
