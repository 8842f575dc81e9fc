import test, { type ExecutionContext } from 'ava'
import { BlobOwners, BlobStore, DocumentStore, GeoStore, NoSpace } from 'pounce/sdk'
import { bootForTest, MemoryGeoStore, type TestServer } from 'pounce/sdk/testing'
import { answers } from '../../plugins/resources/geostreams/cache/stored-responses.ts'
import { type Calls, callsOf } from '../support/calls.ts'
import { newSensor, newStream, pointAt } from '../support/geostreams.ts'
import { signIn } from '../support/people.ts'
import { insertReadings, type Reading } from '../support/readings.ts'
import { type Somebody, somebody } from '../support/spaces-and-people.ts'

const at = (minute: number): string => `${new Date(Date.UTC(2017, 0, 1) + minute * 60_000).toISOString().slice(0, 19)}Z`
const series = (count: number, more: object = {}): readonly Reading[] =>
  Array.from({ length: count }, (_, minute) => ({ at: at(minute), properties: { v: minute, ...more } }))

interface Scene {
  readonly server: TestServer
  readonly ann: Somebody
  readonly admin: Calls
  readonly sensor: number
  readonly stream: number
}

/** A server that caches responses, with a sensor of ann's and its stream of 3 readings. */
const scene = async (t: ExecutionContext, { maxMiB = 1, overrides = {}, access = {} } = {}): Promise<Scene> => {
  const config = { resources: { geostreams: { cacheMaxMiB: maxMiB } }, access }
  const server = await bootForTest({ t, config, overrides })
  const ann = await somebody(server, 'ann')
  const sensor = await newSensor(ann, { name: 'lake' })
  const stream = await newStream(ann, sensor)
  await insertReadings(server, stream, series(3))
  return { server, ann, admin: callsOf(server.as(server.admin.key)), sensor, stream }
}

const add = (who: Calls, stream: number, minute: number) =>
  who.post('/api/geostreams/datapoints', {
    ...{ start_time: at(minute), type: 'Feature', geometry: pointAt(10, 50, 0), properties: { v: minute }, stream_id: String(stream) },
  })

const got = async (who: Pick<Calls, 'get'>, path: string): Promise<string> => {
  const { status, body } = await who.get(`/api/geostreams/${path}`)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return typeof body === 'string' ? body : JSON.stringify(body)
}

interface Kept {
  readonly files: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly size: number
}
const kept = async (who: Calls): Promise<Kept> => JSON.parse(await got(who, 'cache')) as Kept
const keys = async (who: Calls): Promise<readonly string[]> => Object.keys((await kept(who)).files)

/** The total count of numbers. */
const counted = (body: string): number =>
  (JSON.parse(body) as readonly { readonly properties: { readonly v: readonly { readonly count: number }[] } }[])
    .flatMap(({ properties }) => properties.v)
    .reduce((sum, { count }) => sum + count, 0)

test.serial('nothing is cached if cacheMaxMiB is 0', async t => {
  const { ann } = await scene(t, { maxMiB: 0 })
  await got(ann, 'datapoints/bin/day/0')
  t.deepEqual(await kept(ann), { files: {}, size: 0 })
})

test.serial('a response is cached once, with its query, size and bytes', async t => {
  const { ann, server, stream } = await scene(t)
  const answer = await got(ann, `datapoints/bin/day/0?stream_id=${stream}&attributes=v&attributes=w`)
  t.is(await got(ann, `datapoints/bin/day/0?attributes=w&attributes=v&stream_id=${stream}`), answer)
  t.is(await got(callsOf(server.as()), `datapoints/bin/day/0?attributes=w&attributes=v&attributes=w&stream_id=${stream}`), answer)
  const { files, size } = await kept(ann)
  const [[key, entry] = ['', {}], ...more] = Object.entries(files)
  t.deepEqual(more, [])
  t.regex(key, /^[0-9A-F]{32}$/)
  t.like(entry, {
    ...{ route: 'datapoints/bin', time: 'day', depth: '0', stream_id: String(stream), attributes: ['v', 'w'] },
    ...{ filesize: Buffer.byteLength(answer) },
  })
  t.is(size, Buffer.byteLength(answer))
  const bytes = await ann.call(`/api/geostreams/cache/${key}`)
  t.regex(bytes.headers.get('content-type') ?? '', /^application\/json/)
  t.is(await bytes.text(), answer)
})

