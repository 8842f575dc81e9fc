import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Installation } from 'pounce/sdk'
import { bootForTest, geoStoreContract } from 'pounce/sdk/testing'
import { plugin } from './index.ts'
import { JournalGeo } from './journal-geo.ts'

geoStoreContract(test, async t => {
  const folder = await mkdtemp(join(tmpdir(), 'template-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  let store: JournalGeo | undefined
  const open = async (): Promise<JournalGeo> => {
    await store?.dispose()
    store = new JournalGeo({ file: join(folder, 'points.jsonl') }, {} as Installation)
    await store.start()
    return store
  }
  t.teardown(() => store?.dispose())
  return { store: await open(), reopen: open }
})

test('the server stores datapoints in the journal', async t => {
  const server = await bootForTest({ t, also: [plugin], without: ['geo.rtree'] })
  const me = server.as(server.admin.key)
  const add = async (path: string, json: object): Promise<number> => {
    const answer = await me(`/api/geostreams/${path}`, { method: 'POST', json })
    assert.equal(answer.status, 200)
    return Number(((await answer.json()) as { readonly id: string | number }).id)
  }
  const place = { type: 'Point', geometry: { type: 'Point', coordinates: [11.6, 48.1, 520] }, properties: {} }
  const sensor = await add('sensors', { name: 'Gauge', ...place })
  const stream = await add('streams', { name: 'Level', sensor_id: String(sensor), ...place })
  const time = '2026-01-01T00:00:00Z'
  await add('datapoints', { stream_id: String(stream), start_time: time, end_time: time, ...place, properties: { level: 2.5 } })
  await server.restart()
  const found = (await (await me(`/api/geostreams/datapoints?stream_id=${stream}`)).json()) as readonly { readonly properties: object }[]
  assert.deepEqual(
    found.map(({ properties }) => properties),
    [{ level: 2.5 }],
  )
})
