import { randomBytes } from 'node:crypto'
import test from 'ava'
import { adminKey, dataFolder, runPounceWith, startChild } from '../support/child-server.ts'
import { newDataset, upload } from '../support/scene.ts'

interface Finding {
  readonly check: string
  readonly ok: boolean
}

test('without the plugin that decrypts them, stored bytes are a problem for the doctor, also when it reads them', async t => {
  const folder = await dataFolder(t)
  const encrypted = { POUNCE_PLUGINS: '+blobs.encrypted', POUNCE_BLOBS__ENCRYPTED__KEY: randomBytes(32).toString('base64') }
  const starting = startChild(folder, encrypted)
  t.teardown(() => starting.signal('SIGKILL'))
  const server = await starting.ready
  const call = server.as(await adminKey(server))
  await upload(call, await newDataset(call), Buffer.alloc(10_000, 'plain'))
  server.signal('SIGTERM')
  await server.ended
  const areSound = async (settings: Readonly<Record<string, string>>, ...options: readonly string[]): Promise<unknown> => {
    const { out, err } = await runPounceWith(settings, folder, 'doctor', ...options)
    return (JSON.parse(out || `"${err}"`) as readonly Finding[]).find(({ check }) => check === 'stored bytes')?.ok
  }
  t.true(await areSound(encrypted, '--read-data'))
  t.false(await areSound({}))
  t.false(await areSound({}, '--read-data'))
})

test('files whose encryption key is not configured are each reported by the doctor and the verification of checksums, which go on, and none is marked as damaged', async t => {
  const folder = await dataFolder(t)
  const keyed = () => ({ POUNCE_PLUGINS: '+blobs.encrypted', POUNCE_BLOBS__ENCRYPTED__KEY: randomBytes(32).toString('base64') })
  const [old, current] = [keyed(), keyed()]
  let key = ''
  const stored = async (settings: Readonly<Record<string, string>>, count: number): Promise<readonly string[]> => {
    const starting = startChild(folder, settings)
    t.teardown(() => starting.signal('SIGKILL'))
    const server = await starting.ready
    key ||= await adminKey(server)
    const call = server.as(key)
    const dataset = await newDataset(call)
    const files: string[] = []
    for (let n = 0; n < count; n += 1) files.push(await upload(call, dataset, Buffer.alloc(10_000, `plain ${n}`)))
    server.signal('SIGTERM')
    await server.ended
    return files
  }
  const [first = '', second = ''] = await stored(old, 2)
  const [readable = ''] = await stored(current, 1)
  const rowOf = async (settings: Readonly<Record<string, string>>, ...options: readonly string[]) => {
    const { out, err } = await runPounceWith(settings, folder, 'doctor', ...options)
    const rows = JSON.parse(out || `"${err}"`) as readonly (Finding & { readonly detail?: string })[]
    t.false(rows.some(({ check }) => check === 'failed check'))
    return rows.find(({ check }) => check === 'stored bytes')
  }
  for (const options of [[], ['--read-data'], ['--read-data', '--repair']]) {
    const { ok, detail = '' } = (await rowOf(current, ...options)) ?? {}
    t.false(ok)
    for (const id of [first, second]) t.regex(detail, new RegExp(`${id} \\([^,]*, not readable: The file was encrypted with another key`))
    t.false(detail.includes(readable), detail)
  }
  const { code, out } = await runPounceWith(current, folder, 'files', 'scrub')
  t.is(code, 1)
  t.like(JSON.parse(out), { ok: false, files: 3, unreadable: 2, damaged: 0, missing: 0 })
  const both = { ...current, POUNCE_BLOBS__ENCRYPTED__FORMER_KEYS: old.POUNCE_BLOBS__ENCRYPTED__KEY }
  t.like(await rowOf(both, '--read-data'), { ok: true, detail: '3 files read' })
})
