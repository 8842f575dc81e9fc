import { gzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { type TestFetch, usualOrFull } from 'pounce/sdk/testing'
import { adminKey, childServer, dataFolder } from '../support/child-server.ts'
import { eachOf } from '../support/killed-server.ts'
import { newDataset, ok } from '../support/scene.ts'
import { until } from '../support/until.ts'
import { type Received, type Target, webhookTarget } from '../support/webhook-target.ts'

const settings = { POUNCE_OUTBOUND__ALLOW: '["127.0.0.1"]' }
/** The batch size of deliveries, which is the maximum that a kill repeats. */
const maxRepeats = 100

const wordOf = ({ event }: Received): string => (event.data['tags'] as string[])[0] ?? ''

/** Adds numbered tags to each dataset, starting at 0. */
const tagAll = (call: TestFetch, datasets: readonly string[], each: number): Promise<void> =>
  eachOf(datasets, async dataset => {
    for (let at = 0; at < each; at += 1)
      await ok(call(`/api/datasets/${dataset}/tags`, { method: 'POST', json: { tags: [`${dataset} ${at}`] } }))
  })

const setUp = async (t: ExecutionContext, folder: string) => {
  const [server, target] = [await childServer(t, folder, settings), await webhookTarget(t)]
  const key = await adminKey(server)
  const call = server.as(key)
  const datasets = await Promise.all(Array.from({ length: 10 }, () => newDataset(call)))
  await ok(call('/api/webhooks', { method: 'POST', json: { url: target.url, filter: { types: ['tags.added'] } } }))
  return { server, target, call, key, datasets }
}

/** The first receipt of each message, by dataset, in order of arrival. */
const firsts = (target: Target): ReadonlyMap<string, readonly number[]> => {
  const seen = new Set<unknown>()
  const fresh = target.received.filter(({ headers }) => !seen.has(headers['webhook-id']) && seen.add(headers['webhook-id']))
  const words = fresh.map(message => wordOf(message).split(' '))
  return new Map([...Map.groupBy(words, ([dataset = '']) => dataset)].map(([dataset, list]) => [dataset, list.map(([, at]) => Number(at))]))
}

const isComplete = (target: Target, datasets: readonly string[], each: number): boolean => {
  const seen = firsts(target)
  return datasets.every(dataset => seen.get(dataset)?.length === each)
}

test('a server killed during deliveries repeats some, loses none, and keeps the order per resource', async t => {
  const each = 30
  const folder = await dataFolder(t)
  const { server, target, call, key, datasets } = await setUp(t, folder)
  const kills = 3
  let now = server
  await tagAll(call, datasets, each)
  for (let kill = 1; kill <= kills; kill += 1) {
    const enough = Math.min((each * datasets.length * kill) / (kills + 1), each * datasets.length - 1)
    await until('enough deliveries', () => target.received.length >= enough, Boolean, 60_000)
    now.signal('SIGKILL')
    await now.ended
    now = await childServer(t, folder, settings)
  }
  t.truthy(key)
  await until('all messages to be delivered', () => isComplete(target, datasets, each), Boolean, 120_000)
  const order = Array.from({ length: each }, (_, at) => at)
  for (const [dataset, seen] of firsts(target)) t.deepEqual(seen, order, dataset)
  const repeats = target.received.length - each * datasets.length
  t.log(`${each * datasets.length} messages, ${kills} kills, ${repeats} repeats`)
  t.true(repeats <= kills * maxRepeats)
})

test('a server that is stopped waits for the response to a sent message and does not repeat it', async t => {
  const folder = await dataFolder(t)
  const { server, target, call, key, datasets } = await setUp(t, folder)
  target.answer = (_, response) => setTimeout(() => response.end('late'), 700)
  await tagAll(call, datasets.slice(0, 1), 1)
  await until('the message to be received', () => target.received.length === 1)
  server.signal('SIGTERM')
  await server.ended
  await tagAll((await childServer(t, folder, settings)).as(key), datasets.slice(0, 1), 2)
  await until('later messages', () => target.received.some(message => wordOf(message).endsWith(' 1')))
  const ids = target.received.map(({ headers }) => headers['webhook-id'])
  t.deepEqual(ids, [...new Set(ids)])
})

test('events during the outage of a target are delivered afterwards, in order per resource', async t => {
  const each = usualOrFull(40, 1000)
  const { target, call, datasets } = await setUp(t, await dataFolder(t))
  await target.shut()
  await tagAll(call, datasets, each)
  await target.open()
  const began = performance.now()
  await until('all messages to be delivered', () => isComplete(target, datasets, each), Boolean, 170_000)
  const seconds = (performance.now() - began) / 1000
  t.log(`${each * datasets.length} messages in ${seconds.toFixed(1)} s after the return, the first probe included`)
  const order = Array.from({ length: each }, (_, at) => at)
  for (const [dataset, seen] of firsts(target)) t.deepEqual(seen, order, dataset)
})

test('a hostile target causes a single log line: an endless body, a dripping one, a redirect loop, a gzip bomb', async t => {
  const server = await childServer(t, await dataFolder(t), { ...settings, POUNCE_RESOURCES__WEBHOOKS__TIMEOUT_MS: '2000' })
  const call = server.as(await adminKey(server))
  const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024))
  const sending = (chunk: Buffer, everyMs: number): Target['answer'] => {
    return (_, response) => {
      response.writeHead(200)
      const more = setInterval(() => response.write(chunk), everyMs)
      response.on('close', () => clearInterval(more))
    }
  }
  const hostile: Readonly<Record<string, Target['answer']>> = {
    endless: sending(Buffer.alloc(16 * 1024, 'x'), 5),
    dripping: sending(Buffer.from('x'), 50),
    loop: (request, response) => response.writeHead(307, { location: request.url }).end(),
    bomb: (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
  }
  const ports = new Map<string, number>()
  for (const [name, answer] of Object.entries(hostile)) {
    const target = await webhookTarget(t)
    target.answer = answer
    ports.set(name, target.port)
    const { id } = await ok<{ id: string }>(
      call('/api/webhooks', { method: 'POST', json: { url: target.url, filter: { types: ['tags.added'] } } }),
    )
    await tagAll(call, [await newDataset(call)], 3)
    await until(`messages to the target ${name}`, () => target.received.length >= (name === 'loop' ? 1 : 3))
    await until('their outcome to be recorded', async () => {
      const some = await ok<{ attempts: unknown[] }[]>(call(`/api/webhooks/${id}/deliveries`))
      return some.filter(({ attempts }) => attempts.length > 0).length >= (name === 'loop' ? 1 : 3)
    })
    t.is((await call(`/api/webhooks/${id}`, { method: 'DELETE' })).status, 204)
  }
  server.signal('SIGTERM')
  const { err } = await server.ended
  const lines = err.split('\n').filter(line => line.includes('resources.webhooks'))
  for (const [name, port] of ports) t.is(lines.filter(line => line.includes(`127.0.0.1:${port}`)).length, 1, `${name}\n${lines.join('\n')}`)
  t.is(lines.length, ports.size)
})
