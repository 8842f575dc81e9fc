import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { adminKey, childServer, dataFolder, startChild } from '../support/child-server.ts'
import { newDataset, ok, upload } from '../support/scene.ts'
import { SlowUpload } from '../support/slow-upload.ts'
import { until } from '../support/until.ts'

test('a stopping server reports 503 on /readyz immediately, finishes a slow upload, and exits cleanly', async t => {
  const folder = await dataFolder(t)
  const server = await childServer(t, folder)
  const key = await adminKey(server)
  const call = server.as(key)
  const dataset = await newDataset(call)
  const half = Buffer.alloc(300_000, 'slow ')
  const slow = new SlowUpload(server.url, key, dataset, 'slow.txt', 2 * half.length)
  await slow.send(half)
  await until(
    'the server to be ready',
    async () => (await call('/readyz')).status,
    status => status === 200,
  )
  server.signal('SIGTERM')
  // During the upload, which is completed later.
  await until(
    'the server to report that it is stopping',
    async () => (await call('/readyz')).status,
    status => status === 503,
  )
  // Other requests are served during the upload, on connections that are closed after the response.
  const listing = await call(`/api/datasets/${dataset}/files`)
  t.deepEqual([listing.status, listing.headers.get('connection'), await listing.json()], [200, 'close', []])
  t.is(await (await call('/healthz')).text(), 'healthy')

  await slow.send(half)
  const answer = await slow.finish()
  t.is(answer.status, 200, answer.text)
  const { code, err } = await server.ended
  t.deepEqual([code, err], [0, ''])

  const again = await childServer(t, folder)
  const { id } = JSON.parse(answer.text) as { id: string }
  t.is((await (await again.as(key)(`/api/files/${id}/blob`)).arrayBuffer()).byteLength, 2 * half.length)
})

test('an idle server stops immediately, even with an open connection', async t => {
  // The connection of this request stays open for an hour unless the stop closes it.
  const server = await childServer(t, await dataFolder(t), { POUNCE_HTTP__KEEP_ALIVE_TIMEOUT_MS: '3600000' })
  await server.as()('/healthz')
  server.signal('SIGTERM')
  t.is((await server.ended).code, 0)
})

test('a second server on the same data folder refuses to start, naming the first, which continues', async t => {
  const folder = await dataFolder(t)
  const first = await childServer(t, folder)
  const call = first.as(await adminKey(first))
  const second = startChild(folder)
  await t.throwsAsync(second.ready, { message: /is used by the process/ })
  const { code, err, out } = await second.ended
  t.not(code, 0)
  t.true((out + err).includes(`the process ${first.pid}`), out + err)
  await upload(call, await newDataset(call))
  t.is((await ok<{ ready: boolean }>(call('/readyz'))).ready, true)
})

test('a second server on a store of the first one refuses to start, wherever its data folder is', async t => {
  const [folder, blobs] = [await dataFolder(t), await dataFolder(t)]
  await childServer(t, folder, { POUNCE_BLOBS__DISK__FOLDER: blobs })
  for (const [setting, path] of [
    ['POUNCE_BLOBS__DISK__FOLDER', blobs],
    ['POUNCE_DOCUMENTS__SQLITE__FOLDER', join(folder, 'documents')],
  ] as const) {
    const second = startChild(await dataFolder(t), { [setting]: path })
    await t.throwsAsync(second.ready, { message: new RegExp(`${path} is used by the process`) })
  }
})

test('a server stops although its pid file cannot be removed', async t => {
  const folder = await dataFolder(t)
  const server = await childServer(t, folder)
  await rm(join(folder, 'kernel.pid'))
  await mkdir(join(folder, 'kernel.pid'))
  server.signal('SIGTERM')
  t.is((await server.ended).code, 0)
})
