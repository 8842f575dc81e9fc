import test from 'ava'
import { liveTests, type TestContext, transportContract, transportStatusContract } from 'pounce/sdk/testing'
import { eventually } from '../../../sdk/testing/transport-contract.ts'
import { startRabbit, temporaryDocuments } from './fixtures/rabbit-under-test.ts'
import { testBroker } from './fixtures/test-broker.ts'

const { test: live, url } = liveTests(test, 'RABBITMQ', 'RABBITMQ_MANAGEMENT')

const makeTransport = async (t: TestContext) => {
  const broker = await testBroker(t, url)
  const documents = await temporaryDocuments(t)
  const start = () => startRabbit(t, { documents, uri: broker.uri, config: { managementUrl: broker.managementUrl } })
  let kernel = await start()
  return {
    broker,
    transport: kernel.transport,
    prepare: (queues: readonly string[]) => broker.declare(...queues),
    store: () => Promise.reject(new Error('nothing runs here')),
    async reopen() {
      await kernel.dispose()
      kernel = await start()
      return kernel.transport
    },
  }
}

transportContract(live, makeTransport)

transportStatusContract(live, async t => {
  const { broker, ...made } = await makeTransport(t)
  return {
    ...made,
    take: ({ queue }) => eventually(async () => (await broker.channel.get(queue, { noAck: true })) !== false),
    async report({ id, queue, target }, status) {
      const reply = { file_id: target.id, extractor_id: queue, job_id: id, status, start: '2026-11-21T09:14:51-00:00' }
      broker.channel.sendToQueue('clowder.abcdefghij', Buffer.from(JSON.stringify(reply)), { persistent: true })
    },
  }
})
