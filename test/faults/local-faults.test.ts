import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { bootForTest, FixedClock } from 'pounce/sdk/testing'
import { adminKey, childServer, dataFolder, runPounce } from '../support/child-server.ts'
import { newDataset, ok, refusal, upload } from '../support/scene.ts'
import { drained, until } from '../support/until.ts'

const faultyPlugin = fileURLToPath(new URL('./faulty-plugin', import.meta.url))
const poisoned = { consumer: 'test.faulty-plugin/poisoned-tags', type: 'tags.added', attempts: 5 }

test('an event whose handler fails five times is dead-lettered, reported by /readyz, and blocks nothing else', async t => {
  const folder = await dataFolder(t)
  const clock = new FixedClock(new Date().toISOString())
  const server = await bootForTest({ t, folder, clock, also: [faultyPlugin] })
  const call = server.as(server.admin.key)
  await writeFile(join(folder, 'poison'), '')
  const dataset = await newDataset(call)
  const file = await upload(call, dataset)
  const tag = (name: string) => ok(call(`/api/files/${file}/tags`, { method: 'POST', json: { tags: [name] } }))
  await tag('belladonna')
  const found = async (name: string) => (await ok<{ count: number }>(call(`/api/search?query=${name}`))).count
  await until(
    'the tag to be found despite the failing handler',
    () => found('belladonna'),
    count => count === 1,
  )
  const status = () => ok<{ ready: boolean; waiting: number; parked: number }>(call('/readyz'))
  await until(
    'the event to be dead-lettered',
    () => {
      // The next retry becomes due.
      clock.advance(60_000)
      return status()
    },
    ({ parked }) => parked === 1,
  )
  t.like(await status(), { ready: true, waiting: 0, parked: 1 })
  await tag('hellebore')
  await until(
    'later events to be handled',
    () => found('hellebore'),
    count => count === 1,
  )
  await server.stop()

  const config = join(folder, 'config.json')
  await writeFile(config, JSON.stringify({ plugins: [`+${faultyPlugin}`] }))
  const pounce = async (...words: string[]): Promise<unknown> => {
    const { code, out, err } = await runPounce(folder, '--config', config, ...words)
    t.is(code, 0, out + err)
    return JSON.parse(out)
  }
  const [parked] = (await pounce('events', 'dead-letters')) as Record<string, unknown>[]
  t.like(parked, { ...poisoned, subject: `file/${file}`, error: 'This handler cannot stomach tags' })
  await rm(join(folder, 'poison'))
  t.deepEqual(await pounce('events', 'retry', 'all'), { retried: 1 })
  await server.restart()
  clock.advance(60_000)
  await server.drained()
  t.like(await status(), { waiting: 0, parked: 0 })
})

test('an uncaught error of a plugin ends neither the server nor other requests', async t => {
  const server = await childServer(t, await dataFolder(t), { POUNCE_PLUGINS: `+${faultyPlugin}` })
  const call = server.as(await adminKey(server))
  const dataset = await newDataset(call)
  const file = await upload(call, dataset)
  t.deepEqual(await refusal(call('/api/faults/cause/throw')), {
    status: 500,
    code: 'internal',
    message: 'Internal server error. Find the request id in the server log',
  })
  for (const early of ['/api/faults/bytes/0', '/api/faults/rows/2']) t.is((await refusal(call(early))).status, 500, early)
  for (const cut of ['/api/faults/bytes/3', '/api/faults/rows/100000'])
    await t.throwsAsync(
      call(cut).then(answer => answer.text()),
      undefined,
      `${cut} must not end as if it were complete`,
    )
  for (const kind of ['timer', 'promise', 'listener', 'stream']) {
    t.is((await call(`/api/faults/cause/${kind}`)).status, 200, kind)
    t.is(await (await call(`/api/files/${file}/blob`)).text(), 'hello', kind)
  }
  t.is((await call(`/api/files/${file}/comment`, { method: 'POST', json: { text: 'x' } })).status, 200)
  await drained(call)
  await upload(call, dataset)
  server.signal('SIGTERM')
  const { code, err } = await server.ended
  t.is(code, 0)
  const messages = ['a timer that throws', 'a promise that nobody waits for', 'a listener that throws', 'a stream that breaks']
  for (const text of [...messages, 'secret words of a bug', 'a promise of a handler', 'a timer of a handler'])
    t.true(err.includes(text), text)
})

test('the log names the reason of 503, once a minute', async t => {
  const folder = await dataFolder(t)
  const server = await childServer(t, folder)
  const call = server.as(await adminKey(server))
  const dataset = await newDataset(call)
  await rm(join(folder, 'blobs', 'tmp'), { recursive: true })
  for (let n = 0; n < 3; n += 1)
    await t.throwsAsync(upload(call, dataset, Buffer.alloc(2_000_000, 'x'), 'x.bin'), {
      message: /The disk of the blob store is not working/,
    })
  server.signal('SIGTERM')
  const { err } = await server.ended
  const lines = err.split('\n').filter(line => line.includes('Backend unavailable; requests fail'))
  t.is(lines.length, 1)
  t.like(JSON.parse(lines[0] ?? ''), { level: 'warn', path: `/api/uploadToDataset/${dataset}`, error: { code: 'ENOENT' } })
})
