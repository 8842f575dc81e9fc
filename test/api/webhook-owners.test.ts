import { createServer, type Server } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import test, { type ExecutionContext } from 'ava'
import { and, DocumentStore, eq, Mailer, Users } from 'pounce/sdk'
import { bootForTest, MemoryMailer } from 'pounce/sdk/testing'
import { webhooks } from '../../plugins/resources/webhooks/records.ts'
import { certificateFor } from '../support/certificate.ts'
import { ok, refusal, upload } from '../support/scene.ts'
import { letIn, newDataset, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'
import { webhookTarget } from '../support/webhook-target.ts'

const mailer = new MemoryMailer()
const server = await bootForTest({
  overrides: { [Mailer]: mailer },
  config: { access: { private: true }, outbound: { allow: ['127.0.0.1'] } },
})
test.after.always(() => server.stop())

interface Hook {
  readonly id: string
  readonly owner: string
  readonly active: boolean
  readonly description: string
  readonly pauseReason?: string
}
const hook = (who: Somebody, path: string, json: object): Promise<Hook> => ok(who.call(path, { method: 'POST', json }))
const change = (who: Somebody, { id }: Hook, json: object) => who.call(`/api/webhooks/${id}`, { method: 'PUT', json })

test('the webhook of a space outlives the account that created it, paused until another admin resumes it', async t => {
  const [ann, bob, target] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await webhookTarget(t)]
  const space = await newSpace(ann)
  await letIn(ann, space, 'Admin', bob)
  const ofSpace = await hook(ann, `/api/spaces/${space}/webhooks`, { url: target.url, filter: { types: ['file.created'] } })
  await hook(ann, '/api/webhooks', { url: target.url })
  t.is((await ann.asAdmin(`/api/users/${ann.id}`, { method: 'DELETE' })).status, 202)
  await server.drained()
  const [left, ...others] = await ok<Hook[]>(bob.call(`/api/spaces/${space}/webhooks`))
  t.deepEqual(others, [])
  t.like(left, { id: ofSpace.id, active: false, pauseReason: 'owner-without-rights' })
  t.false(JSON.stringify(left).includes(ann.id))
  t.like(await ok<Hook>(change(bob, ofSpace, { active: true })), { active: true, owner: bob.id })
  await upload(bob.call, await newDataset(bob, { space: [space] }), 'x', 'after.txt')
  await until('a delivery with the rights of bob', () => target.received.some(({ event }) => event.data['name'] === 'after.txt'))
})

test("an admin who changes a user's webhook does not become its owner", async t => {
  const [bob, target] = [await somebody(server, 'bob'), await webhookTarget(t)]
  const admin = server.as(server.admin.key)
  const made = await hook(bob, '/api/webhooks', { url: target.url, filter: { types: ['dataset.created'] } })
  const json = { description: 'checked by an admin' }
  const changed = await ok<Hook>(admin(`/api/webhooks/${made.id}?superAdmin=true`, { method: 'PUT', json }))
  t.like(changed, { owner: bob.id, description: json.description })
  t.like(await ok<Hook[]>(bob.call('/api/webhooks')), [{ id: made.id }])
  const create = (call: Somebody['call'], name: string) => ok(call('/api/datasets/createempty', { method: 'POST', json: { name } }))
  await create(admin, 'canary')
  await create(bob.call, 'own')
  await until('the delivery', () => target.received.some(({ event }) => event.data['name'] === 'own'))
  t.false(JSON.stringify(target.received).includes('canary'))
})

test('an empty update is refused with the valid properties, and a description can be removed', async t => {
  const ann = await somebody(server, 'ann')
  const made = await hook(ann, '/api/webhooks', { url: 'https://example.org/hook', description: 'backup' })
  t.like(await refusal(change(ann, made, {})), {
    status: 400,
    message: 'The body must have at least one of url, description, filter, active',
  })
  const preferences = await refusal(ann.call('/api/me/notifications/preferences', { method: 'PUT', json: {} }))
  t.regex(preferences.message, /^The body must have at least one of mention, reply, invitation/)
  t.is((await ok<Hook>(change(ann, made, { description: '' }))).description, '')
})

/** The error of a test event sent to a target. */
const errorOf = async (t: ExecutionContext, target: Server, scheme: 'http' | 'https'): Promise<string> => {
  await new Promise<void>(resolve => target.listen(0, '127.0.0.1', resolve))
  t.teardown(() => target.close())
  const { port } = target.address() as { port: number }
  const ann = await somebody(server, 'ann')
  const made = await hook(ann, '/api/webhooks', { url: `${scheme}://127.0.0.1:${port}/` })
  const { attempt } = await ok<{ attempt: { error?: string } }>(ann.call(`/api/webhooks/${made.id}/test`, { method: 'POST' }))
  return `${attempt.error}`.replace(`:${port}`, '')
}

