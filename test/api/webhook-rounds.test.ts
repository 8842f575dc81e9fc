import test from 'ava'
import { DocumentStore } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { webhooks } from '../../plugins/resources/webhooks/records.ts'
import { ok } from '../support/scene.ts'
import { letIn, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'
import { type Target, webhookTarget } from '../support/webhook-target.ts'

const config = { access: { private: true }, outbound: { allow: ['127.0.0.1'] } }
const server = await bootForTest({ config })
test.after.always(() => server.stop())

/** Older than the check of rights that a delivery may use. */
const oldCheckMs = 1100

interface Hook {
  readonly id: string
  readonly secret: string
}
const hook = (who: Somebody, { url }: Target, type = 'tags.added'): Promise<Hook> =>
  ok(who.call('/api/webhooks', { method: 'POST', json: { url, filter: { types: [type] } } }))
const tag = (who: Somebody, dataset: string, name: string) => who.post(`/api/datasets/${dataset}/tags`, { tags: [name] })

const revocations: Readonly<Record<string, (scene: { ann: Somebody; bob: Somebody; space: string; id: string }) => Promise<Response>>> = {
  'a member is removed from the space': ({ ann, bob, space }) => ann.call(`/api/spaces/${space}/members/${bob.id}`, { method: 'DELETE' }),
  'the owner is suspended': ({ bob }) =>
    server.as(server.admin.key)('/api/admin/users', {
      method: 'POST',
      json: { active: [], inactive: [bob.id], readonly: [], admin: [], unadmin: [] },
    }),
  'the webhook is paused': ({ bob, id }) => bob.call(`/api/webhooks/${id}`, { method: 'PUT', json: { active: false } }),
  'the webhook is deleted': ({ bob, id }) => bob.call(`/api/webhooks/${id}`, { method: 'DELETE' }),
}

for (const [what, revoke] of Object.entries(revocations))
  test(`${what}: deliveries that are already due are not sent`, async t => {
    const [ann, bob, target] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await webhookTarget(t)]
    const space = await newSpace(ann)
    await letIn(ann, space, 'Viewer', bob)
    const dataset = await newDataset(ann, { space })
    await server.drained()
    const held: (() => void)[] = []
    target.answer = (_, response) => void held.push(() => response.end())
    const { id } = await hook(bob, target)
    await tag(ann, dataset, 'first')
    await until('the first delivery', () => held.length === 1)
    for (let at = 0; at < 10; at += 1) await tag(ann, dataset, `tag ${at}`)
    await server.drained()
    held[0]?.()
    await until('a delivery of the round with all others', () => held.length === 2)
    t.true((await revoke({ ann, bob, space, id })).ok)
    target.answer = (_, response) => response.end()
    const marker = await webhookTarget(t)
    await hook(ann, marker)
    await new Promise(resolve => setTimeout(resolve, oldCheckMs))
    held[1]?.()
    for (const name of ['one', 'two', 'three']) await tag(ann, dataset, name)
    await until('later events at another target', () => marker.received.length === 3)
    t.is(target.received.length, 2)
  })

test('a delivery that is resent while it is being sent is sent again', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  const dataset = await newDataset(ann)
  await server.drained()
  const held: (() => void)[] = []
  target.answer = (_, response) => void held.push(() => response.end())
  const { id } = await hook(ann, target)
  await tag(ann, dataset, 'slow')
  await until('the delivery', () => held.length === 1)
  const [delivery] = await ok<{ id: string }[]>(ann.call(`/api/webhooks/${id}/deliveries`))
  t.is((await ann.post(`/api/webhooks/${id}/deliveries/${delivery?.id}/resend`)).status, 202)
  held[0]?.()
  await until('the second delivery', () => held.length === 2)
  held[1]?.()
  const [first, second] = target.received.map(({ headers }) => headers['webhook-id'])
  t.is(second, first)
})

