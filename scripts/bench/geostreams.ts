import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { placesOn, type ServerPart } from '../../test/support/server-places.ts'
import { admin, type BoxAndTime, boxes, bulkOf, fillPoints, stations, yearCount, yearStream } from './geo-points.ts'
import { type RawPoints, rawPg, rawSqlite } from './geo-raw.ts'
import { load, percentile, request } from './load.ts'
import { memoryOf, newKey, type Server, startPounce } from './servers.ts'
import { readLines, type StreamedLines } from './streamed-lines.ts'
import { median, type Row, round, spread } from './table.ts'

/** A datapoint store, and what it is compared with. */
interface Side {
  readonly name: string
  readonly parts: readonly ServerPart[]
  raw(folder: string, count: number): Promise<RawPoints>
}

const address = (name: string): string => process.env[`POUNCE_TEST_${name}_URL`] ?? ''

const sides: readonly Side[] = [
  { name: 'geo.rtree', parts: [], raw: async (folder, count) => rawSqlite(folder, count) },
  ...(address('POSTGIS') === ''
    ? []
    : [{ name: 'geo.postgis', parts: ['geo.postgis'], raw: (_, count) => rawPg(address('POSTGIS'), count) } satisfies Side]),
]

const perBulk = 500
const connections = 8

/** Readings per second that a running server accepts in bulk requests, each answered once durable. */
const ingest = async (server: Server, key: string, seconds: number): Promise<number> => {
  let turn = 0
  const bulks = Array.from({ length: 64 }, (_, n) => bulkOf(n, perBulk, n * perBulk))
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const requests = bulks.map(body => request('POST', '/api/geostreams/datapoints/bulk', headers, body))
  const next = (): Buffer => {
    turn += 1
    return requests[turn % requests.length] ?? Buffer.alloc(0)
  }
  const measured = await load({ port: server.port, connections, seconds, newState: () => undefined, next })
  if (measured.errors > 0) throw new Error(`${measured.errors} bulk requests were refused`)
  return measured.requestsPerSecond * perBulk
}

const pathOf = ({ box: [west, south, east, north], fromMs, untilMs }: BoxAndTime): string => {
  const corners = [south, west, south, east, north, east, north, west].join(',')
  const [since, until] = [fromMs, untilMs].map(ms => new Date(ms).toISOString())
  return `/api/geostreams/datapoints?geocode=${corners}&since=${since}&until=${until}`
}

/** V8 optimizes at run time: before that the same query takes twice as long. */
const warmUpSeconds = 5

/** Sequential queries over one connection, each with another box and time range. */
const askBoxes = async (server: Server, key: string, areas: readonly BoxAndTime[], seconds: number) => {
  const requests = areas.map(area => request('GET', pathOf(area), { 'x-api-key': key }))
  let turn = 0
  const next = (): Buffer => {
    turn += 1
    return requests[turn % requests.length] ?? Buffer.alloc(0)
  }
  const measured = await load({ port: server.port, connections: 1, seconds, warmUpSeconds, newState: () => undefined, next })
  if (measured.errors > 0) throw new Error(`${measured.errors} queries were refused`)
  return measured
}

const timed = async (times: number, run: (n: number) => Promise<unknown>): Promise<readonly number[]> => {
  const taken: number[] = []
  for (let n = 0; n < times; n++) {
    const begin = performance.now()
    await run(n)
    taken.push(performance.now() - begin)
  }
  return taken.sort((a, b) => a - b)
}

const propertiesOfYear = 3

const sums = (server: Server, key: string, times: number): Promise<readonly number[]> =>
  timed(times, async () => {
    const answer = await fetch(`${server.url}/api/geostreams/datapoints/bin/day/1?stream_id=${yearStream}`, {
      headers: { 'x-api-key': key, 'accept-encoding': 'identity' },
    })
    const [sensor] = (await answer.json()) as { properties: Record<string, unknown[]> }[]
    const days = Object.values(sensor?.properties ?? {}).map(bins => bins.length)
    if (days.length !== propertiesOfYear || days.some(count => count !== 365)) throw new Error(`not one bin per day: ${answer.status}`)
  })

const sumsByHand = (raw: RawPoints, times: number): Promise<readonly number[]> =>
  timed(times, async () => {
    const found = await raw.days()
    if (found !== propertiesOfYear * 365) throw new Error(`${found} bins from the bare table, not one per day`)
  })

/** Lines a second. */
const csvByHand = async (raw: RawPoints, lines: number): Promise<number> => {
  const begin = performance.now()
  const table = await raw.csv()
  if (table.lines !== lines) throw new Error(`${table.lines} of ${lines} lines from the bare table`)
  return table.lines / ((performance.now() - begin) / 1000)
}

const figures = (sorted: readonly number[]): string => `${round(percentile(sorted, 0.5))} ms, p99 ${round(percentile(sorted, 0.99))} ms`

interface Scale {
  readonly count: number
  readonly rounds: number
  /** Maximum milliseconds for a box and a time range, on SQLite. */
  readonly boxGoalMs: number
  /** Measures box and time queries only, with more readings than the other measurements use. */
  readonly boxesOnly?: boolean
}

/** A datapoint store over HTTP, and the same rows in a bare table. */
interface Pair extends Pick<Scale, 'count' | 'rounds' | 'boxGoalMs'> {
  readonly side: Side
  readonly raw: RawPoints
  readonly server: Server
  readonly key: string
  /** Memory of the server before its first request. */
  readonly idleMiB: number
}

