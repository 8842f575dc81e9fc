import test from 'ava'
import { Mailer } from 'pounce/sdk'
import { bootForTest, MemoryMailer } from 'pounce/sdk/testing'
import { Webhook } from 'standardwebhooks'
import { ok, refusal, unknownId, upload } from '../support/scene.ts'
import { letIn, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'
import { type Received, type Target, webhookTarget } from '../support/webhook-target.ts'

// @separate-process: targets must respond within three seconds.
const config = { access: { private: true }, outbound: { allow: ['127.0.0.1'] } }
const server = await bootForTest({ config })
test.after.always(() => server.stop())

interface Hook {
  readonly id: string
  readonly secret: string
  readonly active: boolean
  readonly owner: string
  readonly pauseReason?: string
  readonly failingSince?: string
}
interface Delivery {
  readonly id: string
  readonly messageId: string
  readonly type: string
  readonly state: string
  readonly tries: number
  readonly event?: unknown
  readonly attempts: readonly {
    readonly status?: number
    readonly response?: string
    readonly error?: string
    readonly durationMs: number
  }[]
}

const hook = (who: Somebody, url: string, more: Record<string, unknown> = {}, path = '/api/webhooks'): Promise<Hook> =>
  ok<Hook>(who.call(path, { method: 'POST', json: { url, ...more } }))
const log = (who: Somebody, { id }: Hook, query = ''): Promise<Delivery[]> => ok(who.call(`/api/webhooks/${id}/deliveries${query}`))
const named = (target: Target, name: string): Received | undefined => target.received.find(({ event }) => event.data['name'] === name)
const verify = (secret: string, { headers, body }: Received): unknown => new Webhook(secret).verify(body, headers as Record<string, string>)

test('an event arrives as a CloudEvent that the published verifier accepts, and a tampered one is refused', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  const made = await hook(ann, target.url, { filter: { types: ['file.created'] } })
  t.regex(made.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const dataset = await newDataset(ann)
  const file = await upload(ann.call, dataset, 'core', 'core.txt')
  await until('the delivery', () => named(target, 'core.txt'))
  const [message] = target.received
  if (!message) throw new Error('no message')
  t.is(target.received.length, 1)
  t.like(verify(made.secret, message), { specversion: '1.0', type: 'file.created', subject: `file/${file}`, data: { id: file, dataset } })
  t.is(message.headers['content-type'], 'application/json')
  t.throws(() => verify(made.secret, { ...message, body: message.body.replace('core.txt', 'hole.txt') }))
  t.throws(() => verify(made.secret, { ...message, headers: { ...message.headers, 'webhook-id': 'msg_other' } }))
  t.throws(() => verify(`whsec_${Buffer.alloc(32).toString('base64')}`, message))
  const [delivery] = await until(
    'the delivery to be logged',
    () => log(ann, made, '?state=delivered'),
    seen => seen.length === 1,
  )
  t.like(delivery, { type: 'file.created', state: 'delivered', tries: 1, messageId: message.headers['webhook-id'] })
  t.like(delivery?.attempts[0], { status: 200, response: 'thanks' })
})

test('the secret is returned on creation and never again', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  const { id, secret } = await hook(ann, target.url)
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
    const made = await hook(ann, target.url, { filter: { types: ['file.created'] } })
    const rotated = await ok<Hook>(ann.call(`/api/webhooks/${made.id}/rotate`, { method: 'POST' }))
    t.not(rotated.secret, made.secret)
    await upload(ann.call, await newDataset(ann), 'x', 'rotated.txt')
    const message = await until('the delivery', () => named(target, 'rotated.txt'))
    if (!message) throw new Error('no message')
    t.notThrows(() => verify(rotated.secret, message))
    t.is(String(message.headers['webhook-signature']).split(' ').length, verifiers)
    if (verifiers === 2) t.notThrows(() => verify(made.secret, message))
    else t.throws(() => verify(made.secret, message))
  }
})

