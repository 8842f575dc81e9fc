import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { usualOrFull } from 'pounce/sdk/testing'
import { adminKey, type ChildServer, dataFolder, type StartingServer, startChild } from '../support/child-server.ts'
import { ok } from '../support/scene.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { drained, until } from '../support/until.ts'

const kills = usualOrFull(3, 6)
const loaders = 4
const perBatch = 200
const g = '/api/geostreams'
const geometry = { type: 'Point', coordinates: [8.5, 47.4, 400] }

/** The number of stored datapoints of each acknowledged batch, by its name. */
type Acked = Map<string, number>

const reading = (batch: string, n: number) => {
  const start_time = new Date(Date.UTC(2020, 0, 1) + n * 60_000).toISOString().replace('.000', '')
  return { start_time, end_time: start_time, type: 'Feature', geometry, properties: { batch, n } }
}

/** Sends a batch as JSON or as lines; resolves to the number of stored datapoints. */
const send = async (call: (path: string, init: RequestInit) => Promise<Response>, stream: number, batch: string, asLines: boolean) => {
  const datapoints = Array.from({ length: perBatch }, (_, n) => reading(batch, n))
  const [type, body] = asLines
    ? ['application/x-ndjson', datapoints.map(each => JSON.stringify({ ...each, stream_id: String(stream) })).join('\n')]
    : ['application/json', JSON.stringify({ datapoints, stream_id: String(stream) })]
  const answer = await call(`${g}/datapoints/bulk`, { method: 'POST', body, headers: { 'content-type': type } })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${answer.status} ${text}`)
  const reported = JSON.parse(text) as number | { inserted: number }
  return typeof reported === 'number' ? reported : reported.inserted
}

test('kills during bulk requests lose no acknowledged datapoint, and leave none incomplete', async t => {
  t.timeout(120_000)
  const random = seededRandom()
  t.log(`seed ${random.seed}`)
  const folder = await dataFolder(t)
  let up = Promise.withResolvers<ChildServer>()
  let starting: StartingServer | undefined
  t.teardown(async () => {
    starting?.signal('SIGKILL')
    await starting?.ended
  })
  const start = async (): Promise<ChildServer> => {
    starting = startChild(folder)
    const server = await starting.ready
    up.resolve(server)
    return server
  }
  const kill = async (): Promise<void> => {
    up = Promise.withResolvers()
    starting?.signal('SIGKILL')
    await starting?.ended
  }

  const first = await start()
  const key = await adminKey(first)
  const make = async (path: string, json: object): Promise<number> =>
    (await ok<{ id: number }>(first.as(key)(g + path, { method: 'POST', json }))).id
  const about = { type: 'Feature', geometry, properties: {} }
  const sensor = await make('/sensors', { ...about, name: 'a logger' })
  const streams = [
    await make('/streams', { ...about, name: 'one', sensor_id: String(sensor) }),
    await make('/streams', { ...about, name: 'other', sensor_id: String(sensor) }),
  ]
  const acked: Acked = new Map()
  const sent = new Map<string, number>()
  let cutOff = 0
  let isOver = false
  const load = async (loader: number): Promise<void> => {
    for (let n = 0; !isOver; n += 1) {
      const server = await up.promise
      const [batch, stream] = [`${loader}-${n}`, streams[(loader + n) % 2] ?? 0]
      sent.set(batch, stream)
      try {
        acked.set(batch, await send(server.as(key), stream, batch, n % 2 === 0))
      } catch (error) {
        if (error instanceof Error && /^[45]\d\d /.test(error.message)) throw error
        cutOff += 1
      }
    }
  }
  const loading = Array.from({ length: loaders }, (_, loader) => load(loader))
  for (let killed = 0; killed < kills; killed += 1) {
    const enough = acked.size + 2 + random.int(8)
    await Promise.race([
      until(
        'batches to be acknowledged',
        () => acked.size,
        size => size >= enough,
      ),
      Promise.all(loading),
    ])
    await pause(random.int(20))
    await kill()
    if (killed === kills - 1) isOver = true
    await start()
  }
  await Promise.all(loading)
  const { as } = await up.promise
  const call = as(key)
  await drained(call)

  const found = new Map<string, Set<number>>()
  for (const stream of streams)
    for (const { properties, geometry: place, stream_id } of await ok<
      readonly { properties: { batch: string; n: number }; geometry: unknown; stream_id: string }[]
    >(call(`${g}/datapoints?stream_id=${stream}`))) {
      const seen = found.get(properties.batch) ?? new Set()
      if (seen.has(properties.n)) t.fail(`${properties.batch} has ${properties.n} twice`)
      found.set(properties.batch, seen.add(properties.n))
      if (sent.get(properties.batch) !== Number(stream_id)) t.fail(`${properties.batch} is in ${stream_id}`)
      if (JSON.stringify(place) !== JSON.stringify(geometry)) t.fail(JSON.stringify(place))
    }
  t.log(`${acked.size} batches were answered, ${cutOff} cut off`)
  t.true(acked.size > kills && cutOff > 0)
  t.deepEqual(
    [...acked].filter(([batch, count]) => count !== perBatch || found.get(batch)?.size !== perBatch),
    [],
  )
  const total = [...found.values()].reduce((sum, { size }) => sum + size, 0)
  const { datapoints } = await ok<{ datapoints: number }>(call(`${g}/counts`))
  t.is(datapoints, total)
  t.is(await starting?.ready.then(() => 'up'), 'up')
})
