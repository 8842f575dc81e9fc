import { EventEmitter } from 'node:events'
import type { ChannelModel } from 'amqplib'
import test, { type ExecutionContext } from 'ava'
import { type Keys, NotFound, Unavailable } from 'pounce/sdk'
import { silent } from 'pounce/sdk/testing'
import { eventually, jobFor } from '../../../sdk/testing/transport-contract.ts'
import { BrokerConnection } from './broker-connection.ts'
import type { StoredJob } from './bus-jobs.ts'
import { temporaryDocuments, keys as usualKeys } from './fixtures/rabbit-under-test.ts'
import { JobCancellation } from './job-cancellation.ts'
import { JobSender } from './job-sender.ts'
import { Management } from './management.ts'
import { RabbitJobRepository } from './rabbit-job-repository.ts'

type Confirm = (error: unknown) => void

/** A channel on which the test controls the confirms. */
class FakeChannel extends EventEmitter {
  readonly published: { readonly id: string; readonly confirm: Confirm }[] = []

  publish(_exchange: string, _queue: string, content: Buffer, _options: object, confirm: Confirm): boolean {
    this.published.push({ id: JSON.parse(String(content)).msgid, confirm })
    return true
  }
}

async function setUp(t: ExecutionContext, options: { readonly keys?: Keys; readonly leaseMs?: number } = {}) {
  const documents = await temporaryDocuments(t)
  const repository = new RabbitJobRepository(documents, () => new Date())
  const link = new BrokerConnection({ uri: 'amqp://127.0.0.1:1/', name: () => 'test', timeoutMs: 100, heartbeatSeconds: 1 }, silent)
  const refused: { readonly id: string; readonly reason: string }[] = []
  const leaseMs = options.leaseMs ?? 30_000
  const sender = new JobSender({
    link,
    repository,
    keys: options.keys ?? usualKeys,
    log: silent,
    metrics: { count: () => undefined, gauge: () => undefined, observe: () => undefined },
    replyTo: () => 'clowder.abcdefghij',
    maxUnconfirmed: 3,
    leaseMs,
    refuse: async ({ id }: StoredJob, reason: string) => void refused.push({ id, reason }),
  })
  const channel = new FakeChannel()
  const up = () => sender.up({ createConfirmChannel: () => Promise.resolve(channel) } as unknown as ChannelModel)
  const publish = async (...numbers: readonly number[]): Promise<void> => {
    const since = performance.now()
    sender.take(
      await repository.add(
        numbers.map(n => jobFor(n)),
        leaseMs,
      ),
      since,
    )
  }
  const stored = async (n: number) => {
    const job = await repository.get(jobFor(n).id)
    return job && { state: job.state, isHeld: job.isHeld }
  }
  const management = new Management({ managementUrl: undefined, uri: 'amqp://127.0.0.1:1/', timeoutMs: 100 })
  const cancellation = new JobCancellation(repository, link, management, silent, { searchMs: 100, timeoutMs: 100 })
  return { documents, repository, sender, cancellation, channel, up, publish, stored, refused }
}

test('at most `maxUnconfirmed` messages are unconfirmed; each confirm allows another', async t => {
  const { channel, up, publish, stored } = await setUp(t)
  await up()
  await publish(1, 3, 5, 7, 9)
  await eventually(() => channel.published.length === 3)
  channel.published[0]?.confirm(null)
  await eventually(() => channel.published.length === 4)
  await eventually(async () => (await stored(1))?.state === 'sent')
  t.deepEqual(await stored(3), { state: 'unsent', isHeld: true })
})

test('a blocked broker gets no messages, and the leases of unconfirmed jobs are renewed', async t => {
  const { repository, sender, channel, up, publish, stored } = await setUp(t, { leaseMs: 600 })
  await up()
  await publish(1)
  await eventually(() => channel.published.length === 1)
  sender.blocked(true)
  await publish(3)
  await eventually(async () => (await stored(3))?.isHeld === false)
  t.is(channel.published.length, 1)
  t.false(sender.isTaking)
  const before = (await repository.get(jobFor(1).id))?.due ?? ''
  await eventually(async () => {
    await sender.renew()
    return ((await repository.get(jobFor(1).id))?.due ?? '') > before
  })
  sender.blocked(false)
  channel.published[0]?.confirm(null)
  await eventually(async () => (await stored(1))?.state === 'sent')
  t.true(sender.isTaking)
})

