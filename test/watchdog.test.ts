import test from 'ava'
import { isFullRun, type TestFetch } from 'pounce/sdk/testing'
import { adminKey, type ChildServer, childServer, dataFolder } from './support/child-server.ts'
import { declaredRoutes } from './support/declared-routes.ts'
import { furnish } from './support/furnished.ts'
import { type Hostile, hostileRequests } from './support/hostile-requests.ts'
import { sampleSeed, seededRandom } from './support/seeded-random.ts'
import { slowness } from './support/slowness.ts'
import { Watch } from './support/stalls.ts'
import { until } from './support/until.ts'

/** The maximum time for which one request may block the event loop, on the reference machine. */
const maxStallMs = 300
const together = 4
/** The usual run sends one request of each route, and one in this many of the others; a full run sends all. */
const requestsLeftOut = 8
/** Maximum number of requests that are repeated alone, those with the longest stalls first. */
const maxRetries = 30
const maxTries = 4
const timeoutMs = 5000

/** A sample by seed that covers each route and each kind of request. */
const sampleOf = (byRoute: readonly (readonly Hostile[])[]): readonly Hostile[] => {
  if (isFullRun) return byRoute.flat()
  const random = seededRandom(sampleSeed)
  const met = new Set<string>()
  return byRoute.flatMap(requests => {
    const chosen = requests.length > 0 ? random.pick(requests) : undefined
    return requests.filter(request => {
      const kind = request.title.slice(request.title.lastIndexOf(' ') + 1)
      const isKept = request === chosen || !met.has(kind) || random.oneIn(requestsLeftOut)
      if (isKept) met.add(kind)
      return isKept
    })
  })
}

/** Sends it and reads the response, which may never end. */
const send = async (call: TestFetch, { path, init }: Hostile): Promise<void> => {
  try {
    await (await call(path, { ...init(), signal: AbortSignal.timeout(timeoutMs) })).arrayBuffer()
  } catch {
    // Closed connections are accepted: only the watch decides.
  }
}

interface Sent {
  readonly request: Hostile
  readonly fromMs: number
  readonly toMs: number
}

/** Sends all of them, with limited concurrency. */
const sendAll = async (call: TestFetch, requests: readonly Hostile[]): Promise<readonly Sent[]> => {
  const left = requests.values()
  const sent: Sent[] = []
  const work = async (): Promise<void> => {
    for (const request of left) {
      const fromMs = performance.now()
      await send(call, request)
      sent.push({ request, fromMs, toMs: performance.now() })
    }
  }
  await Promise.all(Array.from({ length: together }, work))
  return sent
}

/** The stall that a request causes when sent alone. */
const stallAlone = async (server: ChildServer, call: TestFetch, request: Hostile): Promise<number> => {
  const watch = new Watch(server)
  await until('the watch to start', () => watch.waits.length > 2, Boolean, 60_000)
  const fromMs = performance.now()
  await send(call, request)
  const seen = watch.waits.length
  // Work may continue after the response: events, the index.
  await until('more responses of /healthz', () => watch.waits.length > seen + 3, Boolean, 60_000)
  await watch.stop()
  return watch.longest(fromMs, performance.now())
}

/** The shortest stall of several attempts if each of them is too long for this machine; otherwise undefined. */
const stallOf = async (server: ChildServer, call: TestFetch, request: Hostile): Promise<number | undefined> => {
  let least = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < maxTries; tries += 1) {
    const limitMs = maxStallMs * slowness()
    least = Math.min(least, await stallAlone(server, call, request))
    if (least <= limitMs) return undefined
  }
  return least
}

test('no request blocks the others', async t => {
  t.timeout(900_000)
  const server = await childServer(t, await dataFolder(t), { POUNCE_HTTP__MAX_JSON_BYTES: '1048576' })
  const call = server.as(await adminKey(server))
  const { id } = (await (await call('/api/me')).json()) as { id: string }
  const ids = await furnish({ call, id } as Parameters<typeof furnish>[0])
  // Many different words and fields, for queries that scan all of them.
  for (let lot = 0; lot < 5; lot += 1) {
    const content = Object.fromEntries(
      Array.from({ length: 1000 }, (_, n) => [`k${n}`, `w${((lot * 1000 + n) * 7919).toString(36)} x${n}y${lot}`]),
    )
    await call(`/api/datasets/${ids['dataset']}/metadata`, { method: 'POST', json: content })
  }
  const routes = await declaredRoutes(server)
  const requests = sampleOf(routes.map((route, number) => hostileRequests(route, ids, number)))
  const watch = new Watch(server)
  const sent = await sendAll(call, requests)
  await watch.stop()
  const stallIn = ({ fromMs, toMs }: Sent): number => watch.longest(fromMs, toMs)
  const limitMs = maxStallMs * slowness()
  const suspects = sent.filter(each => stallIn(each) > limitMs).toSorted((a, b) => stallIn(b) - stallIn(a))
  const stalls: string[] = []
  for (const { request } of suspects.slice(0, maxRetries)) {
    const ms = await stallOf(server, call, request)
    if (ms !== undefined) stalls.push(`${request.title}: ${Math.round(ms)} ms`)
  }
  t.log(`${requests.length} requests, ${watch.waits.length} answers of /healthz, ${suspects.length} suspects`)
  t.deepEqual(stalls, [])
})
