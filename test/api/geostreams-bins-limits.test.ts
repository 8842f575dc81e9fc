import test from 'ava'
import { GeoStore } from 'pounce/sdk'
import type { GeoBin } from 'pounce/sdk/geo'
import { bootForTest, MemoryGeoStore } from 'pounce/sdk/testing'
import { newSensor, newStream } from '../support/geostreams.ts'
import { insertReadings } from '../support/readings.ts'
import { somebody } from '../support/spaces-and-people.ts'

const path = '/api/geostreams/datapoints'
const hourMs = 3_600_000

test('bins too fine for long readings are refused with alternatives, also in total over several streams', async t => {
  const server = await bootForTest({ t, config: { http: { budgets: { export: { account: { maxPerMinute: 6000 } } } } } })
  const ann = await somebody(server, 'ann')
  const sensor = await newSensor(ann)
  const addLong = async (count: number): Promise<number> => {
    const stream = await newStream(ann, sensor)
    const readings = Array.from({ length: count }, (_, at) => ({ at: at * 1000, until: 9000 * hourMs, properties: { v: at } }))
    await insertReadings(server, stream, readings)
    return stream
  }
  await addLong(60)
  const answered = await ann.get(`${path}/bin/hour/0`)
  t.is((answered.body as readonly { properties: { v: readonly unknown[] } }[])[0]?.properties.v.length, 9000)
  await addLong(60)
  const long = await addLong(120)
  t.is((await ann.get(`${path}/bin/month/0`)).status, 200)
  const fine = [`bin/hour/0?stream_id=${long}`, `bin/hour/0?stream_id=${long}&format=csv`, 'bin/hour/0?raw=true', 'trends?binning=hour']
  for (const each of fine) {
    const { status, body } = await ann.get(`${path}/${each}`)
    t.is(status, 400, each)
    t.regex(JSON.stringify(body), /longer bins, a shorter period, or fewer sensors/)
  }
  t.is((await ann.get(`${path}/trends?binning=month`)).status, 200)
})

test('the error for a reading that overlaps too many bins specifies its times', async t => {
  const server = await bootForTest({ t })
  const ann = await somebody(server, 'ann')
  const stream = await newStream(ann, await newSensor(ann))
  await insertReadings(server, stream, [{ at: 0, until: 20_000 * hourMs, properties: { v: 1 } }])
  for (const each of ['bin/hour/0', 'bin/hour/0?raw=true']) {
    const { status, body } = await ann.get(`${path}/${each}`)
    t.is(status, 400, each)
    t.regex(JSON.stringify(body), /The datapoint from 1970-01-01T00:00:00\.000Z to 1972-04-13T08:00:00\.000Z overlaps more than 10000 bins/)
  }
})

test('binning is aborted when the client disconnects', async t => {
  const left = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const store = new (class extends MemoryGeoStore {
    override async *bins({ signal }: Parameters<MemoryGeoStore['bins']>[0]): AsyncGenerator<readonly GeoBin[]> {
      begun.resolve()
      await new Promise<void>(resolve => signal?.addEventListener('abort', () => resolve()))
      left.resolve()
      yield []
    }
  })()
  const server = await bootForTest({ t, overrides: { [GeoStore]: store } })
  const ann = await somebody(server, 'ann')
  await insertReadings(server, await newStream(ann, await newSensor(ann)), [{ at: 0, properties: { v: 1 } }])
  const leaving = new AbortController()
  const answer = ann.call(`${path}/bin/hour/0`, { signal: leaving.signal })
  await begun.promise
  leaving.abort()
  await t.throwsAsync(answer)
  await t.notThrowsAsync(left.promise)
})

test('bins with too many texts are refused with alternatives, before they fill the memory', async t => {
  const server = await bootForTest({ t })
  const ann = await somebody(server, 'ann')
  const long = (n: number): string => `${n}${'x'.repeat(60_000)}`
  const month = 30 * 24 * hourMs
  const readings = Array.from({ length: 24 }, (_, n) => {
    const value = n % 2 === 0 ? { text: long(n) } : { object: { x: long(n) } }
    return { at: n, until: 60 * month, properties: { v: n, ...value } }
  })
  const [sensor, other] = [await newSensor(ann), await newSensor(ann)]
  await insertReadings(server, await newStream(ann, sensor), readings)
  const sources = Array.from({ length: 700 }, (_, n) => ({ at: n, properties: { v: n, source: long(n) } }))
  await insertReadings(server, await newStream(ann, other), sources)
  const refused = [
    ...[`bin/month/0?sensor_id=${sensor}`, `bin/month/0?sensor_id=${sensor}&raw=true&attributes=text&attributes=v`],
    ...['', '&raw=true', '&format=csv'].map(more => `bin/year/0?sensor_id=${other}${more}`),
  ]
  for (const each of refused) {
    const { status, body } = await ann.get(`${path}/${each}`)
    t.is(status, 400, each)
    t.regex(JSON.stringify(body), /filter by attributes or streams, or use a shorter period/, each)
  }
  // Texts are counted only while they are held: those of the sensors of one response may be longer in all.
  for (const each of ['bin/year/0?attributes=object', `bin/month/0?sensor_id=${sensor}&attributes=v`])
    t.is((await ann.get(`${path}/${each}`)).status, 200, each)
  for (let more = 0; more < 5; more += 1) {
    const stream = await newStream(ann, await newSensor(ann))
    await insertReadings(
      server,
      stream,
      sources.slice(0, 150).map(each => ({ ...each, properties: { object: { x: each.properties.source } } })),
    )
  }
  t.is((await ann.get(`${path}/bin/year/0?attributes=object`)).status, 200)
})

test('a bin may have very many sources', async t => {
  const count = 200_000
  const store = new (class extends MemoryGeoStore {
    override async *bins({ filter }: Parameters<MemoryGeoStore['bins']>[0]): AsyncGenerator<readonly GeoBin[]> {
      const [stream = 0] = filter.streams ?? []
      for (let n = 0; n < count; n += 1000)
        yield Array.from({ length: 1000 }, (_, more) => ({
          ...{ stream, property: 'v', fromMs: 0, toMs: 365 * 24 * hourMs, depth: null, group: [`reading-${n + more}.csv`] },
          ...{ count: 1, sum: 1, min: 1, max: 1 },
        }))
    }
  })()
  const server = await bootForTest({ t, overrides: { [GeoStore]: store } })
  const ann = await somebody(server, 'ann')
  await insertReadings(server, await newStream(ann, await newSensor(ann)), [{ at: 0, properties: { v: 1, source: 'reading.csv' } }])
  // Comparing each with all others takes minutes.
  t.timeout(30_000)
  const { body } = await ann.get(`${path}/bin/year/0`)
  const [row] = body as readonly { readonly properties: { readonly v: readonly [{ readonly sources: readonly string[] }] } }[]
  t.is(row?.properties.v[0].sources.length, count)
})
