import test from 'ava'
import { broadcasterContract, liveTests, silent } from 'pounce/sdk/testing'
import { Broker } from './broker.ts'
import { usual } from './fixtures/rabbit-under-test.ts'
import { testBroker } from './fixtures/test-broker.ts'
import { RabbitBroadcaster } from './rabbit-broadcaster.ts'

const { test: live, url } = liveTests(test, 'RABBITMQ', 'RABBITMQ_MANAGEMENT')

const installation = { instance: 'abcdefghij' } as ConstructorParameters<typeof Broker>[1]

broadcasterContract(live, async t => {
  const { uri, ask } = await testBroker(t, url)
  const server = async () => {
    const broker = new Broker({ ...usual, uri }, installation, silent)
    const broadcaster = new RabbitBroadcaster(broker, silent)
    t.teardown(() => broker.dispose())
    await broker.connect()
    return broadcaster
  }
  const [one, other] = [await server(), await server()]
  const interrupt = async (): Promise<void> => {
    const vhost = new URL(uri).pathname.slice(1)
    const connections = (await ask(`vhosts/${vhost}/connections`)) as readonly {
      readonly name: string
      readonly user_provided_name?: string
    }[]
    for (const { name, user_provided_name: given = '' } of connections)
      if (given.startsWith('pounce')) await ask(`connections/${encodeURIComponent(name)}`, 'DELETE').catch(() => undefined)
  }
  return { one, other, interrupt }
})
