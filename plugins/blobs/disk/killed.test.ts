import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { usualOrFull } from 'pounce/sdk/testing'
import { startedStore } from './test-store.ts'

const kills = usualOrFull(4, 10)

/** Runs a writer until it has acknowledged this many blobs, then kills it. Resolves to the acknowledged ones. */
async function writeAndKill(folder: string, seed: number, acks: number): Promise<readonly (readonly [string, string])[]> {
  const program = fileURLToPath(new URL('./test-killed-writer.ts', import.meta.url))
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, folder, String(seed)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const acknowledged: (readonly [string, string])[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    const [key, sha256] = line.split(' ')
    if (key && sha256?.length === 64) acknowledged.push([key, sha256])
    if (acknowledged.length === acks) child.kill('SIGKILL')
  }
  await ended
  return acknowledged
}

test(`acknowledged blobs survive ${kills} SIGKILLs of the writer intact`, async t => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-killed-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const acknowledged = new Map<string, string>()
  for (let kill = 0; kill < kills; kill += 1) {
    const acks = 1 + ((kill * 37) % 90)
    const lines = await writeAndKill(folder, kill * 100_000, acks)
    t.true(lines.length >= acks)
    for (const [key, sha256] of lines) acknowledged.set(key, sha256)
  }
  const store = await startedStore(folder)
  t.teardown(() => store.dispose())
  for (const [key, sha256] of acknowledged) {
    const hash = createHash('sha256')
    const stream = await store.get(key)
    t.truthy(stream, key)
    for await (const piece of stream ?? []) hash.update(piece)
    t.is(hash.digest('hex'), sha256)
  }
  t.deepEqual(await readdir(join(folder, 'tmp')), [])
  const listed = new Set<string>()
  for await (const { key } of store.list()) listed.add(key)
  for (const key of acknowledged.keys()) t.true(listed.has(key))
  for (const key of listed) await t.notThrowsAsync(async () => (await store.get(key))?.resume(), key)
})
