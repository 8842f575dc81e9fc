import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { BlobStore } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { adminKey, childServer, dataFolder } from '../support/child-server.ts'
import { eachOf } from '../support/killed-server.ts'
import { newDataset, ok, upload } from '../support/scene.ts'
import { SlowUpload } from '../support/slow-upload.ts'
import { peakDuring } from '../support/streams.ts'
import { until } from '../support/until.ts'

const silentTransferMs = 3000

const setUp = async (t: ExecutionContext) => {
  const server = await bootForTest({ t, config: { http: { silentTransferMs } } })
  const { key } = server.admin
  const call = server.as(key)
  const dataset = await newDataset(call)
  const left = async () => ({
    listed: await ok<unknown[]>(call(`/api/datasets/${dataset}/files`)),
    blobs: await Array.fromAsync(server.get(BlobStore).list()),
    temporary: await readdir(join(server.folder, 'blobs', 'tmp')),
  })
  return { server, key, call, dataset, left }
}

const nothing = { listed: [], blobs: [], temporary: [] }
const hasArrived = (folder: string, bytes: number) =>
  until(
    `${bytes} bytes to arrive`,
    () => readdir(join(folder, 'blobs', 'tmp')),
    names => names.length === 1,
  )

test('a stalled upload is aborted and leaves nothing', async t => {
  const { server, key, dataset, left } = await setUp(t)
  const silent = new SlowUpload(server.url, key, dataset, 'silent.bin', 1_000_000)
  await silent.send(Buffer.alloc(500_000))
  await hasArrived(server.folder, 500_000)
  await t.throwsAsync(silent.answer, { code: 'ECONNRESET' })
  await until('its bytes to be deleted', left, ({ temporary }) => temporary.length === 0)
  t.deepEqual(await left(), nothing)
})

test('an upload whose client disconnects leaves nothing', async t => {
  const { server, key, dataset, left } = await setUp(t)
  const gone = new SlowUpload(server.url, key, dataset, 'gone.bin', 1_000_000)
  await gone.send(Buffer.alloc(500_000))
  await hasArrived(server.folder, 500_000)
  gone.cut()
  await until('its bytes to be deleted', left, ({ temporary }) => temporary.length === 0)
  t.deepEqual(await left(), nothing)
})

test('an upload may take any time as long as it makes progress', async t => {
  const { server, key, dataset, left } = await setUp(t)
  const slow = new SlowUpload(server.url, key, dataset, 'slow.bin', 600)
  for (let piece = 0; piece < 6; piece += 1) {
    await slow.send(Buffer.alloc(100))
    await pause(silentTransferMs / 4)
  }
  t.is((await slow.finish()).status, 200)
  t.is((await left()).listed.length, 1)
})

test('a stalled download is aborted, and does not block a stop', async t => {
  const { server, key, call, dataset } = await setUp(t)
  const id = await upload(call, dataset, Buffer.alloc(30_000_000), 'large.bin')
  const { hostname, port } = new URL(server.url)
  const reader = connect(Number(port), hostname)
  reader.write(`GET /api/files/${id}/blob HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`)
  await once(reader, 'readable')
  // The stop completes although the client does not read and keeps the connection open.
  await server.stop()
  let received = 0
  reader.on('error', () => undefined)
  reader.on('data', (bytes: Buffer) => {
    received += bytes.length
  })
  if (!reader.closed) await once(reader, 'close')
  t.true(received > 0 && received < 30_000_000, `${received} bytes`)
})

const many = 500
const piece = Buffer.alloc(20_000, 'slow')
const pieces = 8
const growth = 128 * 1024 * 1024

test('500 concurrent slow uploads succeed in bounded memory, while other requests are served', async t => {
  const server = await childServer(t, await dataFolder(t))
  const key = await adminKey(server)
  const call = server.as(key)
  const dataset = await newDataset(call)
  for (let n = 0; n < 20; n += 1) await upload(call, dataset, piece, `warm${n}.bin`)
  const idle = await server.rss()
  const uploads = Array.from({ length: many }, (_, n) => new SlowUpload(server.url, key, dataset, `slow${n}.bin`, pieces * piece.length))
  const sendAll = async (): Promise<void> => {
    for (let round = 0; round < pieces; round += 1) {
      await Promise.all(uploads.map(each => each.send(piece)))
      t.is((await call('/healthz')).status, 200)
    }
  }
  const { peak } = await peakDuring(server.rss, sendAll())
  const answers = await Promise.all(uploads.map(each => each.finish()))
  t.log(`memory grew by ${(peak - idle) >> 20} MiB`)
  t.deepEqual(
    answers.filter(({ status }) => status !== 200),
    [],
  )
  t.true(peak - idle < growth)
  await eachOf(answers.slice(0, 50), async ({ text }) => {
    const { id } = JSON.parse(text) as { id: string }
    t.is((await (await call(`/api/files/${id}/blob`)).arrayBuffer()).byteLength, pieces * piece.length)
  })
  t.is((await ok<unknown[]>(call(`/api/datasets/${dataset}/files`))).length, many + 20)
})
