import { createServer } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { unitsPerSecond, withoutExtractors } from './ingest.ts'
import { cpuMsOf, memoryOf, newKey, type Server, startEventsBaseline, startPounce } from './servers.ts'
import { median, type Row, round, spread } from './table.ts'

const kibibytesPerMebibyte = 1024
const opened = 100
const connections = { POUNCE_HTTP__MAX_CONNECTIONS_PER_ADDRESS: '100000', POUNCE_HTTP__MAX_CONNECTIONS: '100000' }
export const manyStreams = {
  ...connections,
  POUNCE_RESOURCES__LIVE__MAX_STREAMS_PER_CALLER: '100000',
  // No heartbeats during the measurement of memory.
  POUNCE_RESOURCES__LIVE__HEARTBEAT_SECONDS: '300',
}

export const post = async ({ url }: Server, key: string, path: string, json: unknown): Promise<{ readonly id: string }> => {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(json),
  })
  if (!answer.ok) throw new Error(`${answer.status} ${path}: ${await answer.text()}`)
  return (await answer.json()) as { id: string }
}

/** Opens a stream over a new socket; resolves when it is connected. `got` receives the text after that. */
const openStream = ({ port }: Server, key: string, query: string, got: (text: string) => void): Promise<net.Socket> =>
  new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () =>
      socket.write(`GET /api/live${query} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-API-Key: ${key}\r\n\r\n`),
    )
    socket.setEncoding('utf8').on('error', reject)
    let isConnected = false
    socket.on('data', (text: string) => {
      if (isConnected) return got(text)
      isConnected = text.includes(': connected')
      if (isConnected) resolve(socket)
    })
  })

const fans = 10

/**
 * Milliseconds from the first to the last write of one event to all streams. The server writes in the order in which they were opened, so
 * only the first and the last are read: reading all of them would take this process longer than the server takes to write.
 */
const fanOuts = async (server: Server, key: string, sockets: readonly net.Socket[]): Promise<readonly number[]> => {
  const [first, last] = [sockets[0], sockets.at(-1)]
  if (!first || !last) return []
  const times: number[] = []
  for (let fan = 0; fan < fans; fan += 1) {
    for (const socket of sockets) if (socket !== first && socket !== last) socket.pause()
    const both = [first, last].map(socket => new Promise<number>(resolve => socket.once('data', () => resolve(performance.now()))))
    await post(server, key, '/api/datasets/createempty', { name: 'for all', description: '' })
    const [began = 0, ended = 0] = await Promise.all(both)
    times.push(ended - began)
    for (const socket of sockets) socket.resume()
    await pause(500)
  }
  return times
}

export const openStreams = async (
  server: Server,
  key: string,
  count: number,
  got: (text: string) => void,
): Promise<readonly net.Socket[]> => {
  const sockets: net.Socket[] = []
  while (sockets.length < count) {
    const some = Array.from({ length: Math.min(opened, count - sockets.length) }, () => openStream(server, key, '', got))
    sockets.push(...(await Promise.all(some)))
  }
  return sockets
}

/** Time for one event to all streams on a server that writes to each with node:http. */
const bareFanOut = async (count: number): Promise<readonly number[]> => {
  const server = await startEventsBaseline()
  const sockets = await openStreams(server, 'none', count, () => undefined)
  const times = await fanOuts(server, 'none', sockets)
  for (const socket of sockets) socket.destroy()
  await server.stop()
  return times
}

