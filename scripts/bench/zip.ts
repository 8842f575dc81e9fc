import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import http, { type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { growthDuring } from './growth.ts'
import { newKey, type Server, startPounce, startZipWriters } from './servers.ts'
import { median, type Row, spread } from './table.ts'

const mebibyte = 1024 * 1024
const writers = ['yazl', 'zip-stream'] as const

/** The files of a ZIP. */
interface Load {
  readonly name: string
  readonly count: number
  readonly sizeBytes: number
  /** How many times faster than npm's writers. */
  readonly goal: number
}

const call = async (
  server: Server,
  key: string,
  path: string,
  body: FormData | string,
  type?: string,
): Promise<{ readonly id: string }> => {
  const headers = { 'x-api-key': key, ...(type === undefined ? {} : { 'content-type': type }) }
  const answer = await fetch(`${server.url}${path}`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  return (await answer.json()) as { id: string }
}

/** Creates the same files in a dataset and in a folder. */
const prepare = async (pounce: Server, key: string, folder: string, { name, count, sizeBytes }: Load): Promise<string> => {
  await mkdir(folder)
  const { id } = await call(pounce, key, '/api/datasets/createempty', JSON.stringify({ name, description: '' }), 'application/json')
  const atOnce = sizeBytes > mebibyte ? 1 : 500
  for (let at = 0; at < count; at += atOnce) {
    const form = new FormData()
    for (let n = at; n < Math.min(at + atOnce, count); n++) {
      const bytes = randomBytes(sizeBytes)
      const file = `file-${String(n).padStart(5, '0')}.bin`
      await writeFile(join(folder, file), bytes)
      form.append('File', new Blob([bytes]), file)
    }
    await call(pounce, key, `/api/uploadToDataset/${id}?extract=false`, form)
  }
  return id
}

/** Megabytes of files per second, and the length of the response. */
const download = async (url: string, key: string, payloadBytes: number): Promise<number> => {
  const at = performance.now()
  const [res] = (await once(http.get(url, { headers: { 'x-api-key': key } }), 'response')) as [IncomingMessage]
  let length = 0
  res.on('data', (piece: Buffer) => {
    length += piece.length
  })
  await once(res, 'end')
  if (res.statusCode !== 200 || length < payloadBytes) throw new Error(`${res.statusCode}: ${length} bytes from ${url}`)
  return payloadBytes / 1e3 / (performance.now() - at)
}

const measure = async (pounce: Server, npm: Server, key: string, load: Load, rounds: number): Promise<readonly Row[]> => {
  const folder = join(npm.folder, load.name.replaceAll(' ', '-'))
  const dataset = await prepare(pounce, key, folder, load)
  const payload = load.count * load.sizeBytes
  const zip = `${pounce.url}/api/datasets/${dataset}/download?tracking=false`
  const speeds: Record<string, number[]> = { zip: [], bag: [], ...Object.fromEntries(writers.map(by => [by, []])) }
  const growths: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const taken: Record<string, number> = {}
    for (const by of writers) taken[by] = await download(`${npm.url}/zip?by=${by}&folder=${encodeURIComponent(folder)}`, key, payload)
    for (const [kind, url] of [
      ['zip', zip],
      ['bag', `${zip}&bagit=true`],
    ] as const) {
      const { result, growthMb } = await growthDuring(pounce, () => download(url, key, payload))
      taken[kind] = result
      if (round > 0) growths.push(growthMb)
    }
    // The first round is the warm-up.
    if (round > 0) for (const [kind, speed] of Object.entries(taken)) speeds[kind]?.push(speed)
  }
  const of = (kind: string): readonly number[] => speeds[kind] ?? []
  const best = Math.max(...writers.map(by => median(of(by))))
  const workload = `11 · ${load.name}`
  return [
    ...writers.map(by => ({ workload, subject: `${by}, files of a folder`, figure: spread(of(by), 'MB/s') })),
    { workload, subject: 'Pounce, ZIP', figure: spread(of('zip'), 'MB/s'), ratio: median(of('zip')) / best, goal: load.goal },
    { workload, subject: 'Pounce, BagIt', figure: spread(of('bag'), 'MB/s'), ratio: median(of('bag')) / best, goal: load.goal },
    { workload, subject: 'growth of RSS, MiB', figure: spread(growths, 'MiB'), ratio: Math.max(...growths), goal: 128, isCeiling: true },
  ]
}

/** Workload 11: datasets as ZIPs and bags, compared with npm's ZIP writers on the same files. */
export const zip = async (rounds: number, bigBytes: number): Promise<readonly Row[]> => {
  const pounce = await startPounce()
  const npm = await startZipWriters()
  const key = await newKey(pounce)
  const loads: readonly Load[] = [
    { name: '4,000 × 4 kB', count: 4000, sizeBytes: 4096, goal: 5 },
    { name: `${bigBytes / mebibyte} MiB in 8 files`, count: 8, sizeBytes: bigBytes / 8, goal: 2 },
  ]
  const rows: Row[] = []
  for (const load of loads) rows.push(...(await measure(pounce, npm, key, load, rounds)))
  await pounce.stop()
  await npm.stop()
  return rows
}
