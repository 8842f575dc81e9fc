import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import test from 'ava'
import { GeoStore, Unavailable } from 'pounce/sdk'
import type { Datapoint } from 'pounce/sdk/geo'
import { bootForTest, MemoryGeoStore, type TestServer } from 'pounce/sdk/testing'
import { newSensor, newStream, pointAt } from '../support/geostreams.ts'
import { type Somebody, somebody } from '../support/spaces-and-people.ts'
import { until } from '../support/until.ts'

/** A store that generates readings while they are consumed, and can fail midway. */
class EndlessStore extends MemoryGeoStore {
  pieces = 0
  given = 0
  failAfter = Number.POSITIVE_INFINITY
  stream = 0

  override async find(query: Parameters<MemoryGeoStore['find']>[0]) {
    if (this.pieces === 0) return super.find(query)
    if (this.failAfter === 0) throw new Unavailable('The store is unavailable')
    return { points: [], next: { id: 1, stream: 1, startMs: 0 } }
  }

  override async *read(query: Parameters<MemoryGeoStore['read']>[0]): AsyncIterable<readonly Datapoint[]> {
    if (this.pieces === 0) return yield* super.read(query)
    for (this.given = 0; this.given < this.pieces; this.given += 1) {
      if (this.given === this.failAfter) throw new Unavailable('The store is unavailable')
      yield Array.from({ length: 2000 }, (_, n) => ({
        ...{ id: this.given * 2000 + n + 1, stream: this.stream, startMs: n * 1000, endMs: null, createdMs: 0 },
        ...{ geometry: { type: 'Point', coordinates: [1, 2] }, properties: { n, text: 'some text that makes the line longer' } },
      }))
    }
  }
}

const store = new EndlessStore()
let server: TestServer
let ann: Somebody
let sensor: number

test.before(async () => {
  server = await bootForTest({ overrides: { [GeoStore]: store } })
  ann = await somebody(server, 'ann')
  sensor = await newSensor(ann, { name: 'Station "1"' })
})
test.after.always(() => server?.stop())

const path = '/api/geostreams/datapoints'
type Properties = Readonly<Record<string, unknown>>

const filled = async (by: Somebody, of: number, all: readonly Properties[], more: object = {}) => {
  const stream = await newStream(by, of)
  const datapoints = all.map((properties, n) => ({
    ...{ start_time: new Date(Date.UTC(2020, 0, 1) + n * 1000).toISOString(), end_time: '2020-01-02T00:00:00Z', type: 'Feature' },
    ...{ geometry: pointAt(1.5, 2, 3), properties, ...more },
  }))
  const { status, body } = await by.post(`${path}/bulk`, { datapoints, stream_id: stream })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return stream
}

/** Rows of cells (RFC 4180); undefined is an empty cell without quotes. */
const rowsOf = (text: string): readonly (readonly string[])[] => {
  const rows: string[][] = []
  let row: string[] = []
  for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted === undefined ? (bare ?? '') : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}

const tableOf = async (query: string, by = ann) => {
  const answer = await by.call(`${path}?format=csv${query}`)
  const text = await answer.text()
  const [head = [], ...rows] = rowsOf(text)
  return { answer, text, head, rows, at: (row: number, name: string) => rows[row]?.[head.indexOf(name)] }
}

