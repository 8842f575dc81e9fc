import test from 'ava'
import { Mailer } from 'pounce/sdk'
import { bootForTest, MemoryMailer } from 'pounce/sdk/testing'
import { ok, upload } from '../support/scene.ts'
import { newDataset, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'
import { type Received, type Target, webhookTarget } from '../support/webhook-target.ts'
import { type DeliveryJson, deliveriesOf, newWebhook, receivedNamed, verified, type WebhookJson } from '../support/webhooks.ts'

// @separate-process: targets must respond within three seconds.
const config = { access: { private: true }, outbound: { allow: ['127.0.0.1'] } }
const server = await bootForTest({ config })
test.after.always(() => server.stop())

test('events of one subject are delivered in order, even if the first attempts fail', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  const dataset = await newDataset(ann)
  await server.drained()
  let failures = 2
  target.answer = (_, response) => response.writeHead(failures-- > 0 ? 500 : 200).end()
  await newWebhook(ann, target.url, { filter: { types: ['tags.added'] } })
  for (let round = 0; round < 5; round += 1) await ann.post(`/api/datasets/${dataset}/tags`, { tags: [`tag ${round}`] })
  const first = (tags: readonly Received[]) => tags.map(({ event }) => (event.data['tags'] as string[])[0])
  await until('the last event', () => first(target.received).includes('tag 4'))
  const seen = first(target.received)
  t.deepEqual([...new Set(seen)], ['tag 0', 'tag 1', 'tag 2', 'tag 3', 'tag 4'])
  const ids = new Set(
    target.received.filter(({ event }) => (event.data['tags'] as string[])[0] === 'tag 0').map(({ headers }) => headers['webhook-id']),
  )
  t.is(ids.size, 1, 'a retry has the id of the first attempt')
})

test('events pending while a target is down are delivered once it returns, each once and in order', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  const [one, two] = [await newDataset(ann), await newDataset(ann)]
  await server.drained()
  const made = await newWebhook(ann, target.url, { filter: { types: ['tags.added'] } })
  await target.shut()
  for (let round = 0; round < 100; round += 1) await ann.post(`/api/datasets/${round % 2 ? one : two}/tags`, { tags: [`${round}`] })
  await until(
    'a failed attempt',
    () => ok<WebhookJson>(ann.call(`/api/webhooks/${made.id}`)),
    seen => seen.failingSince !== undefined,
  )
  await target.open()
  await until('all events', () => target.received.length >= 100, Boolean, 60_000)
  for (const dataset of [one, two]) {
    const seen = target.received
      .filter(({ event }) => event.subject === `dataset/${dataset}`)
      .map(({ event }) => Number((event.data['tags'] as string[])[0]))
    t.deepEqual(
      seen,
      Array.from({ length: 50 }, (_, at) => at * 2 + (dataset === one ? 1 : 0)),
    )
  }
  const after = await until(
    'the webhook to recover',
    () => ok<WebhookJson>(ann.call(`/api/webhooks/${made.id}`)),
    seen => seen.failingSince === undefined,
  )
  t.true(after.active)
})

test('a slow target does not block another one', async t => {
  const [ann, slow, fast] = [await somebody(server, 'ann'), await webhookTarget(t), await webhookTarget(t)]
  slow.answer = () => undefined
  const dataset = await newDataset(ann)
  await server.drained()
  for (const { url } of [slow, fast]) await newWebhook(ann, url, { filter: { types: ['tags.added'] } })
  for (let round = 0; round < 20; round += 1) await ann.post(`/api/datasets/${dataset}/tags`, { tags: [`${round}`] })
  await until('all events at the fast target', () => fast.received.length === 20)
  t.true(slow.received.length < 20)
})

test('connections reset by a target are failures, and events that it did receive are not sent again', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  const made = await newWebhook(ann, target.url, { filter: { types: ['dataset.created'] } })
  target.answer = (request, response) => {
    const { name } = target.received.findLast(({ headers }) => headers === request.headers)?.event.data ?? {}
    setTimeout(() => (String(name).startsWith('reset') ? request.socket.destroy() : response.end()), 50)
  }
  const create = (kind: string) => Promise.all(Array.from({ length: 8 }, (_, at) => newDataset(ann, { name: `${kind} ${at}` })))
  await create('warm')
  await until('connections to be kept alive', () => target.received.length === 8)
  await Promise.all([create('good'), create('reset')])
  await until('one kind to be delivered and the other to be tried', async () => {
    const [waiting, delivered] = await Promise.all([deliveriesOf(ann, made, '?state=waiting'), deliveriesOf(ann, made, '?state=delivered')])
    return waiting.length === 8 && delivered.length === 16 && waiting.some(({ tries }) => tries > 1)
  })
  const good = target.received.filter(({ event }) => String(event.data['name']).startsWith('good'))
  t.is(good.length, 8)
})

