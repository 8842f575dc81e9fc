import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import test from 'ava'
import { GeoStore } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { callsOf } from '../support/calls.ts'
import { newSensor, newStream } from '../support/geostreams.ts'
import { newPerson } from '../support/people.ts'
import { addressOf } from '../support/sensorthings.ts'
import { asPromised, lacksCurl, replay, transcript } from '../support/transcript.ts'

const page = await readFile(new URL('../../docs/geostreams.md', import.meta.url), 'utf8')
const sensorThings = await readFile(new URL('../../docs/sensorthings.md', import.meta.url), 'utf8')
const missing = lacksCurl()
const transcriptTest = missing === undefined ? test : test.skip

transcriptTest(`the transcript in docs/geostreams.md runs as written${missing === undefined ? '' : ` (${missing})`}`, async t => {
  const steps = transcript(page)
  t.true(steps.length > 15)
  const server = await bootForTest({ t })
  const { key } = await newPerson(server)
  const { code, outputs } = await replay(steps, { P: server.url, KEY: key }, 'true')
  asPromised(t, steps, outputs, 'docs/geostreams.md')
  t.is(code, 0, outputs.at(-1))
})

transcriptTest('the transcript in docs/sensorthings.md runs as written after it', async t => {
  const steps = transcript(sensorThings)
  t.true(steps.length > 5)
  const server = await bootForTest({ t })
  const { key } = await newPerson(server)
  t.is((await replay(transcript(page), { P: server.url, KEY: key }, 'true')).code, 0)
  const { code, outputs } = await replay(steps, { P: server.url }, 'true')
  asPromised(t, steps, outputs, 'docs/sensorthings.md')
  t.is(code, 0, outputs.at(-1))
})

test('every request listed in docs/sensorthings.md succeeds', async t => {
  const server = await bootForTest({ t })
  const owner = callsOf(server.as(server.admin.key))
  for (let n = 1; n <= 12; n += 1) await newSensor(owner)
  for (let n = 1; n <= 5; n += 1) await newStream(owner, 12)
  const point = { id: 77, stream: 5, startMs: Date.UTC(2020, 3, 2), endMs: null, createdMs: 0 }
  await server.get(GeoStore).insert([{ ...point, geometry: { type: 'Point', coordinates: [0, 0] }, properties: { nitrate: 12 } }])
  await server.drained()
  const rows = [...sensorThings.matchAll(/^\| .* \| (.*) \|$/gm)].flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)])
  const requested = rows.map(([, path = '']) => path).filter(path => !path.startsWith('&'))
  t.true(requested.length > 12)
  for (const path of requested) t.is((await server.as()(addressOf(`/${path}`))).status, 200, path)
})

test('every file that docs/geostreams.md links to exists', t => {
  const links = [...page.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target = '']) => target)
  t.true(links.length > 4)
  t.deepEqual(
    links.filter(target => !existsSync(new URL(target, new URL('../../docs/', import.meta.url)))),
    [],
  )
})