test('events that the owner may not view are not delivered, even if the right is lost before the delivery', async t => {
  const [ann, bob, target] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await webhookTarget(t)]
  const [space, other] = [await newSpace(ann), await newSpace(ann)]
  for (const one of [space, other]) await letIn(ann, one, 'Viewer', bob)
  const [inside, still] = [await newDataset(ann, { space }), await newDataset(ann, { space: other })]
  const secret = await newDataset(ann, { name: 'canary dataset' })
  await server.drained()
  const made = await hook(bob, target.url)
  await upload(ann.call, inside, 'x', 'seen.txt')
  await until('the visible event', () => named(target, 'seen.txt'))
  target.answer = (_, response) => response.writeHead(503).end()
  await upload(ann.call, secret, 'canary', 'canary one.txt')
  await upload(ann.call, inside, 'canary', 'canary two.txt')
  await until(
    'a failed attempt',
    () => log(bob, made, '?state=waiting'),
    seen => seen.some(({ tries }) => tries > 0),
  )
  const before = target.received.length
  t.is((await ann.post(`/api/spaces/${space}/removeUser?removeUser=${bob.id}`)).status, 200)
  target.answer = (_, response) => response.end()
  await upload(ann.call, still, 'x', 'last.txt')
  await until('the last event', () => named(target, 'last.txt'))
  await until(
    'no delivery to be waiting',
    () => log(bob, made, '?state=waiting'),
    seen => seen.length === 0,
  )
  const later = target.received.slice(before)
  t.false(JSON.stringify(later).includes('canary'))
  t.false(JSON.stringify(target.received).includes('canary one'))
  t.false(JSON.stringify(target.received).includes(secret))
  // Earlier deliveries stay in the log, without content that may no longer be viewed.
  t.false(JSON.stringify(await log(bob, made)).includes('canary two'))
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
  const made = await hook(bob, target.url, { filter: { types: ['file.created'] } }, path)
  t.like(made, { scope: 'space', space, owner: bob.id })
  await upload(bob.call, outside, 'x', 'outside.txt')
  await upload(ann.call, inside, 'x', 'inside.txt')
  await until('the delivery', () => named(target, 'inside.txt'))
  t.is(named(target, 'outside.txt'), undefined)
  t.is((await ok<Hook[]>(ann.call(path))).length, 1)
  t.is((await ann.call(`/api/webhooks/${made.id}`)).status, 200)
  const carl = await somebody(server, 'carl')
  await member(carl, 'Viewer')
  t.is((await carl.call(path)).status, 403)
  t.is((await carl.call(`/api/webhooks/${made.id}`)).status, 404)
  await member(bob, 'Viewer')
  await upload(ann.call, inside, 'x', 'canary.txt')
  const paused = await until(
    'the webhook to be paused',
    () => ok<Hook>(ann.call(`/api/webhooks/${made.id}`)),
    seen => !seen.active,
  )
  t.is(paused.pauseReason, 'owner-without-rights')
  t.is(named(target, 'canary.txt'), undefined)
  const resumed = await ok<Hook>(ann.call(`/api/webhooks/${made.id}`, { method: 'PUT', json: { active: true } }))
  t.like(resumed, { active: true, owner: ann.id })
  await until('the pending event', () => named(target, 'canary.txt'))
})

test('a webhook of the server receives all events and requires a server admin', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  t.is((await ann.call('/api/admin/webhooks', { method: 'POST', json: { url: target.url } })).status, 403)
  const admin = server.as(server.admin.key)
  const made = await ok<Hook>(
    admin('/api/admin/webhooks', { method: 'POST', json: { url: target.url, filter: { types: ['dataset.created'] } } }),
  )
  await newDataset(ann, { name: 'private of ann' })
  await until('the delivery', () => named(target, 'private of ann'))
  t.is((await ann.call(`/api/webhooks/${made.id}`)).status, 404)
  await admin(`/api/webhooks/${made.id}`, { method: 'DELETE' })
})

test('only owners manage their webhooks; those of others get the same 404 as unknown ones', async t => {
  const [ann, bob, target] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await webhookTarget(t)]
  const { id } = await hook(ann, target.url)
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
  ] as const) {
    const refused = await refusal(ann.call('/api/webhooks', { method: 'POST', json }))
    t.is(refused.status, 400, JSON.stringify(json))
    t.regex(refused.message, message)
  }
  t.deepEqual(await ok(ann.call('/api/webhooks')), [])
})

test('events of one subject are delivered in order, even if the first attempts fail', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  const dataset = await newDataset(ann)
  await server.drained()
  let failures = 2
  target.answer = (_, response) => response.writeHead(failures-- > 0 ? 500 : 200).end()
  await hook(ann, target.url, { filter: { types: ['tags.added'] } })
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
  const made = await hook(ann, target.url, { filter: { types: ['tags.added'] } })
  await target.shut()
  for (let round = 0; round < 100; round += 1) await ann.post(`/api/datasets/${round % 2 ? one : two}/tags`, { tags: [`${round}`] })
  await until(
    'a failed attempt',
    () => ok<Hook>(ann.call(`/api/webhooks/${made.id}`)),
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
    () => ok<Hook>(ann.call(`/api/webhooks/${made.id}`)),
    seen => seen.failingSince === undefined,
  )
  t.true(after.active)
})

