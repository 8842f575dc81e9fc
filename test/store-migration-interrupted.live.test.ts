import test from 'ava'
import { liveTests, silent } from 'pounce/sdk/testing'
import { BucketObjects } from '../plugins/blobs/s3/bucket-objects.ts'
import { S3Connection } from '../plugins/blobs/s3/connection.ts'
import { freshConfig } from '../plugins/blobs/s3/test-store.ts'
import { adminKey, childServer, dataFolder, runPounceWith, startPounce } from './support/child-server.ts'
import { flakyProxy } from './support/flaky-proxy.ts'
import { newDataset, upload } from './support/scene.ts'
import { placesOn } from './support/server-places.ts'
import { drained, until } from './support/until.ts'

const { test: live, url } = liveTests(test, 'S3')
const words = ['migrate', '--from', 'sqlite+disk', '--to', 'sqlite+s3']

live('a migration whose target becomes unavailable names it, and continues when it is repeated', async t => {
  const folder = await dataFolder(t)
  const server = await childServer(t, folder)
  const call = server.as(await adminKey(server))
  const dataset = await newDataset(call)
  for (let n = 0; n < 40; n += 1) await upload(call, dataset, `leaf ${n}`, `leaf-${n}.txt`)
  await drained(call)
  server.signal('SIGTERM')
  await server.ended

  const proxy = await flakyProxy(t, url('S3'), { slowMs: 200 })
  const { settings } = await placesOn(t, name => proxy.urlFor(url(name)), ['blobs.s3'])
  const { POUNCE_REPLACE_PLUGINS: _use, ...places } = settings
  await proxy.become('slow')
  const running = startPounce(places, folder, ...words)
  const bucket = new S3Connection({ ...freshConfig(url('S3')), bucket: settings['POUNCE_BLOBS__S3__BUCKET'] ?? '' }, silent)
  await bucket.start()
  const objects = async () => (await Array.fromAsync(new BucketObjects(bucket).list(''))).length
  await until('objects in the bucket', objects, count => count > 4, 60_000)
  bucket.dispose()
  await proxy.become('cut')
  const { code, err } = await running.ended
  t.is(code, 1)
  t.regex(err, /blobs\.s3 of the target does not respond\. The migration is not complete: run the command again to continue it/)
  await proxy.become('pass')
  const again = await runPounceWith(places, folder, ...words)
  t.is(again.code, 0, again.err)
  t.like(JSON.parse(again.out), { blobs: 40 })
})
