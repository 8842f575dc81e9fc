import test from 'ava'
import { GeoStore } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { newSensor, newStream } from '../support/geostreams.ts'
import { insertReadings } from '../support/readings.ts'
import { refusal } from '../support/scene.ts'
import { addressOf, sta } from '../support/sensorthings.ts'
import { somebody } from '../support/spaces-and-people.ts'

const server = await bootForTest()
const ann = await somebody(server, 'Ann')
const sensor = await newSensor(ann, { name: 'wordy', properties: { text: 'w'.repeat(60_000) } })
const stream = await newStream(ann, sensor)
const geometry = { type: 'Point', coordinates: [0, 0] } as const
const points = Array.from({ length: 1000 }, (_, n) => ({
  ...{ id: 1_000_000 + n, stream, startMs: n * 1000, endMs: null, createdMs: 0, geometry },
  properties: { level: n },
}))
await server.get(GeoStore).insert(points)
await server.drained()
test.after.always(() => server.stop())

const anybody = server.as()

test.serial('tens of thousands of observations are counted exactly, also on a busy server', async t => {
  t.timeout(120_000)
  const own = await bootForTest()
  t.teardown(() => own.stop())
  const bob = await somebody(own, 'Bob')
  const logger = await newSensor(bob, { name: 'logger' })
  for (const known of [{ temperature: 1, humidity: 2 }, { temperature: 3 }]) {
    const readings = Array.from({ length: 30_000 }, (_, at) => ({ at: at * 1000, properties: at % 3 === 0 ? { temperature: at } : known }))
    await insertReadings(own, await newStream(bob, logger), readings)
  }
  const busy = setInterval(() => {
    const until = performance.now() + 40
    while (performance.now() < until);
  }, 1)
  t.teardown(() => clearInterval(busy))
  t.is((await sta(own.as(), '/Observations?$count=true&$top=1'))['@iot.count'], 80_000)
})

test('a response that repeats one large entity is refused before it is built', async t => {
  const refused = await refusal(anybody(addressOf('/Observations?$top=1000&$expand=Datastream($expand=Thing)')))
  t.is(refused.status, 400)
  t.regex(refused.message, /more than 16777216 bytes: use a smaller \$top, \$select/)
  const page = await sta(anybody, '/Observations?$top=50&$expand=Datastream($expand=Thing)')
  t.is(page.value.length, 50)
  t.is((await sta(anybody, '/Observations?$top=1000&$expand=Datastream($expand=Thing($select=name))')).value.length, 1000)
})

test('a response whose nested expansions exceed 20,000 entities is refused', async t => {
  const shown =
    'Datastream($select=id;$expand=Thing($select=id),Sensor($select=id),ObservedProperty($select=id)),FeatureOfInterest($select=id)'
  const round = `Datastream($select=id;$expand=Observations($select=id;$top=40;$expand=${shown}))`
  const refused = await refusal(anybody(addressOf(`/Observations?$top=100&$select=id&$expand=${round}`)))
  t.is(refused.status, 400)
  t.regex(refused.message, /more than 20000 entities/)
})