test('a slow target does not block another one', async t => {
  const [ann, slow, fast] = [await somebody(server, 'ann'), await webhookTarget(t), await webhookTarget(t)]
  slow.answer = () => undefined
  const dataset = await newDataset(ann)
  await server.drained()
  for (const { url } of [slow, fast]) await hook(ann, url, { filter: { types: ['tags.added'] } })
  for (let round = 0; round < 20; round += 1) await ann.post(`/api/datasets/${dataset}/tags`, { tags: [`${round}`] })
  await until('all events at the fast target', () => fast.received.length === 20)
  t.true(slow.received.length < 20)
})

test('connections reset by a target are failures, and events that it did receive are not sent again', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  const made = await hook(ann, target.url, { filter: { types: ['dataset.created'] } })
  target.answer = (request, response) => {
    const { name } = target.received.findLast(({ headers }) => headers === request.headers)?.event.data ?? {}
    setTimeout(() => (String(name).startsWith('reset') ? request.socket.destroy() : response.end()), 50)
  }
  const create = (kind: string) => Promise.all(Array.from({ length: 8 }, (_, at) => newDataset(ann, { name: `${kind} ${at}` })))
  await create('warm')
  await until('connections to be kept alive', () => target.received.length === 8)
  await Promise.all([create('good'), create('reset')])
  await until('one kind to be delivered and the other to be tried', async () => {
    const [waiting, delivered] = await Promise.all([log(ann, made, '?state=waiting'), log(ann, made, '?state=delivered')])
    return waiting.length === 8 && delivered.length === 16 && waiting.some(({ tries }) => tries > 1)
  })
  const good = target.received.filter(({ event }) => String(event.data['name']).startsWith('good'))
  t.is(good.length, 8)
})

test('a paused webhook receives nothing until it is resumed, and then the pending events', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  const dataset = await newDataset(ann)
  const made = await hook(ann, target.url, { filter: { types: ['file.created'] } })
  target.answer = (_, response) => response.writeHead(500).end()
  await upload(ann.call, dataset, 'x', 'waits.txt')
  await until('an attempt', () => named(target, 'waits.txt'))
  t.like(await ok<Hook>(ann.call(`/api/webhooks/${made.id}`, { method: 'PUT', json: { active: false } })), {
    active: false,
    pauseReason: 'owner',
  })
  target.answer = (_, response) => response.end()
  await upload(ann.call, dataset, 'x', 'while paused.txt')
  await server.drained()
  const before = target.received.length
  await ok<Hook>(ann.call(`/api/webhooks/${made.id}`, { method: 'PUT', json: { active: true } }))
  await until('the pending event', () => target.received.slice(before).some(({ event }) => event.data['name'] === 'waits.txt'))
  t.is(named(target, 'while paused.txt'), undefined)
})

test('410 Gone pauses a webhook at once', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  target.answer = (_, response) => response.writeHead(410).end()
  const made = await hook(ann, target.url, { filter: { types: ['file.created'] } })
  await upload(ann.call, await newDataset(ann), 'x', 'gone.txt')
  const paused = await until(
    'the webhook to be paused',
    () => ok<Hook>(ann.call(`/api/webhooks/${made.id}`)),
    seen => !seen.active,
  )
  t.is(paused.pauseReason, 'gone')
})

test('hostile targets are cut off: an endless body, a redirect to a private address, a silent connection', async t => {
  const own = await bootForTest({ t, config: { outbound: config.outbound, resources: { webhooks: { timeoutMs: 3000 } } } })
  const ann = await somebody(own, 'ann')
  const inner = await webhookTarget(t)
  const answers: Record<string, { readonly answer: Target['answer']; readonly seen: (attempt: Delivery['attempts'][number]) => boolean }> =
    {
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
    const made = await hook(ann, target.url, { filter: { types: ['file.created'] } })
    await upload(ann.call, await newDataset(ann), 'x', `${name}.txt`)
    const [delivery] = await until(
      `the attempt at ${name}`,
      () => log(ann, made),
      found => (found[0]?.attempts.length ?? 0) > 0,
    )
    const [attempt] = delivery?.attempts ?? []
    t.true(attempt !== undefined && seen(attempt), `${name} ${JSON.stringify(attempt).slice(0, 300)}`)
    await ann.call(`/api/webhooks/${made.id}`, { method: 'DELETE' })
  }
  t.deepEqual(inner.received, [])
})

