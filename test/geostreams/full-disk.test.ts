import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { callsOf } from '../support/calls.ts'
import { newSensor, newStream } from '../support/geostreams.ts'

const g = '/api/geostreams'
const perBulk = 2000

test('without space, bulk requests get 507, acknowledged datapoints are kept, and everything else continues', async t => {
  const server = await bootForTest({ t, config: { geo: { rtree: { maxSizeMiB: 2 } } } })
  const owner = callsOf(server.as(server.admin.key))
  const sensor = await newSensor(owner)
  const stream = await newStream(owner, sensor)
  const bulk = (batch: number) => {
    const datapoints = Array.from({ length: perBulk }, (_, n) => {
      const start_time = new Date(Date.UTC(2020, 0, 1) + (batch * perBulk + n) * 60_000).toISOString()
      const properties = { batch, level: n, text: `reading ${n} of ${batch}` }
      return { start_time, end_time: start_time, type: 'Feature', geometry: { type: 'Point', coordinates: [8, 47] }, properties }
    })
    return owner.post(`${g}/datapoints/bulk`, { datapoints, stream_id: String(stream) })
  }
  let batches = 0
  let answer = await bulk(batches)
  for (; answer.status === 200 && batches < 100; answer = await bulk(batches)) batches += 1
  t.log(`${batches} batches of ${perBulk} went in`)
  t.true(batches > 0)
  t.is(answer.status, 507)
  t.like(answer.body, { code: 'no-space' })
  const { body } = await owner.get(`${g}/datapoints?stream_id=${stream}`)
  const counted = Map.groupBy(body as readonly { properties: { batch: number } }[], ({ properties }) => properties.batch)
  for (let batch = 0; batch < batches; batch += 1) t.is(counted.get(batch)?.length, perBulk, String(batch))
  const { inserted = 0 } = answer.body as { inserted?: number }
  t.is(counted.get(batches)?.length ?? 0, inserted, 'a refused bulk request reports how many datapoints it has stored')
  for (const path of [`${g}/sensors`, `${g}/counts`, `${g}/datapoints/averages`, '/api/datasets', '/readyz', '/healthz'])
    t.is((await owner.get(path)).status, 200, path)
  t.is((await owner.post('/api/datasets/createempty', { name: 'still' })).status, 200)
  await server.drained()
})
