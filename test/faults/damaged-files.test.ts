import { readdir, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { BlobStore, Mailer, Unavailable } from 'pounce/sdk'
import { bootForTest, FixedClock, MemoryMailer } from 'pounce/sdk/testing'
import { damage, onlyFile } from '../support/damage.ts'
import { runCommand } from '../support/doctor.ts'
import { mailsTo } from '../support/mails.ts'
import { newDataset, ok, upload } from '../support/scene.ts'
import { until } from '../support/until.ts'

const setUp = async (t: ExecutionContext) => {
  const mailer = new MemoryMailer()
  const clock = new FixedClock()
  const server = await bootForTest({ t, clock, overrides: { [Mailer]: mailer } })
  const call = server.as(server.admin.key)
  const id = await upload(call, await newDataset(call), Buffer.alloc(300_000, 'rot '), 'large.bin')
  await server.drained()
  const since = async (): Promise<string | undefined> => (await ok<{ damaged?: string }>(call(`/api/files/${id}/metadata`))).damaged
  const read = async (range?: string): Promise<void> => {
    const answer = await call(`/api/files/${id}/blob`, range === undefined ? {} : { headers: { range } })
    await answer.arrayBuffer().catch(() => undefined)
  }
  const mails = async (): Promise<number> =>
    (await mailsTo(server, mailer, server.admin.email)).filter(({ subject }) => subject.includes('damaged: large.bin')).length
  const audited = async (): Promise<readonly string[]> => {
    await server.drained()
    const lines = await ok<{ type: string; subject: { id: string } | null }[]>(call('/api/admin/audit?limit=100'))
    return lines.filter(({ subject, type }) => subject?.id === id && type.startsWith('file.')).map(({ type }) => type)
  }
  const command = (name: string, options: Readonly<Record<string, string | boolean>> = {}) => runCommand(server, name, options)
  const doctor = async (options: Readonly<Record<string, string | boolean>> = {}) =>
    (await command('doctor', options)).find(({ check }) => check === 'stored bytes')
  return { server, call, clock, mailer, id, since, read, mails, audited, command, doctor }
}

test('damage detected by a download marks the file and is reported once, and a check of repaired bytes removes the mark', async t => {
  const { server, call, id, since, read, mails, audited, command } = await setUp(t)
  await read()
  t.is(await since(), undefined)
  t.like(
    (await command('doctor')).find(({ check }) => check === 'stored bytes'),
    { ok: true },
  )
  await damage(server.folder, 'files', 200_000)
  await read()
  await until('the file to be marked', since)
  await read('bytes=199990-200010')
  await read()
  t.is(await mails(), 1)
  t.deepEqual(await audited(), ['file.damaged'])
  const row = (await command('doctor')).find(({ check }) => check === 'stored bytes')
  t.false(row?.['ok'])
  t.regex(String(row?.['detail']), new RegExp(id))
  t.like((await command('files scrub'))[0], { ok: false, files: 1, damaged: 1 })
  t.is(await mails(), 1)
  await damage(server.folder, 'files', 200_000)
  t.like((await command('files scrub'))[0], { ok: true, files: 1, damaged: 0 })
  t.is(await since(), undefined)
  t.deepEqual((await audited()).toSorted(), ['file.damaged', 'file.repaired'])
  await damage(server.folder, 'files', 100)
  await read()
  await until('the file to be marked again', since)
  t.is(await mails(), 2)
  await ok(call(`/api/files/${id}`, { method: 'DELETE' }))
  await server.drained()
  t.like(
    (await command('doctor')).find(({ check }) => check === 'stored bytes'),
    { ok: true },
  )
})

test('the doctor finds undetected damage, and marks it only in repair mode', async t => {
  const { server, id, since, doctor } = await setUp(t)
  t.like(await doctor({ 'read-data': true }), { ok: true, detail: '1 files read' })
  await damage(server.folder, 'files', 200_000)
  t.like(await doctor(), { ok: true })
  const found = await doctor({ 'read-data': true })
  t.false(found?.['ok'])
  t.regex(String(found?.['detail']), new RegExp(`${id} \\(.*, damaged\\)`))
  t.is(await since(), undefined)
  const halves = await Promise.all(['1/2', '2/2'].map(subset => doctor({ 'read-data': true, subset })))
  t.deepEqual(halves.map(row => row?.['ok']).toSorted(), [false, true])
  await doctor({ 'read-data': true, repair: true })
  t.truthy(await since())
  await damage(server.folder, 'files', 200_000)
  t.false((await doctor({ 'read-data': true }))?.['ok'])
  t.like(await doctor({ 'read-data': true, repair: true }), { ok: true })
  t.is(await since(), undefined)
})

test('the doctor finds missing or truncated bytes without reading any, and deletes nothing', async t => {
  const { server, call, id, since, doctor } = await setUp(t)
  await truncate(await onlyFile(server.folder, 'files'), 1000)
  t.regex(String((await doctor())?.['detail']), new RegExp(`${id} \\(.*, damaged\\)`))
  await rm(await onlyFile(server.folder, 'files'))
  const row = await doctor({ repair: true })
  t.false(row?.['ok'])
  t.regex(String(row?.['detail']), new RegExp(`${id} \\(.*, missing\\)`))
  t.truthy(await since())
  t.like(await ok<{ filename: string }>(call(`/api/files/${id}/metadata`)), { filename: 'large.bin' })
  for (const subset of ['0/2', '3/2', 'x', '1/0']) await t.throwsAsync(doctor({ subset }), { message: /subset must be/ })
})

test('a download of missing bytes is 404 and marks the file, unless it is archived', async t => {
  const { server, call, id, since, mails } = await setUp(t)
  await rm(await onlyFile(server.folder, 'files'))
  await ok(call(`/api/files/${id}/archive`, { method: 'POST' }))
  t.is((await call(`/api/files/${id}/blob`)).status, 404)
  await ok(call(`/api/files/${id}/unarchive`, { method: 'POST' }))
  t.is(await since(), undefined)
  t.is((await call(`/api/files/${id}/blob`)).status, 404)
  t.truthy(await until('the file to be marked', since))
  t.is(await mails(), 1)
})

test('damage of many files, as by a missing disk, is reported by at most ten mails a day', async t => {
  const { server, call, clock, mailer, command } = await setUp(t)
  const dataset = await newDataset(call)
  const mailed = async () => (await mailsTo(server, mailer, server.admin.email)).filter(({ subject }) => subject.includes('damaged: '))
  const loseAll = async (): Promise<void> => {
    const entries = await readdir(join(server.folder, 'blobs', 'files'), { recursive: true, withFileTypes: true })
    for (const entry of entries) if (entry.isFile()) await rm(join(entry.parentPath, entry.name))
  }
  for (let n = 0; n < 12; n += 1) await upload(call, dataset, Buffer.alloc(300_000, `${n} `), `${n}.bin`)
  await loseAll()
  t.like((await command('files scrub'))[0], { missing: 13 })
  t.is((await mailed()).length, 10)
  t.is((await mailed()).filter(({ text }) => text.includes('not reported by email: see `pounce doctor`')).length, 1)
  clock.advance(86_400_000)
  await upload(call, dataset, Buffer.alloc(300_000, 'next'), 'next.bin')
  await loseAll()
  await command('files scrub')
  t.is((await mailed()).length, 11)
})

test('damage detected by an archive download marks the file', async t => {
  const { server, call, since } = await setUp(t)
  await damage(server.folder, 'files', 200_000)
  const [{ id: dataset } = { id: '' }] = await ok<{ id: string }[]>(call('/api/datasets'))
  await (await call(`/api/datasets/${dataset}/download`)).arrayBuffer().catch(() => undefined)
  t.truthy(await until('the file to be marked', since))
})

test('bytes that are not read are checked once a week', async t => {
  const { server, clock, since, mails } = await setUp(t)
  const check = () => server.runPeriodic('resources.files/scrub')
  await check()
  await damage(server.folder, 'files', 200_000)
  clock.advance(6 * 86_400_000)
  await check()
  t.is(await since(), undefined)
  clock.advance(86_400_000)
  await check()
  t.truthy(await since())
  t.is(await mails(), 1)
})

test('a verification that meets an outage of the store continues after it, instead of passing over the files', async t => {
  const { server, clock, since } = await setUp(t)
  const check = () => server.runPeriodic('resources.files/scrub')
  await check()
  await damage(server.folder, 'files', 200_000)
  clock.advance(8 * 86_400_000)
  const blobs = server.get(BlobStore)
  const { get, list } = blobs
  blobs.get = () => Promise.reject(new Unavailable('The store does not respond'))
  blobs.list = () => {
    throw new Unavailable('The store does not respond')
  }
  await t.throwsAsync(check(), { instanceOf: Unavailable })
  Object.assign(blobs, { get, list })
  t.is(await since(), undefined)
  await check()
  t.truthy(await since())
})
