import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { idOf, idsOf } from '../support/calls.ts'
import { extractorInfo } from '../support/extractor-info.ts'
import { newSensor, newStream, pointAt } from '../support/geostreams.ts'
import { newPerson } from '../support/people.ts'
import { until } from '../support/until.ts'
import { type OldClient, oldClient } from './old-client.ts'

const server = await bootForTest()
const person = await newPerson(server, 'old-timer')
const old = oldClient(server.url, person.key)
test.after.always(() => server.stop())

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64')

const newDataset = (name: string, client: OldClient = old): Promise<string> =>
  idOf(client.post('/api/datasets/createempty', { name, description: '' }))

test('a script builds a tree, fills it and reads it back', async t => {
  const space = await idOf(old.post('/api/spaces', { name: 'Lab', description: '' }))
  const collection = await idOf(old.post('/api/collections', { name: 'Series', description: '', space }))
  const dataset = await newDataset('Plots')
  t.is((await old.post(`/api/collections/${collection}/datasets/${dataset}`)).status, 200)
  t.is((await old.post(`/api/spaces/${space}/addDatasetToSpace/${dataset}`, {})).status, 200)
  const folder = await old.post(`/api/datasets/${dataset}/newFolder`, { name: 'raw', parentId: dataset, parentType: 'dataset' })
  t.is(folder.status, 200)
  const file = await old.send(`/api/uploadToDataset/${dataset}?extract=False`, { name: 'leaf.png', bytes: png })
  t.like((await old.get(`/api/files/${file}/metadata/`)).body, { id: file, 'content-type': 'image/png' })
  t.is(await (await old.call(`/api/files/${file}/`)).text(), png.toString())
  t.like((await old.get(`/api/datasets/${dataset}/files/`)).body, [{ id: file, contentType: 'image/png' }])
  t.is((await old.post(`/api/files/${file}/tags`, { tags: ['leaf'] })).status, 200)
  t.is((await old.post(`/api/files/${file}/comment`, { text: 'a leaf' })).status, 200)
  const metadata = { '@context': ['https://clowderframework.org/contexts/metadata.jsonld'], content: { width: 1 } }
  const agent = { '@type': 'cat:extractor', extractor_id: 'https://example.org/extractors/leaves' }
  t.is((await old.post(`/api/files/${file}/metadata.jsonld`, { ...metadata, agent })).status, 200)
  t.like((await old.get(`/api/files/${file}/metadata.jsonld/`)).body, [{ content: { width: 1 } }])
  t.is((await old.put(`/api/datasets/${dataset}/title`, { name: 'Plots of 2017' })).status, 200)
  t.like((await old.get(`/api/datasets/${dataset}/`)).body, { name: 'Plots of 2017' })
  t.is((await old.remove(`/api/files/${file}/`)).status, 200)
  t.is((await old.remove(`/api/datasets/${dataset}`)).status, 200)
})

test('previews and thumbnails are served as images although their parts have no content type', async t => {
  const dataset = await newDataset('Derived')
  const file = await old.send(`/api/uploadToDataset/${dataset}?extract=false`, { name: 'notes', bytes: 'words' })
  const preview = await old.send('/api/previews', { name: 'leaf.png', bytes: png }, { title: 'Leaf' })
  t.is((await old.post(`/api/files/${file}/previews/${preview}`, { width: '1' })).status, 200)
  t.like((await old.get(`/api/files/${file}/getPreviews`)).body, [{ previews: [{ pv_id: preview, pv_contenttype: 'image/png' }] }])
  const thumbnail = await old.send('/api/fileThumbnail/', { name: 'tmp8a7sd', bytes: png })
  t.is((await old.post(`/api/files/${file}/thumbnails/${thumbnail}`, {})).status, 200)
  const shown = await old.call(`/api/thumbnails/${thumbnail}`)
  t.is(shown.headers.get('content-type'), 'image/png')
  t.false((shown.headers.get('content-disposition') ?? '').startsWith('attachment'))
})

test('a license accepts the types that scripts send, and allowDownload as a boolean or string', async t => {
  const dataset = await newDataset('Licensed')
  const file = await old.send(`/api/uploadToDataset/${dataset}?extract=false`, { name: 'a.txt', bytes: 'words' })
  const rest = { rightsHolder: 'me', licenseText: 'CC', licenseUrl: '' }
  for (const path of [`/api/datasets/${dataset}/license`, `/api/files/${file}/license`])
    for (const licenseType of ['license1', 'Creative Commons', 'CC-BY-4.0', ''])
      for (const allowDownload of ['True', 'False', 'true', 'false', true, false]) {
        const { status, body } = await old.post(path, { ...rest, licenseType, allowDownload })
        t.deepEqual([status, body], [200, { status: 'success' }], `${path} ${licenseType} ${allowDownload}`)
      }
})

const times = [
  '2017-03-31',
  '2017-03-31T00:00:00',
  '2017-03-31 00:00:00',
  '2017-03-31 00:00:00.000',
  '2017-03-31T00:00:00Z',
  '2017-03-30T18:00:00-06:00',
]
const stored = '2017-03-31T00:00:00Z'

