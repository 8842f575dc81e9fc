import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import type { GeoStore } from 'pounce/sdk'
import { liveTests } from 'pounce/sdk/testing'
import { openStore, testSchema } from '../plugins/geo/postgis/testing.ts'
import { openGeo } from '../plugins/geo/rtree/testing.ts'
import { sensorBody, streamBody } from '../scripts/test-data/station-bodies.ts'
import { stationData } from '../scripts/test-data/stations.ts'
import { adminKey, childServer, dataFolder, runPounceWith, startChild, startPounce } from './support/child-server.ts'
import { ok } from './support/scene.ts'
import { placesOn } from './support/server-places.ts'
import { until } from './support/until.ts'

const { test: live, url } = liveTests(test, 'POSTGIS')
const { test: liveEverywhere, url: urlOf } = liveTests(test, 'POSTGIS', 'MONGODB', 'S3')
const data = stationData({ points: 30_000 })
const countOfFirst = data.streams[0]?.count ?? 0
const onRtree = 'sqlite+disk+rtree'
const onPostgis = 'sqlite+disk+postgis'

interface Filled {
  readonly folder: string
  /** The key of its admin. */
  readonly key: string
}

/** A folder with a stopped installation on the default stores, with its first stream and the datapoints of all stations. */
const filledFolder = async (t: ExecutionContext): Promise<Filled> => {
  const folder = await dataFolder(t)
  const server = await childServer(t, folder)
  const key = await adminKey(server)
  const call = server.as(key)
  const [station] = data.stations
  const [stream] = data.streams
  if (!station || !stream) throw new Error('No stations')
  const post = (kind: string, json: unknown) => ok<{ id: number }>(call(`/api/geostreams/${kind}`, { method: 'POST', json }))
  const sensor = await post('sensors', sensorBody(station))
  // The first one has the same number as in the data.
  t.is((await post('streams', streamBody(stream, sensor.id))).id, stream.number)
  server.signal('SIGTERM')
  await server.ended
  const store = await openGeo(t, folder)
  let batch = []
  for (const point of data.points('month')) {
    batch.push(point)
    if (batch.length < 5000) continue
    await store.insert(batch)
    batch = []
  }
  await store.insert(batch)
  await store.dispose()
  return { folder, key }
}

/** Whether a store contains exactly the datapoints of all stations. */
const holdsAll = async (store: GeoStore): Promise<boolean> => {
  const expected = data.points('stream')
  for await (const piece of store.read({ filter: {}, sort: { by: 'stream', order: 'ascending' } }))
    for (const point of piece) if (!isDeepStrictEqual(point, expected.next().value)) return false
  return expected.next().done === true
}

const rtreeHoldsAll = async (t: ExecutionContext, folder: string): Promise<boolean> => {
  const store = await openGeo(t, folder)
  const answer = await holdsAll(store)
  await store.dispose()
  return answer
}

/** Number of datapoints of the first stream on the server. */
const pointsOn = async (t: ExecutionContext, { folder, key }: Filled, settings: Readonly<Record<string, string>>): Promise<number> => {
  const server = await childServer(t, folder, settings)
  const call = server.as(key)
  const counted = await ok<{ datapointsLength: number }>(call('/api/geostreams/datapoints?stream_id=1&onlyCount=true'))
  server.signal('SIGTERM')
  await server.ended
  return counted.datapointsLength
}

