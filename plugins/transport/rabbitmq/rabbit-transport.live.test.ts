import test from 'ava'
import { liveTests, type MakeTransport, transportContract } from 'pounce/sdk/testing'
import { startRabbit, temporaryDocuments } from './fixtures/rabbit-under-test.ts'
import { testBroker } from './fixtures/test-broker.ts'

const { test: live, url } = liveTests(test, 'RABBITMQ', 'RABBITMQ_MANAGEMENT')

const makeTransport: MakeTransport = async t => {
  const broker = await testBroker(t, url)
  const documents = await temporaryDocuments(t)
  const start = () => startRabbit(t, { documents, uri: broker.uri, config: { managementUrl: broker.managementUrl } })
  let kernel = await start()
  return {
    transport: kernel.transport,
    prepare: queues => broker.declare(...queues),
    store: () => Promise.reject(new Error('nothing runs here')),
    async reopen() {
      await kernel.dispose()
      kernel = await start()
      return kernel.transport
    },
  }
}

transportContract(live, makeTransport)