test('times of datapoints are accepted in every format, and are UTC without a time zone', async t => {
  const stream = await newStream(old, await newSensor(old))
  for (const time of times) {
    const reading = { start_time: time, end_time: time, type: 'Feature', geometry: pointAt(-88, 40), properties: { ph: 7 } }
    const one = await old.post('/api/geostreams/datapoints', { ...reading, stream_id: String(stream) })
    t.is(one.status, 200, time)
    const { id } = one.body as { readonly id: number }
    t.like((await old.get(`/api/geostreams/datapoints/${id}`)).body, { start_time: stored, end_time: stored }, time)
    const many = await old.post('/api/geostreams/datapoints/bulk', { datapoints: [reading], stream_id: String(stream) })
    t.deepEqual([many.status, many.body], [200, 1], time)
  }
  const later = { start_time: '2017-03-31 00:00:01', type: 'Feature', geometry: pointAt(-88, 40), properties: { ph: 8 } }
  t.is((await old.post('/api/geostreams/datapoints', { ...later, end_time: '2017-03-31 12:00', stream_id: String(stream) })).status, 200)
  const count = async (query: string): Promise<unknown> =>
    (await old.get(`/api/geostreams/datapoints?stream_id=${stream}&onlyCount=true&${query}`)).body as { count?: unknown }[] | object
  const [all, before, none] = [12 + 1, 12, 0]
  const counted = async (query: string) => JSON.stringify(await count(query)).replace(/\D+/g, '')
  for (const time of times) {
    const sent = encodeURIComponent(time)
    t.is(await counted(`since=${sent}`), String(all), time)
    t.is(await counted(`until=${sent}`), String(before), `a date as until is the beginning of the day: ${time}`)
    t.is(await counted(`since=${sent}&until=${sent}`), String(before), time)
  }
  t.is(await counted('until=2017-03-30'), String(none))
  t.is(await counted('since=2017&until=2018'), String(all))
})

test('aggregates of datapoints, reports and lists accept times in every format', async t => {
  await newDataset('Listed')
  const sensor = await newSensor(old)
  await newStream(old, sensor)
  const admin = oldClient(server.url, server.admin.key)
  for (const time of times) {
    const sent = encodeURIComponent(time)
    const paths = [
      `/api/geostreams/datapoints/bin/year/1?since=${sent}&until=${sent}&sensor_id=${sensor}`,
      `/api/geostreams/datapoints/averages?since=${sent}&sensor_id=${sensor}`,
      `/api/geostreams/datapoints/trends?window_start=${sent}&window_end=${sent}&attributes=ph&sensor_id=${sensor}`,
      `/api/geostreams/datapoints?format=csv&since=${sent}&until=${sent}`,
      ...['datasets', 'collections', 'spaces'].flatMap(kind => ['a', 'b'].map(when => `/api/${kind}?date=${sent}&when=${when}&limit=1`)),
    ]
    for (const path of paths) {
      const { status, body } = await old.get(path)
      t.is(status, 200, `${path} ${JSON.stringify(body).slice(0, 200)}`)
    }
    for (const report of ['metrics/files', 'metrics/datasets', 'metrics/extractors', 'storage/spaces']) {
      const path = `/api/reports/${report}?since=${sent}&until=${sent}&superAdmin=true`
      t.is((await admin.get(path)).status, 200, path)
    }
  }
  t.deepEqual((await idsOf(old.get('/api/datasets?when=b&date=2017-03-31&title=Listed'))).length, 1)
  t.deepEqual(await idsOf(old.get('/api/datasets?when=a&date=2017-03-31')), [])
})

test('an invalid time is refused with 400 and the accepted formats', async t => {
  for (const path of ['/api/geostreams/datapoints?since=', '/api/geostreams/datapoints?until=', '/api/datasets?when=b&date=']) {
    const { status, body } = await old.get(`${path}yesterday`)
    t.is(status, 400, path)
    t.regex((body as { message: string }).message, /2018-06-20T11:40:25\.000Z.*2018-06-20 11:40:25.*2018-06-20 /)
  }
})

test('an extractor can register with the patterns that Clowder 1.x accepts', async t => {
  const file = ['application/vnd_openxmlformats-officedocument_wordprocessingml_document', 'text.csv', 'multi.files-zipped', 'image/*', '*']
  const info = extractorInfo('old.leaves', { process: { file, dataset: ['file.added'] }, categories: ['PROCESS'] })
  t.is((await old.post('/api/extractors', info)).status, 200)
  t.like((await old.get('/api/extractors/old.leaves')).body, { name: 'old.leaves', process: { file } })
})

test('public resources can be read with a deleted key', async t => {
  const dataset = await newDataset('Open')
  for (const key of ['None', 'r1ek3rs', '']) {
    const stale = oldClient(server.url, key)
    t.is((await stale.get('/api/datasets/')).status, 200, key)
    t.like((await stale.get(`/api/datasets/${dataset}`)).body, { name: 'Open' }, key)
    t.is((await stale.get('/api/me')).status, 401, key)
    t.is((await stale.post('/api/datasets/createempty', { name: 'x', description: '' })).status, 401, key)
  }
})

test('a script finds the dataset that it has created', async t => {
  const dataset = await newDataset('Quercusrobur')
  const { body } = await until(
    'the dataset to be found',
    () => old.get('/api/search/?query=quercusrobur&resource_type=dataset'),
    found => JSON.stringify(found.body).includes(dataset),
  )
  t.true(JSON.stringify(body).includes(dataset))
})
