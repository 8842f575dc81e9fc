import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { ok, refusal, unknownId, upload } from '../support/scene.ts'
import { letIn, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'
import { webhookTarget } from '../support/webhook-target.ts'
import { type DeliveryJson, deliveriesOf, newWebhook, receivedNamed, verified, type WebhookJson } from '../support/webhooks.ts'

// @separate-process: targets must respond within three seconds.
const config = { access: { private: true }, outbound: { allow: ['127.0.0.1'] } }
const server = await bootForTest({ config })
test.after.always(() => server.stop())

test('an event arrives as a CloudEvent that the published verifier accepts, and a tampered one is refused', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  const made = await newWebhook(ann, target.url, { filter: { types: ['file.created'] } })
  t.regex(made.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const dataset = await newDataset(ann)
  const file = await upload(ann.call, dataset, 'core', 'core.txt')
  await until('the delivery', () => receivedNamed(target, 'core.txt'))
  const [message] = target.received
  if (!message) throw new Error('no message')
  t.is(target.received.length, 1)
  t.like(verified(made.secret, message), { specversion: '1.0', type: 'file.created', subject: `file/${file}`, data: { id: file, dataset } })
  t.is(message.headers['content-type'], 'application/json')
  t.throws(() => verified(made.secret, { ...message, body: message.body.replace('core.txt', 'hole.txt') }))
  t.throws(() => verified(made.secret, { ...message, headers: { ...message.headers, 'webhook-id': 'msg_other' } }))
  t.throws(() => verified(`whsec_${Buffer.alloc(32).toString('base64')}`, message))
  const [delivery] = await until(
    'the delivery to be logged',
    () => deliveriesOf(ann, made, '?state=delivered'),
    seen => seen.length === 1,
  )
  t.like(delivery, { type: 'file.created', state: 'delivered', tries: 1, messageId: message.headers['webhook-id'] })
  t.like(delivery?.attempts[0], { status: 200, response: 'thanks' })
})

test('the secret is returned on creation and never again', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  const { id, secret } = await newWebhook(ann, target.url)
  const texts = await Promise.all(
    [`/api/webhooks/${id}`, '/api/webhooks', `/api/webhooks/${id}/deliveries`].map(async path => (await ann.call(path)).text()),
  )
  for (const text of texts) t.false(text.includes(secret.slice(6)))
})

test('after a rotation deliveries carry both signatures, and only the new one after the overlap', async t => {
  const own = await bootForTest({ t, config: { outbound: config.outbound, resources: { webhooks: { rotationHours: 0 } } } })
  for (const [on, verifiers] of [
    [server, 2],
    [own, 1],
  ] as const) {
    const [ann, target] = [await somebody(on, 'ann'), await webhookTarget(t)]
    const made = await newWebhook(ann, target.url, { filter: { types: ['file.created'] } })
    const rotated = await ok<WebhookJson>(ann.call(`/api/webhooks/${made.id}/rotate`, { method: 'POST' }))
    t.not(rotated.secret, made.secret)
    await upload(ann.call, await newDataset(ann), 'x', 'rotated.txt')
    const message = await until('the delivery', () => receivedNamed(target, 'rotated.txt'))
    if (!message) throw new Error('no message')
    t.notThrows(() => verified(rotated.secret, message))
    t.is(String(message.headers['webhook-signature']).split(' ').length, verifiers)
    if (verifiers === 2) t.notThrows(() => verified(made.secret, message))
    else t.throws(() => verified(made.secret, message))
  }
})

