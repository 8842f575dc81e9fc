import test from 'ava'
import { liveTests } from 'pounce/sdk/testing'
import { adminKey, dataFolder, runPounceWith, startChild } from '../support/child-server.ts'
import { newSensor, newStream, pointAt } from '../support/geostreams.ts'
import { newDataset, ok, upload } from '../support/scene.ts'
import { placesOn } from '../support/server-places.ts'

const { test: live, url } = liveTests(test, 'MONGODB', 'ELASTICSEARCH')
const { test: liveRemote, url: remote } = liveTests(test, 'MONGODB', 'S3', 'ELASTICSEARCH')

interface Finding {
  readonly check: string
  readonly ok: boolean
}

live('bytes on disk: commands find them without a server, and no second data folder is used with the same records', async t => {
  t.timeout(120_000)
  const { settings } = await placesOn(t, url, ['documents.mongodb', 'search.elasticsearch'])
  const [folder, other] = [await dataFolder(t), await dataFolder(t)]
  const first = startChild(folder, settings)
  t.teardown(() => first.signal('SIGKILL'))
  const server = await first.ready
  const call = server.as(await adminKey(server))
  await upload(call, await newDataset(call), Buffer.from('kept on the disk of one machine'))

  const second = await startChild(other, settings).ended
  t.is(second.code, 1, second.out)
  t.regex(second.err, /Another server uses these records, with the data folder [^,]*, and each data folder has its own blobs\.disk: /)
  t.true(second.err.includes(folder), second.err)

  first.signal('SIGTERM')
  t.is((await first.ended).code, 0)
  const doctor = await runPounceWith(settings, folder, 'doctor')
  const findings = JSON.parse(doctor.out) as readonly Finding[]
  t.deepEqual(
    findings.filter(({ check, ok }) => check.startsWith('stored bytes') && !ok),
    [],
  )
  t.is(findings.filter(({ check }) => check === 'stored bytes').length, 1)

  const next = startChild(other, { ...settings, POUNCE_LOG__LEVEL: 'info' })
  t.teardown(() => next.signal('SIGKILL'))
  await next.ready
  next.signal('SIGKILL')
  const waited = /last used with another data folder/
  t.notRegex((await next.ended).err, waited)
  const last = startChild(folder, { ...settings, POUNCE_LOG__LEVEL: 'info' })
  t.teardown(() => last.signal('SIGKILL'))
  await last.ready
  last.signal('SIGTERM')
  const { code, err } = await last.ended
  t.is(code, 0)
  t.regex(err, waited)
})

liveRemote('datapoints on disk: a backup without a server contains them, although all other stores are remote', async t => {
  t.timeout(120_000)
  const { settings } = await placesOn(t, remote, ['documents.mongodb', 'blobs.s3', 'search.elasticsearch'])
  const [folder, backup] = [await dataFolder(t), await dataFolder(t)]
  const starting = startChild(folder, settings)
  t.teardown(() => starting.signal('SIGKILL'))
  const server = await starting.ready
  const call = server.as(await adminKey(server))
  const post = async (path: string, json?: unknown) => {
    const answer = await call(path, { method: 'POST', json })
    return { status: answer.status, headers: answer.headers, body: await answer.json() }
  }
  const stream = await newStream({ post }, await newSensor({ post }))
  const point = {
    start_time: '2026-01-01T00:00:00Z',
    geometry: pointAt(1, 2, 0),
    type: 'Feature',
    properties: { x: 1 },
    stream_id: String(stream),
  }
  await ok(call('/api/geostreams/datapoints', { method: 'POST', json: point }))
  server.signal('SIGTERM')
  await server.ended

  const { out, err } = await runPounceWith(settings, folder, 'backup', '--to', backup)
  const rows = JSON.parse(out || `"${err}"`) as readonly { readonly folder: string; readonly copied: number }[]
  t.is(rows.find(row => row.folder === 'geo')?.copied, 1, out)
})

liveRemote('datapoints on disk: the start of a second server and `doctor` report that each data folder has its own', async t => {
  t.timeout(120_000)
  const { settings } = await placesOn(t, remote, ['documents.mongodb', 'blobs.s3', 'search.elasticsearch'])
  const [folder, other] = [await dataFolder(t), await dataFolder(t)]
  const separate = async (data: string) => {
    const { out, code } = await runPounceWith(settings, data, 'doctor')
    const found = (JSON.parse(out) as readonly (Finding & { readonly detail?: string })[]).find(({ check }) => check === 'data folders')
    return { ...found, code }
  }
  const first = startChild(folder, settings)
  t.teardown(() => first.signal('SIGKILL'))
  await first.ready
  t.deepEqual(await separate(folder), { code: 0 })
  const second = startChild(other, settings)
  t.teardown(() => second.signal('SIGKILL'))
  await second.ready
  for (const data of [folder, other]) {
    const { ok: isWell, code, detail = '' } = await separate(data)
    t.deepEqual({ isWell, code }, { isWell: true, code: 0 })
    t.regex(detail, /^warning: /)
    t.true(detail.includes(folder) && detail.includes(other) && detail.includes('geo.rtree'), detail)
  }
  second.signal('SIGTERM')
  const { code, err } = await second.ended
  t.is(code, 0)
  const warned = err.split('\n').filter(line => line.includes('Another server uses these records with its own data folder'))
  t.is(warned.length, 1, err)
  t.true(warned[0]?.includes(folder) && warned[0].includes('geo.rtree'), warned[0])
  t.deepEqual(await separate(folder), { code: 0 })
  first.signal('SIGTERM')
  t.notRegex((await first.ended).err, /with its own data folder/)
})
