import test, { type ExecutionContext } from 'ava'
import type { TestFetch } from 'pounce/sdk/testing'
import { byExtractor } from './support/annotated.ts'
import { adminKey, type ChildServer, childServer, dataFolder } from './support/child-server.ts'
import { newDataset } from './support/scene.ts'
import { slowness } from './support/slowness.ts'
import { longestStall } from './support/stalls.ts'
import { peakDuring } from './support/streams.ts'

const headers = { 'content-type': 'application/json' }
const mebibyte = 1024 * 1024
/** Maximum uninterrupted CPU time of the event loop, on the reference machine. */
const maxStallMs = 500
/** Other load may disturb one attempt, but not all. */
const maxTries = 3

/** The most expensive accepted documents: almost 10 MiB, or at the limit of members or values. */
const heaviest: Readonly<Record<string, () => unknown>> = {
  keys: () => Object.fromEntries(Array.from({ length: 99_900 }, (_, n) => [`key ${n} ${'k'.repeat(40)}`, `${'v'.repeat(36)}${n}`])),
  'empty lists': () => ({ lists: Array.from({ length: 499_000 }, () => []) }),
  numbers: () => ({ numbers: Array.from({ length: 499_000 }, (_, n) => n * 1.000001) }),
  text: () => ({ text: 'é'.repeat(5_200_000) }),
  escapes: () => ({ text: '"\n'.repeat(2_500_000) }),
  objects: () => ({ list: Array.from({ length: 24_000 }, (_, n) => ({ id: n, site: { depth: n, note: 'x'.repeat(300) } })) }),
}

/** On a slow machine the documents wait for each other longer than by default. */
const patient = { POUNCE_HTTP__BUDGETS__MAX_WAIT_MS: '300000', POUNCE_HTTP__LARGE_JSON__MAX_WAIT_MS: '300000' }

const served = async (t: ExecutionContext): Promise<{ readonly server: ChildServer; readonly call: TestFetch }> => {
  const server = await childServer(t, await dataFolder(t), patient)
  const call = server.as(await adminKey(server))
  const dataset = await newDataset(call)
  const json = { agent: byExtractor(), content: { warm: true } }
  await call(`/api/datasets/${dataset}/metadata.jsonld`, { method: 'POST', json })
  await (await call(`/api/datasets/${dataset}/metadata.jsonld`)).text()
  return { server, call }
}

const sent = (content: unknown): string => JSON.stringify({ agent: byExtractor(), content })

/** Adds, lists and removes a document; the stalls of each step. */
const stallsOf = async (t: ExecutionContext, server: ChildServer, call: TestFetch, name: string, content: unknown) => {
  const path = `/api/datasets/${await newDataset(call)}/metadata.jsonld`
  const body = sent(content)
  t.true(body.length < 10 * mebibyte)
  const added = call(path, { method: 'POST', body, headers }).then(async answer => t.is(answer.status, 200, await answer.text()))
  const whileAdded = await longestStall(server, added)
  const listed = async (): Promise<void> => {
    const text = await (await call(path)).text()
    t.true(text.includes(body.slice(body.indexOf('"content":'), -1)), `${name} is returned verbatim`)
  }
  const whileListed = await longestStall(server, listed())
  const removed = call(path, { method: 'DELETE' }).then(async answer => t.is(answer.status, 200, await answer.text()))
  return { whileAdded, whileListed, whileRemoved: await longestStall(server, removed) }
}

test.serial('the heaviest metadata is accepted, indexed, listed and removed while the server responds to other requests', async t => {
  t.timeout(600_000)
  const { server, call } = await served(t)
  for (const [name, make] of Object.entries(heaviest)) {
    let isGood = false
    for (let tries = 0; tries < maxTries && !isGood; tries += 1) {
      const limitMs = maxStallMs * slowness()
      const stalls = Object.entries(await stallsOf(t, server, call, name, make()))
      for (const [step, { busyMs, wallMs }] of stalls)
        t.log(`${name}, ${step}: ${busyMs.toFixed(0)} ms of computing, ${wallMs.toFixed(0)} ms in all, limit ${limitMs.toFixed(0)} ms`)
      isGood = stalls.every(([, { busyMs }]) => busyMs < limitMs)
    }
    t.true(isGood, name)
  }
})

const atOnce = 8

test.serial('eight of them at once are processed in turns, in less than 256 MiB', async t => {
  t.timeout(600_000)
  const { server, call } = await served(t)
  const dataset = await newDataset(call)
  const path = `/api/datasets/${dataset}/metadata.jsonld`
  const body = sent(heaviest['keys']?.())
  const before = await server.rss()
  const add = async (): Promise<number> => {
    const answer = await call(path, { method: 'POST', body, headers })
    await answer.text()
    return answer.status
  }
  const all = Promise.all(Array.from({ length: atOnce }, add))
  const { peak, result } = await peakDuring(() => server.rss(), longestStall(server, all))
  t.deepEqual(
    await all,
    Array.from({ length: atOnce }, () => 200),
  )
  const more = (peak - before) / mebibyte
  t.log(`${more.toFixed(0)} MiB more, ${result.answers} others answered meanwhile`)
  t.true(more < 256, `${more} MiB`)
  // Other requests are served in between: if all ran in one turn, there would only be one response before and one after it.
  t.true(result.answers >= atOnce / 2, `${result.answers}`)
  t.true(result.busyMs < atOnce * maxStallMs * slowness(), 'the event loop is free in between')
})