/** Memory of idle streams, and the time for one event to all of them. */
const idleStreams = async (count: number): Promise<readonly Row[]> => {
  const bare = await bareFanOut(count)
  const server = await startPounce({ settings: manyStreams })
  const key = await newKey(server)
  await post(server, key, '/api/datasets/createempty', { name: 'warm', description: '' })
  await (await openStream(server, key, '', () => undefined)).destroy()
  await pause(5000)
  const before = await memoryOf(server.pid)
  let received = 0
  const got = (text: string): void => {
    if (text.includes('for all')) received += 1
  }
  const sockets = await openStreams(server, key, count, got)
  await pause(5000)
  const each = ((await memoryOf(server.pid)) - before) * (kibibytesPerMebibyte / count)
  const times = await fanOuts(server, key, sockets)
  for (let waited = 0; received < count * fans && waited < 10_000; waited += 10) await pause(10)
  for (const socket of sockets) socket.destroy()
  await server.stop()
  const workload = `live · ${count.toLocaleString('en')} idle streams`
  const toAll = 'one event to all'
  return [
    { workload, subject: 'memory of each', figure: `${round(each)} kB`, ratio: each, goal: 25, isCeiling: true },
    { workload, subject: `${toAll}, node:http alone`, figure: spread(bare, 'ms') },
    {
      workload,
      subject: `${toAll} (${received.toLocaleString('en')} of ${(count * fans).toLocaleString('en')} received)`,
      figure: spread(times, 'ms'),
      ratio: median(times),
      goal: 60,
      isCeiling: true,
    },
  ]
}

/** One of two servers that are measured alternately. */
interface Side {
  readonly server: Server
  readonly key: string
  readonly isLive: boolean
}

const live = ['resources.live', 'resources.webhooks']
const turns = 4

const startSide = async (isLive: boolean, plugins: readonly string[]): Promise<Side> => {
  const chosen = withoutExtractors(isLive ? plugins : plugins.filter(plugin => !live.includes(plugin)))
  const server = await startPounce({ settings: { ...(isLive ? manyStreams : connections), POUNCE_PLUGINS: chosen } })
  return { server, key: await newKey(server), isLive }
}

/**
 * V8's memory reducer discards optimized code 8 s after a server became idle, as happens while the other one is measured: for some seconds its
 * requests then take 10 to 40 % more processor time.
 */
const warmUpSeconds = 3

/** Ingests for a while, alongside the timed changes, until all resulting events are processed. */
const turnOf = async ({ server, key, isLive }: Side, seconds: number) => {
  await unitsPerSecond(server, key, warmUpSeconds, 0)
  const before = await cpuMsOf(server.pid)
  const loading = unitsPerSecond(server, key, seconds, 0)
  // Both servers have the load of the changes.
  const waits = await latencies(server, key, seconds, isLive)
  const { units } = await loading
  await pause(1000)
  return { units, waits, cpuMs: ((await cpuMsOf(server.pid)) - before) / (units * seconds) }
}
type Turn = Awaited<ReturnType<typeof turnOf>>

/**
 * Time from the response to a change until its event is received, during ingest; and the cost of the streams for ingest. Both servers run at the
 * same time and are measured alternately: if they ran sequentially, noise would exceed the difference to be measured.
 */
const besideIngest = async (rounds: number, seconds: number, plugins: readonly string[]): Promise<readonly Row[]> => {
  const [withAll, without]: [Turn[], Turn[]] = [[], []]
  for (let at = 0; at < rounds; at += 1) {
    const sides = [await startSide(true, plugins), await startSide(false, plugins)]
    for (const side of sides) await turnOf(side, seconds)
    for (let turn = 0; turn < turns; turn += 1)
      for (const side of turn % 2 === at % 2 ? sides : sides.toReversed())
        (side.isLive ? withAll : without).push(await turnOf(side, seconds / 2))
    for (const { server } of sides) await server.stop()
  }
  const sorted = withAll.flatMap(({ waits }) => waits).toSorted((one, other) => one - other)
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  const rates = (side: readonly Turn[]): readonly number[] => side.map(({ units }) => units)
  const costs = (side: readonly Turn[]): readonly number[] => side.map(({ cpuMs }) => cpuMs)
  // The two measurements of a pair are consecutive.
  const shares = withAll.map(({ units }, n) => (100 * units) / (without[n]?.units ?? Number.NaN))
  const costShares = withAll.map(({ cpuMs }, n) => cpuMs / (without[n]?.cpuMs ?? Number.NaN))
  const workload = 'live · beside ingest of workload 1'
  return [
    { workload, subject: 'commit → client, p50', figure: `${round(at(0.5))} ms`, ratio: at(0.5), goal: 30, isCeiling: true },
    { workload, subject: 'commit → client, p99', figure: `${round(at(0.99))} ms`, ratio: at(0.99), goal: 150, isCeiling: true },
    { workload, subject: 'ingest without live events and webhooks', figure: spread(rates(without), 'units/s') },
    {
      workload,
      subject: `ingest with them and one stream (${spread(shares, '%')} of those without, pair by pair)`,
      figure: spread(rates(withAll), 'units/s'),
      ratio: median(shares) / 100,
      goal: 0.95,
    },
    { workload, subject: 'processor time of a unit without them, all threads', figure: spread(costs(without), 'ms') },
    { workload, subject: 'processor time of a unit with them', figure: spread(costs(withAll), 'ms'), ratio: median(costShares) },
  ]
}