test('events that the owner may not view are not delivered, even if the right is lost before the delivery', async t => {
  const [ann, bob, target] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await webhookTarget(t)]
  const [space, other] = [await newSpace(ann), await newSpace(ann)]
  for (const one of [space, other]) await letIn(ann, one, 'Viewer', bob)
  const [inside, still] = [await newDataset(ann, { space }), await newDataset(ann, { space: other })]
  const secret = await newDataset(ann, { name: 'canary dataset' })
  await server.drained()
  const made = await newWebhook(bob, target.url)
  await upload(ann.call, inside, 'x', 'seen.txt')
  await until('the visible event', () => receivedNamed(target, 'seen.txt'))
  target.answer = (_, response) => response.writeHead(503).end()
  await upload(ann.call, secret, 'canary', 'canary one.txt')
  await upload(ann.call, inside, 'canary', 'canary two.txt')
  await until(
    'a failed attempt',
    () => deliveriesOf(bob, made, '?state=waiting'),
    seen => seen.some(({ tries }) => tries > 0),
  )
  const before = target.received.length
  t.is((await ann.post(`/api/spaces/${space}/removeUser?removeUser=${bob.id}`)).status, 200)
  target.answer = (_, response) => response.end()
  await upload(ann.call, still, 'x', 'last.txt')
  await until('the last event', () => receivedNamed(target, 'last.txt'))
  await until(
    'no delivery to be waiting',
    () => deliveriesOf(bob, made, '?state=waiting'),
    seen => seen.length === 0,
  )
  const later = target.received.slice(before)
  t.false(JSON.stringify(later).includes('canary'))
  t.false(JSON.stringify(target.received).includes('canary one'))
  t.false(JSON.stringify(target.received).includes(secret))
  // Earlier deliveries stay in the log, without content that may no longer be viewed.
  t.false(JSON.stringify(await deliveriesOf(bob, made)).includes('canary two'))
})

test('a webhook of a space delivers its events, and is paused when its owner may no longer edit the space', async t => {
  const [ann, bob, target] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await webhookTarget(t)]
  const space = await newSpace(ann)
  const member = (person: Somebody, role: string) =>
    ok(person.asAdmin(`/api/spaces/${space}/members/${person.id}?superAdmin=true`, { method: 'PUT', json: { role } }))
  await member(bob, 'Admin')
  const [inside, outside] = [await newDataset(ann, { space }), await newDataset(bob)]
  await server.drained()
  const path = `/api/spaces/${space}/webhooks`
  const made = await newWebhook(bob, target.url, { filter: { types: ['file.created'] } }, path)
  t.like(made, { scope: 'space', space, owner: bob.id })
  await upload(bob.call, outside, 'x', 'outside.txt')
  await upload(ann.call, inside, 'x', 'inside.txt')
  await until('the delivery', () => receivedNamed(target, 'inside.txt'))
  t.is(receivedNamed(target, 'outside.txt'), undefined)
  t.is((await ok<WebhookJson[]>(ann.call(path))).length, 1)
  t.is((await ann.call(`/api/webhooks/${made.id}`)).status, 200)
  const carl = await somebody(server, 'carl')
  await member(carl, 'Viewer')
  t.is((await carl.call(path)).status, 403)
  t.is((await carl.call(`/api/webhooks/${made.id}`)).status, 404)
  await member(bob, 'Viewer')
  await upload(ann.call, inside, 'x', 'canary.txt')
  const paused = await until(
    'the webhook to be paused',
    () => ok<WebhookJson>(ann.call(`/api/webhooks/${made.id}`)),
    seen => !seen.active,
  )
  t.is(paused.pauseReason, 'owner-without-rights')
  t.is(receivedNamed(target, 'canary.txt'), undefined)
  const resumed = await ok<WebhookJson>(ann.call(`/api/webhooks/${made.id}`, { method: 'PUT', json: { active: true } }))
  t.like(resumed, { active: true, owner: ann.id })
  await until('the pending event', () => receivedNamed(target, 'canary.txt'))
})

test('a webhook of the server receives all events and requires a server admin', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  t.is((await ann.call('/api/admin/webhooks', { method: 'POST', json: { url: target.url } })).status, 403)
  const admin = server.as(server.admin.key)
  const made = await ok<WebhookJson>(
    admin('/api/admin/webhooks', { method: 'POST', json: { url: target.url, filter: { types: ['dataset.created'] } } }),
  )
  await newDataset(ann, { name: 'private of ann' })
  await until('the delivery', () => receivedNamed(target, 'private of ann'))
  t.is((await ann.call(`/api/webhooks/${made.id}`)).status, 404)
  await admin(`/api/webhooks/${made.id}`, { method: 'DELETE' })
})

