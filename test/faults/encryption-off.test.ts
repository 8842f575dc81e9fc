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
