import test, { type ExecutionContext } from 'ava'
import type { TestServer } from 'pounce/sdk/testing'
import { bootForTest } from 'pounce/sdk/testing'
import { badGeometries, badNumbers, badProperties, badTimes, hostileNames } from './support/bad-geo.ts'
import { changes, fingerprint } from './support/fingerprint.ts'
import { eachOf } from './support/killed-server.ts'
import { newPerson, type Person } from './support/people.ts'
import { ok } from './support/scene.ts'

let server: TestServer
let person: Person
let sensor: number
let stream: number
let point: number

const g = '/api/geostreams'
const place = { type: 'Point', coordinates: [-88.2, 40.1, 220] }
const [start, end] = ['2017-01-25T09:33:02-06:00', '2017-01-25T10:33:02-06:00']
const sensorBody = { name: 'Allerton', type: 'Feature', geometry: place, properties: { type: { id: 'igsn' } } }
const streamBody = () => ({ name: 'nitrate', type: 'Feature', geometry: place, properties: {}, sensor_id: String(sensor) })
const pointBody = () => ({
  ...{ start_time: start, end_time: end, type: 'Feature', geometry: place },
  ...{ properties: { nitrate: 3.5, site: 'A1' }, stream_id: String(stream) },
})

const made = async (path: string, json: object): Promise<number> =>
  (await ok<{ id: number }>(person.call(path, { method: 'POST', json }))).id

test.before(async () => {
  server = await bootForTest()
  person = await newPerson(server, 'owner')
  sensor = await made(`${g}/sensors`, sensorBody)
  stream = await made(`${g}/streams`, streamBody())
  point = await made(`${g}/datapoints`, pointBody())
})
test.after.always(() => server?.stop())

type Init = RequestInit & { readonly json?: unknown }
type Line = readonly [title: string, path: string, init: Init, statuses: readonly number[], says?: RegExp]

/** Sends the requests of a table, all of which must be refused with a helpful message and change nothing. */
const refused = async (t: ExecutionContext, lines: readonly Line[]): Promise<void> => {
  const before = await fingerprint(server)
  const faults: string[] = []
  await eachOf(
    lines,
    async ([title, path, init, statuses, says = /\w/]) => {
      const answer = await person.call(path, init)
      const text = await answer.text()
      const isJson = answer.headers.get('content-type')?.startsWith('application/json')
      const message = isJson ? String((JSON.parse(text) as { message?: unknown }).message) : ''
      if (!statuses.includes(answer.status) || !says.test(message)) faults.push(`${title}: ${answer.status} ${text.slice(0, 200)}`)
    },
    4,
  )
  t.deepEqual(faults, [])
  t.deepEqual(changes(before, await fingerprint(server)), {})
  t.log(`${lines.length} requests`)
}

const without = (body: object, member: string): object => Object.fromEntries(Object.entries(body).filter(([name]) => name !== member))

const post = (path: string, json: unknown): readonly [string, Init] => [path, { method: 'POST', json }]
const invalid = [400] as const
const named = (member: string): RegExp => new RegExp(`\\b${member}\\b`)

/** A request of each route that accepts the property, with the given value. */
const inBodies = (member: string, value: unknown): readonly (readonly [title: string, path: string, init: Init])[] => {
  const [ofSensor, ofStream, ofPoint] = [sensorBody, streamBody(), pointBody()]
  const bodies: readonly (readonly [path: string, body: object])[] = [
    [`${g}/sensors`, ofSensor],
    [`${g}/streams`, ofStream],
    [`${g}/datapoints`, ofPoint],
  ]
  return bodies.filter(([, body]) => member in body).map(([path, body]) => [path, ...post(path, { ...body, [member]: value })])
}

test.serial('invalid geometries are refused in every body', async t => {
  const lines = badGeometries.flatMap(([title, value]): Line[] => [
    ...inBodies('geometry', value).map(([at, path, init]): Line => [`${at} ${title}`, path, init, invalid, /geometry|coordinates/]),
    [
      `PUT ${title}`,
      `${g}/sensors/${sensor}`,
      { method: 'PUT', json: { properties: {}, geometry: value } },
      invalid,
      /geometry|coordinates/,
    ],
  ])
  await refused(t, lines)
})

test.serial('a latitude beyond ±90° is refused with the hint that the coordinates may be swapped', async t => {
  const swapped = { type: 'Point', coordinates: [40.1, -100.2, 0] }
  await refused(
    t,
    inBodies('geometry', swapped).map(([at, path, init]): Line => [at, path, init, invalid, /swapped|longitude/]),
  )
})

