import { load, onePart, request } from './load.ts'
import { cpuMsOf, newKey, type Server, sent, startBaseline, startPounce } from './servers.ts'
import { median, type Row, round } from './table.ts'

const connections = 32

interface Subject {
  readonly name: string
  readonly server: Server
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly perSecond: number[]
  /** The server's processor time per request in microseconds, which depends little on other load. */
  readonly cpuUs: number[]
}

const measure = async ({ server, path, headers, perSecond, cpuUs }: Subject, seconds: number): Promise<void> => {
  const bytes = request('GET', path, headers)
  const shape = { port: server.port, connections, newState: () => undefined, next: () => bytes }
  const before = await cpuMsOf(server.pid)
  const measured = await load({ ...shape, seconds, warmUpSeconds: 0 })
  if (measured.errors > 0) throw new Error(`${path}: ${measured.errors} error responses`)
  perSecond.push(measured.requestsPerSecond)
  cpuUs.push((((await cpuMsOf(server.pid)) - before) * 1000) / (measured.requestsPerSecond * seconds))
}

/** Small requests on 32 connections: the cost of a route compared with bare node:http, and the additional cost of permissions and of bytes. */
export const smallRequests = async (rounds: number, seconds: number): Promise<readonly Row[]> => {
  const [bare, pounce] = [await startBaseline(), await startPounce()]
  const auth = { 'x-api-key': await newKey(pounce) }
  const json = { ...auth, 'content-type': 'application/json' }
  const space = await sent(pounce, '/api/spaces', json, JSON.stringify({ name: 'small', description: '' }))
  const dataset = await sent(pounce, '/api/datasets/createempty', json, JSON.stringify({ name: 'small', description: '', space: [space] }))
  const part = onePart('small.bin', 'application/octet-stream', Buffer.alloc(4096, 'leaf '))
  const file = await sent(pounce, `/api/uploadToDataset/${dataset}?extract=false`, { ...auth, 'content-type': part.type }, part.body)
  const of = (name: string, server: Server, path: string, headers = {}): Subject => ({
    name,
    server,
    path,
    headers,
    perSecond: [],
    cpuUs: [],
  })
  const nodeHttp = of('node:http alone', bare, '/healthz')
  const health = of('/healthz', pounce, '/healthz')
  const record = of('a dataset by id, rights checked', pounce, `/api/datasets/${dataset}`, auth)
  const download = of('a file of 4 kB', pounce, `/api/files/${file}`, auth)
  const subjects = [nodeHttp, health, record, download]
  // Warm-up: unoptimized code is several times slower.
  for (const subject of subjects) await measure({ ...subject, perSecond: [], cpuUs: [] }, seconds)
  for (let at = 0; at < rounds; at += 1)
    for (const subject of at % 2 === 0 ? subjects : subjects.toReversed()) await measure(subject, seconds)
  await pounce.stop()
  await bare.stop()
  const row = (subject: Subject, beside?: Subject, goal = 0): Row => ({
    workload: 'small requests, 32 clients',
    subject: `${subject.name}${beside ? ` against ${beside.name}, by processor time` : ''}`,
    figure: `${round(median(subject.perSecond))} requests/s, processor ${round(median(subject.cpuUs))} µs`,
    ...(beside && { ratio: median(beside.cpuUs) / median(subject.cpuUs), goal }),
  })
  return [row(nodeHttp), row(health, nodeHttp, 0.5), row(record, health, 0.6), row(download, health, 0.5)]
}
