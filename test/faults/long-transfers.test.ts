import { once } from 'node:events'
import { get, type IncomingMessage, request } from 'node:http'
import test from 'ava'
import { usualOrFull } from 'pounce/sdk/testing'
import { adminKey, type ChildServer, childServer, dataFolder } from '../support/child-server.ts'
import { newDataset } from '../support/scene.ts'

const mebibyte = 1024 * 1024
const sizeMiB = usualOrFull(256, 1024)
/** The guaranteed limit for a transfer of any length. */
const maxGrowth = 64 * mebibyte
/** Buffers not yet collected by V8 take up to 50 MiB, and more later. */
const maxGrowthDown = 40 * mebibyte

/** The peak increase of a server's memory during some work. */
const growthDuring = async (server: ChildServer, work: () => Promise<void>): Promise<number> => {
  const before = await server.rss()
  let most = before
  let isOver = false
  const watch = async (): Promise<void> => {
    while (!isOver) {
      most = Math.max(most, await server.rss())
      await new Promise(setImmediate)
    }
  }
  const watching = watch()
  try {
    await work()
  } finally {
    isOver = true
    await watching
  }
  return most - before
}

const sendLong = async (url: string, key: string): Promise<string> => {
  const boundary = 'between-the-parts'
  const headers = { 'x-api-key': key, 'content-type': `multipart/form-data; boundary=${boundary}` }
  const sent = request(url, { method: 'POST', headers })
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>
  sent.write(`--${boundary}\r\nContent-Disposition: form-data; name="File"; filename="long.bin"\r\n\r\n`)
  const piece = Buffer.alloc(mebibyte, 'some bytes ')
  for (let n = 0; n < sizeMiB; n += 1) if (!sent.write(piece)) await once(sent, 'drain')
  sent.end(`\r\n--${boundary}--\r\n`)
  const [answer] = await answered
  const text = Buffer.concat(await answer.toArray()).toString()
  return (JSON.parse(text) as { id: string }).id
}

const takeLong = async (url: string, key: string): Promise<number> => {
  const [answer] = (await once(get(url, { headers: { 'x-api-key': key } }), 'response')) as [IncomingMessage]
  let length = 0
  for await (const piece of answer) length += (piece as Buffer).length
  return length
}

test('a long upload or download takes no more memory than a short one', async t => {
  t.timeout(600_000)
  const server = await childServer(t, await dataFolder(t))
  const key = await adminKey(server)
  const dataset = await newDataset(server.as(key))
  let id = ''
  const up = await growthDuring(server, async () => {
    id = await sendLong(`${server.url}/api/uploadToDataset/${dataset}`, key)
  })
  let length = 0
  const down = await growthDuring(server, async () => {
    length = await takeLong(`${server.url}/api/files/${id}/blob`, key)
  })
  t.is(length, sizeMiB * mebibyte)
  t.log(`up ${Math.round(up / mebibyte)} MiB, down ${Math.round(down / mebibyte)} MiB`)
  t.true(up <= maxGrowth, `up: ${up}`)
  t.true(down <= maxGrowthDown, `down: ${down}`)
})
