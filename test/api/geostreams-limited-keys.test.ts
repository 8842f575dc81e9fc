import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { callsOf } from '../support/calls.ts'
import { newSensor, newStream } from '../support/geostreams.ts'
import { newKey } from '../support/people.ts'
import { newSpace, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

// All callers may read geostreams here and responses are cached; a key limited to a space must still see only that space.
const server = await bootForTest({ config: { resources: { geostreams: { cacheMaxMiB: 8 } } } })

const ann = await somebody(server, 'ann')
const space = await newSpace(ann, 'inside')
const station = async (word: string, more: object) => {
  const sensor = await newSensor(ann, { name: `${word} sensor`, ...more })
  const stream = await newStream(ann, sensor, { name: `${word} stream` })
  const geometry = { type: 'Point', coordinates: [-88.2, 40.1] }
  const reading = { start_time: '2020-05-01T00:00:00Z', end_time: '2020-05-01T00:00:00Z', type: 'Feature', geometry }
  await ann.post('/api/geostreams/datapoints', { ...reading, properties: { [`${word}level`]: 3, level: 1 }, stream_id: String(stream) })
  return { sensor, stream }
}
const here = await station('blackcap', { spaces: [space] })
const there = await station('wheatear', {})
const limited = callsOf(server.as(await newKey(server, ann.email, ann.password, `name=held&spaces=${space}`)))
await server.drained()

const things = '/api/sensorthings/v1.1'
const g = '/api/geostreams'
const wide = [
  ...[`${g}/sensors`, `${g}/streams`, `${g}/stream?geocode=40.1,-88.2,100`, `${g}/datapoints`, `${g}/datapoints?format=csv`],
  ...[`${g}/datapoints/averages`, `${g}/datapoints/trends`, `${g}/datapoints/bin/month/1`, `${g}/cache`, '/api/search?query=sensor'],
  ...[`${things}/Things`, `${things}/Datastreams`, `${things}/Observations`, `${things}/ObservedProperties`, `${things}/Locations`],
  `${things}/Things?$expand=Datastreams($expand=Observations)`,
]

test.after.always(() => server.stop())

test('a key limited to a space finds only what is in it, including cached responses', async t => {
  // The first request fills the cache.
  for (const path of wide) t.is((await ann.get(path)).status, 200, path)
  for (const path of wide) {
    const { status, body } = await limited.get(path)
    const text = JSON.stringify(body)
    t.is(status, 200, path)
    t.false(text.includes('wheatear'), `${path} ${text.slice(0, 200)}`)
    if (!/cache|Locations|averages|trends/.test(path)) t.true(text.includes('blackcap'), `${path} ${text.slice(0, 200)}`)
  }
  t.deepEqual((await limited.get(`${g}/counts`)).body, { sensors: 1, streams: 1, datapoints: 1 })
  t.deepEqual((await limited.get(`${g}/datapoints?onlyCount=true`)).body, { datapointsLength: 1 })
})

test('a key limited to a space gets 404 for the numbers of other sensors and streams', async t => {
  const { sensor, stream } = there
  const paths = [`${g}/sensors/${sensor}`, `${g}/sensors/${sensor}/stats`, `${g}/sensors/${sensor}/streams`, `${g}/streams/${stream}`]
  const requested = [
    `${g}/datapoints?stream_id=${stream}`,
    `${g}/datapoints/averages?sensor_id=${sensor}`,
    `${g}/datapoints/bin/day/1?sensor_id=${sensor}`,
  ]
  for (const path of [...paths, ...requested, `${things}/Things(${sensor})`, `${things}/Datastreams('${stream}:level')`])
    t.is((await limited.get(path)).status, 404, path)
  t.is((await limited.get(`${g}/sensors/${here.sensor}`)).status, 200)
  t.is(
    (
      await limited.post(`${g}/streams`, {
        name: 'x',
        type: 'Feature',
        geometry: { type: 'Point', coordinates: [0, 0] },
        properties: {},
        sensor_id: sensor,
      })
    ).status,
    404,
  )
  t.is((await ann.get(`${g}/datapoints/bin/day/1`)).status, 200)
  const keys = await until(
    'a response to be cached',
    async () => Object.keys(((await ann.get(`${g}/cache`)).body as { files: object }).files),
    found => found.length > 0,
  )
  for (const key of keys) t.is((await limited.get(`${g}/cache/${key}`)).status, 404, key)
})
