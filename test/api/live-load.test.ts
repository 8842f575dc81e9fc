import { setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import { CredentialRefs, Policy } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { listen } from '../support/live-events.ts'
import { ok } from '../support/scene.ts'
import { newDataset, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

const maxStreamsPerCaller = 3
const server = await bootForTest({ config: { access: { private: true }, resources: { live: { maxStreamsPerCaller } } } })
test.after.always(() => server.stop())

test.serial('streams that are opened at the same time do not exceed the limit of their caller', async t => {
  const ann = await somebody(server, 'ann')
  const refs = server.get(CredentialRefs)
  const read = refs.of.bind(refs)
  refs.of = async caller => {
    for (let turn = 0; turn < 20; turn += 1) await nextTurn()
    return read(caller)
  }
  const streams = await Promise.all(Array.from({ length: 20 }, () => listen(server.url, ann.key)))
  refs.of = read
  const open = streams.filter(({ status }) => status === 200)
  for (const stream of streams) stream.close()
  t.is(open.length, maxStreamsPerCaller)
})

test.serial('a long replay leaves turns of the event loop to requests', async t => {
  const ann = await somebody(server, 'ann')
  const dataset = await newDataset(ann)
  const count = 100
  for (let at = 0; at < count; at += 1) {
    await ok(ann.call(`/api/datasets/${dataset}/tags`, { method: 'POST', json: { tags: [`tag ${at}`] } }))
    // Each event is a segment of its own.
    await server.drained()
  }
  const policy = server.get(Policy)
  const check = policy.allowed.bind(policy)
  let [inThisTurn, most] = [0, 0]
  policy.allowed = (...about) => {
    if (inThisTurn === 0)
      setImmediate(() => {
        inThisTurn = 0
      })
    inThisTurn += 1
    most = Math.max(most, inThisTurn)
    return check(...about)
  }
  const stream = await listen(server.url, ann.key, `?id=${dataset}&type=tags.added&since=0`)
  await until('the replay', () => stream.events.length === count)
  policy.allowed = check
  stream.close()
  t.true(most > 0 && most <= 25, `rights were checked ${most} times in one turn`)
})