test.serial('numbers that JSON reads as infinite are refused', async t => {
  const raw = (body: object, from: string): Init => ({
    method: 'POST',
    body: JSON.stringify(body).replaceAll(from, '1e400'),
    headers: { 'content-type': 'application/json' },
  })
  await refused(t, [
    ['sensor', `${g}/sensors`, raw(sensorBody, '40.1'), invalid],
    ['stream', `${g}/streams`, raw(streamBody(), '40.1'), invalid],
    ['datapoint', `${g}/datapoints`, raw(pointBody(), '40.1'), invalid],
    ['altitude', `${g}/datapoints`, raw(pointBody(), '220'), invalid],
    ['property', `${g}/datapoints`, raw(pointBody(), '3.5'), invalid],
  ])
})

test.serial('properties that are invalid, too large or not storable are refused', async t => {
  const lines = badProperties.flatMap(([title, value]): Line[] =>
    inBodies('properties', value).map(
      ([at, path, init]): Line => [
        `${at} ${title}`,
        path,
        init,
        title.includes('KiB') ? [400, 413] : invalid,
        /properties|deeper|surrogate/,
      ],
    ),
  )
  const bad = badProperties
    .filter(([title]) => !title.includes('KiB'))
    .map(([title, value]): Line => [`PUT streams ${title}`, `${g}/streams/${stream}`, { method: 'PUT', json: value }, invalid])
  await refused(t, [...lines, ...bad])
})

test.serial('invalid times and times in the wrong order are refused with the name of the field', async t => {
  const lines = badTimes.flatMap(([title, value]): Line[] =>
    ['start_time', 'end_time'].flatMap(member =>
      inBodies(member, value).map(([at, path, init]): Line => [`${at} ${member} ${title}`, path, init, invalid, named(member)]),
    ),
  )
  const reversed = { ...pointBody(), start_time: end, end_time: start }
  await refused(t, [
    ...lines,
    ['the end before the start', ...post(`${g}/datapoints`, reversed), invalid, /end/],
    ['no start', ...post(`${g}/datapoints`, { ...pointBody(), start_time: null }), invalid, named('start_time')],
  ])
})

test.serial('names that are empty, too long, or hold control characters are refused', async t => {
  const lines = ['', 'x'.repeat(501), 'a\u0000b', 'a\nb', '\u001b[31m', 5, null, ['x']].flatMap((name): Line[] =>
    inBodies('name', name).map(
      ([at, path, init]): Line => [`${at} ${JSON.stringify(name).slice(0, 20)}`, path, init, invalid, named('name')],
    ),
  )
  await refused(t, lines)
})

test.serial('a missing required field is named in the refusal', async t => {
  const needed: readonly (readonly [path: string, body: object, members: readonly string[]])[] = [
    [`${g}/sensors`, sensorBody, ['name', 'geometry', 'properties']],
    [`${g}/streams`, streamBody(), ['name', 'geometry', 'properties', 'sensor_id']],
    [`${g}/datapoints`, pointBody(), ['start_time', 'geometry', 'properties', 'stream_id']],
  ]
  const lines = needed.flatMap(([path, body, members]) =>
    members.map((member): Line => [`${path} without ${member}`, ...post(path, without(body, member)), invalid, named(member)]),
  )
  await refused(t, lines)
})

test.serial('an invalid or unknown number is 404 in every path', async t => {
  const at = (method: string, path: string, json?: unknown): readonly [string, Init][] =>
    [...badNumbers, '999999999'].map(number => [
      `${g}/${path.replace('#', encodeURIComponent(number))}`,
      json === undefined ? { method } : { method, json },
    ])
  const all = [
    ...at('GET', 'sensors/#'),
    ...at('PUT', 'sensors/#', { properties: {}, geometry: place }),
    ...at('DELETE', 'sensors/#'),
    ...at('GET', 'sensors/#/stats'),
    ...at('GET', 'sensors/#/streams'),
    ...at('GET', 'sensors/#/update'),
    ...at('GET', 'streams/#'),
    ...at('PUT', 'streams/#', { a: 1 }),
    ...at('DELETE', 'streams/#'),
    ...at('GET', 'streams/#/update'),
    ...at('GET', 'datapoints/#'),
    ...at('DELETE', 'datapoints/#'),
  ]
  await refused(
    t,
    all.map(([path, init]): Line => [`${init.method} ${path}`, path, init, [404]]),
  )
})