test('only owners manage their webhooks; those of others get the same 404 as unknown ones', async t => {
  const [ann, bob, target] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await webhookTarget(t)]
  const { id } = await newWebhook(ann, target.url)
  t.is((await server.as()('/api/webhooks')).status, 401)
  const paths: readonly (readonly [method: string, path: string, json?: unknown])[] = [
    ['GET', ''],
    ['PUT', '', { active: false }],
    ['DELETE', ''],
    ['POST', '/rotate'],
    ['POST', '/test'],
    ['GET', '/deliveries'],
    ['GET', '/deliveries/some-delivery'],
    ['POST', '/deliveries/some-delivery/resend'],
    ['POST', '/resend', { since: '2026-01-01' }],
  ]
  for (const [method, path, json] of paths)
    for (const webhook of [id, unknownId]) {
      const refused = await refusal(bob.call(`/api/webhooks/${webhook}${path}`, { method, ...(json ? { json } : {}) }))
      t.like(refused, { status: 404, code: 'not-found', message: 'Webhook not found or not accessible' }, `${method} ${path}`)
    }
  t.is((await ann.call(`/api/webhooks/${id}`, { method: 'DELETE' })).status, 204)
  t.is((await ann.call(`/api/webhooks/${id}`)).status, 404)
  t.deepEqual(await ok(ann.call('/api/webhooks')), [])
})

test('disallowed URLs and unknown event types are refused with the reason', async t => {
  const ann = await somebody(server, 'ann')
  for (const [json, message] of [
    [{ url: 'http://10.1.2.3/hook' }, /not a public address/],
    [{ url: 'ftp://example.org/hook' }, /http and https/],
    [{ url: 'https://user:secret@example.org/hook' }, /user name or password/],
    [
      { url: 'https://example.org/hook', filter: { types: ['dataset.exploded'] } },
      /dataset\.exploded is not a type of event.*dataset\.created/,
    ],
    [{ url: 'https://example.org/hook', filter: { colour: 'red' } }, /colour/],
    [{ url: 'https://example.org/hook', filter: { types: ['upload.progressed'] } }, /only: use upload\.finished or upload\.failed$/],
  ] as const) {
    const refused = await refusal(ann.call('/api/webhooks', { method: 'POST', json }))
    t.is(refused.status, 400, JSON.stringify(json))
    t.regex(refused.message, message)
  }
  t.deepEqual(await ok(ann.call('/api/webhooks')), [])
})

test('the end of an activity is delivered to webhooks of its user, and to nobody else', async t => {
  const [ann, bob] = [await somebody(server, 'ann'), await somebody(server, 'bob')]
  const [target, other] = [await webhookTarget(t), await webhookTarget(t)]
  const made = await newWebhook(ann, target.url, { filter: { types: ['bulk.finished'] } })
  await newWebhook(bob, other.url, { filter: { types: ['bulk.finished', 'dataset.created'] } })
  const json = { act: 'tag', resources: [{ type: 'dataset', id: await newDataset(ann) }], tags: ['soil'] }
  const { id } = await ok<{ id: string }>(ann.call('/api/bulk', { method: 'POST', json }))
  const received = await until('the delivery', () => target.received[0])
  t.like(received && verified(made.secret, received), { type: 'bulk.finished', subject: `job/${id}`, data: { id, done: 1, total: 1 } })
  await newDataset(bob)
  await until('a later event of another user', () => other.received[0])
  t.deepEqual(
    other.received.map(({ event }) => event.type),
    ['dataset.created'],
  )
})

test('a paused webhook receives nothing until it is resumed, and then the pending events', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  const dataset = await newDataset(ann)
  const made = await newWebhook(ann, target.url, { filter: { types: ['file.created'] } })
  target.answer = (_, response) => response.writeHead(500).end()
  await upload(ann.call, dataset, 'x', 'waits.txt')
  await until('an attempt', () => receivedNamed(target, 'waits.txt'))
  t.like(await ok<WebhookJson>(ann.call(`/api/webhooks/${made.id}`, { method: 'PUT', json: { active: false } })), {
    active: false,
    pauseReason: 'owner',
  })
  target.answer = (_, response) => response.end()
  await upload(ann.call, dataset, 'x', 'while paused.txt')
  await server.drained()
  const before = target.received.length
  await ok<WebhookJson>(ann.call(`/api/webhooks/${made.id}`, { method: 'PUT', json: { active: true } }))
  await until('the pending event', () => target.received.slice(before).some(({ event }) => event.data['name'] === 'waits.txt'))
  t.is(receivedNamed(target, 'while paused.txt'), undefined)
})