test('a test event is sent at once and its result is returned', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  const made = await hook(ann, target.url)
  const result = await ok<{ delivered: boolean; attempt: { status?: number } }>(
    ann.call(`/api/webhooks/${made.id}/test`, { method: 'POST' }),
  )
  t.like(result, { delivered: true, attempt: { status: 200, response: 'thanks' } })
  const [message] = target.received
  if (!message) throw new Error('no message')
  t.like(verify(made.secret, message), { type: 'webhook.tested' })
  await target.shut()
  const failed = await ok<{ delivered: boolean; attempt: { error?: string } }>(
    ann.call(`/api/webhooks/${made.id}/test`, { method: 'POST' }),
  )
  t.false(failed.delivered)
  t.regex(failed.attempt.error ?? '', /unreachable/)
})

test('deliveries can be resent one by one or for a period, with the same id', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  const made = await hook(ann, target.url, { filter: { types: ['file.created'] } })
  const dataset = await newDataset(ann)
  for (const name of ['1', '2', '3']) await upload(ann.call, dataset, 'x', name)
  const delivered = () => log(ann, made, '?state=delivered')
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
  const made = await hook(ann, target.url, { filter: { types: ['tags.added'] } })
  const dataset = await newDataset(ann)
  for (let round = 0; round < 7; round += 1) await ann.post(`/api/datasets/${dataset}/tags`, { tags: [`${round}`] })
  await until('all events', () => target.received.length === 7)
  const seen: string[] = []
  let next: string | undefined = `/api/webhooks/${made.id}/deliveries?limit=3`
  while (next) {
    const answer: Response = await ann.call(next)
    seen.push(...((await answer.json()) as Delivery[]).map(({ id }) => id))
    next = /<([^>]+)>/.exec(answer.headers.get('link') ?? '')?.[1]?.replace(server.url, '')
  }
  t.is(new Set(seen).size, 7, JSON.stringify(await log(ann, made)))
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
  const [first] = await ok<Hook[]>(ann.call('/api/webhooks'))
  t.true((await ann.call(`/api/webhooks/${first?.id}`, { method: 'DELETE' })).ok)
  t.is((await create()).status, 201)
})

test('deliveries that fail for too long become dead letters, and a webhook that always fails is paused', async t => {
  const day = 86_400_000
  let now = Date.parse('2026-11-01T00:00:00Z')
  const clock = { now: () => new Date(now) }
  const mailer = new MemoryMailer()
  const own = await bootForTest({ t, config: { outbound: config.outbound }, clock, overrides: { [Mailer]: mailer } })
  const [ann, target] = [await somebody(own, 'ann'), await webhookTarget(t)]
  target.answer = (_, response) => response.writeHead(500).end('no')
  const made = await hook(ann, target.url, { filter: { types: ['file.created'] } })
  const dataset = await newDataset(ann)
  await upload(ann.call, dataset, 'x', 'first.txt')
  await until(
    'an attempt',
    () => log(ann, made),
    seen => seen.some(({ tries }) => tries > 0),
  )
  now += 3.5 * day
  await own.runPeriodic('resources.webhooks/retention')
  const [failed] = await until(
    'the dead letter',
    () => log(ann, made, '?state=failed'),
    seen => seen.length === 1,
  )
  t.like(failed, { state: 'failed', attempts: [{ status: 500, response: 'no' }] })
  t.true((await ok<Hook>(ann.call(`/api/webhooks/${made.id}`))).active)
  now += 4 * day
  await upload(ann.call, dataset, 'x', 'second.txt')
  const paused = await until(
    'the webhook to be paused',
    () => ok<Hook>(ann.call(`/api/webhooks/${made.id}`)),
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
  const made = await hook(ann, target.url, { filter: { types: ['file.created'] } })
  await target.shut()
  await upload(ann.call, await newDataset(ann), 'x', 'waits.txt')
  await own.drained()
  await own.restart()
  await target.open()
  const message = await until('the delivery', () => named(target, 'waits.txt'), Boolean, 60_000)
  if (!message) throw new Error('no message')
  t.notThrows(() => verify(made.secret, message))
})