test('a target that does not speak HTTP, or stops speaking it, is reported as such', async t => {
  const mail = createServer(socket => socket.on('error', () => undefined).end('220 mail.example.org ESMTP\r\n'))
  t.is(await errorOf(t, mail, 'http'), 'The answer of 127.0.0.1 is not HTTP')
  const switching = createServer(socket => {
    socket
      .on('error', () => undefined)
      .on('data', () => socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'))
  })
  t.is(await errorOf(t, switching, 'http'), 'The answer of 127.0.0.1 is not HTTP')
})

test('a target without a valid certificate is reported as such', async t => {
  const target = createTlsServer(certificateFor('127.0.0.1'), socket => socket.on('error', () => undefined))
  t.is(await errorOf(t, target, 'https'), 'The TLS certificate of 127.0.0.1 is not valid (DEPTH_ZERO_SELF_SIGNED_CERT)')
})

test('the notification of a pause names the webhook and explains how to resume it', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  target.answer = (_request, response) => response.writeHead(410).end()
  const made = await hook(ann, '/api/webhooks', { url: target.url, description: 'of the archive', filter: { types: ['dataset.created'] } })
  await newDataset(ann)
  await until(
    'the webhook to be paused',
    () => ok<Hook>(ann.call(`/api/webhooks/${made.id}`)),
    ({ active }) => !active,
  )
  await server.drained()
  const [notice] = await ok<{ title: string; text: string }[]>(ann.call('/api/me/notifications?kind=webhook-paused'))
  t.is(notice?.title, `Your webhook of the archive to 127.0.0.1:${target.port} was paused: its target answered 410 Gone`)
  t.is(notice?.text, `PUT {"active": true} to /api/webhooks/${made.id} resumes it.`)
})

test('a webhook of a suspended owner delivers nothing and is paused', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  const made = await hook(ann, '/api/webhooks', { url: target.url, filter: { types: ['file.created'] } })
  const [dataset] = [await newDataset(ann)]
  await server.get(Users).change(ann.id, { set: { status: 'Inactive' } }, [])
  await server.as(server.admin.key)(`/api/uploadToDataset/${dataset}?extract=false&superAdmin=true`, {
    method: 'POST',
    body: (() => {
      const form = new FormData()
      form.append('File', new Blob(['x']), 'canary.txt')
      return form
    })(),
  })
  await server.drained()
  await server.get(Users).change(ann.id, { set: { status: 'Active' } }, [])
  const paused = await until(
    'the webhook to be paused',
    () => ok<Hook>(ann.call(`/api/webhooks/${made.id}`)),
    seen => !seen.active,
  )
  t.is(paused.pauseReason, 'owner-without-rights')
  t.deepEqual(target.received, [])
})

test('a user whose webhook of a space was paused because they lost the rights learns who can resume it', async t => {
  const [ann, bob, target] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await webhookTarget(t)]
  const space = await newSpace(ann)
  await letIn(ann, space, 'Admin', ann, bob)
  const made = await hook(bob, `/api/spaces/${space}/webhooks`, { url: target.url })
  await letIn(ann, space, 'Viewer', bob)
  const path = '/api/me/notifications?kind=webhook-paused'
  const [notice] = await until(
    'the notification',
    () => ok<{ text: string }[]>(bob.call(path)),
    found => found.length > 0,
  )
  t.is(notice?.text, `Users who have these rights can resume it: PUT {"active": true} to /api/webhooks/${made.id}.`)
})

test('the webhooks of a space are deleted with it, without a notification that they were paused', async t => {
  const [ann, bob, target] = [await somebody(server, 'ann'), await somebody(server, 'bob'), await webhookTarget(t)]
  const space = await newSpace(ann)
  await letIn(ann, space, 'Admin', ann, bob)
  await hook(bob, `/api/spaces/${space}/webhooks`, { url: target.url })
  await hook(ann, `/api/spaces/${space}/webhooks`, { url: target.url })
  await ok(ann.call(`/api/spaces/${space}`, { method: 'DELETE' }))
  await server.drained()
  const ofSpace = { using: 'bySpace', where: and(eq('scope', 'space'), eq('space', space)) } as const
  t.is(await server.get(DocumentStore).count(webhooks, { ...ofSpace, upTo: 10 }), 0)
  for (const one of [ann, bob]) t.deepEqual(await ok(one.call('/api/me/notifications?kind=webhook-paused')), [])
})

test('a changed URL is tried without waiting for the retry of the former one', async t => {
  const [ann, failing, working] = [await somebody(server, 'ann'), await webhookTarget(t), await webhookTarget(t)]
  failing.answer = (_request, response) => response.writeHead(500).end()
  const made = await hook(ann, '/api/webhooks', { url: failing.url, filter: { types: ['dataset.created'] } })
  await newDataset(ann)
  const state = () => ok<Hook & { failingSince?: string; retryAt?: string }>(ann.call(`/api/webhooks/${made.id}`))
  await until('three failures', () => failing.received.length >= 3)
  await until('the last one to be recorded', state, ({ retryAt }) => retryAt !== undefined)
  const changed = await ok<{ failingSince?: string; retryAt?: string }>(change(ann, made, { url: working.url }))
  t.is(changed.retryAt, undefined)
  t.is(changed.failingSince, undefined)
  await until('the delivery', () => working.received.length === 1)
})