const changeEveryMs = 60
/** Number of tags added to one dataset: with hundreds of them, reading its record would dominate. */
const changesPerDataset = 50

/** Changes a dataset at a fixed rate; milliseconds from the response to each change until its event is received, if `isLive`. */
const latencies = async (server: Server, key: string, seconds: number, isLive: boolean): Promise<readonly number[]> => {
  let id = ''
  const received = new Map<number, number>()
  const committed: number[] = []
  let pending = ''
  const got = (text: string): void => {
    pending += text
    for (const [, tag = ''] of pending.matchAll(/"tags":\["(\d+)"\]/g))
      if (!received.has(Number(tag))) received.set(Number(tag), performance.now())
    pending = pending.slice(-500)
  }
  const socket = isLive ? await openStream(server, key, '?type=tags.added', got) : undefined
  const began = performance.now()
  while (performance.now() < began + seconds * 1000) {
    if (committed.length % changesPerDataset === 0)
      id = (await post(server, key, '/api/datasets/createempty', { name: 'watched', description: '' })).id
    await post(server, key, `/api/datasets/${id}/tags`, { tags: [`${committed.length}`] })
    committed.push(performance.now())
    await pause(Math.max(0, began + committed.length * changeEveryMs - performance.now()))
  }
  for (let waited = 0; isLive && received.size < committed.length && waited < 5000; waited += 10) await pause(10)
  socket?.destroy()
  // A client may receive the event before the response.
  return isLive ? committed.map((at, n) => Math.max(0, (received.get(n) ?? Number.POSITIVE_INFINITY) - at)) : []
}

/** Deliveries to a target that responds immediately. */
const webhooks = async (count: number): Promise<readonly Row[]> => {
  let received = 0
  let isOpen = false
  const target = createServer((request, response) => {
    request.resume().on('end', () => {
      received += isOpen ? 1 : 0
      response.writeHead(isOpen ? 200 : 503).end()
    })
  })
  await new Promise<void>(resolve => target.listen(0, '127.0.0.1', resolve))
  const server = await startPounce({ settings: { POUNCE_OUTBOUND__ALLOW: '["127.0.0.1"]' } })
  const key = await newKey(server)
  const { port } = target.address() as AddressInfo
  await post(server, key, '/api/webhooks', { url: `http://127.0.0.1:${port}/`, filter: { types: ['tags.added'] } })
  const datasets = await Promise.all(
    Array.from({ length: 20 }, async () => (await post(server, key, '/api/datasets/createempty', { name: 'x', description: '' })).id),
  )
  await Promise.all(
    datasets.map(async id => {
      for (let at = 0; at < count / datasets.length; at += 1) await post(server, key, `/api/datasets/${id}/tags`, { tags: [`${at}`] })
    }),
  )
  isOpen = true
  while (received < 1) await pause(1)
  const began = performance.now()
  while (received < count) await pause(5)
  const perSecond = count / ((performance.now() - began) / 1000)
  await server.stop()
  target.close()
  const workload = 'webhooks · a backlog to a target that answers at once'
  return [{ workload, subject: `${count.toLocaleString('en')} deliveries`, figure: `${round(perSecond)} /s`, ratio: perSecond, goal: 500 }]
}

/** Live events and webhooks. */
export const liveEvents = async (options: {
  readonly streams: number
  readonly rounds: number
  readonly seconds: number
  readonly deliveries: number
  readonly plugins: readonly string[]
}): Promise<readonly Row[]> => [
  ...(await idleStreams(options.streams)),
  ...(await besideIngest(options.rounds, options.seconds, options.plugins)),
  ...(await webhooks(options.deliveries)),
]
