import test, { type ExecutionContext } from 'ava'
import { bootForTest, liveTests, type TestServer } from 'pounce/sdk/testing'
import { listen, of } from '../../../test/support/live-events.ts'
import { ok, upload } from '../../../test/support/scene.ts'
import { placesOn } from '../../../test/support/server-places.ts'
import { newDataset, somebody } from '../../../test/support/spaces-and-people.ts'
import { until } from '../../../test/support/until.ts'
import { webhookTarget } from '../../../test/support/webhook-target.ts'

const { test: live, url } = liveTests(test, 'MONGODB', 'S3', 'ELASTICSEARCH')

/** Two kernels on one document store, each with its own server. */
const twoKernels = async (t: ExecutionContext): Promise<readonly [TestServer, TestServer]> => {
  const { settings } = await placesOn(t, url, ['documents.mongodb', 'blobs.s3', 'search.elasticsearch'])
  const boot = () =>
    bootForTest({
      t,
      env: settings,
      config: { access: { private: true }, outbound: { allow: ['127.0.0.1'] } },
    })
  return [await boot(), await boot()]
}

live('clients of every kernel receive all events in the order of the changes, and a revoked key ends streams on all kernels', async t => {
  const [one, other] = await twoKernels(t)
  const ann = await somebody(one, 'ann')
  const dataset = await newDataset(ann)
  await one.drained()
  const streams = [await listen(one.url, ann.key, `?id=${dataset}`), await listen(other.url, ann.key, `?id=${dataset}`)]
  for (let round = 0; round < 20; round += 1) {
    const call = (round % 2 ? one : other).as(ann.key)
    await ok(call(`/api/datasets/${dataset}/tags`, { method: 'POST', json: { tags: [`${round}`] } }))
  }
  const tagsOf = ({ events }: (typeof streams)[number]) => [
    ...new Set(events.filter(of('tags.added')).map(({ data }) => Number((data['tags'] as string[])[0]))),
  ]
  for (const stream of streams) await until('all 20 events', () => tagsOf(stream).length === 20)
  for (const stream of streams)
    t.deepEqual(
      tagsOf(stream),
      Array.from({ length: 20 }, (_, at) => at),
    )
  t.true((await one.as(ann.key)('/api/users/keys/test', { method: 'DELETE' })).ok)
  for (const stream of streams) t.is((await stream.first('the end', of('stream.closed'))).data['reason'], 'credential-ended')
})

live('one kernel at a time delivers to a webhook: each message once, even if the kernel that created it has stopped', async t => {
  const [one, other] = await twoKernels(t)
  const [ann, target] = [await somebody(one, 'ann'), await webhookTarget(t)]
  const dataset = await newDataset(ann)
  await ok(ann.call('/api/webhooks', { method: 'POST', json: { url: target.url, filter: { types: ['file.created'] } } }))
  for (let round = 0; round < 10; round += 1) await upload((round % 2 ? one : other).as(ann.key), dataset, 'x', `${round}`)
  await until('all 10 deliveries', () => target.received.length >= 10)
  t.is(new Set(target.received.map(({ headers }) => headers['webhook-id'])).size, 10)
  t.is(target.received.length, 10)
  await one.stop()
  await upload(other.as(ann.key), dataset, 'x', 'after')
  await until('the delivery by the other kernel', () => target.received.length >= 11)
  t.is(new Set(target.received.map(({ headers }) => headers['webhook-id'])).size, 11)
})