test('Retry-After applies to all deliveries of a webhook, also to those of new events', async t => {
  for (const status of [429, 503]) {
    let now = Date.parse('2026-11-01T00:00:00Z')
    const own = await bootForTest({ t, config, clock: { now: () => new Date(now) } })
    const [ann, target, other] = [await somebody(own, 'ann'), await webhookTarget(t), await webhookTarget(t)]
    const datasets = await Promise.all(Array.from({ length: 4 }, () => newDataset(ann)))
    await own.drained()
    const began = now
    const seconds: number[] = []
    target.answer = (_, response) => {
      seconds.push((now - began) / 1000)
      if (seconds.length === 1) response.end()
      else response.writeHead(status, { 'retry-after': '60' }).end()
    }
    const made = await hook(ann, target)
    await hook(ann, other)
    // Besides those of two tags that are added first.
    let events = 2
    const tagAll = async (name: string) => {
      for (const dataset of datasets) for (const at of [1, 2]) await tag(ann, dataset, `${name} ${at}`)
      events += 8
      await until('all events at another target', () => other.received.length === events)
    }
    await tag(ann, datasets[0] as string, 'accepted')
    await until('a success', () => seconds.length === 1)
    await tag(ann, datasets[0] as string, 'refused')
    await until('Retry-After to be recorded', async () => {
      const [delivery] = await ok<{ tries: number }[]>(ann.call(`/api/webhooks/${made.id}/deliveries?state=waiting`))
      return delivery?.tries === 1
    })
    for (const later of [10, 50]) {
      now = began + later * 1000
      await tagAll(`after ${later} s`)
    }
    t.deepEqual(seconds, [0, 0], `${status}`)
    target.answer = (_, response) => response.end()
    now = began + 90_000
    await until('all events', () => target.received.length === 19)
  }
})

test('the secret can be rotated while deliveries run and right after an update', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  const dataset = await newDataset(ann)
  const { id } = await hook(ann, target)
  const update = async (): Promise<number[]> => {
    const some = Array.from({ length: 10 }, (_, at) => ann.call(`/api/webhooks/${id}`, { method: 'PUT', json: { description: `${at}` } }))
    return (await Promise.all(some)).map(({ status }) => status)
  }
  const rotate = async (): Promise<number[]> => {
    const some = Array.from({ length: 4 }, () => ann.call(`/api/webhooks/${id}/rotate`, { method: 'POST' }))
    return (await Promise.all(some)).map(({ status }) => status)
  }
  const tagAll = async () => {
    for (let at = 0; at < 10; at += 1) await tag(ann, dataset, `${at}`)
  }
  const [updated, rotated] = await Promise.all([update(), rotate(), tagAll()])
  t.deepEqual([...new Set([...updated, ...rotated])], [200])
  await until('all events', () => target.received.length === 10)
})

test('a failed delivery does not wait for its time from before the clock was set back', async t => {
  let now = Date.parse('2026-11-01T00:00:00Z')
  const own = await bootForTest({ t, config, clock: { now: () => new Date(now) } })
  const [ann, target] = [await somebody(own, 'ann'), await webhookTarget(t)]
  const dataset = await newDataset(ann)
  await own.drained()
  target.answer = (_, response) => {
    if (target.received.length === 1) response.statusCode = 500
    response.end()
  }
  const { id } = await hook(ann, target)
  await tag(ann, dataset, 'one')
  const isFailing = async () => 'failingSince' in (await ok<object>(ann.call(`/api/webhooks/${id}`)))
  await until('the failure to be recorded', isFailing)
  now -= 24 * 60 * 60_000
  await tag(ann, dataset, 'two')
  await until('both deliveries', () => target.received.length === 3, Boolean, 20_000)
  t.false(await until('the recovery', isFailing, failing => !failing))
})

test('targets of one person that respond slowly do not delay deliveries of others', async t => {
  const own = await bootForTest({ t, config: { ...config, resources: { webhooks: { maxConcurrent: 4, timeoutMs: 60_000 } } } })
  const [ann, bob, fast] = [await somebody(own, 'ann'), await somebody(own, 'bob'), await webhookTarget(t)]
  const slow = await Promise.all(Array.from({ length: 5 }, () => webhookTarget(t)))
  for (const target of slow) {
    target.answer = () => undefined
    await hook(ann, target)
  }
  await hook(bob, fast)
  await tag(ann, await newDataset(ann), 'slow')
  const claimed = async (): Promise<number> => {
    const all = await Array.fromAsync(own.get(DocumentStore).walk(webhooks))
    return all.filter(({ owner, claimedBy }) => owner === ann.id && claimedBy !== null).length
  }
  await until('rounds of all slow webhooks', async () => (await claimed()) === slow.length)
  await until('a slow delivery', () => slow.some(({ received }) => received.length > 0))
  await tag(bob, await newDataset(bob), 'fast')
  await until('the delivery of the other person', () => fast.received.length === 1)
  t.is(fast.received.length, 1)
})
