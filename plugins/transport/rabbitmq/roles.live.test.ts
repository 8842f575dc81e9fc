import test from 'ava'
import { liveTests } from 'pounce/sdk/testing'
import { eventually, idsOf, jobFor } from '../../../sdk/testing/transport-contract.ts'
import { TestListener } from '../../../test/support/transport-listener.ts'
import { startRabbit, temporaryDocuments } from './fixtures/rabbit-under-test.ts'
import { testBroker } from './fixtures/test-broker.ts'

const { test: live, url } = liveTests(test, 'RABBITMQ', 'RABBITMQ_MANAGEMENT')

live('an HTTP-only kernel sends and cancels jobs and reports missing queues; each reply goes to one of the workers', async t => {
  const broker = await testBroker(t, url)
  await broker.declare('some.extractor')
  const documents = await temporaryDocuments(t)
  const start = async (roles: readonly ('http' | 'worker')[]) => {
    const { transport } = await startRabbit(t, { documents, uri: broker.uri, roles })
    const listener = new TestListener('')
    await transport.listen(listener)
    return { transport, listener }
  }
  const http = await start(['http'])
  const workers = [await start(['worker']), await start(['worker'])]
  await eventually(async () => (await broker.channel.checkQueue('clowder.abcdefghij')).consumerCount === 2)

  const jobs = Array.from({ length: 40 }, (_, n) => jobFor(n + 1))
  await http.transport.publish([...jobs, jobFor(99, { queue: 'not.there' })])
  await eventually(() => http.listener.statuses.length === 1)
  await eventually(async () => (await broker.channel.checkQueue('some.extractor')).messageCount === 40)
  t.is(await http.transport.cancel(jobFor(40).id), 'cancelled')

  await broker.channel.consume('some.extractor', message => {
    const { msgid } = JSON.parse(String(message?.content))
    const reply = { file_id: 'f', extractor_id: 'some.extractor', job_id: msgid, status: 'StatusMessage.done: x', start: '' }
    broker.channel.sendToQueue(message?.properties.replyTo, Buffer.from(JSON.stringify(reply)))
    if (message) broker.channel.ack(message)
  })
  await eventually(() => workers.reduce((sum, { listener }) => sum + listener.statuses.length, 0) === 39)
  for (const { listener } of workers) t.true(listener.statuses.length > 0)
  t.is(http.listener.statuses.length, 1)
  await eventually(async () => (await idsOf(http.transport, jobFor(1).target)).length === 0)
})
