import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { adminKey, childServer } from '../support/child-server.ts'
import { sha256 } from '../support/main-job.ts'
import { formWith, newDataset, ok } from '../support/scene.ts'
import { drained, until } from '../support/until.ts'

const run = promisify(execFile)

/** A file system of 64 MiB, half of which is used by a file that can be removed. */
const smallDisk = async (t: ExecutionContext): Promise<{ readonly folder: string; readonly ballast: string }> => {
  const disk = await mkdtemp(join(tmpdir(), 'pounce-disk-'))
  await run('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'none', disk])
  t.teardown(async () => {
    await run('umount', ['-l', disk])
    await rm(disk, { recursive: true })
  })
  const folder = join(disk, 'data')
  await mkdir(folder)
  const ballast = join(disk, 'ballast')
  await writeFile(ballast, Buffer.alloc(32 * 1024 * 1024))
  return { folder, ballast }
}

/** Why a disk cannot be mounted on this machine; undefined if it can. */
const obstacle = async (): Promise<string | undefined> => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs Linux and root, to mount a small disk'
  const folder = await mkdtemp(join(tmpdir(), 'pounce-mount-'))
  try {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', folder])
    await run('umount', ['-l', folder])
  } catch {
    return 'a small disk cannot be mounted here'
  } finally {
    await rm(folder, { recursive: true })
  }
  return undefined
}
const missing = await obstacle()
const live = missing === undefined ? test : test.skip

live(
  `on a really full disk uploads get 507, nothing is lost, reads continue and writes resume${missing === undefined ? '' : ` (${missing})`}`,
  async t => {
    const { folder, ballast } = await smallDisk(t)
    const server = await childServer(t, folder)
    const call = server.as(await adminKey(server))
    const dataset = await newDataset(call)
    const acked = new Map<string, string>()
    const put = async (n: number, sizeBytes: number): Promise<Response> => {
      const bytes = Buffer.alloc(sizeBytes, `${n} `)
      const answer = await call(`/api/uploadToDataset/${dataset}`, { method: 'POST', body: formWith(bytes, `full${n}.txt`) })
      if (answer.ok) acked.set(((await answer.clone().json()) as { id: string }).id, sha256(bytes))
      return answer
    }
    const refusals: Response[] = []
    // Large ones first, until not even small ones fit.
    for (let n = 0, size = 4 * 1024 * 1024; n < 2000 && refusals.length < 12; n += 1) {
      const answer = await put(n, size)
      if (answer.ok) continue
      refusals.push(answer)
      size = Math.max(1000, Math.floor(size / 3))
    }
    t.log(`${acked.size} files fitted`)
    for (const answer of refusals) {
      const body = (await answer.json()) as Record<string, unknown>
      t.deepEqual([answer.status, body['status'], body['code']], [507, 'error', 'no-space'], JSON.stringify(body))
      t.true(answer.headers.has('retry-after'))
    }
    const intact = async (): Promise<void> => {
      for (const [id, digest] of acked) {
        const answer = await call(`/api/files/${id}/blob?tracking=false`)
        t.is(sha256(Buffer.from(await answer.arrayBuffer())), digest)
      }
      t.is((await ok<unknown[]>(call(`/api/datasets/${dataset}/files`))).length, acked.size)
    }
    await intact()
    await ok(call('/readyz'))
    await ok(call('/api/search?query=full0'))

    // The database writes for a deletion, too.
    for (const id of [...acked.keys()].slice(0, 3)) {
      await ok(call(`/api/files/${id}`, { method: 'DELETE' }))
      acked.delete(id)
    }
    const again = () => put(9998, 3 * 1024 * 1024)
    await until('a file to fit into the space of the deleted ones', again, ({ status }) => status === 200, 60_000)
    await intact()

    await rm(ballast)
    await until(
      'writes to be accepted again',
      () => put(9999, 1000),
      ({ status }) => status === 200,
      60_000,
    )
    await drained(call)
    await intact()
    const hits = async () =>
      (await ok<{ results: unknown[] }>(call(`/api/search?query=full&datasetid=${dataset}&size=1000`))).results.length
    await until('all files to be found', hits, found => found === acked.size)
    server.signal('SIGTERM')
    t.is((await server.ended).code, 0)
  },
)
