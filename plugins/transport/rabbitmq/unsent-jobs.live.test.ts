import test from 'ava'
import { Transports } from 'pounce/sdk'
import { bootForTest, liveTests } from 'pounce/sdk/testing'
import { eventually, idsOf, jobFor } from '../../../sdk/testing/transport-contract.ts'
import { TestListener } from '../../../test/support/transport-listener.ts'
import { testBroker } from './fixtures/test-broker.ts'

const { test: live, url } = liveTests(test, 'RABBITMQ', 'RABBITMQ_MANAGEMENT')

live('jobs whose queue was deleted end with a status; those of other queues stay', async t => {
  const broker = await testBroker(t, url)
  await broker.declare('gone.extractor', 'some.extractor')
  const server = await bootForTest({
    t,
    plugins: ['documents.sqlite', 'auth.local', 'access.policy', 'resources.users', 'transport.rabbitmq'],
    config: {
      resources: { users: { commKey: 'a service key of the installation' } },
      transport: { rabbitmq: { uri: broker.uri, managementUrl: broker.managementUrl } },
    },
  })
  const [transport] = server.get(Transports).all()
  if (!transport) throw new Error('transport.rabbitmq contributed nothing')
  const listener = new TestListener('')
  await transport.listen(listener)
  const [lost, kept] = [jobFor(2, { queue: 'gone.extractor' }), jobFor(4)]
  await transport.publish([lost, kept])
  await eventually(async () => (await broker.channel.checkQueue('gone.extractor')).messageCount === 1)
  await eventually(async () => (await broker.channel.checkQueue('some.extractor')).messageCount === 1)
  await broker.channel.deleteQueue('gone.extractor')
  await eventually(async () => {
    await server.runPeriodic('transport.rabbitmq/lost-queues')
    return listener.statuses.length > 0
  })
  t.regex(listener.saidOf(lost)[0] ?? '', /^StatusMessage\.error: The queue of this extractor does not exist/)
  await eventually(async () => (await idsOf(transport, lost.target)).length === 0)
  t.deepEqual(await idsOf(transport, kept.target), [kept.id])
  t.is((await broker.channel.checkQueue('some.extractor')).messageCount, 1)
})

live('jobs that a broker has lost together with its queues are sent again once extractors have declared theirs', async t => {
  const broker = await testBroker(t, url)
  await broker.declare('some.extractor', 'other.extractor')
  let aheadMs = 0
  const server = await bootForTest({
    t,
    clock: { now: () => new Date(Date.now() + aheadMs) },
    plugins: ['documents.sqlite', 'auth.local', 'access.policy', 'resources.users', 'transport.rabbitmq'],
    config: {
      resources: { users: { commKey: 'a service key of the installation' } },
      transport: { rabbitmq: { uri: broker.uri, managementUrl: broker.managementUrl, sweepMs: 100 } },
    },
  })
  const [transport] = server.get(Transports).all()
  if (!transport) throw new Error('transport.rabbitmq contributed nothing')
  await transport.listen(new TestListener(''))
  const [lost, kept] = [jobFor(2, { queue: 'some.extractor' }), jobFor(4, { queue: 'other.extractor' })]
  await transport.publish([lost, kept])
  const countIn = async (queue: string) => (await broker.channel.checkQueue(queue)).messageCount
  await eventually(async () => (await countIn('some.extractor')) === 1 && (await countIn('other.extractor')) === 1)
  const queueNames = async (): Promise<readonly string[]> => {
    const queues = (await broker.ask(`queues${new URL(broker.uri).pathname}`)) as readonly { readonly name: string }[]
    return queues.map(({ name }) => name)
  }
  let replies = ''
  await eventually(async () => {
    replies = (await queueNames()).find(name => /^clowder\.[a-z\d]{10}$/.test(name)) ?? ''
    return replies !== ''
  })
  await broker.channel.deleteQueue('some.extractor')
  await broker.channel.deleteQueue(replies)
  await broker.declare('some.extractor')
  await eventually(async () => (await queueNames()).includes(replies))
  t.is(await countIn('some.extractor'), 0)
  aheadMs = 61_000
  await eventually(async () => (await countIn('some.extractor')) === 1)
  t.deepEqual(await idsOf(transport, lost.target), [lost.id])
  t.is(await countIn('other.extractor'), 1)
})