test('a test event is sent at once and its result is returned', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  const made = await newWebhook(ann, target.url)
  const result = await ok<{ delivered: boolean; attempt: { status?: number } }>(
    ann.call(`/api/webhooks/${made.id}/test`, { method: 'POST' }),
  )
  t.like(result, { delivered: true, attempt: { status: 200, response: 'thanks' } })
  const [message] = target.received
  if (!message) throw new Error('no message')
  t.like(verified(made.secret, message), { type: 'webhook.tested' })
  await target.shut()
  const failed = await ok<{ delivered: boolean; attempt: { error?: string } }>(
    ann.call(`/api/webhooks/${made.id}/test`, { method: 'POST' }),
  )
  t.false(failed.delivered)
  t.regex(failed.attempt.error ?? '', /unreachable/)
})

test('deliveries can be resent one by one or for a period, with the same id', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  const made = await newWebhook(ann, target.url, { filter: { types: ['file.created'] } })
  const dataset = await newDataset(ann)
  for (const name of ['1', '2', '3']) await upload(ann.call, dataset, 'x', name)
  const delivered = () => deliveriesOf(ann, made, '?state=delivered')
  const areDelivered = () => until('three deliveries', async () => (await delivered()).length === 3)
  await areDelivered()
  const oldest = (await delivered()).at(-1)
  const again = await ann.call(`/api/webhooks/${made.id}/deliveries/${oldest?.id}/resend`, { method: 'POST' })
  t.is(again.status, 202)
  await until('the event to be resent', () => target.received.length === 4)
  await areDelivered()
  t.is(target.received[3]?.headers['webhook-id'], oldest?.messageId)
  const range = await ok(ann.call(`/api/webhooks/${made.id}/resend`, { method: 'POST', json: { since: '2020-01-01', state: 'all' } }))
  t.deepEqual(range, { resent: 3, hasMore: false })
  await until('all events to be resent', () => target.received.length === 7)
  t.is((await ann.call(`/api/webhooks/${made.id}/deliveries/none/resend`, { method: 'POST' })).status, 404)
})

test('the log of deliveries is paged', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  const made = await newWebhook(ann, target.url, { filter: { types: ['tags.added'] } })
  const dataset = await newDataset(ann)
  for (let round = 0; round < 7; round += 1) await ann.post(`/api/datasets/${dataset}/tags`, { tags: [`${round}`] })
  await until('all events', () => target.received.length === 7)
  const seen: string[] = []
  let next: string | undefined = `/api/webhooks/${made.id}/deliveries?limit=3`
  while (next) {
    const answer: Response = await ann.call(next)
    seen.push(...((await answer.json()) as DeliveryJson[]).map(({ id }) => id))
    next = /<([^>]+)>/.exec(answer.headers.get('link') ?? '')?.[1]?.replace(server.url, '')
  }
  t.is(new Set(seen).size, 7, JSON.stringify(await deliveriesOf(ann, made)))
  t.deepEqual(seen, seen.toSorted().reverse())
})

test('the number of webhooks per user is limited', async t => {
  const own = await bootForTest({ t, config: { outbound: config.outbound, resources: { webhooks: { maxPerOwner: 2 } } } })
  const ann = await somebody(own, 'ann')
  const create = () => ann.call('/api/webhooks', { method: 'POST', json: { url: 'https://example.org/hook' } })
  const statuses = (await Promise.all(Array.from({ length: 5 }, create))).map(({ status }) => status)
  t.deepEqual(statuses.toSorted(), [201, 201, 409, 409, 409], 'also for concurrent requests')
  const refused = await refusal(create())
  t.is(refused.status, 409)
  t.regex(refused.message, /At most 2 webhooks/)
  const [first] = await ok<WebhookJson[]>(ann.call('/api/webhooks'))
  t.true((await ann.call(`/api/webhooks/${first?.id}`, { method: 'DELETE' })).ok)
  t.is((await create()).status, 201)
})