test.serial('every parameter that changes the response gets a separate entry', async t => {
  const { ann } = await scene(t)
  const end = 'window_end=2018-01-01T00:00:00Z'
  const questions = [
    ...['bin/day/0', 'bin/day/1', 'bin/hour/0', 'bin/PT1H/0', 'bin/PT1H/0?origin=2017-01-01T00:30:00Z', 'bin/day/0?raw=true'],
    ...[
      'bin/day/0?aggregates=min',
      'bin/day/0?semi=spring',
      'bin/day/0?since=2017-01-01T00:01:00Z',
      'bin/day/0?until=2017-01-01T00:01:00Z',
    ],
    ...['bin/day/0?geocode=50,10,5', 'bin/day/0?geojson={"type":"Polygon","coordinates":[[[9,49],[11,49],[11,51],[9,49]]]}'],
    ...['bin/day/0?sources=station', 'bin/day/0?attributes=v', 'bin/day/0?stream_id=1', 'bin/day/0?sensor_id=1'],
    ...['bin/day/0?window_start=2017-01-01T00:01:00Z', `bin/day/0?${end}`, 'averages', 'averages?format=geojson', `averages?${end}`],
    ...[`trends?${end}`, `trends?${end}&window_start=2017-01-01T00:00:00Z`, `trends?${end}&binning=day`, `trends?${end}&format=geojson`],
    ...['', '?format=geojson', '?format=csv', '?sort=stream', '?order=desc'],
  ].map(each => `datapoints${each.startsWith('?') || each === '' ? '' : '/'}${each}`)
  const first = await Promise.all(questions.map(each => got(ann, each)))
  t.is((await keys(ann)).length, questions.length)
  t.deepEqual(await Promise.all(questions.map(each => got(ann, each))), first)
  t.is((await keys(ann)).length, questions.length)
})

test.serial('counts, pages and windows that end now are not cached, nor are HEAD requests', async t => {
  const { ann } = await scene(t)
  for (const each of [
    'datapoints?onlyCount=true',
    'datapoints?limit=2',
    'datapoints/trends',
    'datapoints/trends?window_start=2010-01-01T00:00:00Z',
  ])
    await got(ann, each)
  t.is((await ann.call('/api/geostreams/datapoints/averages', { method: 'HEAD' })).status, 200)
  t.deepEqual(await keys(ann), [])
})

test.serial('every write is reflected in the next response', async t => {
  const { ann, server, sensor, stream } = await scene(t)
  const questions = ['datapoints/bin/day/0', `datapoints/bin/day/0?sensor_id=${sensor}`, 'datapoints/bin/day/0?sources=station']
  const counts = () => Promise.all(questions.map(async each => counted(await got(ann, each))))
  const holds = async (count: number): Promise<void> => {
    t.deepEqual(await counts(), [count, count, count])
    t.deepEqual(await counts(), [count, count, count])
  }
  await holds(3)
  const { body } = await add(ann, stream, 10)
  await holds(4)
  const point = { start_time: at(11), type: 'Feature', geometry: pointAt(10, 50), properties: { v: 1 } }
  t.is((await ann.post('/api/geostreams/datapoints/bulk', { datapoints: [point, point], stream_id: String(stream) })).status, 200)
  await holds(6)
  t.is((await ann.remove(`/api/geostreams/datapoints/${(body as { id: number }).id}`)).status, 200)
  await holds(5)
  const second = await newStream(ann, sensor)
  await holds(5)
  await add(ann, second, 20)
  await holds(6)
  await ann.remove(`/api/geostreams/streams/${stream}`)
  await server.drained()
  await holds(1)
  const names = async () => (JSON.parse(await got(ann, 'datapoints/averages')) as readonly Readonly<Record<string, unknown>>[])[0]?.['id']
  t.is(typeof (await names()), 'number')
  await ann.put(`/api/geostreams/sensors/${sensor}`, { geometry: pointAt(1, 2, 0), properties: { type: { id: 'moved' } } })
  t.is(counted(await got(ann, questions[2] ?? '')), 0)
  t.is(counted(await got(ann, 'datapoints/bin/day/0?sources=moved')), 1)
  await ann.remove(`/api/geostreams/sensors/${sensor}`)
  await server.drained()
  t.is(await got(ann, questions[0] ?? ''), '[]')
})