const boxRows = async ({ side, raw, server, key, count, rounds, boxGoalMs }: Pair): Promise<readonly Row[]> => {
  const areas = boxes(400)
  const byHand: number[] = []
  const overHttp: { readonly p50: number; readonly p99: number }[] = []
  for (let at = 0; at < rounds; at++) {
    byHand.push(...(await timed(areas.length, n => raw.ask(areas[n] as BoxAndTime))))
    overHttp.push(await askBoxes(server, key, areas, 5))
  }
  const workload = `10 · box + time, ${count.toLocaleString('en')} points`
  const p99 = median(overHttp.map(each => each.p99))
  const goal = side.parts.length > 0 ? {} : { ratio: p99, goal: boxGoalMs, isCeiling: true }
  const figure = `${round(median(overHttp.map(each => each.p50)))} ms, p99 ${round(p99)} ms`
  return [
    { workload, subject: raw.name, figure: figures(byHand.sort((a, b) => a - b)) },
    { workload, subject: `${side.name}, over HTTP`, figure, ...goal },
  ]
}

const csvRows = async ({ side, raw, server, key, idleMiB, count, rounds }: Pair): Promise<readonly Row[]> => {
  const [all, byHand]: [StreamedLines[], number[]] = [[], []]
  const lines = count + yearCount + 1
  for (let at = 0; at < rounds; at++) {
    byHand.push(await csvByHand(raw, lines))
    all.push(await readLines(server, '/api/geostreams/datapoints?format=csv', { 'x-api-key': key }, lines))
  }
  const workload = `10 · CSV of ${count.toLocaleString('en')} points`
  const rate = all.map(each => each.rowsPerSecond)
  const grown = Math.max(...all.map(each => each.peakMiB)) - idleMiB
  const first = all.map(each => each.firstByteMs)
  const { name } = side
  return [
    { workload, subject: raw.name, figure: spread(byHand, 'rows/s') },
    { workload, subject: name, figure: spread(rate, 'rows/s'), ratio: median(rate) / 1000, goal: 300 },
    { workload, subject: `${name}, first byte`, figure: spread(first, 'ms') },
    { workload, subject: `${name}, memory at its most over idle`, figure: `${round(grown)} MiB`, ratio: grown, goal: 128, isCeiling: true },
  ]
}

const binRows = async ({ side, raw, server, key, rounds }: Pair): Promise<readonly Row[]> => {
  const [byHand, overHttp]: [number[], number[]] = [[], []]
  for (let at = 0; at < rounds; at++) {
    byHand.push(...(await sumsByHand(raw, 10)))
    overHttp.push(...(await sums(server, key, 10)))
  }
  const workload = '10 · daily bins of a stream-year'
  for (const all of [byHand, overHttp]) all.sort((a, b) => a - b)
  return [
    { workload, subject: raw.name, figure: figures(byHand) },
    { workload, subject: side.name, figure: figures(overHttp), ratio: percentile(overHttp, 0.5), goal: 50, isCeiling: true },
  ]
}

const ingestRows = async ({ side, raw, server, key, rounds }: Pair, rawRate: number): Promise<readonly Row[]> => {
  const rates: number[] = []
  for (let at = 0; at < rounds; at++) rates.push(await ingest(server, key, 6))
  const workload = `10 · points in, bulks of ${perBulk}`
  const figure = spread(rates, 'points/s')
  return [
    { workload, subject: raw.name, figure: `${round(rawRate)} points/s` },
    { workload, subject: `${side.name}, over HTTP`, figure, ratio: median(rates) / 1000, goal: 20 },
  ]
}

const measureSide = async (side: Side, scale: Scale, folder: string): Promise<readonly Row[]> => {
  const { count, boxesOnly = false } = scale
  const raw = await side.raw(folder, count)
  const rawRate = await raw.ingest(count)
  await raw.addYear()
  const endings: (() => Promise<void>)[] = []
  const { settings } = await placesOn({ teardown: end => void endings.push(end) }, address, side.parts)
  await fillPoints(folder, count, settings)
  const server = await startPounce({ folder, settings })
  const idleMiB = await memoryOf(server.pid)
  const pair: Pair = { ...scale, side, raw, server, key: await newKey(server, admin), idleMiB }
  try {
    const rows = await boxRows(pair)
    return boxesOnly ? rows : [...rows, ...(await csvRows(pair)), ...(await binRows(pair)), ...(await ingestRows(pair, rawRate))]
  } finally {
    await server.stop()
    await raw.close()
    for (const end of endings) await end()
  }
}

/** Workload 10: a year of readings of 1,000 stations, on each datapoint store compared with the same rows in a bare table. */
export const geostreams = async (scales: readonly Scale[]): Promise<readonly Row[]> => {
  const rows: Row[] = []
  for (const scale of scales)
    for (const side of sides) {
      if (scale.boxesOnly && side.parts.length > 0) continue
      const folder = await mkdtemp(join(tmpdir(), 'pounce-bench-'))
      try {
        if (scale.count % stations !== 0) throw new Error(`the count must be a multiple of ${stations} stations`)
        rows.push(...(await measureSide(side, scale, folder)))
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    }
  return rows
}