test.serial('an invalid or unknown number of a sensor or stream in a body or query is refused', async t => {
  const numbers = [
    'x',
    '',
    '0',
    '-1',
    '1.5',
    '1e3',
    '999999999',
    '9007199254740993',
    '9'.repeat(30),
    'f'.repeat(24),
    true,
    [],
    {},
    1.5,
    -1,
    999_999_999,
  ]
  const bodies = numbers.flatMap((number): Line[] => [
    [`stream_id ${number}`, ...post(`${g}/datapoints`, { ...pointBody(), stream_id: number }), [400, 404], /stream/i],
    [`sensor_id ${number}`, ...post(`${g}/streams`, { ...streamBody(), sensor_id: number }), [400, 404], /sensor/i],
  ])
  const queries = numbers
    .filter(number => typeof number === 'string' && number !== '')
    .flatMap((number): Line[] =>
      ['datapoints', 'datapoints/averages', 'datapoints/trends', 'datapoints/bin/year/1'].flatMap(path =>
        ['stream_id', 'sensor_id'].map(
          (member): Line => [`${path} ${member}=${number}`, `${g}/${path}?${member}=${number}`, {}, [400, 404], /stream|sensor/i],
        ),
      ),
    )
  await refused(t, [...bodies, ...queries])
})

const areas = ['sensors', 'streams', 'stream', 'datapoints', 'datapoints/averages', 'datapoints/trends', 'datapoints/bin/year/1']

test.serial('invalid areas are refused with the name of the parameter', async t => {
  const geocodes = [
    ...[
      'x',
      '1',
      '1,2',
      '3,2,1,4',
      '1,2,3,4,5',
      '91,0,1',
      '0,181,1',
      '100,40.1,5',
      '0,0,-1',
      '0,0,NaN',
      '0,0,Infinity',
      '0,0,1e999',
      '1,2,',
    ],
    ...['40,-88,30000', '0x10,0,1', '1;2;3', "1,2,3' OR 1=1", '0,0,0,1,1,200', Array.from({ length: 2400 }, (_, n) => n % 80).join()],
  ]
  const geojsons = [
    'x',
    '{}',
    '[]',
    'null',
    '5',
    '{"type":"Point"}',
    '{"type":"Point","coordinates":[40,-100]}',
    '{"type":"Point","coordinates":[1e999,1]}',
  ]
  const hostile = ['{"type":"Polygon","coordinates":[[[0,0],[0,1],[1,1],[1,0]]]}', `${'['.repeat(200)}${']'.repeat(200)}`]
  await refused(
    t,
    areas.flatMap(path => [
      ...geocodes.map(
        (text): Line => [
          `${path} ${text.slice(0, 20)}`,
          `${g}/${path}?geocode=${encodeURIComponent(text)}`,
          {},
          [400, 414, 431],
          /geocode|long/,
        ],
      ),
      ...[...geojsons, ...hostile].map(
        (text): Line => [`${path} ${text.slice(0, 20)}`, `${g}/${path}?geojson=${encodeURIComponent(text)}`, {}, [400], named('geojson')],
      ),
    ]),
  )
})

test.serial('invalid times and choices in a query are refused with the name of the parameter', async t => {
  const texts: Readonly<Record<string, readonly string[]>> = {
    since: [
      'x',
      '2017-13-01',
      '2017-02-30T00:00:00Z',
      '2017-01-25T25:00:00Z',
      '5',
      '+999999-01-01T00:00:00Z',
      "2017-01-25T00:00:00Z' OR 1=1",
    ],
    until: [
      'x',
      '2017-13-01',
      '2017-02-30T00:00:00Z',
      '2017-01-25T25:00:00Z',
      '5',
      '+999999-01-01T00:00:00Z',
      "2017-01-25T00:00:00Z' OR 1=1",
    ],
    semi: ['autumn', '1', 'SPRING;'],
    format: ['xml', '../csv', 'json;csv'],
    onlyCount: ['maybe', '2'],
    attributes: ['{"site":', '{"site":NaN}', '{"a":1,"b":2}', `{"a":${'['.repeat(80)}${']'.repeat(80)}}`],
  }
  const lines = Object.entries(texts).flatMap(([name, values]) =>
    values.map(
      (text): Line => [
        `${name}=${text}`,
        `${g}/datapoints?${name}=${encodeURIComponent(text)}`,
        {},
        invalid,
        name === 'attributes' ? /attribute/ : named(name),
      ],
    ),
  )
  const bins = ['bin/fortnight/1', 'bin/year/x', 'bin/year/-1', 'bin/year/NaN', 'bin/year/1e999', 'bin/toString/1']
  await refused(t, [
    ...lines,
    ['since after until', `${g}/datapoints?since=2018-01-01T00:00:00Z&until=2017-01-01T00:00:00Z`, {}, invalid, /since|until/],
    ...bins.map((path): Line => [path, `${g}/datapoints/${path}`, {}, [400, 404]]),
    ...['window_start', 'window_end'].map((name): Line => [name, `${g}/datapoints/trends?${name}=x`, {}, invalid, named(name)]),
    ['a cached answer that there is not', `${g}/cache/../../etc/passwd`, {}, [404]],
    ['a cached answer that there is not', `${g}/cache/${encodeURIComponent('../../pounce.db')}`, {}, [404]],
    ['a cached answer that there is not', `${g}/cache/${'A'.repeat(32)}`, {}, [404]],
  ])
})

