import test, { type ExecutionContext } from 'ava'
import { Unavailable } from 'pounce/sdk'
import type { Heartbeat } from 'pounce/sdk/kit'
import { liveTests } from 'pounce/sdk/testing'
import { eventually } from '../../../sdk/testing/transport-contract.ts'
import { TestListener } from '../../../test/support/transport-listener.ts'
import { startRabbit, temporaryDocuments } from './fixtures/rabbit-under-test.ts'
import { testBroker } from './fixtures/test-broker.ts'

const { test: live, url } = liveTests(test, 'RABBITMQ', 'RABBITMQ_MANAGEMENT')

class Listener extends TestListener {
  onHeartbeat: () => Promise<void> = () => Promise.resolve()
  override async heartbeat(heartbeat: Heartbeat): Promise<void> {
    await this.onHeartbeat()
    await super.heartbeat(heartbeat)
  }
}

async function setUp(t: ExecutionContext, primary = true) {
  const broker = await testBroker(t, url)
  const documents = await temporaryDocuments(t)
  const lines: string[] = []
  const note = (message: string): void => void lines.push(message)
  const log = { debug: () => undefined, info: () => undefined, warn: note, error: note }
  const kernel = await startRabbit(t, { documents, uri: broker.uri, config: { primary }, log })
  const listener = new Listener('')
  await kernel.transport.listen(listener)
  const bound = async (): Promise<number> =>
    ((await broker.ask(`exchanges/${new URL(broker.uri).pathname.slice(1)}/extractors/bindings/source`)) as readonly unknown[]).length
  if (primary) await eventually(async () => (await bound()) === 1)
  const beat = (body: unknown): void => {
    const content = typeof body === 'string' ? body : JSON.stringify(body)
    broker.channel.publish('extractors', '', Buffer.from(content))
  }
  return { broker, listener, lines, beat, bound, documents, ...kernel }
}

const info = (version: string) => ({ name: 'some.extractor', version, process: { file: ['image/*'] } })

live('the last heartbeat of an extractor is announced, even when repeated', async t => {
  const { listener, beat, transport } = await setUp(t)
  const first = { id: 'a', queue: 'private.k.some.extractor', owner: 'ann@example.org', extractor_info: info('1') }
  const announced = { queue: first.queue, info: info('1'), owner: 'ann@example.org', isBuiltIn: false }
  beat(first)
  await eventually(() => listener.heartbeats.length === 1)
  // An identical heartbeat is announced again, since the extractor may have been deleted meanwhile.
  beat(first)
  await eventually(() => listener.heartbeats.length === 2)
  t.deepEqual(listener.heartbeats, [announced, announced])
  for (let n = 0; n < 50; n += 1) beat(first)
  beat({ ...first, extractor_info: info('2'), owner: '' })
  await eventually(() => listener.heartbeats.at(-1)?.owner === undefined)
  t.deepEqual(listener.heartbeats.at(-1), { queue: first.queue, info: info('2'), isBuiltIn: false })
  beat(first)
  await eventually(() => listener.heartbeats.at(-1)?.owner !== undefined)
  t.deepEqual(
    (await transport.queues()).map(({ queue }) => queue),
    [first.queue],
  )
})

live('a malformed heartbeat is logged once and ignored', async t => {
  const { listener, beat, lines } = await setUp(t)
  const good = { id: 'a', queue: 'q', extractor_info: info('1') }
  const bad = [
    '',
    'no json',
    '[]',
    {},
    { ...good, id: 1 },
    { ...good, queue: '' },
    { ...good, queue: 'x'.repeat(256) },
    { ...good, extractor_info: 'x' },
    { ...good, owner: 5 },
  ]
  for (const body of bad) beat(body)
  beat(`{"id":"a","queue":"q","extractor_info":{"__proto__":{}}}`)
  beat(`{"id":"a","queue":"q","extractor_info":${'['.repeat(5000)}${']'.repeat(5000)}}`)
  beat(good)
  await eventually(() => listener.heartbeats.length === 1)
  t.is(lines.filter(line => line.includes('heartbeat ignored')).length, bad.length + 2)
  t.deepEqual(listener.heartbeats, [{ queue: 'q', info: info('1'), isBuiltIn: false }])
})

live('a listener that failed is called again with the same heartbeat', async t => {
  const { listener, beat } = await setUp(t)
  let failures = 2
  listener.onHeartbeat = () => (failures-- > 0 ? Promise.reject(new Unavailable('the store is unavailable')) : Promise.resolve())
  beat({ id: 'a', queue: 'q', extractor_info: info('1') })
  await eventually(() => listener.heartbeats.length === 1)
  t.is(failures, -1)
})

live('every primary kernel receives heartbeats, others do not', async t => {
  const world = await setUp(t)
  const second = await startRabbit(t, { documents: world.documents, uri: world.broker.uri })
  const other = new Listener('')
  await second.transport.listen(other)
  await eventually(async () => (await world.bound()) === 2)
  world.beat({ id: 'a', queue: 'q', extractor_info: info('1') })
  await eventually(() => world.listener.heartbeats.length === 1 && other.heartbeats.length === 1)
  const third = await startRabbit(t, { documents: world.documents, uri: world.broker.uri, config: { primary: false } })
  await third.transport.listen(new Listener(''))
  t.is(await world.bound(), 2)
})
