import { once } from 'node:events'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import test from 'ava'
import { GeoStore, NoSpace, Streams, Unavailable } from 'pounce/sdk'
import { streamIdOf } from 'pounce/sdk/geo'
import { bootForTest, MemoryGeoStore, type TestServer } from 'pounce/sdk/testing'
import { callsOf } from '../support/calls.ts'
import { newSensor, newStream, pointAt } from '../support/geostreams.ts'
import { newKey } from '../support/people.ts'
import { letIn, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

/** A store whose next calls can be made to fail or wait. */
class FaultyStore extends MemoryGeoStore {
  faults: Error[] = []
  before: (() => Promise<void>) | undefined
  removalFaults: Error[] = []
  /** Numbers of datapoints inserted together. */
  lengths: number[] = []

  override remove(what: Parameters<MemoryGeoStore['remove']>[0]) {
    const fault = this.removalFaults.shift()
    return fault ? Promise.reject(fault) : super.remove(what)
  }

  override async insert(points: Parameters<MemoryGeoStore['insert']>[0]) {
    await this.before?.()
    this.lengths.push(points.length)
    const fault = this.faults.shift()
    if (fault) {
      await super.insert(points.slice(0, points.length / 2))
      throw fault
    }
    return super.insert(points)
  }
}

const store = new FaultyStore()
let server: TestServer
let ann: Somebody
let stranger: Somebody
let sensor: number

test.before(async () => {
  server = await bootForTest({ overrides: { [GeoStore]: store } })
  ann = await somebody(server, 'ann')
  stranger = await somebody(server, 'stranger')
  sensor = await newSensor(ann)
})
test.after.always(() => server?.stop())

const bulk = '/api/geostreams/datapoints/bulk'
const at = (n: number): string => new Date(Date.UTC(2020, 0, 1) + n * 60_000).toISOString().replace('.000Z', 'Z')
const point = (n: number, more: object = {}) => ({
  ...{ start_time: at(n), end_time: at(n), type: 'Feature', geometry: pointAt(-88, 40, 0), properties: { n } },
  ...more,
})
const points = (count: number, more: object = {}) => Array.from({ length: count }, (_, n) => point(n, more))
const countOf = (stream: number): Promise<number> => store.count({ streams: [stream] }, 1e6)
const stream = (): Promise<number> => newStream(ann, sensor)

interface Report {
  readonly inserted: number
  readonly refused: number
  readonly lines: readonly { readonly line: number; readonly field?: string; readonly message: string }[]
  readonly code?: string
}

const send = async (body: string | Uint8Array | ReadableStream, type = 'application/x-ndjson', query = '', key = ann.key) => {
  const init = { method: 'POST', headers: { 'content-type': type }, body, duplex: 'half' }
  const answer = await server.as(key)(bulk + query, init as RequestInit)
  return { status: answer.status, body: (await answer.json()) as Report & number }
}
const ndjson = (...lines: readonly unknown[]): string =>
  lines.map(line => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')

test('datapoints sent with one stream_id are all stored, and the response is their count', async t => {
  const own = await stream()
  for (const stream_id of [String(own), own]) {
    const { status, body } = await ann.post(bulk, { datapoints: points(600), stream_id })
    t.deepEqual([status, body], [200, 600])
  }
  t.is(await countOf(own), 1200)
  // Some clients start the body with a byte order mark.
  const marked = `\ufeff${JSON.stringify({ datapoints: points(2), stream_id: String(own) })}`
  t.deepEqual((await send(marked, 'application/json')).body as number, 2)
  t.deepEqual((await ann.post(bulk, { stream_id: String(own), datapoints: [] })).body, 0)
})

test('an array may contain datapoints of several streams; the parameters of each stream are updated', async t => {
  const [one, other] = [await stream(), await stream()]
  const mixed = [...points(3, { stream_id: String(one) }), ...points(2, { stream_id: other, properties: { depth: 1, site: 'A' } })]
  const { status, body } = await ann.post(bulk, mixed)
  t.deepEqual([status, body], [200, 5])
  t.deepEqual([await countOf(one), await countOf(other)], [3, 2])
  const records = await server.get(Streams).getMany([one, other].map(streamIdOf))
  t.deepEqual(records.get(streamIdOf(one))?.parameters, ['n'])
  t.deepEqual(records.get(streamIdOf(other))?.parameters.toSorted(), ['depth', 'site'])
})

test.serial('batches of long datapoints are small', async t => {
  const own = await stream()
  const places = Array.from({ length: 5000 }, (_, n) => [n / 100, 40.25])
  const long = JSON.stringify(point(0, { geometry: { type: 'LineString', coordinates: places } }))
  store.lengths = []
  const { status, body } = await send(ndjson(...Array.from({ length: 200 }, () => long)), undefined, `?stream_id=${own}`)
  t.deepEqual([status, body as number], [200, 200])
  t.true(Math.max(...store.lengths) * long.length <= 3 * 1024 * 1024, store.lengths.join())
})

test('NDJSON may have CRLF, blank lines, a byte order mark and no newline at the end', async t => {
  const own = await stream()
  const lines = points(3, { stream_id: own }).map(each => JSON.stringify(each))
  for (const type of ['application/x-ndjson', 'application/ndjson; charset=utf-8', 'application/jsonl']) {
    const { status, body } = await send(`\ufeff${lines.join('\r\n')}\r\n\r\n${lines[0]}`, type)
    t.deepEqual([status, body as number], [200, 4])
  }
  t.deepEqual((await send(ndjson(point(1), point(2)), undefined, `?stream_id=${own}`)).body as number, 2)
  t.is(await countOf(own), 14)
})

const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const withProperties = (text: string): string =>
  JSON.stringify(point(1, { properties: 0 })).replace('"properties":0', `"properties":${text}`)
const badLines: readonly (readonly [title: string, line: string | Buffer, field: string | undefined])[] = [
  ['no JSON', '{"start_time":', undefined],
  ['a list', '[1]', undefined],
  ['a string', '"point"', undefined],
  ['null', 'null', undefined],
  ['not a number', withProperties('{"n":NaN}'), undefined],
  ['infinity', withProperties('{"n":-Infinity}'), undefined],
  ['a number out of range', withProperties('{"n":1e999}'), 'properties'],
  ['a duplicate name', withProperties('{"n":1,"n":2}'), undefined],
  ['a duplicate name, nested and escaped', withProperties('{"x":[{"n":1,"\\u006e":2}]}'), undefined],
  ['a __proto__ member', withProperties('{"__proto__":{"x":1}}'), undefined],
  ['a nested constructor member', withProperties('{"a":[{"constructor":1}]}'), undefined],
  ['65 levels', withProperties(deep(65)), undefined],
  ['an unpaired surrogate', withProperties('{"a":"\\ud800"}'), 'properties'],
  ['an unpaired surrogate in a name', withProperties('{"\\udc00":1}'), 'properties'],
  ['a null character', withProperties('{"a":"\\u0000"}'), 'properties'],
  ['invalid UTF-8', Buffer.from(withProperties('{"a":"\xe9"}'), 'latin1'), undefined],
  ['a latitude beyond 90', JSON.stringify(point(1, { geometry: pointAt(40, -88.5 - 10) })), 'geometry.coordinates'],
  ['an unknown geometry type', JSON.stringify(point(1, { geometry: { type: 'Sphere', coordinates: [1, 2] } })), 'geometry'],
  ['no geometry', JSON.stringify(point(1, { geometry: null })), 'geometry'],
  ['no properties', JSON.stringify(point(1, { properties: undefined })), 'properties'],
  ['properties that are too long', withProperties(`{"a":"${'x'.repeat(70_000)}"}`), 'properties'],
  ['an invalid start', JSON.stringify(point(1, { start_time: '2020-01-01T00:00:' })), 'start_time'],
  ['an end before its start', JSON.stringify(point(5, { end_time: at(4) })), 'end_time'],
  ['no type', JSON.stringify(point(1, { type: undefined })), 'type'],
  ['an unknown stream', JSON.stringify(point(1, { stream_id: '88888888' })), 'stream_id'],
  ['a stream that is SQL', JSON.stringify(point(1, { stream_id: "1' OR '1'='1" })), 'stream_id'],
]

const joinBytes = (lines: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(lines.flatMap(line => [Buffer.from(line), Buffer.from('\n')]))

for (const [title, line, field] of badLines)
  test(`a line with ${title} is reported by line number, and the others are stored`, async t => {
    const own = await stream()
    const good = JSON.stringify(point(1))
    const { status, body } = await send(joinBytes([good, line, good]), undefined, `?stream_id=${own}`)
    t.is(status, 207)
    t.like(body, { inserted: 2, refused: 1 })
    t.is(body.lines[0]?.line, 2)
    t.is(body.lines[0]?.field, field)
    t.truthy(body.lines[0]?.message)
    t.is(await countOf(own), 2)
    if (typeof line !== 'string') return
    const array = await send(
      `[${good.replace('{', `{"stream_id":${own},`)}, ${line.replace(/^\{(?!"stream)/, `{"stream_id":${own},`)}]`,
      'application/json',
    )
    if (title === 'no JSON') t.is(array.status, 400)
    else if (title !== 'an unknown stream' && title !== 'a stream that is SQL')
      t.like([array.status, array.body], [207, { inserted: 1, refused: 1 }])
  })

test('JSON that is neither an object nor an array is refused with the expected type', async t => {
  for (const body of [7, 'x']) {
    const answer = await ann.post('/api/geostreams/datapoints/bulk', body)
    t.is(answer.status, 400)
    t.regex(JSON.stringify(answer.body), /must be .*or an array of datapoints/)
  }
})

test('if all datapoints are invalid, the response is 400 with the same report', async t => {
  const own = await stream()
  const bad = points(1500, { start_time: 'yesterday' })
  const { status, body } = await send(ndjson(...bad), undefined, `?stream_id=${own}`)
  t.is(status, 400)
  t.like(body, { inserted: 0, refused: 1500, code: 'invalid', status: 'error' })
  t.is(body.lines.length, 1000)
  t.deepEqual([body.lines[0]?.line, body.lines[999]?.line], [1, 1000])
  t.is((await ann.post(bulk, { datapoints: bad, stream_id: own })).status, 400)
  t.is(await countOf(own), 0)
})

test('a latitude that looks swapped is reported', async t => {
  const own = await stream()
  const { body } = await ann.post(bulk, { datapoints: [point(1, { geometry: pointAt(40.1, -100.2, 0) })], stream_id: own })
  t.regex((body as Report).lines[0]?.message ?? '', /swapped/)
})

for (const [title, body] of [
  ['no JSON', '{"datapoints":[{]'],
  ['no closing bracket', '[{"a":1}'],
  ['a trailing comma', '[{"a":1},]'],
  ['trailing data', '[] []'],
  ['no datapoints', '{"stream_id":"1"}'],
  ['datapoints that are not a list', '{"datapoints":{},"stream_id":"1"}'],
  ['duplicate datapoints', '{"datapoints":[],"datapoints":[],"stream_id":"1"}'],
  ['only a string', '"x"'],
  ['no content', ''],
  ['an invalid stream_id', '{"datapoints":[],"stream_id":"x"}'],
  ['invalid UTF-8', Buffer.from('[{"é":1}]', 'latin1')],
] as const)
  test(`a JSON body with ${title} is refused as a whole`, async t => {
    t.is((await send(body, 'application/json')).status, 400)
  })

test('unsupported content types and charsets get 415', async t => {
  t.is((await send('x', 'text/csv')).status, 415)
  t.is((await send('[]', 'application/json; charset=latin1')).status, 415)
})

test('too large a JSON body gets 413, with a hint at NDJSON', async t => {
  const many = await send(`[${'1,'.repeat(20_000)}1]`, 'application/json')
  t.is(many.status, 413)
  t.regex(JSON.stringify(many.body), /x-ndjson/)
  const large = await send(`["${'x'.repeat(17 * 1024 * 1024)}"]`, 'application/json')
  t.is(large.status, 413)
})

test('a line of more than 1 MiB is refused and the others are stored', async t => {
  const own = await stream()
  const long = withProperties(`{"a":"${'x'.repeat(3 * 1024 * 1024)}"}`)
  const { status, body } = await send(ndjson(point(1), long, point(2)), undefined, `?stream_id=${own}`)
  t.like([status, body.inserted, body.lines[0]?.line], [207, 2, 2])
  const last = await send(ndjson(point(1), long), undefined, `?stream_id=${own}`)
  t.like([last.status, last.body.inserted, last.body.lines[0]?.line], [207, 1, 2])
})

test('callers who may not add are refused before the body is read, or per line if lines name streams', async t => {
  const own = await stream()
  const body = { datapoints: points(2), stream_id: own }
  t.is((await callsOf(server.as()).post(bulk, body)).status, 401)
  t.is((await stranger.post(bulk, body)).status, 403)
  t.is((await ann.post(bulk, { ...body, stream_id: '88888888' })).status, 404)
  t.is((await send(ndjson(point(1)), undefined, '?stream_id=88888888')).status, 404)
  t.is((await send(ndjson(point(1)), undefined, '?stream_id=x')).status, 400)
  const theirs = await newStream(stranger, await newSensor(stranger))
  const mixed = await send(ndjson(point(1, { stream_id: own }), point(1, { stream_id: theirs })), undefined, '', stranger.key)
  t.is(mixed.status, 207)
  t.like(mixed.body, { inserted: 1, refused: 1, lines: [{ line: 1, field: 'stream_id' }] })
  t.is(await countOf(own), 0)
})

test('a key limited to a space adds only to streams in it', async t => {
  const space = await newSpace(ann)
  const editor = await somebody(server, 'editor')
  await letIn(ann, space, 'Editor', editor)
  const inside = await newStream(ann, await newSensor(ann, { spaces: [space] }))
  const outside = await stream()
  await server.drained()
  const held = await newKey(server, ann.email, ann.password, `name=held&spaces=${space}`)
  const { status, body } = await send(ndjson(point(1, { stream_id: outside }), point(1, { stream_id: inside })), undefined, '', held)
  t.is(status, 207)
  t.like(body, { inserted: 1, refused: 1, lines: [{ line: 1 }] })
  t.is((await send(ndjson(point(1)), undefined, `?stream_id=${inside}`, editor.key)).status, 200)
})

test.serial('an unavailable store gets 503 and stores nothing of the batch; earlier batches are kept and reported', async t => {
  const own = await stream()
  store.faults = [new Unavailable('away')]
  const first = await ann.post(bulk, { datapoints: points(10), stream_id: own })
  t.is(first.status, 503)
  t.is(await countOf(own), 0)
  let calls = 0
  store.before = async () => {
    calls += 1
    if (calls === 3) store.faults = [new NoSpace()]
  }
  const { status, body } = await send(ndjson(...points(5000)), undefined, `?stream_id=${own}`)
  store.before = undefined
  t.is(status, 507)
  t.like(body, { inserted: 2000, refused: 0, code: 'no-space' })
  t.is((body as { message?: string }).message, 'No storage space left. 2000 datapoints were stored before the error')
  t.is(await countOf(own), 2000)
  t.deepEqual((await server.get(Streams).get(streamIdOf(own)))?.parameters, ['n'])
})

test.serial('datapoints of a refused batch that could not be rolled back are removed when the store is available again', async t => {
  const [own, other] = [await stream(), await stream()]
  store.faults = [new Unavailable('away')]
  store.removalFaults = [new Unavailable('away'), new Unavailable('still away')]
  const mixed = [...points(300, { stream_id: own }), ...points(300, { stream_id: other })]
  t.is((await send(ndjson(...mixed))).status, 503)
  t.is((await ann.post(bulk, { datapoints: points(5), stream_id: own })).status, 200)
  await server.drained()
  t.deepEqual([await countOf(own), await countOf(other)], [5, 0])
  t.deepEqual(store.removalFaults, [])
})

test.serial('datapoints of a stream that is deleted during the upload are refused and not stored', async t => {
  const own = await stream()
  store.before = async () => {
    store.before = undefined
    const { status } = await ann.remove(`/api/geostreams/streams/${own}`)
    t.is(status, 200)
    await server.drained()
  }
  const other = await stream()
  const mixed = [...points(2, { stream_id: own }), ...points(3, { stream_id: other })]
  const { status, body } = await ann.post(bulk, mixed)
  t.is(status, 207)
  t.like(body, { inserted: 3, refused: 2 })
  t.deepEqual(
    (body as Report).lines.map(({ line, field }) => [line, field]),
    [
      [1, 'stream_id'],
      [2, 'stream_id'],
    ],
  )
  t.is(await countOf(own), 0)
})

test('of a truncated body, complete lines are stored and the incomplete one is not', async t => {
  const own = await stream()
  const sending = request(`${server.url}${bulk}?stream_id=${own}`, {
    method: 'POST',
    headers: { 'x-api-key': ann.key, 'content-type': 'application/x-ndjson', 'content-length': '1000000' },
  })
  const ended = once(sending, 'error').catch(() => undefined)
  sending.write(`${ndjson(...points(1200))}\n${JSON.stringify(point(1))}`)
  await until('the first batch to be stored', async () => (await countOf(own)) >= 1000)
  sending.destroy()
  await ended
  await until('all complete lines to be stored', async () => (await countOf(own)) === 1200)
  await until('the parameters to be recorded', async () => (await server.get(Streams).get(streamIdOf(own)))?.parameters.length === 1)
  t.is(await countOf(own), 1200)
})

test('a body may arrive byte by byte', async t => {
  const own = await stream()
  const text = ndjson(...points(4))
  async function* pieces() {
    for (const byte of Buffer.from(text)) {
      yield Buffer.from([byte])
      if (byte === 10) await new Promise(resolve => setImmediate(resolve))
    }
  }
  const { status, body } = await send(Readable.toWeb(Readable.from(pieces())) as ReadableStream, undefined, `?stream_id=${own}`)
  t.deepEqual([status, body as number], [200, 4])
})

test.serial('a long body is stored in batches, one at a time, as it arrives', async t => {
  const own = await stream()
  const count = 60_000
  async function* lines() {
    for (let n = 0; n < count; n += 1000) yield Buffer.from(`${ndjson(...Array.from({ length: 1000 }, (_, more) => point(n + more)))}\n`)
  }
  let most = 0
  let waiting = 0
  store.before = async () => {
    waiting += 1
    most = Math.max(most, waiting)
    await new Promise(resolve => setImmediate(resolve))
    waiting -= 1
  }
  const { status, body } = await send(Readable.toWeb(Readable.from(lines())) as ReadableStream, undefined, `?stream_id=${own}`)
  store.before = undefined
  t.deepEqual([status, body as number], [200, count])
  t.is(most, 1)
})