test.serial('during concurrent writes, a response includes everything stored before it was requested', async t => {
  const { ann, stream } = await scene(t)
  let [begun, answered] = [3, 3]
  let isOver = false
  const writing = (async () => {
    for (let minute = 100; minute < 140; minute += 1) {
      begun += 1
      await add(ann, stream, minute)
      answered += 1
    }
    isOver = true
  })()
  const reading = async (path: string): Promise<void> => {
    while (!isOver) {
      const least = answered
      const count = counted(await got(ann, path))
      t.true(count >= least && count <= begun, `${least} <= ${count} <= ${begun}`)
    }
  }
  await Promise.all([
    writing,
    ...['datapoints/bin/day/0', 'datapoints/bin/day/0', `datapoints/bin/hour/0?stream_id=${stream}`].map(reading),
  ])
  t.is(counted(await got(ann, 'datapoints/bin/day/0')), 43)
})

test.serial('concurrent equal requests share one response', async t => {
  const store = new (class extends MemoryGeoStore {
    reads = 0

    override bins(query: Parameters<MemoryGeoStore['bins']>[0]): ReturnType<MemoryGeoStore['bins']> {
      this.reads += 1
      return super.bins(query)
    }
  })()
  const { ann } = await scene(t, { overrides: { [GeoStore]: store } })
  const all = await Promise.all(Array.from({ length: 20 }, () => got(ann, 'datapoints/bin/day/0')))
  t.is(new Set(all).size, 1)
  t.is(store.reads, 1)
})

test.serial('the oldest responses are evicted when the cache is full, and oversized ones are never cached', async t => {
  const { ann, server, sensor } = await scene(t)
  const stream = await newStream(ann, sensor)
  await insertReadings(server, stream, series(2000, { text: 'x'.repeat(100) }))
  const question = (order: number): string => `datapoints?stream_id=${stream}&since=2017-01-01T00:0${order}:00Z`
  for (const order of [1, 2, 3]) await got(ann, question(order))
  const { files, size } = await kept(ann)
  t.true(size <= 1024 * 1024, `${size}`)
  t.deepEqual(
    Object.values(files).map(({ since }) => since),
    ['2017-01-01T00:03:00Z'],
  )
  await insertReadings(server, stream, series(3000, { text: 'y'.repeat(200) }))
  for (const again of [1, 2])
    t.is((JSON.parse(await got(ann, `datapoints?stream_id=${stream}`)) as readonly unknown[]).length, 5000, `${again}`)
  t.is((await keys(ann)).length, 1)
})

test.serial('cached bytes that are missing or cannot be stored cause no error', async t => {
  const { ann, server } = await scene(t)
  const answer = await got(ann, 'datapoints/averages')
  const [key = ''] = await keys(ann)
  const blob = (await server.get(DocumentStore).get(answers, key))?.blob ?? ''
  const owners = await Promise.all(
    server
      .get(BlobOwners)
      .all()
      .map(owner => owner.owned([blob])),
  )
  t.deepEqual(
    owners.flatMap(owned => [...owned]),
    [blob],
  )
  const blobs = server.get(BlobStore)
  await blobs.remove(blob)
  t.is(await got(ann, 'datapoints/averages'), answer)
  t.is((await ann.get(`/api/geostreams/cache/${key}`)).status, 404)
  blobs.put = async () => {
    throw new NoSpace()
  }
  t.is(counted(await got(ann, 'datapoints/bin/day/0')), 3)
  t.is((await ann.get('/api/geostreams/datapoints/bin/day/0?attributes=v&aggregates=mode')).status, 400)
})

test.serial('a failed response fails all concurrent requests, and is computed again', async t => {
  const { ann, server, sensor } = await scene(t)
  const stream = await newStream(ann, sensor)
  await insertReadings(server, stream, [{ at: '1900-01-01T00:00:00Z', until: '2000-01-01T00:00:00Z', properties: { v: 1 } }])
  const ask = () => ann.get(`/api/geostreams/datapoints/bin/minute/0?stream_id=${stream}`)
  for (const { status } of await Promise.all([ask(), ask(), ask()])) t.is(status, 400)
  t.is((await ask()).status, 400)
  t.deepEqual(await keys(ann), [])
})

