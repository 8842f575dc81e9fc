import test from 'ava'
import { BlobStore } from 'pounce/sdk'
import { bootForTest, liveTests, testBytes } from 'pounce/sdk/testing'
import { flakyProxy } from '../../../test/support/flaky-proxy.ts'
import { newPerson } from '../../../test/support/people.ts'
import { newDataset, ok, refusal, upload, uploadData } from '../../../test/support/scene.ts'
import { until } from '../../../test/support/until.ts'
import { freshStore } from './test-store.ts'

const { test: live, url } = liveTests(test, 'S3')

live('a server on S3 stores, serves, zips, previews, deletes and sweeps files, and redirects large downloads to the bucket', async t => {
  const { config, objects } = await freshStore(t, url('S3'), { redirectAbove: 1_000_000 })
  let laterMs = 0
  // The sweep also runs by itself: until the clock is set forward its grace period protects the orphan.
  const clock = { now: () => new Date(Date.now() + laterMs) }
  const server = await bootForTest({ t, clock, config: { use: ['blobs.s3'], blobs: { s3: config } } })
  const { call } = await newPerson(server)
  const dataset = await newDataset(call)
  const [small, large] = [testBytes(70_000), testBytes(8_000_000)]
  const [one, other] = [await upload(call, dataset, small, 'one.bin'), await upload(call, dataset, large, 'other.bin')]
  t.true(Buffer.from(await (await call(`/api/files/${one}`)).arrayBuffer()).equals(small))
  const part = await call(`/api/files/${other}`, { headers: { range: 'bytes=6999999-7000009' } })
  t.is(part.status, 206)
  t.true(Buffer.from(await part.arrayBuffer()).equals(large.subarray(6_999_999, 7_000_010)))
  const sent = await call(`/api/files/${other}`, { redirect: 'manual' })
  t.is(sent.status, 302)
  t.true(Buffer.from(await (await fetch(sent.headers.get('location') ?? '')).arrayBuffer()).equals(large))
  t.is((await server.as()(`/api/files/${other}`, { redirect: 'manual' })).headers.get('location'), null)
  t.true((await (await call(`/api/datasets/${dataset}/download`)).arrayBuffer()).byteLength > 8_070_000)

  const picture = await uploadData(call, dataset, 'photo.jpg', 'image/jpeg')
  const previews = () => ok<readonly unknown[]>(call(`/api/files/${picture}/getPreviews`))
  t.truthy(await until('the previews of the picture', previews, seen => JSON.stringify(seen).includes('pv_id'), 60_000))

  await server.get(BlobStore).put(testBytes(10))
  const count = async () => (await Array.fromAsync(objects.list(''))).length
  for (const id of [one, other, picture]) await ok(call(`/api/files/${id}`, { method: 'DELETE' }))
  await server.drained(60_000)
  t.is(await until('all blobs except the orphan to be deleted', count, seen => seen === 1), 1)
  laterMs = 25 * 60 * 60 * 1000
  await server.runPeriodic('blobs.sweep/orphans')
  t.is(await count(), 0)
  await t.notThrowsAsync(server.runPeriodic('blobs.s3/abandoned-uploads'))
})

live('while S3 is unavailable, uploads and downloads fail with 503, other routes respond, and the status reports it', async t => {
  const proxy = await flakyProxy(t, url('S3'))
  const { config } = await freshStore(t, url('S3'), { through: proxy.urlFor(url('S3')) })
  const server = await bootForTest({ t, config: { use: ['blobs.s3'], blobs: { s3: config } } })
  const { call } = await newPerson(server)
  const dataset = await newDataset(call)
  const file = await upload(call, dataset, 'here')
  const status = async (key?: string) => ok<{ storage: Record<string, unknown> }>(server.as(key)('/api/status'))
  t.deepEqual((await status()).storage, { location: 's3' })
  const { storage } = await status(server.admin.key)
  t.deepEqual(storage, { location: 's3', endpoint: config.endpoint, region: 'us-east-1', bucket: config.bucket })
  await proxy.become('silent')
  const [down, up, report] = await Promise.all([
    refusal(call(`/api/files/${file}`)),
    upload(call, dataset, 'there').then(
      () => 'accepted',
      (error: Error) => error.message,
    ),
    status(),
  ])
  t.is(down.status, 503)
  t.regex(up, /^503/)
  t.deepEqual(report.storage, { location: 's3', status: 'disconnected' })
  t.is((await call(`/api/datasets/${dataset}`)).status, 200)
  await proxy.become('pass')
  t.is(await (await call(`/api/files/${file}`)).text(), 'here')
})