live('datapoints are migrated from SQLite to PostGIS despite kills, and back', async t => {
  const filled = await filledFolder(t)
  const { folder } = filled
  const schema = testSchema(t, url('POSTGIS'))
  const settings = { POUNCE_GEO__POSTGIS__URL: url('POSTGIS'), POUNCE_GEO__POSTGIS__SCHEMA: schema }
  const target = await openStore(t, { url: url('POSTGIS'), schema })
  const words = ['migrate', '--from', onRtree, '--to', onPostgis]

  for (const count of [1, 15_000]) {
    const running = startPounce(settings, folder, ...words)
    const ended = running.ended.then(({ code, err }) => Promise.reject(new Error(`the command exited early: ${code} ${err}`)))
    await Promise.race([
      until(
        'datapoints in PostGIS',
        () => target.count({}, count),
        seen => seen === count,
        60_000,
      ),
      ended,
    ])
    running.signal('SIGKILL')
    await running.ended
    const refused = await t.throwsAsync(startChild(folder).ready)
    t.regex(refused.message, /run `pounce migrate --from sqlite\+disk\+rtree --to sqlite\+disk\+postgis` again/)
  }
  const moved = await runPounceWith(settings, folder, ...words)
  t.is(moved.code, 0, moved.err)
  t.like(JSON.parse(moved.out), { points: data.count, documents: 0, blobs: 0, verified: 'counts and checksums' })
  t.true(await holdsAll(target))
  t.true(await rtreeHoldsAll(t, folder))
  t.is(await pointsOn(t, filled, { ...settings, POUNCE_REPLACE_PLUGINS: 'geo.postgis' }), countOfFirst)

  const back = ['migrate', '--from', onPostgis, '--to', onRtree]
  const full = await runPounceWith(settings, folder, ...back)
  t.is(full.code, 1)
  t.regex(full.err, /not empty: it contains datapoints/)
  await rm(join(folder, 'geo'), { recursive: true })
  const returned = await runPounceWith(settings, folder, ...back)
  t.is(returned.code, 0, returned.err)
  t.true(await rtreeHoldsAll(t, folder))
  t.is(await pointsOn(t, filled, {}), countOfFirst)
})

liveEverywhere('datapoints are migrated together with records and blobs', async t => {
  const filled = await filledFolder(t)
  const { folder } = filled
  const schema = testSchema(t, url('POSTGIS'))
  const { settings: others } = await placesOn(t, urlOf, ['documents.mongodb', 'blobs.s3'])
  const { POUNCE_REPLACE_PLUGINS: use = '', ...places } = others
  const settings = { ...places, POUNCE_GEO__POSTGIS__URL: url('POSTGIS'), POUNCE_GEO__POSTGIS__SCHEMA: schema }
  const { code, out, err } = await runPounceWith(settings, folder, 'migrate', '--from', onRtree, '--to', 'mongodb+s3+postgis')
  t.is(code, 0, err)
  t.like(JSON.parse(out), { points: data.count })
  t.regex(out, /"search": "rebuilt/)
  t.is(await pointsOn(t, filled, { ...settings, POUNCE_REPLACE_PLUGINS: `${use},geo.postgis` }), countOfFirst)
})

live('an impossible migration is refused before anything is changed', async t => {
  const folder = await dataFolder(t)
  const settings = { POUNCE_GEO__POSTGIS__URL: url('POSTGIS'), POUNCE_GEO__POSTGIS__SCHEMA: testSchema(t, url('POSTGIS')) }
  const refused = [
    [['--from', onRtree, '--to', 'sqlite+disk'], /datapoint store on both sides, or on neither/],
    [['--from', 'sqlite+disk', '--to', onPostgis], /datapoint store on both sides, or on neither/],
    [['--from', onRtree, '--to', 'sqlite+disk+oracle'], /geo\.oracle is not part/],
    [['--from', `${onRtree}+x`, '--to', onPostgis], /specify the document store and the blob store/],
    [['--from', 'sqlite+disk+', '--to', onPostgis], /specify the document store and the blob store/],
    [['--from', onRtree, '--to', onRtree], /nothing to migrate/],
    [['--from', onRtree, '--to', onPostgis], /No installation found in the source/],
  ] as const
  for (const [options, message] of refused) {
    const { code, err } = await runPounceWith(settings, folder, 'migrate', ...options)
    t.is(code, 1)
    t.regex(err, message)
  }
})
