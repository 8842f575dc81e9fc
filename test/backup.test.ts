import { mkdir, readdir, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import test from 'ava'
import type { TestFetch } from 'pounce/sdk/testing'
import { adminKey, childServer, dataFolder, runPounce } from './support/child-server.ts'
import { sha256 } from './support/main-job.ts'
import { newDataset, ok, upload } from './support/scene.ts'

interface Finding {
  readonly check: string
  readonly ok: boolean
  readonly detail?: string
}

const findings = async (folder: string): Promise<readonly Finding[]> => {
  const { out, err } = await runPounce(folder, 'doctor', '--read-data')
  return JSON.parse(out || `"${err}"`) as readonly Finding[]
}

const bytesOf = (n: number): Buffer => Buffer.alloc(n % 4 === 0 ? 300_000 : 2_000, `bytes of ${n} `)

/** Uploads files, half of which are deleted again, until `isOver`. */
const write = async (call: TestFetch, dataset: string, kept: Map<string, string>, isOver: () => boolean): Promise<void> => {
  for (let n = 0; !isOver(); n += 1) {
    const bytes = bytesOf(n)
    const id = await upload(call, dataset, bytes, `file${n}.bin`)
    if (n % 2 === 0) kept.set(id, sha256(bytes))
    else await ok(call(`/api/files/${id}`, { method: 'DELETE' }))
  }
}

test('a backup made during writes passes doctor --read-data, contains what was acknowledged before it, and is continued by the next one', async t => {
  t.timeout(170_000)
  const folder = await dataFolder(t)
  const backup = await dataFolder(t)
  const server = await childServer(t, folder)
  const key = await adminKey(server)
  const call = server.as(key)
  const dataset = await newDataset(call)
  const kept = new Map<string, string>()
  await write(call, dataset, kept, () => kept.size === 10)
  const before = new Map(kept)
  // Files changed in the last two seconds are copied again by the next backup.
  await setTimeout(2100)
  let isOver = false
  const writing = write(call, dataset, kept, () => isOver)
  const first = await runPounce(folder, 'backup', '--to', backup)
  isOver = true
  await writing
  t.is(first.code, 0, first.out + first.err)
  t.deepEqual(
    (await findings(backup)).filter(found => !found.ok),
    [],
  )

  const second = await runPounce(folder, 'backup', '--to', backup)
  const blobs = (JSON.parse(second.out) as { folder: string; unchanged: number }[]).find(row => row.folder === 'blobs')
  t.true((blobs?.unchanged ?? 0) > 0, second.out)
  server.signal('SIGTERM')
  await server.ended

  const restored = await childServer(t, backup)
  const read = restored.as(key)
  for (const [id, digest] of [...before, ...kept]) {
    const answer = await read(`/api/files/${id}/blob`)
    t.is(sha256(Buffer.from(await answer.arrayBuffer())), digest)
  }
  t.is((await ok<unknown[]>(read(`/api/datasets/${dataset}/files`))).length, kept.size)
})

test('doctor detects damage in a backup; a backup into the data folder is refused, and one that fails says how to continue', async t => {
  const folder = await dataFolder(t)
  const backup = await dataFolder(t)
  const server = await childServer(t, folder)
  const call = server.as(await adminKey(server))
  const file = await upload(call, await newDataset(call), Buffer.alloc(200_000, 'x'), 'large.bin')
  t.is((await runPounce(folder, 'backup', '--to', backup)).code, 0)
  const [name = ''] = (await readdir(join(backup, 'blobs', 'files'), { recursive: true })).filter(path => path.includes('-'))
  await truncate(join(backup, 'blobs', 'files', name), 150_000)
  const [damaged] = (await findings(backup)).filter(found => !found.ok)
  t.is(damaged?.check, 'stored bytes')
  t.true(damaged?.detail?.includes(file))

  const inside = await runPounce(folder, 'backup', '--to', join(folder, 'blobs', 'backup'))
  t.not(inside.code, 0)
  t.regex(inside.err, /--to must be outside of .*blobs/)
  const link = join(await dataFolder(t), 'link')
  await symlink(folder, link)
  const nested = await dataFolder(t)
  await symlink(join(folder, 'documents'), join(nested, 'documents'))
  for (const to of [link, join(link, 'blobs', 'new'), nested])
    t.regex((await runPounce(folder, 'backup', '--to', to)).err, /must be outside of/)
  t.is((await ok<unknown[]>(call('/api/datasets'))).length, 1)
  const obstacle = await dataFolder(t)
  await mkdir(obstacle, { recursive: true })
  await writeFile(join(obstacle, 'blobs'), 'a file')
  const failed = await runPounce(folder, 'backup', '--to', obstacle)
  t.not(failed.code, 0)
  t.regex(failed.err, /is incomplete \(.*blobs.*run it again/)
})

test('a backup that was interrupted before its records were complete fails the verification, and gets no records by it', async t => {
  const backup = await dataFolder(t)
  await mkdir(join(backup, 'documents'))
  await mkdir(join(backup, 'blobs'))
  await writeFile(join(backup, 'installation'), 'abcdefghij')
  await writeFile(join(backup, 'documents', 'pounce.db.part'), '')
  const { code, err } = await runPounce(backup, 'doctor', '--read-data')
  t.is(code, 1)
  t.regex(err, /contains no records of an installation: a backup without them is incomplete/)
})

test('a backup into an empty path is refused', async t => {
  const { code, err } = await runPounce(await dataFolder(t), 'backup', '--to', '')
  t.is(code, 1)
  t.regex(err, /--to is empty: specify a path/)
})