test('messages that the broker rejects or leaves unconfirmed are released as in doubt', async t => {
  const { repository, sender, channel, up, publish, stored } = await setUp(t)
  await up()
  await publish(1, 3)
  await eventually(() => channel.published.length === 2)
  channel.published[0]?.confirm(new Error('message nacked'))
  await eventually(() => !sender.isHeld(jobFor(1).id))
  sender.down()
  channel.published[1]?.confirm(new Error('channel closed'))
  await eventually(() => !sender.isHeld(jobFor(3).id))
  t.deepEqual(await stored(3), { state: 'unsent', isHeld: true })
  const taken = new Map<string, boolean>()
  await eventually(async () => {
    for (const { id, isHeld } of await repository.claim('unsent', 10, 30_000)) taken.set(id, isHeld)
    return taken.size === 2
  })
  t.deepEqual([...taken.values()], [true, true])
})

test('a job that the broker may have is not cancelled while the broker is unavailable, even after its lease', async t => {
  const { repository, sender, cancellation, channel, up, publish, stored } = await setUp(t)
  await up()
  await publish(1)
  await eventually(() => channel.published.length === 1)
  sender.down()
  channel.published[0]?.confirm(new Error('channel closed'))
  await eventually(() => !sender.isHeld(jobFor(1).id))
  await repository.hold([jobFor(1).id], -1)
  await t.throwsAsync(cancellation.cancel(jobFor(1).id), { instanceOf: Unavailable })
  t.deepEqual(await stored(1), { state: 'unsent', isHeld: true })
  await publish(3)
  await eventually(async () => (await stored(3))?.isHeld === false)
  t.is(await cancellation.cancel(jobFor(3).id), 'cancelled')
})

test('the job of a returned message is refused once the message is confirmed', async t => {
  const { channel, up, publish, refused } = await setUp(t)
  const correlations: string[] = []
  const { publish: send } = FakeChannel.prototype
  channel.publish = (exchange, queue, content, options, confirm) => {
    correlations.push((options as { readonly correlationId: string }).correlationId)
    return send.call(channel, exchange, queue, content, options, confirm)
  }
  await up()
  await publish(1)
  await eventually(() => channel.published.length === 1)
  channel.emit('return', { properties: { correlationId: correlations[0] } })
  channel.published[0]?.confirm(null)
  await eventually(() => refused.length === 1)
  t.is(refused[0]?.id, jobFor(1).id)
  t.regex(refused[0]?.reason ?? '', /^The queue of this extractor does not exist on the broker/)
})

test('a job is released while its account is unavailable, and refused if the account was deleted', async t => {
  let failure: Error = new Unavailable('the store is unavailable')
  const keys: Keys = { ...usualKeys, jobKey: () => Promise.reject(failure) }
  const { channel, up, publish, stored, refused } = await setUp(t, { keys })
  await up()
  await publish(1)
  await eventually(async () => (await stored(1))?.isHeld === false)
  failure = new NotFound('user')
  await publish(3)
  await eventually(() => refused.length === 1)
  t.is(refused[0]?.id, jobFor(3).id)
  t.is(channel.published.length, 0)
})

test('a stopping sender waits for unconfirmed messages and releases the other jobs', async t => {
  const { sender, channel, up, publish, stored } = await setUp(t)
  await up()
  await publish(1, 3, 5, 7)
  await eventually(() => channel.published.length === 3)
  const stopping = sender.stop(5000)
  for (const { confirm } of channel.published) confirm(null)
  await stopping
  t.deepEqual(await Promise.all([1, 3, 5, 7].map(async n => (await stored(n))?.state)), ['sent', 'sent', 'sent', 'unsent'])
  t.is((await stored(7))?.isHeld, false)
})

test('sent jobs are recorded as sent once the store is back, and stay held until then', async t => {
  const { documents, sender, channel, up, publish, stored } = await setUp(t)
  await up()
  await publish(1)
  await eventually(() => channel.published.length === 1)
  const { commitEach } = documents
  let failures = 0
  documents.commitEach = () => {
    failures += 1
    return Promise.reject(new Unavailable('the store is unavailable'))
  }
  channel.published[0]?.confirm(null)
  await eventually(() => failures === 1)
  t.true(sender.isHeld(jobFor(1).id))
  documents.commitEach = commitEach
  await eventually(async () => (await stored(1))?.state === 'sent')
  await eventually(() => !sender.isHeld(jobFor(1).id))
  t.is(channel.published.length, 1)
})
