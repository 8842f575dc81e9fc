import test from 'ava'
import type { TestFetch } from 'pounce/sdk/testing'
import { adminKey, type ChildServer, childServer, dataFolder } from './support/child-server.ts'
import { ok } from './support/scene.ts'
import { slowness } from './support/slowness.ts'
import { longestStall } from './support/stalls.ts'
import { peakDuring } from './support/streams.ts'

const mebibyte = 1024 * 1024
const headers = { 'content-type': 'application/json' }
/** CPU time of the event loop on the reference machine, generously. */
const maxStallMs = 200

const received = async (call: TestFetch, path: string, init: RequestInit = {}): Promise<number> => {
  const answer = await call(path, init)
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`)
  let bytes = 0
  for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) bytes += piece.length
  return bytes
}

const peakMore = async (server: ChildServer, work: () => Promise<unknown>): Promise<number> => {
  const before = await server.rss()
  const { peak } = await peakDuring(() => server.rss(), work())
  return (peak - before) / mebibyte
}

test.serial('lists of the largest vocabularies are read part by part', async t => {
  t.timeout(600_000)
  const server = await childServer(t, await dataFolder(t))
  const call = server.as(await adminKey(server))
  const terms = Array.from({ length: 990 }, (_, n) => ({ key: `term ${n}`, default_value: 'x'.repeat(400), description: 'y'.repeat(400) }))
  const body = JSON.stringify({ name: 'Trees', keys: 'oak', description: '', terms })
  for (let n = 0; n < 100; n += 1) await ok(call('/api/vocabularies/createVocabularyFromJson', { method: 'POST', body, headers }))
  for (const path of ['/api/vocabularies/list', '/api/vocabterms/list']) {
    const readers = Promise.all(Array.from({ length: 6 }, () => received(call, path)))
    let busyMs = 0
    const more = await peakMore(server, async () => {
      busyMs = (await longestStall(server, readers)).busyMs
    })
    t.true((await readers).every(bytes => bytes > 80 * mebibyte))
    const limitMs = maxStallMs * slowness()
    t.log(`${path}: ${busyMs.toFixed(0)} ms of computing, limit ${limitMs.toFixed(0)} ms; ${more.toFixed(0)} MiB more`)
    t.true(busyMs < limitMs && more < 500, path)
  }
})