test.serial('cached responses survive a restart, and writes still invalidate them', async t => {
  const { ann, server, stream } = await scene(t)
  await got(ann, 'datapoints/bin/day/0')
  const before = await keys(ann)
  await server.restart()
  const again = callsOf(server.as(ann.key))
  t.deepEqual(await keys(again), before)
  await add(again, stream, 50)
  t.is(counted(await got(again, 'datapoints/bin/day/0')), 4)
})

test.serial('if geostreams are not public, the cache is not used for callers who see only a part', async t => {
  const { ann, server, admin, stream } = await scene(t, { access: { private: true, policy: { makeGeostreamsPublicReadable: false } } })
  const eve = await somebody(server, 'eve')
  t.is(counted(await got(ann, 'datapoints/bin/day/0')), 3)
  t.is(await got(eve, 'datapoints/bin/day/0'), '[]')
  t.deepEqual(await kept(ann), { files: {}, size: 0 })
  const all = callsOf((path, init) => server.as(server.admin.key)(`${path}${path.includes('?') ? '&' : '?'}superAdmin=true`, init))
  t.is(counted(await got(all, 'datapoints/bin/day/0')), 3)
  const [key = ''] = await keys(all)
  t.regex(key, /^[0-9A-F]{32}$/)
  t.is(await got(eve, 'datapoints/bin/day/0'), '[]')
  for (const who of [ann, eve]) {
    t.deepEqual(await kept(who), { files: {}, size: 0 })
    t.is((await who.get(`/api/geostreams/cache/${key}`)).status, 404)
  }
  t.is((await callsOf(server.as()).get('/api/geostreams/cache')).status, 401)
  t.is((await eve.get(`/api/geostreams/cache/invalidate?stream_id=${stream}`)).status, 404)
  t.is((await admin.get('/api/geostreams/cache/invalidate')).status, 200)
})

test.serial('an unknown key is not found', async t => {
  const { ann } = await scene(t)
  for (const key of ['0'.repeat(32), 'x', "'--", '%00', 'constructor', '..%2f..%2fetc'])
    t.is((await ann.get(`/api/geostreams/cache/${key}`)).status, 404, key)
})

test.serial('cached responses are deleted by callers who may delete their subject, all of them by server admins', async t => {
  const { ann, server, admin, sensor, stream } = await scene(t)
  const eve = await somebody(server, 'eve')
  const other = await newStream(eve, await newSensor(eve, { name: 'other' }))
  const fill = async () => {
    for (const each of [`bin/day/0?stream_id=${stream}`, `bin/day/0?stream_id=${other}`, 'averages']) await got(ann, `datapoints/${each}`)
    return keys(ann)
  }
  const path = '/api/geostreams/cache/invalidate'
  const gone = async (who: Calls, query: string) => ((await who.get(path + query)).body as { files: readonly string[] }).files.length
  t.is((await fill()).length, 3)
  t.is((await eve.get(`${path}?stream_id=${stream}`)).status, 403)
  t.is((await ann.get(`${path}?stream_id=${stream}&sensor_id=99999`)).status, 404)
  t.is((await ann.get(`${path}?sensor_id=x`)).status, 404)
  t.is((await ann.get(path)).status, 403)
  t.is((await callsOf(server.as()).get(path)).status, 401)
  t.is((await callsOf(server.as()).get(`${path}?stream_id=${stream}`)).status, 401)
  const cookie = await signIn(server, ann.email, ann.password)
  t.true((await server.as()(`${path}?stream_id=${stream}`, { headers: { cookie } })).status >= 400)
  t.is((await keys(ann)).length, 3)
  t.is(await gone(ann, `?sensor_id=${sensor}`), 2)
  t.deepEqual(
    Object.values((await kept(ann)).files).map(entry => entry['stream_id']),
    [String(other)],
  )
  await fill()
  t.is(await gone(ann, `?stream_id=${stream}`), 2)
  const all = await fill()
  const { body } = await admin.get(path)
  t.deepEqual([...(body as { files: readonly string[] }).files].sort(), [...all].sort())
  t.deepEqual((await admin.get(path)).body, { files: [], errors: [] })
})
