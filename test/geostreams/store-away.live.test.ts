import test from 'ava'
import { bootForTest, liveTests } from 'pounce/sdk/testing'
import { callsOf } from '../support/calls.ts'
import { flakyProxy } from '../support/flaky-proxy.ts'
import { newSensor, newStream, pointAt } from '../support/geostreams.ts'
import { placesOn } from '../support/server-places.ts'
import { until } from '../support/until.ts'

const { test: live, url } = liveTests(test, 'POSTGIS')
const g = '/api/geostreams'

live('while PostGIS is unavailable, requests for datapoints get 503 and others succeed; afterwards all succeed', async t => {
  const proxy = await flakyProxy(t, url('POSTGIS'))
  const { settings } = await placesOn(t, url, ['geo.postgis'])
  const env = { ...settings, POUNCE_GEO__POSTGIS__URL: proxy.urlFor(url('POSTGIS')) }
  const server = await bootForTest({ t, env })
  const owner = callsOf(server.as(server.admin.key))
  const sensor = await newSensor(owner)
  const stream = await newStream(owner, sensor)
  let at = 0
  const add = () => {
    at += 1
    const start_time = new Date(Date.UTC(2020, 0, at)).toISOString()
    const reading = { start_time, end_time: start_time, type: 'Feature', geometry: pointAt(8, 47), properties: { at } }
    return owner.post(`${g}/datapoints/bulk`, { datapoints: [reading], stream_id: String(stream) })
  }
  t.is((await add()).status, 200)
  for (const mode of ['refuse', 'silent'] as const) {
    await proxy.become(mode)
    const requested = [
      `${g}/datapoints`,
      `${g}/datapoints?onlyCount=true`,
      `${g}/counts`,
      `${g}/datapoints/averages`,
      `${g}/sensors/${sensor}/stats`,
    ]
    for (const path of requested) {
      const { status, body } = await owner.get(path)
      t.is(status, 503, `${mode} ${path} ${JSON.stringify(body)}`)
    }
    t.is((await add()).status, 503, mode)
    for (const path of ['/api/datasets', '/healthz']) t.is((await owner.get(path)).status, 200, path)
    await proxy.become('pass')
    await until(
      'datapoints to be available again',
      () => owner.get(`${g}/counts`),
      ({ status }) => status === 200,
    )
    t.is((await add()).status, 200, mode)
  }
  const { body } = await owner.get(`${g}/datapoints?stream_id=${stream}`)
  const seen = (body as readonly { properties: { at: number } }[]).map(({ properties }) => properties.at)
  t.deepEqual(
    [1, 3, 5].filter(acked => !seen.includes(acked)),
    [],
  )
  t.is(new Set(seen).size, seen.length)
})
