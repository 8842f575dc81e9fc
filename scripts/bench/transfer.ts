import { once } from 'node:events'
import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import { growthDuring } from './growth.ts'
import { load, request } from './load.ts'
import { newKey, type Server, startBaseline, startPounce } from './servers.ts'
import { median, type Row, spread } from './table.ts'

const mebibyte = 1024 * 1024
const chunk = Buffer.alloc(mebibyte, 'pounce bench ')

const sendAll = async (req: ClientRequest, sizeBytes: number): Promise<void> => {
  for (let sent = 0; sent < sizeBytes; sent += chunk.length) {
    if (!req.write(chunk.subarray(0, sizeBytes - sent))) await once(req, 'drain')
  }
}

const answerOf = async (req: ClientRequest): Promise<string> => {
  const [res] = (await once(req, 'response')) as [IncomingMessage]
  let text = ''
  for await (const piece of res.setEncoding('utf8')) text += piece
  if ((res.statusCode ?? 0) >= 400) throw new Error(`${res.statusCode}: ${text}`)
  return text
}

interface Sent {
  readonly megabytesPerSecond: number
  readonly body: string
}

const uploadBare = async (server: Server, sizeBytes: number): Promise<Sent> => {
  const at = performance.now()
  const req = http.request(`${server.url}/bare-upload`, { method: 'POST', headers: { 'content-length': sizeBytes } })
  const answer = answerOf(req)
  await sendAll(req, sizeBytes)
  req.end()
  const body = await answer
  return { megabytesPerSecond: sizeBytes / 1e3 / (performance.now() - at), body }
}

const uploadMultipart = async (server: Server, key: string, dataset: string, sizeBytes: number): Promise<Sent> => {
  const head = '--b\r\nContent-Disposition: form-data; name="File"; filename="big.bin"\r\nContent-Type: application/octet-stream\r\n\r\n'
  const tail = '\r\n--b--\r\n'
  const at = performance.now()
  const req = http.request(`${server.url}/api/uploadToDataset/${dataset}?extract=false`, {
    method: 'POST',
    headers: {
      'x-api-key': key,
      'content-type': 'multipart/form-data; boundary=b',
      'content-length': head.length + sizeBytes + tail.length,
    },
  })
  const answer = answerOf(req)
  req.write(head)
  await sendAll(req, sizeBytes)
  req.end(tail)
  const body = await answer
  return { megabytesPerSecond: sizeBytes / 1e3 / (performance.now() - at), body }
}

const download = async (url: string, headers: Record<string, string>): Promise<number> => {
  const at = performance.now()
  const req = http.get(url, { headers })
  const [res] = (await once(req, 'response')) as [IncomingMessage]
  let size = 0
  res.on('data', (piece: Buffer) => {
    size += piece.length
  })
  await once(res, 'end')
  return size / 1e3 / (performance.now() - at)
}

const newDataset = async (server: Server, key: string): Promise<string> => {
  const answer = await fetch(`${server.url}/api/datasets/createempty`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Transfers', description: '' }),
  })
  return ((await answer.json()) as { id: string }).id
}

const smallDownloads = async (server: Server, path: string, key: string, seconds: number): Promise<number> =>
  (
    await load({
      port: server.port,
      connections: 32,
      seconds,
      newState: () => undefined,
      next: () => request('GET', path, { 'x-api-key': key }),
    })
  ).requestsPerSecond

/** Workloads 2 and 3: upload and download of one large file, and download of small files. */
export const transfer = async (rounds: number, sizeBytes: number): Promise<readonly Row[]> => {
  const pounce = await startPounce()
  const bare = await startBaseline()
  const key = await newKey(pounce)
  const dataset = await newDataset(pounce, key)
  const up: number[] = []
  const upBare: number[] = []
  const down: number[] = []
  const downBare: number[] = []
  const growth: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const raw = await uploadBare(bare, sizeBytes)
    const { result, growthMb } = await growthDuring(pounce, () => uploadMultipart(pounce, key, dataset, sizeBytes))
    upBare.push(raw.megabytesPerSecond)
    up.push(result.megabytesPerSecond)
    growth.push(growthMb)
    const { path } = JSON.parse(raw.body) as { path: string }
    const { id } = JSON.parse(result.body) as { id: string }
    downBare.push(await download(`${bare.url}/bare-download?path=${encodeURIComponent(path)}`, {}))
    const taken = await growthDuring(pounce, () => download(`${pounce.url}/api/files/${id}?tracking=false`, { 'x-api-key': key }))
    down.push(taken.result)
    growth.push(taken.growthMb)
  }
  const { id } = JSON.parse((await uploadMultipart(pounce, key, dataset, 4096)).body) as { id: string }
  const small = await smallDownloads(pounce, `/api/files/${id}?tracking=false`, key, 4)
  await pounce.stop()
  await bare.stop()
  const size = `${sizeBytes / mebibyte} MiB`
  return [
    { workload: `2 · ${size} up`, subject: 'bare node:http, SHA-256, fsync', figure: spread(upBare, 'MB/s') },
    { workload: `2 · ${size} up`, subject: 'Pounce, multipart', figure: spread(up, 'MB/s'), ratio: median(up) / median(upBare), goal: 0.7 },
    { workload: `3 · ${size} down`, subject: 'createReadStream', figure: spread(downBare, 'MB/s') },
    {
      workload: `3 · ${size} down`,
      subject: 'Pounce, each chunk verified',
      figure: spread(down, 'MB/s'),
      ratio: median(down) / median(downBare),
      goal: 0.8,
    },
    {
      workload: '2, 3 · memory',
      subject: 'growth of RSS, MiB (most of all rounds)',
      figure: spread(growth, 'MiB'),
      ratio: Math.max(...growth),
      goal: 64,
      isCeiling: true,
    },
    { workload: '3 · 4 kB down, 32 clients', subject: 'Pounce', figure: `${Math.round(small).toLocaleString('en')} requests/s` },
  ]
}