test('410 Gone pauses a webhook at once', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  target.answer = (_, response) => response.writeHead(410).end()
  const made = await newWebhook(ann, target.url, { filter: { types: ['file.created'] } })
  await upload(ann.call, await newDataset(ann), 'x', 'gone.txt')
  const paused = await until(
    'the webhook to be paused',
    () => ok<WebhookJson>(ann.call(`/api/webhooks/${made.id}`)),
    seen => !seen.active,
  )
  t.is(paused.pauseReason, 'gone')
})

test('hostile targets are cut off: an endless body, a redirect to a private address, a silent connection', async t => {
  const own = await bootForTest({ t, config: { outbound: config.outbound, resources: { webhooks: { timeoutMs: 3000 } } } })
  const ann = await somebody(own, 'ann')
  const inner = await webhookTarget(t)
  const answers: Record<
    string,
    { readonly answer: Target['answer']; readonly seen: (attempt: DeliveryJson['attempts'][number]) => boolean }
  > = {
    endless: {
      answer: (_, response) => {
        response.writeHead(200)
        const more = setInterval(() => response.write(Buffer.alloc(16 * 1024, 'x')), 5)
        response.on('close', () => clearInterval(more))
      },
      seen: ({ status, response }) => status === 200 && response?.length === 4096,
    },
    redirect: {
      answer: (_, response) => response.writeHead(307, { location: inner.url.replace('127.0.0.1', 'localhost') }).end(),
      seen: ({ status }) => status === 307,
    },
    silent: { answer: () => undefined, seen: ({ error }) => /timed out/.test(error ?? '') },
    bomb: {
      answer: (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(Buffer.alloc(3000)),
      seen: ({ status, response }) => status === 200 && response?.length === 3000,
    },
  }
  for (const [name, { answer, seen }] of Object.entries(answers)) {
    const target = await webhookTarget(t)
    target.answer = answer
    const made = await newWebhook(ann, target.url, { filter: { types: ['file.created'] } })
    await upload(ann.call, await newDataset(ann), 'x', `${name}.txt`)
    const [delivery] = await until(
      `the attempt at ${name}`,
      () => deliveriesOf(ann, made),
      found => (found[0]?.attempts.length ?? 0) > 0,
    )
    const [attempt] = delivery?.attempts ?? []
    t.true(attempt !== undefined && seen(attempt), `${name} ${JSON.stringify(attempt).slice(0, 300)}`)
    await ann.call(`/api/webhooks/${made.id}`, { method: 'DELETE' })
  }
  t.deepEqual(inner.received, [])
})

test('deliveries that fail for too long become dead letters, and a webhook that always fails is paused', async t => {
  const day = 86_400_000
  let now = Date.parse('2026-11-01T00:00:00Z')
  const clock = { now: () => new Date(now) }
  const mailer = new MemoryMailer()
  const own = await bootForTest({ t, config: { outbound: config.outbound }, clock, overrides: { [Mailer]: mailer } })
  const [ann, target] = [await somebody(own, 'ann'), await webhookTarget(t)]
  target.answer = (_, response) => response.writeHead(500).end('no')
  const made = await newWebhook(ann, target.url, { filter: { types: ['file.created'] } })
  const dataset = await newDataset(ann)
  await upload(ann.call, dataset, 'x', 'first.txt')
  await until(
    'an attempt',
    () => deliveriesOf(ann, made),
    seen => seen.some(({ tries }) => tries > 0),
  )
  now += 3.5 * day
  await own.runPeriodic('resources.webhooks/retention')
  const [failed] = await until(
    'the dead letter',
    () => deliveriesOf(ann, made, '?state=failed'),
    seen => seen.length === 1,
  )
  t.like(failed, { state: 'failed', attempts: [{ status: 500, response: 'no' }] })
  t.true((await ok<WebhookJson>(ann.call(`/api/webhooks/${made.id}`))).active)
  now += 4 * day
  await upload(ann.call, dataset, 'x', 'second.txt')
  const paused = await until(
    'the webhook to be paused',
    () => ok<WebhookJson>(ann.call(`/api/webhooks/${made.id}`)),
    seen => !seen.active,
  )
  t.is(paused.pauseReason, 'failing')
  await own.drained()
  t.true(mailer.sent.some(({ to, subject }) => to.includes(ann.email) && /Your webhook to 127\.0\.0\.1:\d+ was paused/.test(subject)))
  t.is((await ok<unknown[]>(ann.call('/api/me/notifications?kind=webhook-paused'))).length, 1)
})

test('webhooks and their pending events survive a restart', async t => {
  const own = await bootForTest({ t, config: { outbound: config.outbound } })
  const [ann, target] = [await somebody(own, 'ann'), await webhookTarget(t)]
  const made = await newWebhook(ann, target.url, { filter: { types: ['file.created'] } })
  await target.shut()
  await upload(ann.call, await newDataset(ann), 'x', 'waits.txt')
  await own.drained()
  await own.restart()
  await target.open()
  const message = await until('the delivery', () => receivedNamed(target, 'waits.txt'), Boolean, 60_000)
  if (!message) throw new Error('no message')
  t.notThrows(() => verified(made.secret, message))
})
