import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import test from 'ava'
import { Upload, type UploadOptions } from 'tus-js-client'
import { adminKey, type ChildServer, dataFolder, startChild } from './support/child-server.ts'
import { freePort } from './support/free-port.ts'
import { newDataset, ok } from './support/scene.ts'
import { digestOf, noise } from './support/streams.ts'
import { until } from './support/until.ts'

/** The required size is 500 MB: POUNCE_TEST_UPLOAD_BYTES=500000000. */
const sizeBytes = Number(process.env['POUNCE_TEST_UPLOAD_BYTES'] ?? 64 * 1024 * 1024)
const kills = 3

/** A server that is killed and restarted on the same folder and port. */
class Restarted {
  readonly #folder: string
  readonly #settings: Record<string, string>
  #server: ChildServer | undefined

  constructor(folder: string, settings: Record<string, string>) {
    this.#folder = folder
    this.#settings = settings
  }

  get server(): ChildServer {
    if (!this.#server) throw new Error('not started')
    return this.#server
  }

  async start(): Promise<void> {
    this.#server = await startChild(this.#folder, this.#settings).ready
  }

  async kill(): Promise<void> {
    this.#server?.signal('SIGKILL')
    await this.#server?.ended
  }
}

test('tus-js-client completes a large upload despite kills of the server and of itself', async t => {
  t.timeout(170_000)
  const folder = await dataFolder(t)
  const path = join(await dataFolder(t), 'large.bin')
  await pipeline(Readable.from(noise(sizeBytes, 'large')), createWriteStream(path))
  const wanted = await digestOf(createReadStream(path))
  const settings = { POUNCE_HTTP__PORT: String(await freePort()), POUNCE_RESOURCES__UPLOADS__PART_BYTES: String(4 * 1024 * 1024) }
  const running = new Restarted(folder, settings)
  await running.start()
  t.teardown(() => running.kill())
  const key = await adminKey(running.server)
  const dataset = await newDataset(running.server.as(key))

  const received = async (url: string): Promise<number> =>
    (await ok<{ received: number }>(running.server.as(key)(new URL(url).pathname))).received
  const offsets: number[] = []
  const options = (more: Partial<UploadOptions>): UploadOptions => ({
    endpoint: `${running.server.url}/api/uploads`,
    headers: { 'X-API-Key': key },
    metadata: { filename: 'large.bin', filetype: 'application/x-large', dataset, extract: 'false' },
    retryDelays: Array.from({ length: 200 }, () => 100),
    storeFingerprintForResuming: false,
    onAfterResponse: (request, response) => {
      if (request.getMethod() === 'HEAD') offsets.push(Number(response.getHeader('Upload-Offset')))
    },
    ...more,
  })

  /** Uploads until complete, or until the server has received `enough` bytes, when the client disconnects abruptly. */
  const send = async (uploadUrl: string | null, enough = Number.POSITIVE_INFINITY, killsLeft = 0): Promise<string> => {
    const over = Promise.withResolvers<void>()
    let left = killsLeft
    let killing: Promise<void> | undefined
    const upload: Upload = new Upload(createReadStream(path), {
      ...options({ uploadUrl }),
      onError: over.reject,
      onSuccess: () => over.resolve(),
      onProgress: sent => {
        if (sent >= enough) over.resolve()
        if (left === 0 || killing || sent < sizeBytes * (1 - left / (kills + 1))) return
        left -= 1
        killing = running
          .kill()
          .then(() => running.start())
          .catch(over.reject)
          .finally(() => {
            killing = undefined
          })
      },
    })
    upload.start()
    await over.promise
    await killing
    if (enough !== Number.POSITIVE_INFINITY) await upload.abort()
    return upload.url ?? ''
  }

  const url = await send(null, sizeBytes * 0.15)
  await until(
    'some bytes to be received',
    () => received(url),
    count => count > 0,
  )
  await send(url, Number.POSITIVE_INFINITY, kills)

  // One offset when the second client resumes and one after each kill, except for a last kill after all bytes had arrived.
  t.true(offsets.length >= kills, `${offsets}`)
  t.deepEqual(
    offsets,
    offsets.toSorted((one, other) => one - other),
  )
  t.true((offsets.at(-1) ?? 0) > 0)
  const id = url.split('/').at(-1)
  const call = running.server.as(key)
  t.like(await ok(call(`/api/uploads/${id}`)), { state: 'finished', file: id })
  t.like(await ok(call(`/api/files/${id}/metadata`)), { sha256: wanted.sha256, size: String(sizeBytes), status: 'PROCESSED' })
  const { body } = await call(`/api/files/${id}/blob`)
  t.deepEqual(await digestOf(body as unknown as AsyncIterable<Uint8Array>), wanted)
  t.deepEqual(await ok(call('/api/uploads')), [])
  t.log(`${sizeBytes} bytes, ${kills} kills, went on from ${offsets.join(', ')}`)
})
