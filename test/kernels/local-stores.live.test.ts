import test from 'ava'
import { liveTests } from 'pounce/sdk/testing'
import { adminKey, dataFolder, runPounceWith, startChild } from '../support/child-server.ts'
import { newDataset, upload } from '../support/scene.ts'
import { placesOn } from '../support/server-places.ts'

const { test: live, url } = liveTests(test, 'MONGODB', 'ELASTICSEARCH')

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