test.serial('a bulk request, as JSON or NDJSON, reports each bad item with its field and stores the others', async t => {
  const good = { ...pointBody(), properties: { bulk: 1 } }
  const raw = [
    '{"start_time":',
    'null',
    '[]',
    '5',
    '"text"',
    '{"a":1,"a":2}',
    `{"properties":${'['.repeat(80)}${']'.repeat(80)}}`,
    '{"__proto__":{"a":1}}',
  ]
  const bad: readonly (readonly [field: RegExp, line: string])[] = [
    ...badGeometries.slice(0, -1).map(([, geometry]) => [/geometry/, JSON.stringify({ ...good, geometry })] as const),
    ...badTimes.map(([, start_time]) => [/start_time/, JSON.stringify({ ...good, start_time })] as const),
    ...badProperties.slice(0, -1).map(([, properties]) => [/properties|deep|nested/, JSON.stringify({ ...good, properties })] as const),
    ...['x', '0', '-1', '999999999', {}, null].map(stream_id => [/stream/, JSON.stringify({ ...good, stream_id })] as const),
    ...raw.map(line => [/\w/, line] as const),
  ]
  const isJson = (line: string): boolean => line !== '{"start_time":'
  const lines = bad.flatMap(([, line]) => [line, JSON.stringify(good)])
  const sent: readonly (readonly [type: string, body: string, lines: readonly string[]])[] = [
    ['application/x-ndjson', lines.join('\n'), lines],
    ['application/json', `{"datapoints":[${lines.filter(isJson).join()}]}`, lines.filter(isJson)],
  ]
  for (const [type, body, all] of sent) {
    const answer = await person.call(`${g}/datapoints/bulk`, { method: 'POST', body, headers: { 'content-type': type } })
    const problem = (await answer.json()) as {
      inserted: number
      refused: number
      lines: readonly { line: number; field?: string; message: string }[]
    }
    t.is(answer.status, 207, type)
    const wrong = all.flatMap((line, at) => (line === JSON.stringify(good) ? [] : [at + 1]))
    t.deepEqual(
      problem.lines.map(({ line }) => line),
      wrong,
      type,
    )
    t.deepEqual([problem.inserted, problem.refused], [all.length - wrong.length, wrong.length], type)
    const unclear = problem.lines.filter(({ line, field = '', message }) => {
      const says = bad.find(([, text]) => text === all[line - 1])?.[0] ?? /nothing/
      return !says.test(`${field} ${message}`)
    })
    t.deepEqual(unclear, [], type)
    const found = await ok<readonly { id: number; properties: object }[]>(person.call(`${g}/datapoints?attributes=bulk`))
    t.is(found.length, problem.inserted, type)
    for (const { id } of found) await ok(person.call(`${g}/datapoints/${id}`, { method: 'DELETE' }))
  }
})

test.serial('any property name is treated as a plain name', async t => {
  for (const name of hostileNames) {
    const path = `${g}/datapoints?attributes=${encodeURIComponent(name)}`
    const answer = await person.call(path)
    const text = await answer.text()
    t.true(answer.status === 200 || answer.status === 400, `${name}: ${answer.status} ${text.slice(0, 200)}`)
    if (answer.status === 200) t.deepEqual(JSON.parse(text), [], name)
  }
  const odd = { "a'b": 1, '"': 2, '$.x': 3, 'a.b': 4, '\\': 5 }
  const id = await made(`${g}/datapoints`, { ...pointBody(), properties: odd })
  for (const name of Object.keys(odd)) {
    const found = await ok<readonly { id: number }[]>(person.call(`${g}/datapoints?attributes=${encodeURIComponent(name)}`))
    t.deepEqual(
      found.map(each => each.id),
      [id],
      name,
    )
  }
  await ok(person.call(`${g}/datapoints/${id}`, { method: 'DELETE' }))
  t.like(await ok(person.call(`${g}/datapoints/${point}`)), { id: point })
})