test('the table has the columns of Clowder, quoted, and a row for each datapoint', async t => {
  const stream = await filled(ann, sensor, [
    { nitrate: 3.5, site: 'A1' },
    { nitrate: -2, ok: true, none: null },
  ])
  const { answer, text, head, rows } = await tableOf(`&stream_id=${stream}`)
  t.regex(answer.headers.get('content-type') ?? '', /^text\/csv/)
  t.regex(answer.headers.get('content-disposition') ?? '', /attachment.*datapoints\.csv/)
  const [first, ...lines] = text.split('\r\n')
  t.is(
    first,
    '"id","created","start_time","end_time","nitrate","none","ok","site","longitude","latitude","altitude","stream_id","sensor_id","sensor_name"',
  )
  t.is(lines.length, 3)
  t.regex(lines[0] ?? '', /^\d+,"[^"]+","2020-01-01T00:00:00Z","2020-01-02T00:00:00Z",3\.5,,,"A1",1\.5,2,3,"\d+","\d+","Station ""1"""$/)
  t.regex(lines[1] ?? '', /,-2,null,true,,1\.5,2,3,/)
  t.is(head.length, 14)
  t.true(rows.every(row => row.length === 14))
})

test('an empty result has only a header row', async t => {
  const stream = await newStream(ann, sensor)
  const { text } = await tableOf(`&stream_id=${stream}`)
  t.is(text, '"id","created","start_time","end_time","longitude","latitude","altitude","stream_id","sensor_id","sensor_name"\r\n')
})

test('nested properties have a column for each leaf, named by its key, or by its path if keys collide', async t => {
  const stream = await filled(ann, sensor, [
    { a: { x: 1, y: { z: 2 } }, b: { x: 3 }, list: [1, { q: '"' }], empty: {} },
    { a: 5, id: 'own', 'dotted.name|x': 6 },
  ])
  const { head, at } = await tableOf(`&stream_id=${stream}`)
  t.deepEqual(head.slice(4, -6), ['a', 'a|x', 'z', 'b|x', 'dotted.name|x', 'empty', 'properties|id', 'list'])
  t.deepEqual(
    [at(0, 'a'), at(0, 'a|x'), at(0, 'z'), at(0, 'b|x'), at(0, 'list'), at(0, 'empty')],
    ['', '1', '2', '3', '[1,{"q":"\\""}]', '{}'],
  )
  t.deepEqual([at(1, 'a'), at(1, 'a|x'), at(1, 'properties|id'), at(1, 'dotted.name|x')], ['5', '', 'own', '6'])
})

test('a key that contains the separator is distinguished from a nested property', async t => {
  const stream = await filled(ann, await newSensor(ann), [{ 'a|x': 1, a: { x: 2 }, x: 3 }])
  const {
    head,
    rows: [row = []],
  } = await tableOf(`&stream_id=${stream}`)
  const values = Object.fromEntries(head.map((name, at) => [name, row[at]]))
  t.is(new Set(head).size, head.length, String(head))
  t.deepEqual([values['a|x'], values['a|x (2)'], values['x']].toSorted(), ['1', '2', '3'])
})

test('strings that a spreadsheet would evaluate are escaped; numbers, even as strings, are unchanged', async t => {
  const texts = ['=1+1', '+1', '-2.5e3', '-x', '@SUM(A1)', '\tx', '\r=x', 'a"b', 'a\r\nb', '', 'ünï', '-', '=']
  const stream = await filled(
    ann,
    sensor,
    texts.map(text => ({ text, n: -1.5 })),
  )
  const { rows, head, text } = await tableOf(`&stream_id=${stream}`)
  const column = head.indexOf('text')
  t.deepEqual(
    rows.map(row => row[column]),
    ["'=1+1", '+1', '-2.5e3', "'-x", "'@SUM(A1)", "'\tx", "'\r=x", 'a"b', 'a\r\nb', '', 'ünï', "'-", "'="],
  )
  t.true(rows.every(row => row[head.indexOf('n')] === '-1.5'))
  t.false(/,[=@+]/.test(text))
  const names = await filled(ann, sensor, [{ '=cmd': 1, 'a"b,c': 2 }])
  t.deepEqual((await tableOf(`&stream_id=${names}`)).head.slice(4, 6), ["'=cmd", 'a"b,c'])
})

test('properties named like members of Object.prototype are ordinary columns', async t => {
  const stream = await filled(ann, sensor, [{ toString: 1, hasOwnProperty: 'x' }, { other: 2 }])
  const { at } = await tableOf(`&stream_id=${stream}`)
  t.deepEqual([at(0, 'toString'), at(0, 'hasOwnProperty'), at(1, 'toString'), at(1, 'hasOwnProperty')], ['1', 'x', '', ''])
})

test('for geometries other than points, the first position is written', async t => {
  const line = {
    type: 'LineString',
    coordinates: [
      [5, 6],
      [7, 8],
    ],
  }
  const stream = await filled(ann, sensor, [{}], { geometry: line })
  const { at } = await tableOf(`&stream_id=${stream}`)
  t.deepEqual([at(0, 'longitude'), at(0, 'latitude'), at(0, 'altitude')], ['5', '6', ''])
  const both = { type: 'GeometryCollection', geometries: [{ type: 'MultiPoint', coordinates: [[9, 10, 11]] }, pointAt(1, 2, 3)] }
  const other = await filled(ann, sensor, [{}], { geometry: both })
  const table = await tableOf(`&stream_id=${other}`)
  t.deepEqual([table.at(0, 'longitude'), table.at(0, 'latitude'), table.at(0, 'altitude')], ['9', '10', '11'])
})

test('every value of a long table is in its column, even if the property first occurs in a late row', async t => {
  const many: Properties[] = Array.from({ length: 2500 }, (_, n) => ({ n, a: { x: n } }))
  many[2400] = { late: 1, n: { deep: 2 }, a: { x: 3, y: { z: 4 } } }
  many[2401] = { a: 'text' }
  const stream = await filled(ann, sensor, many)
  const { head, rows, at } = await tableOf(`&stream_id=${stream}`)
  t.deepEqual(head.slice(4, -6), ['a', 'x', 'late', 'n'])
  t.is(rows.length, 2500)
  t.true(rows.every(row => row.length === head.length))
  t.deepEqual([at(2399, 'a'), at(2399, 'x'), at(2399, 'n')], ['', '2399', '2399'])
  t.deepEqual([at(2400, 'a'), at(2400, 'x'), at(2400, 'late'), at(2400, 'n')], ['{"y":{"z":4}}', '3', '1', '{"deep":2}'])
  t.is(at(2401, 'a'), 'text')
})

test('only requested attributes are columns, and each page is a table of its own', async t => {
  const stream = await filled(ann, sensor, [{ a: 1, b: 2, source: 's' }, { b: 3 }, { a: 4 }])
  const { head, rows } = await tableOf(`&stream_id=${stream}&attributes=a`)
  t.deepEqual(head.slice(4, -6), ['a', 'source'])
  t.is(rows.length, 2)
  const page = await tableOf(`&stream_id=${stream}&limit=2`)
  t.deepEqual(page.head.slice(4, -6), ['a', 'b', 'source'])
  t.is(page.rows.length, 2)
  t.regex(page.answer.headers.get('link') ?? '', /rel="next"/)
})

test('settings change the separator, keep key prefixes and omit columns', async t => {
  const resources = {
    geostreams: {
      csvSeparator: '.',
      csvHidePrefix: false,
      csvIgnore: ['created', 'properties.secret', 'properties.a.y', 'geometry.coordinates'],
    },
  }
  const other = await bootForTest({ t, config: { resources } })
  const bob = await somebody(other, 'bob')
  const stream = await filled(bob, await newSensor(bob), [{ a: { x: 1, y: 2 }, secret: 3 }])
  const { head, rows } = await tableOf(`&stream_id=${stream}`, bob)
  t.deepEqual(head, ['id', 'start_time', 'end_time', 'properties.a.x', 'type', 'geometry|type', 'stream_id', 'sensor_id', 'sensor_name'])
  t.deepEqual(rows[0]?.slice(1, 6), ['2020-01-01T00:00:00Z', '2020-01-02T00:00:00Z', '1', 'Feature', 'Point'])
})

test('settings omit columns from CSV of averages, trends and bins, whose other columns have distinct names', async t => {
  const csvIgnore = ['type', 'geometry|type', 'properties|secret', 'properties|a|hidden', 'geometry|coordinates', 'created']
  const other = await bootForTest({ t, config: { resources: { geostreams: { csvIgnore } } } })
  const bob = await somebody(other, 'bob')
  const properties = { secret: 42, 'a|b': 1, a: { b: 'x', hidden: 'y' }, c: { b: 'z' } }
  const stream = await filled(bob, await newSensor(bob), [properties])
  const headOf = async (route: string) =>
    rowsOf(await (await bob.call(`${path}/${route}?stream_id=${stream}&window_start=2019&format=csv`)).text())
  const ends = ['stream_id', 'sensor_id', 'sensor_name']
  const [averages, row] = await headOf('averages')
  t.deepEqual(averages, ['id', 'start_time', 'end_time', 'a|b', 'a|b (2)', 'c|b', ...ends])
  t.is(row?.length, averages?.length)
  const trends = ['a|b_interval_average', 'a|b_percentage_change', 'a|b_total_average']
  t.deepEqual((await headOf('trends'))[0], ['id', 'start_time', 'end_time', 'a|b', ...trends, 'c|b', ...ends])
  const bins = await headOf('bin/year/0')
  t.deepEqual([...new Set(bins.slice(1).map(cells => cells[2]))].sort(), ['a', 'a|b', 'c'])
})

const opened = async (query: string): Promise<IncomingMessage> => {
  const [answer] = (await once(get(`${server.url}${path}${query}`, { agent: false, headers: { 'x-api-key': ann.key } }), 'response')) as [
    IncomingMessage,
  ]
  return answer
}

for (const format of ['json', 'geojson', 'csv'])
  test.serial(`a store failure in the middle of ${format} aborts the connection instead of ending the response`, async t => {
    store.stream = await newStream(ann, sensor)
    store.pieces = 50
    store.failAfter = 20
    const answer = await opened(`?format=${format}`)
    t.is(answer.statusCode, 200)
    answer.resume()
    await t.throwsAsync(once(answer, 'end'), { message: 'aborted' })
    store.failAfter = 0
    t.is((await opened(`?format=${format}`)).statusCode, 503)
    store.failAfter = Number.POSITIVE_INFINITY
    store.pieces = 0
  })

for (const format of ['json', 'csv'])
  test.serial(`no more ${format} is read from the store than the client consumes`, async t => {
    store.stream = await newStream(ann, sensor)
    store.pieces = 100_000
    const answer = await opened(`?format=${format}`)
    answer.pause()
    let before = -1
    await until('reading to pause', async () => {
      const isStill = before === store.given && before > 0
      before = store.given
      return isStill
    })
    t.true(store.given < 2000, `${store.given}`)
    answer.destroy()
    store.pieces = 0
  })

test.serial('a long response uses no more memory than a short one', async t => {
  store.stream = await newStream(ann, sensor)
  const heap = async (pieces: number): Promise<number> => {
    store.pieces = pieces
    let most = 0
    const answer = await opened('?format=csv')
    answer.on('data', () => {
      most = Math.max(most, process.memoryUsage().rss)
    })
    await once(answer, 'end')
    store.pieces = 0
    return most
  }
  const short = await heap(60)
  const long = await heap(400)
  t.true(long - short < 96 * 1024 * 1024, `${(long - short) / 1024 / 1024} MiB more`)
})
